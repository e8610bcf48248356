//! One kernel's price as terms and coefficients.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::error::CostError;
use super::number::Number;
use crate::expression::{Expression, Kind, is_name};

/// How one kernel is priced.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Family {
    /// What it prices, in words.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub about: String,
    /// Name of the kernel in profiles, where it is another than the family's. `objective` is the whole plan: its
    /// arguments are the plan's attributes, and its value is the objective.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel: Option<String>,
    /// What terms may look at.
    pub arguments: Arguments,
    /// Whether no coefficient can be below zero: work that takes time. A fit then looks for none that is.
    #[serde(default = "yes", skip_serializing_if = "is_yes")]
    pub non_negative: bool,
    /// Its terms by name.
    pub terms: BTreeMap<String, Term>,
}

fn yes() -> bool {
    true
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde wants")]
fn is_yes(value: &bool) -> bool {
    *value
}

/// Names of arguments: a list of whole numbers, or a table that says what each holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Arguments {
    /// Whole numbers, by name.
    Whole(Vec<String>),
    /// Name -> `integer`, `float`, `text` or `boolean`.
    Kinds(BTreeMap<String, ArgumentKind>),
}

/// What an argument holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ArgumentKind {
    /// A whole number.
    Integer,
    /// A number.
    Float,
    /// A word.
    Text,
    /// `true` or `false`.
    Boolean,
}

impl From<ArgumentKind> for Kind {
    fn from(kind: ArgumentKind) -> Self {
        match kind {
            ArgumentKind::Integer => Self::Integer,
            ArgumentKind::Float => Self::Float,
            ArgumentKind::Text => Self::Text,
            ArgumentKind::Boolean => Self::Boolean,
        }
    }
}

impl From<Kind> for ArgumentKind {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::Integer => Self::Integer,
            Kind::Float => Self::Float,
            Kind::Text => Self::Text,
            Kind::Boolean => Self::Boolean,
        }
    }
}

impl Arguments {
    /// All names with what they hold, in order.
    #[must_use]
    pub fn kinds(&self) -> Vec<(&str, Kind)> {
        match self {
            Self::Whole(names) => names.iter().map(|name| (name.as_str(), Kind::Integer)).collect(),
            Self::Kinds(kinds) => kinds
                .iter()
                .map(|(name, kind)| (name.as_str(), (*kind).into()))
                .collect(),
        }
    }
}

/// One term: what is counted, and the price of each. In a file `{ of = "ceil_div(n, 48)", cycles = 54 }`: the key of the
/// coefficient is its unit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "TermForm", into = "TermForm")]
pub struct Term {
    /// What is counted, as an expression over the arguments.
    pub of: String,
    /// Price of each.
    pub coefficient: Number,
    /// Unit of the price.
    pub unit: String,
    /// Whether the coefficient is known for sure (from a data sheet, say): a fit takes it as it is.
    pub known: bool,
}

#[derive(Serialize, Deserialize)]
struct TermForm {
    of: String,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    known: bool,
    #[serde(flatten)]
    coefficient: BTreeMap<String, Number>,
}

impl TryFrom<TermForm> for Term {
    type Error = String;

    fn try_from(form: TermForm) -> Result<Self, String> {
        let mut all = form.coefficient.into_iter();
        let (Some((unit, coefficient)), None) = (all.next(), all.next()) else {
            return Err(
                "a term has `of` and one coefficient, whose key is its unit: `{ of = \"rows\", cycles = 4 }`"
                    .to_owned(),
            );
        };
        Ok(Self {
            of: form.of,
            coefficient,
            unit,
            known: form.known,
        })
    }
}

impl From<Term> for TermForm {
    fn from(term: Term) -> Self {
        Self {
            of: term.of,
            known: term.known,
            coefficient: BTreeMap::from([(term.unit, term.coefficient)]),
        }
    }
}

impl Family {
    /// Unit of its price; empty only for a family without terms, which no table that was checked has.
    #[must_use]
    pub fn unit(&self) -> &str {
        self.terms.values().next().map_or("", |term| term.unit.as_str())
    }

    /// Name of its kernel in profiles, for a family called `name`.
    #[must_use]
    pub fn kernel<'a>(&'a self, name: &'a str) -> &'a str {
        self.kernel.as_deref().unwrap_or(name)
    }

    /// Checks it; `path` is its name.
    pub(super) fn check(&self, path: &str) -> Result<(), CostError> {
        let arguments = self.arguments.kinds();
        for (at, (name, _)) in arguments.iter().enumerate() {
            let key = format!("{path}.arguments");
            if !is_name(name) {
                return Err(CostError::key(
                    key,
                    format!("`{name}` can't be a name: expected a word such as `rows`"),
                ));
            }
            if arguments[..at].iter().any(|(other, _)| other == name) {
                return Err(CostError::key(key, format!("`{name}` stands there twice")));
            }
        }
        if self.terms.is_empty() {
            return Err(CostError::key(format!("{path}.terms"), "expected at least one term"));
        }
        let unit = self.unit();
        for (name, term) in &self.terms {
            let at = format!("{path}.terms.{name}");
            if term.unit != unit {
                let message = format!(
                    "its unit is `{}`, and that of other terms is `{unit}`: expected one",
                    term.unit
                );
                return Err(CostError::key(at, message));
            }
            term.formula(path, name, &arguments)?;
        }
        Ok(())
    }
}

impl Term {
    /// It, parsed and checked against these arguments. `path` and `name` are its family and its own name.
    pub(super) fn formula(
        &self,
        path: &str,
        name: &str,
        arguments: &[(&str, Kind)],
    ) -> Result<(Expression, crate::expression::Formula), CostError> {
        let wrong = |error| CostError::Expression {
            key: format!("{path}.terms.{name}.of"),
            text: self.of.clone(),
            error,
        };
        let slots: Vec<&str> = arguments.iter().map(|(name, _)| *name).collect();
        let expression = Expression::parse(&self.of).map_err(wrong)?;
        let formula = expression.formula(arguments, &slots).map_err(wrong)?;
        Ok((expression, formula))
    }
}
