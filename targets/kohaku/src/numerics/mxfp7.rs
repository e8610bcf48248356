//! MXFP7: blocks of 32 seven-bit integers with a common scale.

use crate::machine::BLOCK;

/// One block.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Block {
    /// Integers of magnitude at most 63.
    pub values: [i16; BLOCK],
    /// What one step is worth: `2^es m8 / 8`.
    pub scale: f64,
}

/// Biased exponent and 11-bit significand of a float16: `x = significand 2^(exponent - 25)`; subnormals have exponent 1.
#[inline]
fn parts(x: f32) -> (i32, i32) {
    let bits = x.to_bits();
    let exponent = i32::try_from((bits >> 23) & 0xff).unwrap_or(0) - 127 + 15;
    let significand = i32::try_from(0x400 | ((bits >> 13) & 0x3ff)).unwrap_or(0);
    if bits << 1 == 0 {
        (1, 0)
    } else if exponent >= 1 {
        (exponent, significand)
    } else {
        (1, significand >> (1 - exponent).min(12))
    }
}

/// Quantises 32 float16 values.
///
/// With the peak's exponent `e` and significand `sig` (subnormal peaks are shifted up): `m8 = ceil(sig / 126)`,
/// `es = e - 21` below 16, else `e - 20` with 16 and 17 becoming 8 and 9, `es` between -20 and 11. A value becomes
/// `min(63, round-half-up(sig_x round(32768 / m8) 2^-(37 + es - e_x)))` with its sign.
#[must_use]
pub fn quantise(block: &[f32]) -> Block {
    let peak = block.iter().fold(0.0_f32, |peak, x| peak.max(x.abs()));
    let (mut e, mut significand) = parts(peak);
    if significand == 0 {
        return Block {
            values: [0; BLOCK],
            scale: 1.0,
        };
    }
    while significand < 1024 {
        significand *= 2;
        e -= 1;
    }
    let mut m8 = (significand + 125) / 126;
    let mut es = if m8 < 16 { e - 21 } else { e - 20 };
    if m8 >= 16 {
        m8 -= 8;
    }
    es = es.clamp(-20, 11);
    let reciprocal = (32_768 + m8 / 2) / m8;
    let mut values = [0; BLOCK];
    for (value, &x) in values.iter_mut().zip(block) {
        let (e_x, s) = parts(x);
        let shift = 37 + es - e_x;
        let product = i64::from(s) * i64::from(reciprocal);
        let rounded = match shift {
            1..=62 => (product + (1 << (shift - 1))) >> shift,
            i32::MIN..=0 => product << (-shift).min(20),
            _ => 0,
        };
        let magnitude = i16::try_from(rounded.min(63)).unwrap_or(63);
        *value = if x.is_sign_negative() { -magnitude } else { magnitude };
    }
    Block {
        values,
        scale: f64::from(m8) / 8.0 * f64::from_bits(u64::from((es + 1023).unsigned_abs()) << 52),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(values: &[f32]) -> Block {
        let mut all = [0.0; BLOCK];
        all[..values.len()].copy_from_slice(values);
        quantise(&all)
    }

    #[test]
    fn peaks_use_most_of_the_range_and_values_are_near() {
        for i in 1_u16..4000 {
            let peak = crate::numerics::half(f64::from(i) / 37.0);
            let small = crate::numerics::half(f64::from(i) / 91.0);
            let b = block(&[peak, -small]);
            let top = b.values[0];
            assert!((56..=63).contains(&top), "{peak}: {top}");
            for (value, x) in b.values.iter().zip([peak, -small]) {
                let error = (f64::from(*value) * b.scale - f64::from(x)).abs();
                // Half a step, and the reciprocal's own rounding.
                assert!(error <= b.scale * 0.52, "{x} became {value} x {}", b.scale);
            }
        }
    }

    #[test]
    fn the_corners_are_the_published_ones() {
        // 1.0 has exponent 15 and significand 1024: m8 = 9, es = -6.
        let one = block(&[1.0]);
        assert!((one.scale - 9.0 / 8.0 / 64.0).abs() <= 0.0);
        assert_eq!(one.values[0], 57);
        // 2047 / 126 = 16.2: m8 17 becomes 9 with the next exponent.
        let high = block(&[2047.0 / 1024.0]);
        assert!((high.scale - 9.0 / 8.0 / 32.0).abs() <= 0.0);
        let nothing = block(&[]);
        assert_eq!(
            (nothing.values, nothing.scale.to_bits()),
            ([0; BLOCK], 1.0_f64.to_bits())
        );
        // The scale does not go below 2^-20: the smallest subnormal is lost, the largest is not.
        let tiny = block(&[2_f32.powi(-24)]);
        assert_eq!(
            (tiny.values[0], tiny.scale.to_bits()),
            (0, (9.0 / 8.0 * 2_f64.powi(-20)).to_bits())
        );
        assert!(block(&[1023.0 * 2_f32.powi(-24)]).values[0] > 50);
    }
}
