//! Layers with fixed extents: what they multiply, hold and leave.

use serde::{Deserialize, Serialize};

use crate::value::Value;

/// An element-wise function.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Function {
    /// `x sigmoid(x)`.
    Silu,
    /// `x/2 (1 + erf(x / sqrt 2))`.
    GeluErf,
    /// GELU in its tanh form.
    GeluTanh,
    /// `x sigmoid(1.702 x)`.
    QuickGelu,
    /// `max(x, 0)`.
    Relu,
}

/// Which half of its operand gates the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GatingHalf {
    /// The first half goes through the function.
    First,
    /// The second half goes through the function.
    Second,
}

/// How elements change places without being changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Form {
    /// Tokens x (heads x width) to heads x tokens x width.
    SplitHeads,
    /// Back.
    JoinHeads,
    /// Channels x height x width to tokens x channels.
    PlaneToTokens,
    /// Back.
    TokensToPlane,
    /// Rows become columns.
    Transpose,
    /// Some of the columns.
    Slice,
    /// Other extents, the same order.
    Reshape,
}

/// One layer. Extents are in elements; every layer is of batch 1.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "kebab-case")]
#[expect(
    missing_docs,
    reason = "the fields are described in `OPERATIONS`, where people read them too"
)]
pub enum Layer {
    /// A convolution of a plane with a square kernel, padded so that a stride of 1 keeps the plane.
    Conv {
        height: u64,
        width: u64,
        inputs: u64,
        outputs: u64,
        kernel: u64,
        stride: u64,
        bias: bool,
    },
    /// `C[rows][columns] = A[rows][inner] B[inner][columns]`, B being weights.
    Linear {
        rows: u64,
        inner: u64,
        columns: u64,
        bias: bool,
    },
    /// Scores, softmax and weighted values of all heads, without projections.
    Attention {
        heads: u64,
        queries: u64,
        keys: u64,
        width: u64,
        value_width: u64,
        key_heads: u64,
        causal: bool,
    },
    /// A softmax by itself.
    Softmax { rows: u64, columns: u64 },
    /// Mean and variance of each row.
    LayerNorm { rows: u64, columns: u64 },
    /// Root mean square of each row.
    RmsNorm { rows: u64, columns: u64 },
    /// Mean and variance of groups of channels over the whole plane.
    GroupNorm {
        height: u64,
        width: u64,
        channels: u64,
        groups: u64,
    },
    /// An element-wise function.
    Activation {
        function: Function,
        rows: u64,
        columns: u64,
    },
    /// One half of the operand, times a function of the other half; columns of the result.
    Gate {
        function: Function,
        half: GatingHalf,
        rows: u64,
        columns: u64,
    },
    /// Sum of two operands; broadcast: the second is one row.
    Add { rows: u64, columns: u64, broadcast: bool },
    /// Columns of two operands side by side.
    Concat { rows: u64, first: u64, second: u64 },
    /// Each pixel becomes a square of pixels.
    Upsample {
        height: u64,
        width: u64,
        channels: u64,
        factor: u64,
    },
    /// Rotary position embedding.
    Rotary { rows: u64, columns: u64 },
    /// Elements change places; parts: heads, or slices of a whole row.
    Rearrange {
        form: Form,
        rows: u64,
        columns: u64,
        parts: u64,
    },
    /// Rows of a table, looked up.
    Embedding { entries: u64, columns: u64, rows: u64 },
    /// What stays on the host; bytes that cross.
    Host { task: String, bytes: u64 },
    /// Two products with a function between them: never written, found in the tree ([`super::chains`]).
    Mlp {
        tokens: u64,
        features: u64,
        hidden: u64,
        outputs: u64,
        function: Function,
        bias: bool,
    },
}

/// Parameters by what they are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct ParameterCount {
    /// Of products, convolutions and tables.
    pub weights: u128,
    /// Added to a result.
    pub biases: u128,
    /// Gains and shifts of norms.
    pub norms: u128,
}

impl ParameterCount {
    /// All of them.
    #[must_use]
    pub fn total(&self) -> u128 {
        self.weights + self.biases + self.norms
    }

    /// The sum of both.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            weights: self.weights.saturating_add(other.weights),
            biases: self.biases.saturating_add(other.biases),
            norms: self.norms.saturating_add(other.norms),
        }
    }

    /// As often.
    #[must_use]
    pub fn times(self, n: u128) -> Self {
        Self {
            weights: self.weights.saturating_mul(n),
            biases: self.biases.saturating_mul(n),
            norms: self.norms.saturating_mul(n),
        }
    }
}

fn product(extents: &[u64]) -> u128 {
    extents
        .iter()
        .fold(1, |product: u128, n| product.saturating_mul(u128::from(*n)))
}

impl Layer {
    /// Whether its extents go together: heads, groups and parts are whole.
    ///
    /// # Errors
    /// What does not divide what, in words.
    pub fn check(&self) -> Result<(), String> {
        let (whole, what, parts, of) = match *self {
            Self::Attention { heads, key_heads, .. } => (heads, "heads", key_heads, "heads of keys"),
            Self::GroupNorm { channels, groups, .. } => (channels, "channels", groups, "groups"),
            Self::Rearrange {
                form: Form::SplitHeads | Form::JoinHeads,
                columns,
                parts,
                ..
            } => (columns, "columns", parts, "heads"),
            _ => return Ok(()),
        };
        if whole.is_multiple_of(parts.max(1)) {
            return Ok(());
        }
        Err(format!(
            "{self}: {whole} {what} do not divide into {parts} {of} of one size"
        ))
    }

