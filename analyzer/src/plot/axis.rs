//! Axes: where a value lies, and which values get a number.

/// One axis over a range of values, `min < max`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Axis {
    min: f64,
    max: f64,
    logarithmic: bool,
    start: f64,
    end: f64,
}

impl Axis {
    /// An axis from `0.85 min` to `1.15 max` of the values, between two pixels. It is logarithmic if asked for and all
    /// values are positive. `None` without values.
    pub(crate) fn over(values: &[f64], logarithmic: bool, pixels: (f64, f64)) -> Option<Self> {
        let least = values.iter().copied().min_by(f64::total_cmp)?;
        let most = values.iter().copied().max_by(f64::total_cmp)?;
        let logarithmic = logarithmic && least > 0.0;
        // A factor would move the ends of negative values inwards.
        let (mut min, mut max) = if least > 0.0 {
            (0.85 * least, 1.15 * most)
        } else {
            let margin = 0.1 * (most - least);
            (least - margin, most + margin)
        };
        if max <= min {
            (min, max) = (min - 1.0, max + 1.0);
        }
        Some(Self {
            min,
            max,
            logarithmic,
            start: pixels.0,
            end: pixels.1,
        })
    }

    /// A linear axis from `min` to `max`, which is larger, between two pixels.
    pub(crate) fn between(min: f64, max: f64, pixels: (f64, f64)) -> Self {
        Self {
            min,
            max,
            logarithmic: false,
            start: pixels.0,
            end: pixels.1,
        }
    }

    /// The pixel of a value; values outside lie at the ends.
    pub(crate) fn at(&self, value: f64) -> f64 {
        let place = |x: f64| {
            if self.logarithmic {
                x.max(f64::MIN_POSITIVE).ln()
            } else {
                x
            }
        };
        let share = (place(value) - place(self.min)) / (place(self.max) - place(self.min));
        self.start + share.clamp(0.0, 1.0) * (self.end - self.start)
    }

    /// Values that get a number, with it, at least `apart` pixels from one another: round ones on a logarithmic axis
    /// over a factor of 2.5 or more (powers of ten first, then 2, 5, 3, ...), else round steps.
    pub(crate) fn ticks(&self, apart: f64) -> Vec<(f64, String)> {
        if self.logarithmic && self.max / self.min >= 2.5 {
            return self.rounded(apart);
        }
        let wanted = ((self.end - self.start).abs() / apart).max(1.0);
        let rough = (self.max - self.min) / wanted;
        let power = 10_f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 2.5, 5.0, 10.0]
            .into_iter()
            .map(|factor| factor * power)
            .find(|step| *step >= rough * 0.999)
            .unwrap_or(10.0 * power);
        let mut ticks = Vec::new();
        let mut index = (self.min / step).ceil();
        while index * step <= self.max && ticks.len() < 100 {
            let value = index * step;
            ticks.push((value, number(value, step)));
            index += 1.0;
        }
        ticks
    }

    fn rounded(&self, apart: f64) -> Vec<(f64, String)> {
        let mut ticks: Vec<(f64, String)> = Vec::new();
        let exponents = || {
            let first = self.min.log10().floor();
            std::iter::successors(Some(first), |exponent| Some(exponent + 1.0)).take_while(|e| *e <= self.max.log10())
        };
        for factor in [1.0, 2.0, 5.0, 3.0, 7.0, 1.5, 4.0, 6.0, 8.0, 9.0, 1.2, 2.5] {
            for exponent in exponents() {
                let value = factor * 10_f64.powf(exponent);
                let inside = value >= self.min && value <= self.max;
                if inside
                    && ticks
                        .iter()
                        .all(|(other, _)| (self.at(*other) - self.at(value)).abs() >= apart)
                {
                    ticks.push((
                        value,
                        number(value, value / factor * if factor.fract() > 0.0 { 0.1 } else { 1.0 }),
                    ));
                }
            }
        }
        ticks.sort_by(|a, b| a.0.total_cmp(&b.0));
        ticks
    }
}

/// A tick's number, with as many decimals as its step needs.
fn number(value: f64, step: f64) -> String {
    if value.abs() >= 1e7 || (value.abs() > 0.0 && value.abs() < 1e-4) {
        return format!("{value:.2e}");
    }
    let decimals = (0..=6_usize).find(|decimals| {
        let shifted = step * 10_f64.powf(*decimals as f64);
        (shifted - shifted.round()).abs() < 1e-6 * shifted
    });
    let decimals = decimals.unwrap_or(6);
    format!("{:.decimals$}", value + 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(values: &[f64], logarithmic: bool) -> Vec<String> {
        let axis = Axis::over(values, logarithmic, (0.0, 100.0)).unwrap();
        axis.ticks(20.0).into_iter().map(|(_, label)| label).collect()
    }

    #[test]
    fn range_is_that_of_the_values_with_a_margin() {
        let axis = Axis::over(&[2.0, 4.0], true, (0.0, 100.0)).unwrap();
        assert_eq!((axis.min, axis.max), (1.7, 4.6));
        assert!(axis.at(1.7).abs() < 1e-9 && (axis.at(4.6) - 100.0).abs() < 1e-9);
        assert!((axis.at((1.7_f64 * 4.6).sqrt()) - 50.0).abs() < 1e-9);
        assert_eq!(Axis::over(&[], true, (0.0, 1.0)), None);
    }

    #[test]
    fn ticks_are_round() {
        assert_eq!(labels(&[0.8, 1.3], false), ["0.8", "1.0", "1.2", "1.4"]);
        assert_eq!(labels(&[1.0, 100.0], true), ["1", "3", "10", "30", "100"]);
        assert_eq!(labels(&[-1.0, 1.0], true), ["-1.0", "-0.5", "0.0", "0.5", "1.0"]);
        assert_eq!(labels(&[0.0, 0.0], false), ["-1.0", "-0.5", "0.0", "0.5", "1.0"]);
        assert_eq!(labels(&[5.0], true), ["4.5", "5.0", "5.5"]);
    }
}
