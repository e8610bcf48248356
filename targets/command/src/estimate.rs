//! `[estimates.NAME]`: models that are sums of terms times coefficients.

use std::sync::Arc;

use planner::definition::command::{Direction, EstimateTable};
use planner::expression::{Expression, Formula, Kind};
use planner::{Attributes, Plan, Value, Workload};
use target_api::{Estimate, Estimator, Moment, NoEstimate, OptionError};

use crate::derived::formula;
use crate::intern::intern;

/// A model from a definition.
#[derive(Debug, Clone)]
pub(crate) struct Model {
    name: &'static str,
    about: &'static str,
    unit: &'static str,
    direction: Direction,
    terms: Arc<[Term]>,
    /// Whether some term may have no value.
    may_fail: bool,
}

#[derive(Debug)]
struct Term {
    name: String,
    coefficient: f64,
    formula: Formula,
}

impl Model {
    /// Checks a table.
    pub(crate) fn parse(
        name: &str,
        table: &EstimateTable,
        declared: &[(&str, Kind)],
        unit: &'static str,
        direction: Direction,
    ) -> Result<Self, OptionError> {
        let at = |own: &str| format!("estimates.{name}.{own}");
        let wrong = |key: String, message: String| OptionError { key, message };
        if table.terms.is_empty() {
            return Err(wrong(at("terms"), "expected at least one term".to_owned()));
        }
        let mut terms = Vec::new();
        // What larger values are better of is above zero, and a sum need not be.
        let mut may_fail = direction == Direction::Higher;
        for (term, text) in table.terms.iter() {
            let Some(&coefficient) = table.coefficients.get(term) else {
                let message = format!("term `{term}` has no coefficient: expected `{term} = ...` in `coefficients`");
                return Err(wrong(at(&format!("terms.{term}")), message));
            };
            if !coefficient.is_finite() {
                let message = format!("expected a finite number, found {coefficient}");
                return Err(wrong(at(&format!("coefficients.{term}")), message));
            }
            let formula = formula(&at(&format!("terms.{term}")), text, declared)?;
            may_fail |= Expression::parse(text).is_ok_and(|expression| expression.may_fail());
            terms.push(Term {
                name: term.to_owned(),
                coefficient,
                formula,
            });
        }
        if let Some((other, _)) = table
            .coefficients
            .iter()
            .find(|(own, _)| table.terms.get(own).is_none())
        {
            let message = format!("there is no term `{other}` that this coefficient belongs to");
            return Err(wrong(at(&format!("coefficients.{other}")), message));
        }
        let names: Vec<&str> = table.terms.iter().map(|(term, _)| term).collect();
        let about = table
            .about
            .clone()
            .unwrap_or_else(|| format!("a sum over {}", names.join(", ")));
        Ok(Self {
            name: intern(name),
            about: intern(&about),
            unit,
            direction,
            terms: terms.into(),
            may_fail,
        })
    }

    /// Names of terms with what each contributes, and their sum in the unit of the objective.
    fn parts(&self, plan: &Attributes) -> Result<(Vec<(String, f64)>, f64), NoEstimate> {
        let none = |key: String, message: String| NoEstimate {
            key: Some(key),
            message,
        };
        let table = format!("estimates.{}", self.name);
        let mut parts = Vec::new();
        for term in self.terms.iter() {
            let slots = term.formula.program().slots();
            let values: Vec<&Value> = slots.iter().filter_map(|slot| plan.get(slot)).collect();
            let value = term
                .formula
                .number(&values)
                .map_err(|error| none(format!("{table}.terms.{}", term.name), error.to_string()))?;
            parts.push((term.name.clone(), term.coefficient * value));
        }
        let sum: f64 = parts.iter().map(|(_, part)| part).sum();
        match self.direction {
            _ if !sum.is_finite() => Err(none(table, format!("its sum is {sum}"))),
            Direction::Lower => Ok((parts, sum)),
            Direction::Higher if sum > 0.0 => Ok((Vec::new(), 1.0 / sum)),
            Direction::Higher => Err(none(
                table,
                format!("its sum is {sum}, and what larger values are better of is above zero"),
            )),
        }
    }
}

impl Estimator for Model {
    fn name(&self) -> &'static str {
        self.name
    }

    fn about(&self) -> &'static str {
        self.about
    }

    fn is_partial(&self) -> bool {
        self.may_fail
    }

    fn estimate(&self, _workload: &Workload, plan: &Plan) -> Result<Estimate, NoEstimate> {
        let (parts, value) = self.parts(&plan.attributes)?;
        Ok(Estimate {
            name: self.name.to_owned(),
            value,
            unit: self.unit.to_owned(),
            moment: Moment::Plan,
            parts,
        })
    }
}
