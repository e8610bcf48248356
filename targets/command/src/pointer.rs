//! JSON pointers (RFC 6901) with `*` for every element or member.

use planner::definition::command::Reduce;
use serde_json::Value;

/// A pointer that was taken apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pointer {
    text: String,
    steps: Vec<Step>,
    reduce: Option<Reduce>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Step {
    Name(String),
    Every,
}

impl std::fmt::Display for Pointer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

impl Pointer {
    /// Takes a pointer apart. One with `*` needs to know what becomes of several values, another must not.
    pub(crate) fn parse(text: &str, reduce: Option<Reduce>) -> Result<Self, String> {
        let Some(path) = text.strip_prefix('/') else {
            return Err(format!(
                "expected a JSON pointer such as `/a/0/b` or `/*/b`, found `{text}`"
            ));
        };
        let step = |part: &str| match part {
            "*" => Step::Every,
            _ => Step::Name(part.replace("~1", "/").replace("~0", "~")),
        };
        let steps: Vec<Step> = path.split('/').map(step).collect();
        match (steps.contains(&Step::Every), reduce) {
            (true, None) => Err(
                "a pointer with `*` finds several values: expected `reduce = \"sum\"`, \"min\", \"max\" or \"first\""
                    .to_owned(),
            ),
            (false, Some(_)) => Err("a pointer without `*` finds one value: `reduce` has nothing to do".to_owned()),
            _ => Ok(Self {
                text: text.to_owned(),
                steps,
                reduce,
            }),
        }
    }

    /// The number that it finds in `json`.
    pub(crate) fn number(&self, json: &Value) -> Result<f64, String> {
        let mut found = Vec::new();
        walk(json, &self.steps, &mut found)?;
        let first = found.first().copied().ok_or("it finds nothing")?;
        let rest = found.iter().copied();
        Ok(match self.reduce {
            None | Some(Reduce::First) => first,
            Some(Reduce::Sum) => rest.sum(),
            Some(Reduce::Min) => rest.fold(first, f64::min),
            Some(Reduce::Max) => rest.fold(first, f64::max),
        })
    }
}

/// Collects the numbers that these steps lead to.
fn walk(json: &Value, steps: &[Step], found: &mut Vec<f64>) -> Result<(), String> {
    let Some((step, below)) = steps.split_first() else {
        let number = json.as_f64().filter(|number| number.is_finite());
        found.push(number.ok_or_else(|| format!("it finds {}, expected a number", kind(json)))?);
        return Ok(());
    };
    match (step, json) {
        (Step::Every, Value::Array(items)) => items.iter().try_for_each(|item| walk(item, below, found)),
        (Step::Every, Value::Object(members)) => members.values().try_for_each(|item| walk(item, below, found)),
        (Step::Every, _) => Err(format!("it expects a list at its `*`, found {}", kind(json))),
        (Step::Name(name), _) => {
            let next = match json {
                Value::Object(members) => members.get(name),
                Value::Array(items) => name.parse::<usize>().ok().and_then(|index| items.get(index)),
                _ => None,
            };
            let next = next.ok_or_else(|| format!("it finds no `{name}`"))?;
            walk(next, below, found)
        }
    }
}

fn kind(json: &Value) -> &'static str {
    match json {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const JSON: &str = r#"{
        "cycles": 12, "a/b": { "m~n": 1.5 }, "list": [3, 1, 2], "none": [],
        "barriers": [{ "event": 10, "skew": -1 }, { "event": 32, "skew": 4 }],
        "by_name": { "x": { "t": 1 }, "y": { "t": 2 } }, "words": ["a"]
    }"#;

    #[test]
    fn pointers_find_numbers_or_say_why_not() {
        use Reduce::{First, Max, Min, Sum};
        let json: Value = serde_json::from_str(JSON).unwrap();
        let table: [(&str, Option<Reduce>, Result<f64, &str>); 17] = [
            ("/cycles", None, Ok(12.0)),
            ("/a~1b/m~0n", None, Ok(1.5)),
            ("/list/1", None, Ok(1.0)),
            ("/list/*", Some(Sum), Ok(6.0)),
            ("/list/*", Some(Min), Ok(1.0)),
            ("/list/*", Some(Max), Ok(3.0)),
            ("/list/*", Some(First), Ok(3.0)),
            ("/barriers/*/event", Some(Sum), Ok(42.0)),
            ("/barriers/*/skew", Some(Max), Ok(4.0)),
            ("/by_name/*/t", Some(Sum), Ok(3.0)),
            ("/none/*", Some(Sum), Err("it finds nothing")),
            ("/list", None, Err("it finds a list, expected a number")),
            ("/list/7", None, Err("it finds no `7`")),
            ("/no", None, Err("it finds no `no`")),
            ("/words/*", Some(Sum), Err("it finds a text, expected a number")),
            (
                "/cycles/*",
                Some(Sum),
                Err("it expects a list at its `*`, found a number"),
            ),
            ("/cycles/x", None, Err("it finds no `x`")),
        ];
        for (text, reduce, expected) in table {
            let found = Pointer::parse(text, reduce).unwrap().number(&json);
            assert_eq!(found, expected.map_err(str::to_owned), "{text}");
        }
        assert!(Pointer::parse("cycles", None).is_err());
        assert!(Pointer::parse("/*/a", None).is_err());
        assert!(Pointer::parse("/a", Some(Sum)).is_err());
    }
}
