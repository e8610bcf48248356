//! Every key of a definition for `target = "command"`, with its meaning: what the types say of themselves.

use schemars::{JsonSchema, SchemaGenerator};
use serde_json::Value;

use super::result::{Number, ResultTable};
use super::tables::{Command, CommandTimeouts, DerivedTable, EstimateTable, Report};
use crate::parameters::ParameterTable;

/// Paths of keys (`NAME` stands for any name) with their meanings, table by table, by name within each. They come from the
/// comments of the very types that definitions are read into, as the JSON schema does.
#[must_use]
pub fn keys() -> Vec<(String, String)> {
    let mut keys = Vec::new();
    keys.extend(of::<Command>("command"));
    keys.extend(of::<CommandTimeouts>("command.timeout"));
    keys.extend(of::<Report>("command.report[]"));
    keys.extend(of::<ResultTable>("command.result"));
    keys.extend(of::<Number>("command.result.NAME"));
    keys.extend(of::<DerivedTable>("derived.NAME"));
    keys.extend(of::<EstimateTable>("estimates.NAME"));
    let (about, constraints) = described::<ParameterTable>();
    keys.push(("parameters.NAME".to_owned(), about));
    keys.extend(
        constraints
            .into_iter()
            .map(|(key, about)| (format!("parameters.{key}"), about)),
    );
    keys
}

fn of<T: JsonSchema>(table: &str) -> Vec<(String, String)> {
    let (_, keys) = described::<T>();
    keys.into_iter()
        .map(|(key, about)| (format!("{table}.{key}"), about))
        .collect()
}

/// What a type says of itself and of each of its keys.
fn described<T: JsonSchema>() -> (String, Vec<(String, String)>) {
    let schema = SchemaGenerator::default().into_root_schema_for::<T>();
    let schema = schema.as_value();
    let words = |value: &Value| {
        let text = value.get("description").and_then(Value::as_str).unwrap_or_default();
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let required = |key: &str| {
        let list = schema.get("required").and_then(Value::as_array);
        list.is_some_and(|list| list.iter().any(|name| name == key))
    };
    let properties = schema.get("properties").and_then(Value::as_object);
    let keys = properties.into_iter().flatten().map(|(key, value)| {
        let needed = if required(key) { " Needed." } else { "" };
        (key.clone(), format!("{}{needed}", words(value)))
    });
    (words(schema), keys.collect())
}

#[cfg(test)]
mod tests {
    use super::keys;

    #[test]
    fn every_key_has_a_meaning() {
        let keys = keys();
        for name in [
            "command.run",
            "command.timeout.check",
            "command.report[].name",
            "command.result.pass",
            "command.result.direction",
            "command.result.NAME.pointer",
            "command.result.NAME.moment",
            "derived.NAME.formula",
            "estimates.NAME.terms",
            "parameters.NAME",
            "parameters.constraints",
        ] {
            assert!(keys.iter().any(|(key, _)| key == name), "{name}: {keys:?}");
        }
        for (key, about) in &keys {
            assert!(about.len() > 10, "{key}: {about:?}");
        }
        let needed: Vec<&str> = keys
            .iter()
            .filter(|(_, about)| about.ends_with(" Needed."))
            .map(|(key, _)| key.as_str())
            .collect();
        for key in [
            "command.run",
            "command.result",
            "command.result.objective",
            "command.report[].run",
        ] {
            assert!(needed.contains(&key), "{key}: {needed:?}");
        }
    }
}
