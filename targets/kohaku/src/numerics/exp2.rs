//! Powers of two.

/// `2^x`, to the precision of an `f64` in the range that a lane can hold; zero below it, infinity above.
///
/// `2^n` by its exponent and `2^f`, `|f| <= 1/2`, by the exponential series: thirteen terms leave an error below 2^-53.
/// The same bits on every machine.
#[inline]
#[must_use]
pub fn exp2(x: f64) -> f64 {
    /// `1.5 2^52`: adding it rounds to a whole number.
    const WHOLE: f64 = 6_755_399_441_055_744.0;
    /// `ln(2)^k / k!`.
    const TERMS: [f64; 14] = [
        1.0,
        std::f64::consts::LN_2,
        0.240_226_506_959_100_72,
        0.055_504_108_664_821_58,
        0.009_618_129_107_628_477,
        0.001_333_355_814_642_844_3,
        0.000_154_035_303_933_816_1,
        0.000_015_252_733_804_059_84,
        1.321_548_679_014_431e-6,
        1.017_808_600_923_969_9e-7,
        7.054_911_620_801_123e-9,
        4.445_538_271_870_811_6e-10,
        2.567_843_599_348_820_6e-11,
        1.369_148_885_390_412_8e-12,
    ];
    let bounded = x.clamp(-1000.0, 1000.0);
    let shifted = bounded + WHOLE;
    let f = bounded - (shifted - WHOLE);
    let mut sum = TERMS[13];
    for term in TERMS[..13].iter().rev() {
        sum = sum * f + term;
    }
    let exponent = shifted.to_bits().wrapping_sub(WHOLE.to_bits());
    sum * f64::from_bits(exponent.wrapping_add(1023) << 52)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_are_near_those_of_the_library() {
        for i in -140_000..140_000_i32 {
            let x = f64::from(i) / 1000.0;
            let (own, library) = (exp2(x), libm::exp2(x));
            assert!((own / library - 1.0).abs() < 4e-16, "{x}: {own} {library}");
        }
        assert!((exp2(-30_000.0)).abs() < 1e-300);
        assert!((exp2(5.0) - 32.0).abs() <= 0.0);
    }
}
