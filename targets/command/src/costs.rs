//! The models of a definition as a cost table, and back.

use std::collections::BTreeMap;

use planner::costs::{Arguments, CostTable, Family, Number, Term};
use planner::definition::command::Direction;
use planner::expression::Expression;
use target_api::{OptionError, Options};

use crate::plan_space::{declared, parameters};
use crate::settings::{Settings, tables};

/// The kernel that is a whole plan.
const OBJECTIVE: &str = "objective";

/// One family for each `[estimates.NAME]`: it prices whole plans. `None` without estimates, and where larger values are
/// better: then a model's sum is not the objective.
pub(crate) fn table(settings: &Settings) -> Option<CostTable> {
    if settings.reading.direction == Direction::Higher || settings.tables.estimates.is_empty() {
        return None;
    }
    let free = parameters(&settings.tables).ok()?;
    let kinds = declared(&free);
    let unit = settings.reading.compared().1;
    let mut families = BTreeMap::new();
    for (name, table) in settings.tables.estimates.iter() {
        let mut used = BTreeMap::new();
        let mut terms = BTreeMap::new();
        for (term, text) in table.terms.iter() {
            let expression = Expression::parse(text).ok()?;
            for name in expression.names() {
                let (_, kind) = kinds.iter().find(|(own, _)| *own == name)?;
                used.insert(name.to_owned(), (*kind).into());
            }
            let term_of = Term {
                of: text.to_owned(),
                coefficient: Number::new(*table.coefficients.get(term)?)?,
                unit: unit.clone(),
                known: false,
            };
            terms.insert(term.to_owned(), term_of);
        }
        let family = Family {
            about: table.about.clone().unwrap_or_default(),
            kernel: Some(OBJECTIVE.to_owned()),
            arguments: Arguments::Kinds(used),
            non_negative: true,
            terms,
        };
        families.insert(name.to_owned(), family);
    }
    Some(CostTable {
        name: "definition".to_owned(),
        about: "the models of the definition".to_owned(),
        unpublished: Vec::new(),
        provenance: None,
        families,
    })
}

/// The options with terms and coefficients of `[estimates.*]` from the table: families of the same name.
pub(crate) fn with(options: &Options, costs: &CostTable) -> Result<Options, OptionError> {
    let wrong = |key: String, message: String| OptionError { key, message };
    let known = tables(options)?.estimates;
    let mut options = options.clone();
    let mut replaced = 0;
    for (name, family) in &costs.families {
        if known.get(name).is_none() {
            continue;
        }
        let own = options
            .get_mut("estimates")
            .and_then(|estimates| estimates.get_mut(name))
            .and_then(toml::Value::as_table_mut);
        let Some(own) = own else { continue };
        let (mut terms, mut coefficients) = (toml::Table::new(), toml::Table::new());
        for (term, of) in &family.terms {
            terms.insert(term.clone(), toml::Value::String(of.of.clone()));
            coefficients.insert(term.clone(), toml::Value::Float(of.coefficient.value()));
        }
        own.insert("terms".to_owned(), toml::Value::Table(terms));
        own.insert("coefficients".to_owned(), toml::Value::Table(coefficients));
        replaced += 1;
    }
    if replaced == 0 {
        let families: Vec<String> = costs.families.keys().map(|name| format!("`{name}`")).collect();
        let estimates: Vec<String> = known.iter().map(|(name, _)| format!("`{name}`")).collect();
        let estimates = if estimates.is_empty() {
            "none".to_owned()
        } else {
            estimates.join(", ")
        };
        let message = format!(
            "no family is called as an estimate of the definition: found {}, the estimates are {estimates}",
            families.join(", ")
        );
        return Err(wrong("estimates".to_owned(), message));
    }
    Settings::new(&options, BTreeMap::new())?;
    Ok(options)
}
