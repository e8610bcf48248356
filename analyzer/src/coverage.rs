//! What was looked at, what was not, and what failed.

use schemars::JsonSchema;
use serde::Serialize;

use crate::dataset::Outcome;

/// Cases that failed in one way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FailureRow {
    /// The outcome.
    pub outcome: Outcome,
    /// Its reason.
    pub reason: String,
    /// The cases.
    pub cases: Vec<String>,
}

/// Screened geometries of one operation in one orientation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ScreenedRow {
    /// The operation.
    pub operation: String,
    /// The orientation.
    pub orientation: String,
    /// How many passed the screening, in decimal: a count may pass 64 bits.
    pub count: String,
}

/// A plan that was asked for and that the target refuses: it never became a case.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RefusedRow {
    /// The name that it would have.
    pub name: String,
    /// The rule, its numbers, and the nearest legal plan.
    pub reason: String,
}

/// What was looked at, and what was not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Coverage {
    /// Screened geometries.
    pub screened: Vec<ScreenedRow>,
    /// Product over the operations of the sums of their screened geometries, in decimal: plans that could be put
    /// together from them. `null` without screening, or beyond 128 bits. Derived.
    pub combinations: Option<String>,
    /// Legal plans of the target's whole space, in decimal; `null` where they were not counted. Derived.
    pub legal_plans: Option<String>,
    /// Plans that were asked for and that the target refuses.
    pub refused: Vec<RefusedRow>,
    /// Cases chosen before anything was measured.
    pub initial: usize,
    /// Cases added by results.
    pub added: usize,
    /// Cases with at least one right round.
    pub measured: usize,
    /// Cases that ended without one.
    pub failed: usize,
    /// Cases that wait for a build or a first round.
    pub waiting: usize,
}
