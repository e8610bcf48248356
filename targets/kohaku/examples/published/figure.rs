//! A published figure, and how far what was computed agrees with it.

use serde::Deserialize;
use serde_json::Value;

/// One figure of the published page.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Figure {
    pub(crate) category: String,
    pub(crate) section: String,
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) inputs: Value,
    pub(crate) expected: Value,
    pub(crate) status: String,
}

#[derive(Debug, Deserialize)]
struct File {
    figures: Vec<Figure>,
}

/// All figures, in the order of the page.
pub(crate) fn figures() -> Vec<Figure> {
    let file: File = serde_json::from_str(include_str!("../../tests/fixtures/kohaku-figures.json")).expect("a fixture");
    file.figures
}

/// What was found about a figure.
#[derive(Debug, Clone)]
pub(crate) enum Found {
    /// Computed by this crate.
    Value(Value),
    /// Computed, and known to be another value, for this reason.
    Other(Value, &'static str),
    /// Computed by this crate with a choice that the page leaves open, which the words name.
    Noted(Value, &'static str),
    /// Computed with operands of its own: only the size can agree. What is known of them.
    Alike(Value, &'static str),
    /// Not to be had from a model, for this reason.
    Never(&'static str),
}

/// Whether a computed value is a published one, to the digits that were published.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Agreement {
    Exact,
    Truncated,
    No,
}

/// Compares value by value.
pub(crate) fn agreement(published: &Value, computed: &Value) -> Agreement {
    match (published, computed) {
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            let all = a.iter().zip(b).map(|(x, y)| agreement(x, y));
            all.max().unwrap_or(Agreement::Exact)
        }
        (Value::Object(a), Value::Object(b)) if a.len() == b.len() => {
            let all = a
                .iter()
                .map(|(key, x)| b.get(key).map_or(Agreement::No, |y| agreement(x, y)));
            all.max().unwrap_or(Agreement::Exact)
        }
        (Value::Number(a), Value::Number(b)) => {
            let (x, y) = (a.as_f64().expect("a number"), b.as_f64().expect("a number"));
            let unit = unit(&a.to_string());
            let apart = (x - y).abs();
            if apart <= unit / 2.0 * (1.0 + 1e-9) && !((1.0..2.0).contains(&unit) && apart >= 0.5) {
                Agreement::Exact
            } else if (0.0..unit).contains(&(y - x)) {
                Agreement::Truncated
            } else {
                Agreement::No
            }
        }
        (a, b) if a == b => Agreement::Exact,
        _ => Agreement::No,
    }
}

/// The unit of the last published digit: decimals of a decimal number, else the third significant digit of a large
/// float, else one.
fn unit(text: &str) -> f64 {
    let (mantissa, exponent) = text.split_once('e').unwrap_or((text, "0"));
    let exponent: i32 = exponent.parse().expect("an exponent");
    let decimals = mantissa.split_once('.').map_or("", |(_, decimals)| decimals);
    let shown = i32::try_from(decimals.trim_end_matches('0').len()).expect("few digits");
    if decimals.is_empty() && exponent == 0 {
        return 1.0;
    }
    if shown == 0 && exponent == 0 {
        let digits = i32::try_from(mantissa.split('.').next().map_or(0, str::len)).expect("few digits");
        return 10_f64.powi((digits - 3).max(-1));
    }
    10_f64.powi(exponent - shown)
}

/// Whether all numbers are within a factor of two and a half of the published ones; a published zero stands for itself.
pub(crate) fn alike(published: &Value, computed: &Value) -> bool {
    match (published, computed) {
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(x, y)| alike(x, y)),
        (Value::Number(a), Value::Number(b)) => {
            let (x, y) = (a.as_f64().unwrap_or(0.0), b.as_f64().unwrap_or(0.0));
            (x <= 0.0 && y <= 0.0) || (y < 2.5 * x && x < 2.5 * y)
        }
        _ => false,
    }
}
