//! Geometries of matrix products in the text form `OP:RxCxK:RRxRC:COLUMNS:MEMORY:ORIENTATION:REDUCTION:LOCAL`.

use planner::{Attributes, Domain, Space, Value};

/// Attributes that an operation must have.
const NEEDED: [&str; 4] = ["rows", "columns", "inner", "width"];

/// Attributes that it may have, and what is written without them.
const WORDS: [(&str, &str); 4] = [
    ("memory", "interleaved"),
    ("orientation", "normal"),
    ("reduction", "complete"),
    ("local", "direct"),
];

/// The text of the operation at `index` in its workload. `OP.result` is `distributed` (`Kx1`, the default), `collapsed`
/// (`1x1`) or the factors themselves.
pub(crate) fn text(index: usize, operation: &str, plan: &Attributes) -> String {
    let of = |own: &str| plan.get(&format!("{operation}.{own}")).map(Value::to_string);
    let [rows, columns, inner, width] = NEEDED.map(|own| of(own).unwrap_or_default());
    let result = match of("result").as_deref() {
        None | Some("distributed") => format!("{inner}x1"),
        Some("collapsed") => "1x1".to_owned(),
        Some(factors) => factors.to_owned(),
    };
    let words = WORDS.map(|(own, usual)| of(own).unwrap_or_else(|| usual.to_owned()));
    format!("{index}:{rows}x{columns}x{inner}:{result}:{width}:{}", words.join(":"))
}

/// Whether a parameter is part of an operation's text.
pub(crate) fn uses(operation: &str, parameter: &str) -> bool {
    let own = parameter
        .strip_prefix(operation)
        .and_then(|rest| rest.strip_prefix('.'));
    own.is_some_and(|own| own == "result" || NEEDED.contains(&own) || WORDS.iter().any(|(word, _)| *word == own))
}

/// Why parameters can't be written so, if they can't.
pub(crate) fn check(operation: &str, space: &Space) -> Result<(), String> {
    for own in NEEDED {
        let name = format!("{operation}.{own}");
        let Some(parameter) = space.parameter(&name) else {
            return Err(format!(
                "the text of operation `{operation}` needs parameters \"{operation}.rows\", \"{operation}.columns\", \
                 \"{operation}.inner\" and \"{operation}.width\"; `{name}` is missing"
            ));
        };
        let whole = match &parameter.domain {
            Domain::Range { start, .. } => *start > 0,
            Domain::List(values) => values.iter().all(|value| value.as_integer().is_some_and(|n| n > 0)),
        };
        if !whole {
            return Err(format!(
                "`{name}` must be whole numbers above zero, found {}",
                parameter.domain.words()
            ));
        }
    }
    for own in WORDS.map(|(own, _)| own).into_iter().chain(["result"]) {
        let name = format!("{operation}.{own}");
        let Some(parameter) = space.parameter(&name) else {
            continue;
        };
        let word = |value: &Value| {
            let text = value.as_text().unwrap_or_default();
            let plain = !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
            plain && (own != "result" || is_result(text))
        };
        let fine = match &parameter.domain {
            Domain::List(values) => values.iter().all(word),
            Domain::Range { .. } => false,
        };
        if !fine {
            let expected = if own == "result" {
                "`distributed`, `collapsed` or factors such as `5x3`"
            } else {
                "words of letters, digits and `-`"
            };
            return Err(format!(
                "`{name}` must be {expected}, found {}",
                parameter.domain.words()
            ));
        }
    }
    Ok(())
}

fn is_result(text: &str) -> bool {
    let factors = || {
        let (rows, columns) = text.split_once('x')?;
        Some(rows.parse::<u32>().ok()? > 0 && columns.parse::<u32>().ok()? > 0)
    };
    matches!(text, "distributed" | "collapsed") || factors() == Some(true)
}
