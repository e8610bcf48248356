//! The layer norm and its parts, for rows of at least 96 elements in multiples of 8.

/// Versions of the kernels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NormVersion {
    /// 9 September 2026.
    First,
    /// 11 September 2026: the application of scale and bias is pipelined.
    Pipelined,
}

/// Cycles of the four kernels of one shape.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Norm {
    /// Statistics and application.
    pub layernorm: usize,
    /// The same with a residual added first.
    pub add_layernorm: usize,
    /// Statistics only.
    pub moments: usize,
    /// Application, with statistics of one part.
    pub apply: usize,
}

/// Cycles of the layer norm's kernels for `rows` rows of `width` elements.
#[must_use]
pub fn norm(rows: usize, width: usize, version: NormVersion) -> Norm {
    let statistics = 18 * width.div_ceil(48) + 36 * width.div_ceil(24);
    let added = 36 * width.div_ceil(48) + 48 * width.div_ceil(24);
    let (normalise, normalise_added, apply) = match version {
        NormVersion::First => (
            60 * width.div_ceil(12) + 1329,
            72 * width.div_ceil(12) + 1386,
            558 + rows * (324 + 54 + 60 * width.div_ceil(12)),
        ),
        NormVersion::Pipelined => (
            66 + 72 * width.div_ceil(24) + 1329,
            66 + 84 * width.div_ceil(24) + 1386,
            774 + rows * (402 + 54 + 72 * width.div_ceil(24)),
        ),
    };
    Norm {
        layernorm: 132 + rows * (statistics + normalise),
        add_layernorm: 132 + rows * (added + normalise_added),
        moments: 126 + rows * (statistics + 1080),
        apply,
    }
}
