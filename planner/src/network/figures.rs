//! Figures that a network file asks for: sums over layers, formulas, and published values beside them.

use serde::Serialize;

use super::document::{Document, FigureEntry};
use super::published::{Agreement, Digits};
use super::scope::Scope;
use super::select;
use super::tree::{Found, Network};
use crate::definition::{DefinitionError, Located, Source};
use crate::expression::is_name;
use crate::value::Value;

/// What can be summed.
const SUMS: [&str; 7] = ["macs", "parameters", "weights", "biases", "norms", "outputs", "count"];

/// A figure's value.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(untagged)]
pub enum FigureValue {
    /// A count.
    Whole(i64),
    /// Anything else.
    Number(f64),
}

impl FigureValue {
    /// As a float.
    #[must_use]
    pub fn number(self) -> f64 {
        match self {
            Self::Whole(n) => n as f64,
            Self::Number(x) => x,
        }
    }
}

/// One figure. Its label is always `derived`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Figure {
    /// What it is.
    pub name: String,
    /// The name that formulas know it by.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Its value.
    pub value: FigureValue,
    /// `MAC`, `B`, `GB`.
    pub unit: String,
    /// `derived`.
    pub label: &'static str,
    /// What from: the formula, or what was summed where.
    pub from: String,
    /// What stands elsewhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub published: Option<Published>,
}

/// A published value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Published {
    /// As written there.
    pub value: String,
    /// Where.
    pub at: String,
    /// How it stands to ours.
    pub agreement: Agreement,
    /// Why they differ.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// All figures of a file, in its order; `scope` holds the parameters.
pub(super) fn figures(
    source: &Source,
    document: &Document,
    network: &Network,
    mut scope: Scope,
) -> Result<Vec<Figure>, DefinitionError> {
    let walked: Vec<Found<'_>> = network.models.iter().flat_map(super::tree::Model::walk).collect();
    let mut figures = Vec::new();
    for entry in &document.figure {
        let figure = figure(source, document, entry, &walked, &scope)?;
        if let Some(id) = &entry.id {
            if !is_name(id) || scope.get(id).is_some() {
                let message = format!("`id`: `{}` is no word, or stands for something already", id.value);
                return Err(source.error(&id.span, message));
            }
            let value = match figure.value {
                FigureValue::Whole(n) => Value::Integer(n),
                FigureValue::Number(x) => Value::Float(x),
            };
            scope.set(id, value);
        }
        figures.push(figure);
    }
    Ok(figures)
}

