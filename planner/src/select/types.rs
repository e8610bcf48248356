//! What selection gives.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::definition::DefinitionError;
use crate::refusal::Refusal;
use crate::space::{Assignment, Space, SpaceError};

/// A plan that became a case.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Chosen {
    /// Unique in the cohort; begins with `<workload>/` when the definition has several workloads.
    pub name: String,
    /// The workload's name.
    pub workload: String,
    /// What it is shown and counted with: an operation's name, `control`, `explicit`, `joint`, `random`, `exhaustive`,
    /// `cross`, or what the definition says.
    pub family: String,
    /// Why it was chosen.
    pub reason: String,
    /// A legal value for every parameter, in the order of the space.
    pub assignment: Assignment,
    /// Canonical text of the plan.
    pub text: String,
    /// The case that it repeats on purpose.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repeat_of: Option<String>,
}

/// A plan that a person asked for and the target refuses.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Refused {
    /// The name that the case would have.
    pub name: String,
    /// The workload's name.
    pub workload: String,
    /// The rule, the numbers, and the nearest legal plan.
    pub reason: Refusal,
}

/// What was chosen for one workload.
#[derive(Debug, Clone)]
pub struct SelectedWorkload {
    /// The workload's name.
    pub name: String,
    /// Full name of the control, if there is one.
    pub control: Option<String>,
    /// The plan that explored cases start from.
    pub base: Assignment,
    /// All plans of the workload.
    pub space: Space,
    /// Legal screened geometries: operation -> orientation -> count (`all` where operations have no orientation).
    pub screened: BTreeMap<String, BTreeMap<String, u64>>,
    /// Legal plans of the whole space.
    pub total: u128,
    /// The cases, in order.
    pub cases: Vec<Chosen>,
    /// What was asked for and does not exist, one sentence each.
    pub notes: Vec<String>,
}

/// Cases of all workloads.
#[derive(Debug, Clone, Default)]
pub struct Selection {
    /// In the order of the definition.
    pub workloads: Vec<SelectedWorkload>,
    /// Plans that a person asked for and the target refuses.
    pub refused: Vec<Refused>,
}

/// Why nothing could be selected.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SelectError {
    /// The definition says something that the target's parameters do not allow.
    #[error(transparent)]
    Definition(Box<DefinitionError>),
    /// The target can't run this workload, or can't screen it as the definition says.
    #[error("workload `{workload}`: {refusal}")]
    Workload {
        /// The workload's name.
        workload: String,
        /// Why not.
        refusal: Refusal,
    },
    /// The plans of this workload can't be counted or walked.
    #[error("workload `{workload}`: {error}")]
    Space {
        /// The workload's name.
        workload: String,
        /// Why not.
        error: SpaceError,
    },
    /// The target's screening proxy is no finite number.
    #[error("the proxy of `{text}` is {value}: expected a finite number")]
    Proxy {
        /// Canonical text of the operation's geometry.
        text: String,
        /// What the target said.
        value: String,
    },
}

impl From<DefinitionError> for SelectError {
    fn from(error: DefinitionError) -> Self {
        Self::Definition(Box::new(error))
    }
}
