//! Published figures, as far as their digits go.

use std::fmt;

use serde::Serialize;

/// How a published figure stands to ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Agreement {
    /// Ours, rounded to its digits, is it.
    Equal,
    /// Ours, cut off behind its digits, is it.
    Truncated,
    /// Neither.
    Differs,
}

impl fmt::Display for Agreement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Equal => "equal",
            Self::Truncated => "truncated",
            Self::Differs => "differs",
        })
    }
}

/// A number with the digits it was written with.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Digits {
    value: f64,
    /// What one more in the last digit is.
    step: f64,
}

impl Digits {
    /// Reads `2.16e11`, `743`, `0.04`.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let value: f64 = text.parse().ok().filter(|value: &f64| value.is_finite())?;
        let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let exponent: i32 = exponent.parse().ok()?;
        let decimals = mantissa.split_once('.').map_or(0, |(_, decimals)| decimals.len());
        let step = libm::pow(10.0, f64::from(exponent) - decimals as f64);
        Some(Self { value, step })
    }

    /// How it stands to `ours`.
    pub(super) fn agreement(self, ours: f64) -> Agreement {
        // Half a millionth of a step: powers of ten are not exact.
        let same = |steps: f64| (steps - self.value / self.step).abs() < 1e-6;
        let steps = ours / self.step;
        if same(libm::round(steps)) {
            Agreement::Equal
        } else if same(libm::trunc(steps)) {
            Agreement::Truncated
        } else {
            Agreement::Differs
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_decide() {
        let cases = [
            ("2.16e11", 215_828_398_080.0, Agreement::Equal),
            ("6.77e11", 676_488_806_400.0, Agreement::Differs),
            ("8.11e11", 811_555_880_960.0, Agreement::Truncated),
            ("743", 743.0, Agreement::Equal),
            ("743", 744.0, Agreement::Differs),
            ("0.04", 0.0449, Agreement::Equal),
            ("2.32", 2.3268, Agreement::Truncated),
        ];
        for (text, ours, expected) in cases {
            assert_eq!(
                Digits::parse(text).unwrap().agreement(ours),
                expected,
                "{text} and {ours}"
            );
        }
        assert!(Digits::parse("almost all").is_none());
    }
}
