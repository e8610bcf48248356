//! One plan as a TOML file.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use serde::Deserialize;

use super::context::admitted;
use super::explicit::unsaid;
use super::names::operation_of;
use crate::definition::{DefinitionError, Located, Named, Source};
use crate::space::{Assignment, Space};
use crate::value::Value;

/// One operation's values.
#[derive(Deserialize)]
#[serde(transparent)]
struct Operation(Named<Value>);

/// Reads a plan: `"up.height" = 6`, or `height = 6` under `[up]`. What is not given is taken from `defaults`,
/// or an error if the plan must be `whole`. Unknown names are errors; whether the plan is legal is another question
/// ([`Space::judge`]). `path` is only shown.
pub fn assignment_from_toml(
    path: &str,
    text: &str,
    space: &Space,
    defaults: &Assignment,
    whole: bool,
) -> Result<Assignment, DefinitionError> {
    let source = Source {
        path: path.to_owned(),
        text: text.to_owned(),
    };
    let wrong = |error: &toml::de::Error| source.error(&error.span().unwrap_or(0..0), error.message());
    let root = toml::de::DeTable::parse(text).map_err(|error| wrong(&error))?;
    let mut plan = defaults.clone();
    let mut given = BTreeSet::new();
    let mut set = |name: &str, span: &std::ops::Range<usize>, value: &Value| {
        let Some(parameter) = space.parameter(name) else {
            let message = format!("no attribute is called `{name}`: expected {}", space.names());
            return Err(source.error(span, message));
        };
        plan.set(name, admitted(&parameter.domain, value));
        given.extend(space.position(name));
        Ok(())
    };
    for (key, value) in root.into_inner() {
        let name = key.get_ref();
        let span = value.span();
        if let toml::de::DeValue::Table(table) = value.get_ref() {
            let table = toml::Spanned::new(span, table.clone());
            let Operation(attributes) =
                Operation::deserialize(toml::Deserializer::from(table)).map_err(|error| wrong(&error))?;
            for (own, value) in attributes.iter() {
                set(&format!("{name}.{}", own.value), &own.span, value)?;
            }
        } else {
            let value: Located<Value> =
                Located::deserialize(toml::de::ValueDeserializer::from(value)).map_err(|error| wrong(&error))?;
            set(name, &key.span(), &value)?;
        }
    }
    let missing = unsaid(space, |at| given.contains(&at));
    if whole && !missing.is_empty() {
        let message = format!("the plan leaves out {}", missing.join(" and "));
        return Err(source.error(&(0..0), message));
    }
    Ok(plan)
}

/// Writes a plan as [`assignment_from_toml`] reads it: attributes of the whole plan, then a table for each operation.
#[must_use]
pub fn plan_to_toml(plan: &Assignment) -> String {
    let mut whole = String::new();
    let mut order: Vec<&str> = Vec::new();
    let mut tables: BTreeMap<&str, String> = BTreeMap::new();
    for (name, value) in plan.iter() {
        let value = match value {
            Value::Text(word) => toml::Value::String(word.clone()).to_string(),
            Value::Float(x) => toml::Value::Float(*x).to_string(),
            other => other.to_string(),
        };
        let (into, own) = match operation_of(name) {
            None => (&mut whole, name),
            Some(operation) => {
                if !order.contains(&operation) {
                    order.push(operation);
                }
                (tables.entry(operation).or_default(), &name[operation.len() + 1..])
            }
        };
        // Writing to a string can't fail.
        _ = writeln!(into, "{} = {value}", key(own));
    }
    for operation in order {
        let table = tables.remove(operation).unwrap_or_default();
        let gap = if whole.is_empty() { "" } else { "\n" };
        _ = write!(whole, "{gap}[{}]\n{table}", key(operation));
    }
    whole
}

fn key(name: &str) -> String {
    let bare = !name.is_empty()
        && name
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
    if bare {
        name.to_owned()
    } else {
        toml::Value::String(name.to_owned()).to_string()
    }
}