    /// Multiplications, an addition each: convolution `Ho Wo Ci Co k^2`, linear `rows inner columns`, attention
    /// `heads Lq Lkv (D + Dv)` over all keys, masked or not. Element-wise work, norms and softmax are not counted.
    #[must_use]
    pub fn macs(&self) -> u128 {
        match *self {
            Self::Conv {
                height,
                width,
                inputs,
                outputs,
                kernel,
                stride,
                ..
            } => product(&[
                height.div_ceil(stride),
                width.div_ceil(stride),
                inputs,
                outputs,
                kernel,
                kernel,
            ]),
            Self::Linear {
                rows, inner, columns, ..
            } => product(&[rows, inner, columns]),
            Self::Attention {
                heads,
                queries,
                keys,
                width,
                value_width,
                ..
            } => product(&[heads, queries, keys, width.saturating_add(value_width)]),
            Self::Mlp {
                tokens,
                features,
                hidden,
                outputs,
                ..
            } => product(&[tokens, hidden, features.saturating_add(outputs)]),
            _ => 0,
        }
    }

    /// What it has learnt.
    #[must_use]
    pub fn parameters(&self) -> ParameterCount {
        let mut own = ParameterCount::default();
        match *self {
            Self::Conv {
                inputs,
                outputs,
                kernel,
                bias,
                ..
            } => {
                own.weights = product(&[inputs, outputs, kernel, kernel]);
                own.biases = u128::from(outputs) * u128::from(bias);
            }
            Self::Linear {
                inner, columns, bias, ..
            } => {
                own.weights = product(&[inner, columns]);
                own.biases = u128::from(columns) * u128::from(bias);
            }
            Self::Mlp {
                features,
                hidden,
                outputs,
                bias,
                ..
            } => {
                own.weights = product(&[hidden, features.saturating_add(outputs)]);
                own.biases = (u128::from(hidden) + u128::from(outputs)) * u128::from(bias);
            }
            Self::Embedding { entries, columns, .. } => own.weights = product(&[entries, columns]),
            Self::LayerNorm { columns, .. } => own.norms = 2 * u128::from(columns),
            Self::RmsNorm { columns, .. } => own.norms = u128::from(columns),
            Self::GroupNorm { channels, .. } => own.norms = 2 * u128::from(channels),
            _ => {}
        }
        own
    }

    /// Elements of its result.
    #[must_use]
    pub fn outputs(&self) -> u128 {
        match *self {
            Self::Conv {
                height,
                width,
                outputs,
                stride,
                ..
            } => product(&[height.div_ceil(stride), width.div_ceil(stride), outputs]),
            Self::Attention {
                heads,
                queries,
                value_width,
                ..
            } => product(&[heads, queries, value_width]),
            Self::Mlp { tokens, outputs, .. } => product(&[tokens, outputs]),
            Self::GroupNorm {
                height,
                width,
                channels,
                ..
            } => product(&[height, width, channels]),
            Self::Upsample {
                height,
                width,
                channels,
                factor,
            } => product(&[height, width, channels, factor, factor]),
            Self::Concat { rows, first, second } => product(&[rows, first.saturating_add(second)]),
            Self::Linear { rows, columns, .. }
            | Self::Softmax { rows, columns }
            | Self::LayerNorm { rows, columns }
            | Self::RmsNorm { rows, columns }
            | Self::Activation { rows, columns, .. }
            | Self::Gate { rows, columns, .. }
            | Self::Add { rows, columns, .. }
            | Self::Rotary { rows, columns }
            | Self::Rearrange { rows, columns, .. }
            | Self::Embedding { columns, rows, .. } => product(&[rows, columns]),
            Self::Host { .. } => 0,
        }
    }

    /// The class that it is counted under: `conv3x3`, `linear`, `silu`, `residual add`.
    #[must_use]
    pub fn class(&self) -> String {
        match self {
            Self::Conv { kernel, .. } => format!("conv{kernel}x{kernel}"),
            Self::Activation { function, .. } => word(function),
            Self::Gate { function, .. } => format!("{} gate", word(function)),
            Self::Rearrange { form, .. } => word(form),
            Self::Host { task, .. } => format!("host: {task}"),
            _ => self.op(),
        }
    }

    /// What a network file calls it.
    #[must_use]
    pub fn op(&self) -> String {
        self.fields()
            .into_iter()
            .find(|(name, _)| name == "op")
            .map_or_else(String::new, |(_, op)| op.to_string())
    }

    /// All its fields by name, `op` among them.
    #[must_use]
    pub fn fields(&self) -> Vec<(String, Value)> {
        let Ok(serde_json::Value::Object(map)) = serde_json::to_value(self) else {
            return Vec::new();
        };
        let value = |value: &serde_json::Value| match value {
            serde_json::Value::Bool(flag) => Value::Boolean(*flag),
            serde_json::Value::Number(n) => Value::Integer(n.as_i64().unwrap_or(i64::MAX)),
            other => Value::text(other.as_str().unwrap_or_default()),
        };
        map.iter().map(|(name, own)| (name.clone(), value(own))).collect()
    }
}

/// The word that files use for a named choice.
pub(super) fn word(choice: &impl Serialize) -> String {
    match serde_json::to_value(choice) {
        Ok(serde_json::Value::String(word)) => word,
        _ => String::new(),
    }
}
