//! Python's arithmetic on 64-bit integers and floats; what has no such result is a [`Fault`].

use std::cmp::Ordering;

use super::fault::Fault;

type Integer = Result<i64, Fault>;
type Float = Result<f64, Fault>;

#[inline]
fn fits(result: Option<i64>) -> Integer {
    result.ok_or(Fault::IntegerOverflow)
}

fn finite(result: f64) -> Float {
    if result.is_finite() {
        Ok(result)
    } else {
        Err(Fault::FloatOverflow)
    }
}

#[inline]
pub(super) fn add(a: i64, b: i64) -> Integer {
    fits(a.checked_add(b))
}

#[inline]
pub(super) fn subtract(a: i64, b: i64) -> Integer {
    fits(a.checked_sub(b))
}

pub(super) fn multiply(a: i64, b: i64) -> Integer {
    fits(a.checked_mul(b))
}

pub(super) fn negate(a: i64) -> Integer {
    fits(a.checked_neg())
}

/// The quotient rounded towards minus infinity.
#[inline]
pub(super) fn floor_divide(a: i64, b: i64) -> Integer {
    if b == 0 {
        return Err(Fault::DivisionByZero);
    }
    let quotient = fits(a.checked_div(b))?;
    // Rust rounds towards zero, which is one too high where the signs differ and something is left.
    if a % b != 0 && (a < 0) != (b < 0) {
        subtract(quotient, 1)
    } else {
        Ok(quotient)
    }
}

/// What [`floor_divide`] leaves: zero, or of the divisor's sign.
#[inline]
pub(super) fn remainder(a: i64, b: i64) -> Integer {
    if b == 0 {
        return Err(Fault::DivisionByZero);
    }
    // The smallest integer by -1 leaves 0, though its quotient doesn't fit.
    let left = a.checked_rem(b).unwrap_or(0);
    Ok(if left != 0 && (left < 0) != (b < 0) {
        left + b
    } else {
        left
    })
}

/// The quotient rounded towards plus infinity.
#[inline]
pub(super) fn ceil_divide(a: i64, b: i64) -> Integer {
    let quotient = floor_divide(a, b)?;
    if remainder(a, b)? == 0 {
        Ok(quotient)
    } else {
        add(quotient, 1)
    }
}

/// `a` to the power of `b`, by squaring.
pub(super) fn power(a: i64, b: i64) -> Integer {
    if b < 0 {
        return Err(Fault::NegativeExponent);
    }
    match a {
        // Any exponent fits here, also one above 2^32.
        0 => Ok(i64::from(b == 0)),
        1 => Ok(1),
        -1 => Ok(if b % 2 == 0 { 1 } else { -1 }),
        _ => fits(u32::try_from(b).ok().and_then(|b| a.checked_pow(b))),
    }
}

/// The true quotient of two integers, rounded once, as Python does it.
pub(super) fn divide_integers(a: i64, b: i64) -> Float {
    const EXACT: u64 = 1 << 53;
    if b == 0 {
        return Err(Fault::DivisionByZero);
    }
    let (n, d) = (a.unsigned_abs(), b.unsigned_abs());
    if n <= EXACT && d <= EXACT {
        return Ok(a as f64 / b as f64);
    }
    if n == 0 {
        return Ok(0.0);
    }
    // The quotient of a numerator of 127 bits has at least 63; what is left over decides ties as a last, sticky bit.
    let shift = n.leading_zeros() + 63;
    let wide = u128::from(n) << shift;
    let quotient = (wide / u128::from(d)) | u128::from(wide % u128::from(d) != 0);
    // 2^-shift by its exponent bits; a shift is at most 126, so that it is a normal number.
    let scale = f64::from_bits((1023 - u64::from(shift)) << 52);
    let magnitude = quotient as f64 * scale;
    Ok(if (a < 0) == (b < 0) { magnitude } else { -magnitude })
}

pub(super) fn add_floats(a: f64, b: f64) -> Float {
    finite(a + b)
}

pub(super) fn subtract_floats(a: f64, b: f64) -> Float {
    finite(a - b)
}

pub(super) fn multiply_floats(a: f64, b: f64) -> Float {
    finite(a * b)
}

pub(super) fn divide_floats(a: f64, b: f64) -> Float {
    if b == 0.0 {
        Err(Fault::DivisionByZero)
    } else {
        finite(a / b)
    }
}

/// Quotient and remainder as `CPython`'s `float_floor_div` and `float_rem` (Objects/floatobject.c).
fn divide_and_remain(a: f64, b: f64) -> Result<(f64, f64), Fault> {
    if b == 0.0 {
        return Err(Fault::DivisionByZero);
    }
    // The remainder of floats is exact, and so the same everywhere.
    let mut left = a % b;
    let mut quotient = (a - left) / b;
    if left == 0.0 {
        left = 0.0_f64.copysign(b);
    } else if (left < 0.0) != (b < 0.0) {
        left += b;
        quotient -= 1.0;
    }
    let floor = quotient.floor();
    let rounded = if quotient == 0.0 {
        0.0_f64.copysign(a / b)
    } else if quotient - floor > 0.5 {
        floor + 1.0
    } else {
        floor
    };
    Ok((rounded, left))
}

pub(super) fn floor_divide_floats(a: f64, b: f64) -> Float {
    finite(divide_and_remain(a, b)?.0)
}

pub(super) fn remainder_floats(a: f64, b: f64) -> Float {
    finite(divide_and_remain(a, b)?.1)
}

pub(super) fn power_floats(a: f64, b: f64) -> Float {
    if a == 0.0 && b < 0.0 {
        return Err(Fault::DivisionByZero);
    }
    if a < 0.0 && b.fract() != 0.0 {
        return Err(Fault::NotReal);
    }
    // Not the system's `pow`: its last bit differs between machines.
    finite(libm::pow(a, b))
}

/// Compares without rounding the integer: 2^53 + 1 is above 2.0^53.
pub(super) fn compare_integer_float(a: i64, b: f64) -> Ordering {
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    if b >= LIMIT {
        return Ordering::Less;
    }
    if b < -LIMIT {
        return Ordering::Greater;
    }
    let whole = b.floor();
    // In range by the two tests above, and whole: the conversion is exact.
    #[allow(clippy::cast_possible_truncation)]
    let order = a.cmp(&(whole as i64));
    if order.is_eq() && b > whole {
        Ordering::Less
    } else {
        order
    }
}
