//! What selection asks of this target: free parameters, of which nothing more is known.

use planner::parameters::NoResult;
use planner::{Assignment, Attributes, Refusal, Rules, Space, Workload};

use crate::configured::Configuration;
use crate::place::Place;

impl Rules for Configuration {
    fn space(&self, workload: &Workload) -> Result<Space, Refusal> {
        for (_, line) in self.settings.lines() {
            for (place, _) in line.places() {
                if let Place::Constraint(operation) = place
                    && workload.operations.iter().all(|own| own.name != *operation)
                {
                    let names: Vec<String> = workload
                        .operations
                        .iter()
                        .map(|own| format!("`{}`", own.name))
                        .collect();
                    let has = if names.is_empty() {
                        "none".to_owned()
                    } else {
                        names.join(", ")
                    };
                    let message = format!(
                        "`{{constraint:{operation}}}` names an operation that workload `{}` does not have: it has {has}",
                        workload.name
                    );
                    return Err(Refusal::new("operation", message));
                }
            }
        }
        Ok(self.settings.plans.space.clone())
    }

    fn defaults(&self, _: &Workload) -> Result<Assignment, Refusal> {
        Ok(self.settings.plans.first.clone())
    }

    fn has_defaults(&self) -> bool {
        false
    }

    fn text(&self, _: &Workload, assignment: &Assignment) -> String {
        assignment.words(None)
    }

    fn operation_text(&self, _: &Workload, operation: &str, assignment: &Assignment) -> String {
        assignment.words(Some(operation))
    }

    fn derived(&self, _: &Workload, _: &Assignment) -> Attributes {
        Attributes::new()
    }

    /// Nothing is known of what parameters mean: all geometries are alike, and stand in the order of their text.
    fn proxy(&self, _: &Workload, _: &str, _: &Assignment) -> Option<f64> {
        Some(0.0)
    }

    fn fault(&self) -> Option<NoResult> {
        self.settings.plans.faults.first().cloned()
    }

    fn needs_control(&self) -> bool {
        false
    }
}
