//! Roundings. Values are held in `f64` or `f32`, which represent every value of the device exactly.

/// Rounds to `KEPT` significant bits, ties to even. Without branches, so that loops become vector instructions.
#[inline]
fn significant<const KEPT: u32>(x: f64) -> f64 {
    let drop = 53 - KEPT;
    let bits = x.to_bits();
    let odd = (bits >> drop) & 1;
    let low = (1_u64 << drop) - 1;
    f64::from_bits(bits.wrapping_add((low >> 1) + odd) & !low)
}

/// A sum in a cluster's accumulator: 17 significant bits.
#[inline]
#[must_use]
pub fn accumulated(x: f64) -> f64 {
    significant::<17>(x)
}

/// A value in a vector lane: 16 significant bits in the range of `f32`, overflow to infinity, no subnormals.
#[inline]
#[must_use]
#[expect(
    clippy::cast_possible_truncation,
    reason = "16 significant bits fit an f32; overflow to infinity is meant"
)]
pub fn lane(x: f64) -> f32 {
    let rounded = significant::<16>(x) as f32;
    if rounded.abs() < f32::MIN_POSITIVE {
        0.0
    } else {
        rounded
    }
}

/// A value in memory: the nearest float16, ties to even; finite overflow is clamped to 65,504.
#[inline]
#[must_use]
#[expect(clippy::cast_possible_truncation, reason = "a float16 fits an f32")]
pub fn half(x: f64) -> f32 {
    const LARGEST: f64 = 65_504.0;
    /// Below it float16 has steps of 2^-24.
    const SMALLEST_NORMAL: f64 = 1.0 / 16_384.0;
    /// Adding this leaves steps of 2^-24.
    const STEPS: f64 = 1.5 * (1_u64 << 28) as f64;
    let magnitude = x.abs();
    let tiny = (magnitude + STEPS) - STEPS;
    let normal = significant::<11>(magnitude);
    let rounded = if magnitude < SMALLEST_NORMAL { tiny } else { normal };
    let clamped = if rounded > LARGEST && magnitude.is_finite() {
        LARGEST
    } else {
        rounded
    };
    clamped.copysign(x) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every finite float16 from its definition.
    fn halves() -> impl Iterator<Item = f64> {
        (0_u32..0x7c00).map(|bits| {
            let (exponent, fraction) = (bits >> 10, f64::from(bits & 0x3ff));
            if exponent == 0 {
                fraction * 2_f64.powi(-24)
            } else {
                (1024.0 + fraction) * 2_f64.powi(i32::try_from(exponent).unwrap() - 25)
            }
        })
    }

    #[test]
    fn every_half_is_its_own_nearest_and_middles_go_to_even() {
        let all: Vec<f64> = halves().collect();
        for (at, pair) in all.windows(2).enumerate() {
            let [low, high] = *pair else { continue };
            assert!((f64::from(half(low)) - low).abs() <= 0.0, "{low}");
            assert!((f64::from(half(-low)) + low).abs() <= 0.0, "{low}");
            let middle = f64::midpoint(low, high);
            let even = if at % 2 == 0 { low } else { high };
            assert!((f64::from(half(middle)) - even).abs() <= 0.0, "{middle}");
            assert!(
                (f64::from(half(middle * (1.0 + 1e-12))) - high).abs() <= 0.0,
                "{middle}"
            );
        }
        assert!((half(1e9) - 65_504.0).abs() <= 0.0);
        assert!(half(f64::INFINITY).is_infinite());
    }

    #[test]
    fn lanes_and_accumulators_keep_their_bits() {
        let bit = |n: i32| 2_f64.powi(n);
        assert!((f64::from(lane(1.0 + bit(-15))) - 1.0 - bit(-15)).abs() <= 0.0);
        assert!((lane(1.0 + bit(-16)) - 1.0).abs() <= 0.0, "a tie goes to even");
        assert!((f64::from(lane(1.0 + 3.0 * bit(-16))) - 1.0 - bit(-14)).abs() <= 0.0);
        assert!((accumulated(1.0 + bit(-16)) - 1.0 - bit(-16)).abs() <= 0.0);
        assert!((accumulated(1.0 + bit(-17)) - 1.0).abs() <= 0.0);
        assert!(lane(1e39).is_infinite());
        assert!(lane(1e-39).abs() <= 0.0, "there are no subnormals");
    }
}
