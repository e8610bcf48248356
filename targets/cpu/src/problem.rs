//! What is computed: extents of the products, and the byte order in which each finds its input.

use crate::geometry::{GemmGeometry, Orientation, Output};

/// Extents of one product `Y[tokens][features] = X[tokens][inner] W[inner][features]`, in elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Extents {
    /// Rows of the activations (M).
    pub tokens: u32,
    /// Length of each sum (K).
    pub inner: u32,
    /// Columns of the weights (N).
    pub features: u32,
}

impl Extents {
    /// Floating-point operations of the product: one multiplication and one addition per step.
    #[must_use]
    pub fn flops(self) -> f64 {
        2.0 * f64::from(self.tokens) * f64::from(self.inner) * f64::from(self.features)
    }
}

/// One product of a workload: products follow one another, each reads what the one before wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Product {
    /// Name of the operation (`up`, `down`): phases carry it.
    pub name: String,
    /// Its extents.
    pub extents: Extents,
    /// Name of the element-wise step (tanh GELU) that follows, if one does.
    pub activation: Option<String>,
}

/// Byte order in which a product finds its activations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum InputLayout {
    /// `[tokens][inner]`.
    RowMajor,
    /// Panels of so many tokens, each `[inner][tokens of the panel]`.
    Panels {
        /// Tokens of one panel.
        tokens: u32,
    },
    /// Tiles of `height` tokens and `width` inner steps, each row-major; tiles of one row panel lie side by side.
    Tiles {
        /// Tokens of one tile.
        height: u32,
        /// Inner steps of one tile.
        width: u32,
    },
}

impl InputLayout {
    /// The layout that the product before leaves; the first product (`None`) finds rows.
    #[must_use]
    pub fn after(previous: Option<&GemmGeometry>) -> Self {
        match previous {
            None => Self::RowMajor,
            Some(geometry) => match geometry.output {
                Output::RowMajor => Self::RowMajor,
                Output::Panels => Self::Panels {
                    tokens: token_extent(geometry),
                },
                Output::Tiles => Self::Tiles {
                    height: geometry.height,
                    width: geometry.width,
                },
            },
        }
    }

    /// The words that two neighbouring objects must agree on.
    #[must_use]
    pub fn words(self) -> String {
        match self {
            Self::RowMajor => "row-major".to_owned(),
            Self::Panels { tokens } => format!("panels of {tokens} tokens"),
            Self::Tiles { height, width } => format!("tiles of {height} x {width}"),
        }
    }
}

/// Tokens that one micro-kernel covers: its rows in normal orientation, its columns in swapped.
#[must_use]
pub fn token_extent(geometry: &GemmGeometry) -> u32 {
    match geometry.orientation {
        Orientation::Normal => geometry.height,
        Orientation::Swapped => geometry.width,
    }
}
