//! Ranges as text: `start:stop:step`, stop included where a step meets it.

use super::MAX_VALUES;
use super::error::RangeError;
use crate::space::Domain;
use crate::value::Value;

/// Digits that a part may have; 128 bits hold 38.
const MAX_DIGITS: usize = 30;

/// `mantissa * 10^exponent`: a part as it was written, without rounding, so that `0:1:0.1` has the value 0.3 and not
/// three times the float next to 0.1.
struct Decimal {
    mantissa: i128,
    exponent: i32,
    /// Whether it has a point or an exponent.
    float: bool,
}

/// The values of a range: integers if all of its parts are, else floats.
pub(super) fn parse(text: &str) -> Result<Domain, RangeError> {
    let parts: Vec<&str> = text.split(':').map(str::trim).collect();
    let (start, stop, step) = match parts[..] {
        [start, stop] => (start, stop, "1"),
        [start, stop, step] => (start, stop, step),
        _ => return Err(RangeError::Form),
    };
    let read = |part: &str| decimal(part).ok_or_else(|| RangeError::Number { part: part.to_owned() });
    let decimals = [read(start)?, read(stop)?, read(step)?];
    let float = decimals.iter().any(|part| part.float);
    let exponent = decimals.iter().map(|part| part.exponent).min().unwrap_or(0);
    let scaled = |part: &Decimal, written: &str| {
        u32::try_from(part.exponent - exponent)
            .ok()
            .and_then(|more| 10_i128.checked_pow(more))
            .and_then(|scale| part.mantissa.checked_mul(scale))
            // Half of the width is kept free for the difference below.
            .filter(|n| n.unsigned_abs() <= u128::from(u64::MAX) << 62)
            .ok_or_else(|| RangeError::Number {
                part: written.to_owned(),
            })
    };
    let (first, last, by) = (
        scaled(&decimals[0], start)?,
        scaled(&decimals[1], stop)?,
        scaled(&decimals[2], step)?,
    );
    if by == 0 {
        return Err(RangeError::ZeroStep);
    }
    let way = last - first;
    if way != 0 && (way < 0) != (by < 0) {
        return Err(RangeError::Empty);
    }
    let count = way / by + 1;
    let Some(steps) = usize::try_from(count).ok().filter(|count| *count <= MAX_VALUES) else {
        return Err(RangeError::TooMany { count });
    };
    let value_error = |n: i128| RangeError::Number {
        part: format!("{n}e{exponent}"),
    };
    let value = |n: i128| {
        if float {
            // Reading decimal text rounds once, as if the value had been written out.
            let value: Option<f64> = format!("{n}e{exponent}").parse().ok();
            value
                .filter(|x| x.is_finite())
                .map(Value::Float)
                .ok_or_else(|| value_error(n))
        } else {
            i64::try_from(n).map(Value::Integer).map_err(|_| value_error(n))
        }
    };
    // The ends are read first: a stop that doesn't fit is a mistake even where no step meets it.
    if let (Value::Integer(start), Value::Integer(stop), 1) = (value(first)?, value(last)?, by) {
        return Ok(Domain::Range { start, stop });
    }
    let values: Result<Vec<Value>, RangeError> = (0_i128..).take(steps).map(|i| value(first + i * by)).collect();
    Ok(Domain::List(values?))
}

/// Reads `-12`, `0.25`, `1e-3`.
fn decimal(text: &str) -> Option<Decimal> {
    let (number, power) = match text.split_once(['e', 'E']) {
        Some((number, power)) => (number, Some(power)),
        None => (text, None),
    };
    let (negative, digits) = match number.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, number.strip_prefix('+').unwrap_or(number)),
    };
    let (whole, fraction) = match digits.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (digits, None),
    };
    let all = format!("{whole}{}", fraction.unwrap_or_default());
    if all.is_empty() || all.len() > MAX_DIGITS || !all.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let exponent: i32 = power.map_or(Ok(0), str::parse).ok().filter(|e: &i32| e.abs() <= 400)?;
    let magnitude: i128 = all.parse().ok()?;
    Some(Decimal {
        mantissa: if negative { -magnitude } else { magnitude },
        exponent: exponent - i32::try_from(fraction.unwrap_or_default().len()).ok()?,
        float: fraction.is_some() || power.is_some(),
    })
}
