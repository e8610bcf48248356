//! A plan as everybody but its target sees it.

use serde::{Deserialize, Serialize};

use crate::value::Attributes;

/// A geometry for every operation of a workload and what binds them together, projected onto named attributes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// The target that understands it.
    pub target: String,
    /// Canonical text: equal exactly when two plans of one workload are the same.
    pub text: String,
    /// Named, typed attributes, in the target's order.
    pub attributes: Attributes,
}
