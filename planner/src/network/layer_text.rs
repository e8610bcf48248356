//! Layers in words.

use std::fmt;

use super::layer::{Form, Layer, word};

impl fmt::Display for Layer {
    /// Class and extents: `conv3x3 128x128 320 -> 320 stride 2 + bias`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.class(), self.extents())
    }
}

impl Layer {
    fn extents(&self) -> String {
        let mark = |wanted: bool, text: &str| if wanted { text.to_owned() } else { String::new() };
        match self {
            Self::Conv {
                height,
                width,
                inputs,
                outputs,
                stride,
                bias,
                ..
            } => {
                let stride = mark(*stride > 1, &format!(" stride {stride}"));
                format!(
                    "{height}x{width} {inputs} -> {outputs}{stride}{}",
                    mark(*bias, " + bias")
                )
            }
            Self::Linear {
                rows,
                inner,
                columns,
                bias,
            } => format!("{rows} rows {inner} -> {columns}{}", mark(*bias, " + bias")),
            Self::Attention {
                heads,
                queries,
                keys,
                width,
                value_width,
                key_heads,
                causal,
            } => {
                let values = mark(value_width != width, &format!(" values of {value_width}"));
                let shared = mark(key_heads != heads, &format!(", {key_heads} heads of keys"));
                let causal = mark(*causal, ", causal");
                format!("{heads} heads {queries}x{keys} of {width}{values}{shared}{causal}")
            }
            Self::Mlp {
                tokens,
                features,
                hidden,
                outputs,
                function,
                bias,
            } => {
                let biases = mark(*bias, " + biases");
                format!(
                    "{tokens} rows {features} -> {hidden} {} -> {outputs}{biases}",
                    word(function)
                )
            }
            _ => self.plain_extents(),
        }
    }

    /// Of layers that have little to say.
    fn plain_extents(&self) -> String {
        match self {
            Self::GroupNorm {
                height,
                width,
                channels,
                groups,
            } => format!("{height}x{width} of {channels} in {groups} groups"),
            Self::Concat { rows, first, second } => format!("{rows} rows {first} + {second}"),
            Self::Upsample {
                height,
                width,
                channels,
                factor,
            } => format!("{height}x{width} of {channels} x{factor}"),
            Self::Embedding { entries, columns, rows } => format!("{rows} of {entries}x{columns}"),
            Self::Host { bytes, .. } => format!("{bytes} bytes"),
            Self::Gate {
                half, rows, columns, ..
            } => format!("{rows}x{columns}, {} half gates", word(half)),
            Self::Add {
                rows,
                columns,
                broadcast: true,
            } => format!("{rows}x{columns} of one row"),
            Self::Add { rows, columns, .. }
            | Self::Softmax { rows, columns }
            | Self::LayerNorm { rows, columns }
            | Self::RmsNorm { rows, columns }
            | Self::Activation { rows, columns, .. }
            | Self::Rotary { rows, columns }
            | Self::Rearrange {
                rows,
                columns,
                parts: 1,
                ..
            } => format!("{rows}x{columns}"),
            Self::Rearrange {
                form: Form::Slice,
                rows,
                columns,
                parts,
            } => format!("{rows}x{columns} of {}", columns.saturating_mul(*parts)),
            Self::Rearrange {
                rows, columns, parts, ..
            } => format!("{rows}x{columns} of {parts} heads"),
            Self::Conv { .. } | Self::Linear { .. } | Self::Attention { .. } | Self::Mlp { .. } => self.extents(),
        }
    }
}
