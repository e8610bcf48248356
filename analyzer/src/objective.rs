//! What is compared, and what people call it.

use schemars::JsonSchema;
use serde::Serialize;

use crate::dataset::{NANOSECONDS, SCORE};
use crate::format::{one_in, significant};

/// Units of lengths of time: less of them is faster.
const DURATIONS: [&str; 6] = [NANOSECONDS, "us", "µs", "ms", "s", "cycles"];

/// What files write as the unit of numbers that have none.
const NO_UNIT: &str = "1";

/// The number that cases are compared by, as people know it.
///
/// Inside of the evaluation less is always better: where more of the number is, what is compared is one over it, and a
/// ratio says how much worse a case is than another, whatever the direction. What is shown is always the number itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Objective {
    /// Its name: `time`, `throughput`.
    pub name: String,
    /// Its unit: `ns`, `cycles`, `GFLOP/s`. Every `value` of this analysis is in it.
    pub unit: String,
    /// Whether larger values are better. Ratios to the control are then the control's number over the case's.
    pub larger_is_better: bool,
    /// The unit of time in which values are shown, by their magnitude; `None` where they are shown in their own.
    #[serde(skip)]
    pub shown_in: Option<&'static str>,
}

impl Objective {
    /// The number behind a value that is compared; the same where less is better. Rounded to 15 significant digits, which
    /// gives back every number of at most so many.
    #[must_use]
    pub fn shown(&self, compared: f64) -> f64 {
        if self.larger_is_better {
            one_over(compared)
        } else {
            compared
        }
    }

    /// Whether it is the same number in the same unit, however it is shown.
    #[must_use]
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        (&self.name, &self.unit, self.larger_is_better) == (&other.name, &other.unit, other.larger_is_better)
    }

    /// How values are shown: the unit's name, empty for a number without one, and what one of it is in the objective's own
    /// unit.
    #[must_use]
    pub fn shown_unit(&self) -> (&str, f64) {
        let own = (if self.unit == NO_UNIT { "" } else { self.unit.as_str() }, 1.0);
        let scaled = self
            .shown_in
            .and_then(|shown| Some((shown, one_in(shown, &self.unit)?)));
        scaled.unwrap_or(own)
    }

    /// What stands over a column or beside an axis of values: the shown unit, or the name of a number that has none.
    #[must_use]
    pub fn heading(&self) -> &str {
        match self.shown_unit().0 {
            "" => &self.name,
            unit => unit,
        }
    }

    /// `time in ns`; of a number without a unit its name.
    #[must_use]
    pub(crate) fn described(&self, write: impl Fn(&str) -> String) -> String {
        if self.unit == NO_UNIT {
            return write(&self.name);
        }
        format!("{} in {}", write(&self.name), write(&self.unit))
    }

    /// A value with its unit as both are shown: `1.234 ms`.
    pub(crate) fn quantity(&self, value: f64) -> String {
        self.with_unit(self.number(value))
    }

    /// What [`Objective::number`] wrote, or a dash, with the unit.
    pub(crate) fn with_unit(&self, number: String) -> String {
        match self.shown_unit().0 {
            "" => number,
            unit => format!("{number} {unit}"),
        }
    }

    /// A value in the shown unit with 4 significant digits, without the unit's name.
    pub(crate) fn number(&self, value: f64) -> String {
        let (_, one) = self.shown_unit();
        significant(value / one, 4)
    }

    /// The value that is compared for a number; `None` for one that nothing can be compared by, such as 0 where more is
    /// better.
    #[must_use]
    pub fn compared(&self, number: f64) -> Option<f64> {
        if !self.larger_is_better {
            return Some(number).filter(|number| number.is_finite());
        }
        Some(1.0 / number).filter(|value| value.is_finite() && *value > 0.0)
    }

    /// Whether an estimate predicts the number itself: only then figures of bias mean anything.
    #[must_use]
    pub fn has_bias(&self, unit: &str) -> bool {
        unit == self.unit && unit != SCORE
    }

    /// What an estimate shows of a value of its own: the number where it predicts the number.
    pub(crate) fn predicted(&self, unit: &str, value: f64) -> f64 {
        if self.has_bias(unit) { self.shown(value) } else { value }
    }

    /// Whether less of it is faster.
    #[must_use]
    pub fn is_duration(&self) -> bool {
        !self.larger_is_better && DURATIONS.contains(&self.unit.as_str())
    }

    /// `faster`, or `better` where it is no duration.
    pub(crate) fn better(&self) -> &'static str {
        if self.is_duration() { "faster" } else { "better" }
    }

    /// `slower`, or `worse`.
    pub(crate) fn worse(&self) -> &'static str {
        if self.is_duration() { "slower" } else { "worse" }
    }

    /// `smaller is better`, `more is better`.
    pub(crate) fn direction(&self) -> &'static str {
        if self.larger_is_better {
            "more is better"
        } else {
            "smaller is better"
        }
    }
}

/// One over a number, rounded to 15 significant digits.
fn one_over(x: f64) -> f64 {
    let over = 1.0 / x;
    format!("{over:.14e}").parse().unwrap_or(over)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn objective(unit: &str, larger_is_better: bool) -> Objective {
        Objective {
            name: "it".to_owned(),
            unit: unit.to_owned(),
            larger_is_better,
            shown_in: None,
        }
    }

    #[test]
    fn numbers_come_back_as_they_were() {
        let rate = objective("GFLOP/s", true);
        for number in [3.7, 49.0, 123.456_789_012_345, 1e-9, 6.02e23, 0.1, 97.31] {
            assert_eq!(
                rate.shown(rate.compared(number).unwrap()).to_bits(),
                f64::to_bits(number)
            );
        }
        assert_eq!(
            (rate.compared(0.0), rate.compared(-1.0), rate.compared(f64::INFINITY)),
            (None, None, None)
        );
        let time = objective("ns", false);
        assert_eq!((time.shown(3.7), time.compared(-3.7)), (3.7, Some(-3.7)));
    }

    #[test]
    fn a_number_without_a_unit_has_a_name() {
        let (score, time) = (objective("1", true), objective("ns", false));
        let plain = |word: &str| word.to_owned();
        assert_eq!(
            (score.heading(), score.quantity(2.5), score.described(plain)),
            ("it", "2.500".to_owned(), "it".to_owned())
        );
        assert_eq!(
            (time.heading(), time.quantity(2.5), time.described(plain)),
            ("ns", "2.500 ns".to_owned(), "it in ns".to_owned())
        );
    }

    #[test]
    fn words_fit_the_direction() {
        let words = [("ns", false), ("J", false), ("tokens/s", true), ("s", true)]
            .map(|(unit, larger)| objective(unit, larger).better());
        assert_eq!(words, ["faster", "better", "better", "better"]);
        assert!(!objective("score", false).has_bias("score") && objective("J", false).has_bias("J"));
    }
}
