//! What can be wrong with samples.

/// Why samples can't be used. Indices count from zero in the order given by the caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SampleError {
    /// There is nothing to compute from.
    #[error("no samples")]
    Empty,
    /// A sample or prediction is NaN or infinite.
    #[error("value {index} is not finite")]
    NotFinite {
        /// Position of the first such value.
        index: usize,
    },
    /// A value that must be a positive finite number (a time, a count) is not one.
    #[error("measured value {index} is not a positive finite number")]
    NotPositive {
        /// Position of the first such value.
        index: usize,
    },
    /// Two measured values are so far apart that their ratio is infinite in double precision.
    #[error("the ratio of two measured values is out of range")]
    RatioOutOfRange,
    /// Two lists that belong together element by element have different lengths.
    #[error("{left} values cannot be matched with {right}")]
    LengthsDiffer {
        /// Length of the first list.
        left: usize,
        /// Length of the second list.
        right: usize,
    },
}

/// Refuses lists of different lengths.
pub(crate) fn same_length(left: usize, right: usize) -> Result<(), SampleError> {
    if left == right {
        Ok(())
    } else {
        Err(SampleError::LengthsDiffer { left, right })
    }
}

/// Refuses NaN and infinities, naming the first.
pub(crate) fn all_finite(values: &[f64]) -> Result<(), SampleError> {
    match values.iter().position(|value| !value.is_finite()) {
        Some(index) => Err(SampleError::NotFinite { index }),
        None => Ok(()),
    }
}

/// Refuses zeros, negative numbers, NaN and infinities, naming the first.
pub(crate) fn all_positive(values: &[f64]) -> Result<(), SampleError> {
    match values.iter().position(|value| !(value.is_finite() && *value > 0.0)) {
        Some(index) => Err(SampleError::NotPositive { index }),
        None => Ok(()),
    }
}
