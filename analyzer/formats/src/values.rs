//! Lists of values, which T1 files write as Python expressions: `[1, 2, 4] + list(range(32, 1024+1, 32))`,
//! `[2**i for i in range(6)]`. Read with the planner's own expressions; nothing is given to an interpreter.

use planner::Value;
use planner::expression::{Expression, Kind};

/// Values at most.
const MOST: i64 = 1_000_000;

/// The values that `text` lists.
pub(crate) fn parse(text: &str) -> Result<Vec<Value>, String> {
    let mut values = Vec::new();
    for term in split(text, '+')? {
        values.extend(list(term.trim())?);
    }
    Ok(values)
}

fn list(text: &str) -> Result<Vec<Value>, String> {
    if let Some(inner) = text.strip_prefix("list(").and_then(|rest| rest.strip_suffix(')')) {
        return list(inner.trim());
    }
    if text.starts_with("range(") {
        return Ok(range(text)?.into_iter().map(Value::Integer).collect());
    }
    let inner = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    let inner = inner.or_else(|| text.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')));
    let Some(inner) = inner else {
        return Err(format!("expected a list, a range or a sum of them, found `{text}`"));
    };
    if let Some((body, name, over)) = comprehension(inner) {
        let failed = |error: &dyn std::fmt::Display| error.to_string();
        let expression = Expression::parse(body).map_err(|error| failed(&error))?;
        let program = expression
            .check_in(&[(name, Kind::Integer)], &[name])
            .map_err(|error| failed(&error))?;
        let each = range(over)?.into_iter().map(|i| {
            let i = Value::Integer(i);
            program.evaluate(&[&i]).map_err(|error| failed(&error))
        });
        return each.collect();
    }
    let items = split(inner, ',')?;
    let items = items.into_iter().map(str::trim).filter(|item| !item.is_empty());
    items.map(constant).collect()
}

/// `EXPRESSION for NAME in RANGE`.
fn comprehension(text: &str) -> Option<(&str, &str, &str)> {
    let (body, rest) = text.split_once(" for ")?;
    let (name, over) = rest.split_once(" in ")?;
    Some((body.trim(), name.trim(), over.trim()))
}

fn range(text: &str) -> Result<Vec<i64>, String> {
    let inner = text.strip_prefix("range(").and_then(|rest| rest.strip_suffix(')'));
    let inner = inner.ok_or_else(|| format!("expected `range(...)`, found `{text}`"))?;
    let bounds = split(inner, ',')?.into_iter().map(|bound| {
        let value = constant(bound.trim())?;
        value
            .as_integer()
            .ok_or_else(|| format!("`{bound}` is no whole number"))
    });
    let bounds = bounds.collect::<Result<Vec<i64>, String>>()?;
    let (start, stop, step) = match bounds.as_slice() {
        [stop] => (0, *stop, 1),
        [start, stop] => (*start, *stop, 1),
        [start, stop, step] if *step != 0 => (*start, *stop, *step),
        _ => return Err(format!("`{text}` is no range")),
    };
    if stop.abs_diff(start) / step.unsigned_abs() > MOST.unsigned_abs() {
        return Err(format!("`{text}` has more than {MOST} values"));
    }
    let mut values = Vec::new();
    let mut at = start;
    while (step > 0 && at < stop) || (step < 0 && at > stop) {
        values.push(at);
        at = at.saturating_add(step);
    }
    Ok(values)
}

fn constant(text: &str) -> Result<Value, String> {
    let failed = |error: &dyn std::fmt::Display| error.to_string();
    let expression = Expression::parse(text).map_err(|error| failed(&error))?;
    let program = expression.check(&[]).map_err(|error| failed(&error))?;
    program.evaluate(&[]).map_err(|error| failed(&error))
}

/// The parts of `text` between separators that stand outside of brackets and quotes.
fn split(text: &str, separator: char) -> Result<Vec<&str>, String> {
    let (mut parts, mut start, mut depth) = (Vec::new(), 0, 0_i32);
    let mut quote = None;
    for (at, c) in text.char_indices() {
        if let Some(open) = quote {
            quote = (c != open).then_some(open);
            continue;
        }
        match c {
            '"' | '\'' => quote = Some(c),
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            c if c == separator && depth == 0 => {
                parts.push(&text[start..at]);
                start = at + c.len_utf8();
            }
            _ => {}
        }
    }
    if depth != 0 || quote.is_some() {
        return Err(format!("a bracket or quote is not closed in `{text}`"));
    }
    parts.push(&text[start..]);
    Ok(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        let values = parse(text).unwrap();
        values.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn as_files_write_them() {
        for (text, expected) in [
            (
                "[1, 2, 4, 8, 16] + list(range(32, 128+1, 32))",
                "1 2 4 8 16 32 64 96 128",
            ),
            ("[2**i for i in range(0, 6)]", "1 2 4 8 16 32"),
            ("[1] + [2*i for i in range(1,4)]", "1 2 4 6"),
            ("[128+64*i for i in range(3)]", "128 192 256"),
            ("list(range(32, 100+1, 32))", "32 64 96"),
            ("['a, b', \"c]\"]", "a, b c]"),
            ("[True, False]", "true false"),
            ("[0.5, 1.5]", "0.5 1.5"),
            ("range(5, 0, -2)", "5 3 1"),
            ("[4096]", "4096"),
        ] {
            assert_eq!(shown(text), expected, "{text}");
        }
    }

    #[test]
    fn what_is_no_list_says_so() {
        for text in [
            "",
            "5",
            "[1, 2",
            "open('x')",
            "range(1, 2, 0)",
            "[x for x in y]",
            "range(9999999999)",
            "['a]",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
