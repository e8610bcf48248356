//! The space of a definition's free parameters.

use planner::definition::command::CommandTables;
use planner::expression::Kind;
use planner::parameters::{Faults, ParameterError, ParameterTable, Parameters};
use planner::{Assignment, Space};
use target_api::OptionError;

/// Free parameters, their space, and one legal plan.
#[derive(Debug, Clone)]
pub(crate) struct PlanSpace {
    pub(crate) space: Space,
    /// The first legal plan, in the order of the space.
    pub(crate) first: Assignment,
    /// What left plans out that no constraint excludes.
    pub(crate) faults: Faults,
}

/// The parameters of a definition. Its reader has checked them already, with better places.
pub(crate) fn parameters(tables: &CommandTables) -> Result<Parameters, OptionError> {
    Parameters::new(&tables.parameters).map_err(|error: ParameterError| OptionError {
        key: "parameters".to_owned(),
        message: error.to_string(),
    })
}

/// Names with their kinds.
pub(crate) fn declared(parameters: &Parameters) -> Vec<(&str, Kind)> {
    parameters.declared()
}

impl PlanSpace {
    /// The space; an error where nothing is left, with what leaves nothing.
    pub(crate) fn new(parameters: &Parameters, table: &ParameterTable) -> Result<Self, OptionError> {
        let (space, faults) = parameters.space();
        let wrong = |key: String, message: String| OptionError { key, message };
        let first = first(&space).map_err(|message| wrong("parameters".to_owned(), message))?;
        if let Some(first) = first {
            return Ok(Self { space, first, faults });
        }
        for number in 1..=table.constraints.len() {
            let some = ParameterTable {
                parameters: table.parameters.clone(),
                constraints: table.constraints.iter().take(number).cloned().collect(),
            };
            let left = Parameters::new(&some).ok().map(|some| first_of(&some));
            if left.is_some_and(|left| left.is_none()) {
                let because = faults
                    .first()
                    .map(|fault| format!(": {}", fault.message))
                    .unwrap_or_default();
                let message = if number == 1 {
                    format!("no plan is left: nothing fulfils this constraint{because}")
                } else {
                    format!("no plan is left: nothing fulfils this constraint and those before it{because}")
                };
                return Err(wrong(format!("parameters.constraints[{}]", number - 1), message));
            }
        }
        Err(wrong("parameters".to_owned(), "no plan is left".to_owned()))
    }
}

fn first_of(parameters: &Parameters) -> Option<Assignment> {
    first(&parameters.space().0).ok().flatten()
}

fn first(space: &Space) -> Result<Option<Assignment>, String> {
    let mut walk = space.walk().map_err(|error| error.to_string())?;
    Ok(walk.next())
}
