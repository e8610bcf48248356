//! What an explanation holds.

use planner::Value;
use schemars::JsonSchema;
use serde::Serialize;

use crate::analysis::Figure;
use crate::dataset::{Objective, Outcome};
use crate::format::one_line;

/// What values are that ratios were needed for.
pub(crate) const DERIVED: &str = "derived";

/// One of the two cases.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Side {
    /// Its name.
    pub case: String,
    /// How it stands.
    pub outcome: Outcome,
    /// Why it failed, if it did.
    pub reason: Option<String>,
    /// Its place in the report: by ratio among the measured cases of the workload; `null` without one.
    pub place: Option<usize>,
    /// Its median paired ratio to the control times the control's time, in the objective's unit; `null` without a
    /// measurement. [`Explanation::values`] says what it is.
    pub value: Option<f64>,
    /// Canonical text of its plan.
    pub plan: String,
}

/// An attribute in which the plans differ.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Change {
    /// Its name.
    pub attribute: String,
    /// Its value in the first plan; `null` if that has none.
    pub a: Option<Value>,
    /// Its value in the second plan.
    pub b: Option<Value>,
}

/// One phase in both cases.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct PhaseShare {
    /// Its name.
    pub phase: String,
    /// Its kind.
    pub kind: String,
    /// Its median time in the first case, in the objective's unit; `null` if that has none. The median
    /// of its own calls, scaled as the whole.
    pub a: Option<f64>,
    /// The same in the second case.
    pub b: Option<f64>,
    /// First less second; a phase that one of them lacks takes no time there. `null` where one of the cases has no phases
    /// at all: it was not measured, or its phases were not.
    pub difference: Option<f64>,
    /// Part of the whole difference that it carries: of both signs, and beyond 1 where others work against it. `null`
    /// when the whole difference is zero or unknown.
    pub share: Option<f64>,
}

/// How one estimate saw the difference.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Seen {
    /// The estimate.
    pub estimate: String,
    /// Its unit.
    pub unit: String,
    /// What it predicted for the first case.
    pub a: Option<f64>,
    /// What it predicted for the second.
    pub b: Option<f64>,
    /// First over second; `null` for a prediction that is not positive.
    pub ratio: Option<f64>,
    /// Whether it put the two in the order that was measured; `null` if either side calls them equal or knows only one.
    pub right: Option<bool>,
}

/// One case against another. Differences are first less second, ratios first over second (where more is better, second over
/// first: they say how much worse the first is).
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Explanation {
    /// The workload.
    pub workload: String,
    /// What is compared; its unit is that of all values.
    pub objective: Objective,
    /// What ratios are: `measured`, `simulated`, `published`, or `derived` from what was published.
    pub origin: &'static str,
    /// What values of the two cases and of their phases are: `derived`, of one value of the control by the median of paired
    /// ratios, where case and control were measured side by side; else as ratios are.
    pub values: &'static str,
    /// The case that is explained.
    pub a: Side,
    /// What it is compared with.
    pub b: Side,
    /// Ratio of the two with its interval (of the paired ratios; a bootstrap of both medians where neither is the control).
    pub ratio: Option<Figure>,
    /// Whether the interval leaves out 1 (any difference, where values do not vary); `null` without an interval.
    pub differs: Option<bool>,
    /// Difference of the values.
    pub difference: Option<f64>,
    /// What differs between the plans, in the target's order.
    pub changes: Vec<Change>,
    /// Attributes that are the same.
    pub unchanged: usize,
    /// Phases by how much of the difference they carry, the largest first.
    pub phases: Vec<PhaseShare>,
    /// What no phase carries; `null` where phases have no difference.
    pub outside_phases: Option<f64>,
    /// How each estimate saw it, by name.
    pub estimates: Vec<Seen>,
}

impl Explanation {
    /// What values are, in words.
    pub(crate) fn label(&self) -> String {
        if self.values == DERIVED && self.origin != DERIVED {
            let name = one_line(&self.objective.name);
            return format!("derived: of the control's {name}, by the median of paired ratios");
        }
        self.values.to_owned()
    }
}
