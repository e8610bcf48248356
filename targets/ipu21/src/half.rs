//! Float16 as the device rounds it. Values are held as `f32`, which represents every float16 exactly.

/// Nearest float16 of `x`, ties to even, overflow to infinity.
///
/// Without branches, so that loops over it become vector instructions; the same bits on every machine.
#[must_use]
pub fn round(x: f32) -> f32 {
    const SMALLEST_NORMAL: f32 = 6.103_515_6e-5;
    /// From here on the nearest float16 is infinity.
    const OVERFLOW: f32 = 65_520.0;
    /// Adding this leaves steps of 2^-24, those of float16 below its normal range.
    const STEPS: f32 = 0.75;

    let bits = x.to_bits();
    let odd = (bits >> 13) & 1;
    let normal = f32::from_bits(bits.wrapping_add(0xfff + odd) & !0x1fff);
    let magnitude = x.abs();
    let tiny = ((magnitude + STEPS) - STEPS).copysign(x);
    let rounded = if magnitude < SMALLEST_NORMAL { tiny } else { normal };
    let finite = if magnitude < OVERFLOW {
        rounded
    } else {
        f32::INFINITY.copysign(x)
    };
    if x.is_nan() { x } else { finite }
}

/// The value of float16 bits.
#[must_use]
pub fn from_bits(bits: u16) -> f32 {
    let sign = if bits & 0x8000 == 0 { 1.0 } else { -1.0 };
    let fraction = f32::from(bits & 0x3ff);
    match (bits >> 10) & 0x1f {
        0 => sign * fraction * f32::from_bits((127 - 24) << 23),
        0x1f if fraction == 0.0 => sign * f32::INFINITY,
        0x1f => f32::NAN,
        exponent => sign * (1024.0 + fraction) * f32::from_bits((u32::from(exponent) + 127 - 25) << 23),
    }
}

/// The bits of a value that a float16 represents exactly.
#[must_use]
pub fn to_bits(x: f32) -> u16 {
    let [low, high] = [x.to_bits() & 0xffff, x.to_bits() >> 16].map(|half| u16::try_from(half).unwrap_or(0));
    let sign = high & 0x8000;
    let exponent = (high >> 7) & 0xff;
    if exponent == 0xff {
        return sign | if x.is_nan() { 0x7e00 } else { 0x7c00 };
    }
    let fraction = ((high & 0x7f) << 3) | (low >> 13);
    if exponent > 112 {
        return sign | ((exponent - 112) << 10) | fraction;
    }
    // Below the normal range the implicit one moves into the fraction.
    let shift = 113 - exponent;
    sign | if shift > 10 { 0 } else { (0x400 | fraction) >> shift }
}

const GELU_SCALE: u16 = 0x3a62;
const GELU_CUBE: u16 = 0x29b9;

/// GELU in its tanh form, `h x (1 + tanh(a (x + b x^3)))`, rounded to float16 after every step.
#[must_use]
pub fn gelu(x: f32) -> f32 {
    let cube = round(round(x * x) * x);
    let inner = round(x + round(from_bits(GELU_CUBE) * cube));
    let tanh = round(libm::tanhf(round(from_bits(GELU_SCALE) * inner)));
    round(round(0.5 * x) * round(1.0 + tanh))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_float16_is_its_own_nearest() {
        for bits in 0..=u16::MAX {
            let x = from_bits(bits);
            if x.is_nan() {
                assert!(round(x).is_nan());
                continue;
            }
            assert_eq!(round(x).to_bits(), x.to_bits(), "{bits:#x}");
            assert_eq!(to_bits(x), bits);
        }
    }

    #[test]
    fn between_neighbours_the_nearer_one_wins_and_ties_go_to_even() {
        for bits in 0..0x7bff_u16 {
            let (a, b) = (from_bits(bits), from_bits(bits + 1));
            let middle = f32::midpoint(a, b);
            let even = if bits % 2 == 0 { a } else { b };
            assert_eq!(round(middle).to_bits(), even.to_bits(), "{bits:#x}");
            assert_eq!(
                round(f32::from_bits(middle.to_bits() - 1)).to_bits(),
                a.to_bits(),
                "{bits:#x}"
            );
            assert_eq!(
                round(f32::from_bits(middle.to_bits() + 1)).to_bits(),
                b.to_bits(),
                "{bits:#x}"
            );
            assert_eq!(round(-middle).to_bits(), (-even).to_bits(), "{bits:#x}");
        }
        assert_eq!(round(65_519.99).to_bits(), 65_504.0_f32.to_bits());
        assert_eq!(round(65_520.0).to_bits(), f32::INFINITY.to_bits());
    }

    #[test]
    fn gelu_is_near_its_formula() {
        for i in -400..=400_i16 {
            let x = round(f32::from(i) / 50.0);
            let wide = f64::from(x);
            let inner = (2.0 / std::f64::consts::PI).sqrt() * (wide + 0.044_715 * wide.powi(3));
            let exact = 0.5 * wide * (1.0 + inner.tanh());
            assert!((f64::from(gelu(x)) - exact).abs() < 0.006, "{x}");
        }
    }
}
