//! What can be wrong with a space, or with a question about one.

/// What can be wrong with a space, or with a question about one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SpaceError {
    /// The number of plans does not fit 128 bits.
    #[error("the space holds more than 2^128 plans; they can't be counted")]
    Overflow,
    /// No parameter has this name.
    #[error("no attribute is called `{name}`: expected {allowed}")]
    UnknownParameter {
        /// The name that was given.
        name: String,
        /// All names.
        allowed: String,
    },
    /// A value is not in the domain of its parameter.
    #[error("`{name}` can't be {value}: expected {allowed}")]
    OutsideDomain {
        /// The parameter.
        name: String,
        /// The value that was given.
        value: String,
        /// The domain in words.
        allowed: String,
    },
    /// The target built a space that makes no sense.
    #[error("the target's space is malformed: {0}")]
    Malformed(String),
}