fn figure(
    source: &Source,
    document: &Document,
    entry: &Located<FigureEntry>,
    walked: &[Found<'_>],
    scope: &Scope,
) -> Result<Figure, DefinitionError> {
    let (value, from) = match (&entry.sum, &entry.formula) {
        (Some(sum), None) => (sum_of(source, entry, sum, walked)?, sum_words(entry, sum)),
        (None, Some(formula)) => {
            let value = scope.expression(source, "formula", formula, &formula.span)?;
            let value = match value {
                Value::Integer(n) => FigureValue::Whole(n),
                Value::Float(x) => FigureValue::Number(x),
                other => {
                    let message = format!("`formula`: expected a number, it gives the {} {other}", other.kind());
                    return Err(source.error(&formula.span, message));
                }
            };
            (value, formula.value.clone())
        }
        _ => {
            let message = "a figure needs either `sum` (with `at`) or `formula`";
            return Err(source.error(&entry.name.span, message));
        }
    };
    Ok(Figure {
        name: entry.name.value.clone(),
        id: entry.id.as_ref().map(|id| id.value.clone()),
        value,
        unit: entry.unit.clone(),
        label: "derived",
        from,
        published: published(source, document, entry, value)?,
    })
}

fn published(
    source: &Source,
    document: &Document,
    entry: &FigureEntry,
    value: FigureValue,
) -> Result<Option<Published>, DefinitionError> {
    let Some(text) = &entry.published else {
        return Ok(None);
    };
    let digits = Digits::parse(text).ok_or_else(|| {
        let message = format!(
            "`published`: expected a number as it was printed, in quotes, found `{}`",
            text.value
        );
        source.error(&text.span, message)
    })?;
    let mut at = document.source.clone().unwrap_or_default();
    if let Some(section) = &entry.section {
        at = format!("{at}, section {section}");
    }
    if at.is_empty() {
        let message = "a published value needs a place: expected `source` of the network, or `section`";
        return Err(source.error(&text.span, message));
    }
    Ok(Some(Published {
        value: text.value.clone(),
        at,
        agreement: digits.agreement(value.number()),
        reason: entry.reason.clone(),
    }))
}

fn sum_words(entry: &FigureEntry, sum: &Located<String>) -> String {
    let at = entry.at.as_ref().map_or("**", |at| at.as_str());
    let op = entry
        .op
        .as_ref()
        .map_or_else(String::new, |op| format!(", op {}", op.value));
    let template = entry
        .template
        .as_ref()
        .map_or_else(String::new, |name| format!(", template {}", name.value));
    let condition = entry
        .condition
        .as_ref()
        .map_or_else(String::new, |text| format!(", where {}", text.value));
    format!("sum of {} at {at}{op}{template}{condition}", sum.value)
}

fn sum_of(
    source: &Source,
    entry: &FigureEntry,
    sum: &Located<String>,
    walked: &[Found<'_>],
) -> Result<FigureValue, DefinitionError> {
    if !SUMS.contains(&sum.as_str()) {
        let known: Vec<String> = SUMS.iter().map(|sum| format!("`{sum}`")).collect();
        return Err(source.error(
            &sum.span,
            format!("`sum`: expected {}, found `{}`", known.join(", "), sum.value),
        ));
    }
    let at = entry.at.as_ref().map_or("**", |at| at.as_str());
    // Uses of a template are counted where nothing says that layers are meant.
    let groups = sum.value == "count" && entry.template.is_some() && entry.op.is_none();
    let mut total: u128 = 0;
    let mut any = false;
    for found in walked.iter().filter(|found| select::matches(at, &found.path)) {
        let template = entry.template.as_ref().map(|name| name.as_str());
        if groups {
            let own = matches!(&found.node.kind, super::tree::NodeKind::Group { template: Some(own), .. }
                if Some(own.as_str()) == template);
            if own {
                any = true;
                total = total.saturating_add(found.times);
            }
            continue;
        }
        let Some(layer) = found.layer() else { continue };
        let wanted_op = entry.op.as_ref().is_none_or(|op| op.value == layer.op());
        let wanted_place = template.is_none_or(|template| select::inside(found, template));
        if !wanted_op || !wanted_place {
            continue;
        }
        if let Some(condition) = &entry.condition {
            let mut scope = Scope::default();
            for (name, value) in layer.fields() {
                scope.set(&name, value);
            }
            let value = scope.expression(source, "where", condition, &condition.span)?;
            if value != Value::Boolean(true) {
                any |= value == Value::Boolean(false);
                continue;
            }
        }
        any = true;
        let parameters = layer.parameters();
        let own = match sum.value.as_str() {
            "macs" => layer.macs(),
            "parameters" => parameters.total(),
            "weights" => parameters.weights,
            "biases" => parameters.biases,
            "norms" => parameters.norms,
            "outputs" => layer.outputs(),
            _ => 1,
        };
        total = total.saturating_add(own.saturating_mul(found.times));
    }
    let span = entry.at.as_ref().map_or(&sum.span, |at| &at.span);
    if !any {
        let message = format!("nothing in the network is meant by this: {}", sum_words(entry, sum));
        return Err(source
            .error(span, message)
            .help("`layout-sweep inventory NET` shows the paths"));
    }
    let whole = i64::try_from(total);
    whole
        .map(FigureValue::Whole)
        .map_err(|_| source.error(span, format!("the sum {total} does not fit into 64 bits")))
}
