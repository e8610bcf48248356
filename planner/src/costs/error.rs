//! What can be wrong with a cost table.

use crate::expression::ExpressionError;

/// A cost table that can't be used. Keys are paths inside the table: `gemm.terms.rows.of`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CostError {
    /// Not TOML or JSON, or not these keys.
    #[error("not a cost table: {0}")]
    Form(String),
    /// Something is wrong with the value of a key.
    #[error("`{key}`: {message}")]
    Key {
        /// Where.
        key: String,
        /// What was found, and what was expected.
        message: String,
    },
    /// A term is no expression, or has a name that is no argument.
    #[error("`{key}`: {error}")]
    Expression {
        /// Where.
        key: String,
        /// The text of the expression.
        text: String,
        /// What is wrong with it.
        error: ExpressionError,
    },
}

impl CostError {
    pub(super) fn key(key: impl Into<String>, message: impl Into<String>) -> Self {
        Self::Key {
            key: key.into(),
            message: message.into(),
        }
    }
}
