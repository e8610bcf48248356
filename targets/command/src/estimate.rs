//! `[estimates.NAME]`: models that are sums of terms times coefficients.

use std::sync::Arc;

use planner::definition::command::{Direction, EstimateTable};
use planner::expression::{Formula, Kind};
use planner::parameters::Faults;
use planner::{Attributes, Constraint, Plan, Refusal, Space, Value, Workload};
use target_api::{Estimate, Estimator, Moment, OptionError};

use crate::derived::formula;
use crate::intern::intern;

/// Rule of a refusal of plans for which a model predicts nothing.
const RULE: &str = "estimate";

/// A model from a definition.
#[derive(Debug, Clone)]
pub(crate) struct Model {
    name: &'static str,
    about: &'static str,
    unit: &'static str,
    direction: Direction,
    terms: Arc<[Term]>,
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
        for (term, text) in table.terms.iter() {
            let Some(&coefficient) = table.coefficients.get(term) else {
                let message = format!("term `{term}` has no coefficient: expected `{term} = ...` in `coefficients`");
                return Err(wrong(at(&format!("terms.{term}")), message));
            };
            if !coefficient.is_finite() {
                let message = format!("expected a finite number, found {coefficient}");
                return Err(wrong(at(&format!("coefficients.{term}")), message));
            }
            terms.push(Term {
                name: term.to_owned(),
                coefficient,
                formula: formula(&at(&format!("terms.{term}")), text, declared)?,
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
        })
    }

    /// What refuses plans for which it predicts nothing (a division by zero, say): a prediction is never made up.
    /// `None` where that can't happen.
    pub(crate) fn constraint(&self, space: &Space, faults: &Faults) -> Option<Constraint> {
        let may_fail = self.direction == Direction::Higher
            || self.terms.iter().any(|term| {
                let text = term.formula.program().text();
                planner::expression::Expression::parse(text).is_ok_and(|expression| expression.may_fail())
            });
        if !may_fail {
            return None;
        }
        let mut names: Vec<String> = Vec::new();
        for slot in self.terms.iter().flat_map(|term| term.formula.program().slots()) {
            if !names.contains(slot) {
                names.push(slot.clone());
            }
        }
        let scope = names.iter().filter_map(|name| space.position(name)).collect();
        let (model, faults) = (self.clone(), faults.clone());
        Some(Constraint {
            rule: RULE,
            scope,
            check: Arc::new(move |values: &[&Value]| {
                let named = names.iter().cloned().zip(values.iter().map(|value| (*value).clone()));
                let judged = model.judge(&named.collect());
                if let Err(refusal) = &judged {
                    faults.remember(|| refusal.message.clone());
                }
                judged
            }),
        })
    }

    /// Whether it has a value for a plan. Overflows are only found here: they are too rare to look for them in a space.
    pub(crate) fn judge(&self, plan: &Attributes) -> Result<(), Refusal> {
        let refused = |message| Refusal::new(RULE, format!("estimate `{}` has no value: {message}", self.name));
        self.parts(plan).map(|_| ()).map_err(refused)
    }

    /// Names of terms with what each contributes, and their sum in the unit of the objective.
    fn parts(&self, plan: &Attributes) -> Result<(Vec<(String, f64)>, f64), String> {
        let mut parts = Vec::new();
        for term in self.terms.iter() {
            let slots = term.formula.program().slots();
            let values: Vec<&Value> = slots.iter().filter_map(|slot| plan.get(slot)).collect();
            let value = term.formula.number(&values).map_err(|error| error.to_string())?;
            parts.push((term.name.clone(), term.coefficient * value));
        }
        let sum: f64 = parts.iter().map(|(_, part)| part).sum();
        match self.direction {
            _ if !sum.is_finite() => Err(format!("its sum is {sum}")),
            Direction::Lower => Ok((parts, sum)),
            Direction::Higher if sum > 0.0 => Ok((Vec::new(), 1.0 / sum)),
            Direction::Higher => Err(format!(
                "its sum is {sum}, and what larger values are better of is above zero"
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

    fn estimate(&self, _workload: &Workload, plan: &Plan) -> Estimate {
        // `Model::judge` was asked before this plan became a case.
        let (parts, value) = self.parts(&plan.attributes).unwrap_or((Vec::new(), f64::NAN));
        Estimate {
            name: self.name.to_owned(),
            value,
            unit: self.unit.to_owned(),
            moment: Moment::Plan,
            parts,
        }
    }
}
