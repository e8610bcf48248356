//! Fits that a few wild samples do not bend.

use super::design::Design;
use super::nnls::{Sign, solve};
use crate::order::median;

/// Tukey's constant: 95 % of the efficiency of least squares where errors are normal.
const BISQUARE: f64 = 4.685;
/// Makes the median of absolute deviations an estimate of the standard deviation of normal errors.
const NORMAL: f64 = 1.482_602_218_505_602;
/// Steps after which weights no longer change by anything that matters.
const STEPS: usize = 30;

/// A robust fit.
#[derive(Debug, Clone, PartialEq)]
pub struct RobustFit {
    /// One for each term.
    pub coefficients: Vec<f64>,
    /// Robust weight of each row, 1 for a row that fits and 0 for one that is left out.
    pub weights: Vec<f64>,
    /// Robust scale of the differences relative to the scale of each row.
    pub scale: f64,
}

/// Iteratively reweighted (non-negative) least squares of relative differences, `(measured - predicted) / scale`: first
/// a fit of least absolute differences (weights `1 / |r|`), which half of the rows may not pull away, then Tukey's
/// bisquare with the scale of the median absolute deviation (Beaton and Tukey 1974; Holland and Welsch 1977).
#[must_use]
pub fn robust(design: &Design, signs: &[Sign]) -> RobustFit {
    let rows = design.rows();
    let relative: Vec<f64> = design.scale().iter().map(|scale| 1.0 / scale).collect();
    let mut x = solve(design, &relative, signs);
    let differences = |x: &[f64]| -> Vec<f64> {
        (0..rows)
            .map(|row| (design.measured()[row] - design.predict(row, x)) * relative[row])
            .collect()
    };
    let scale_of = |r: &[f64]| median(&r.iter().map(|r| r.abs()).collect::<Vec<f64>>()).unwrap_or(0.0) * NORMAL;
    let fit = |weights: &[f64]| {
        let all: Vec<f64> = relative
            .iter()
            .zip(weights)
            .map(|(relative, w)| relative * w.sqrt())
            .collect();
        solve(design, &all, signs)
    };
    let step = |x: &mut Vec<f64>, weights: &[f64]| {
        let next = fit(weights);
        let moved = next
            .iter()
            .zip(&*x)
            .any(|(a, b)| (a - b).abs() > 1e-12 * (a.abs() + b.abs()));
        *x = next;
        moved
    };
    for _ in 0..STEPS {
        let r = differences(&x);
        // Rows that fit to the last digits all weigh the same, or the best of them would hide all others.
        let floor = 1e-9_f64.max(scale_of(&r) * 1e-3);
        let weights: Vec<f64> = r.iter().map(|r| floor / r.abs().max(floor)).collect();
        if !step(&mut x, &weights) {
            break;
        }
    }
    let mut weights = vec![1.0; rows];
    for _ in 0..STEPS {
        let r = differences(&x);
        let scale = scale_of(&r).max(1e-12);
        weights = r
            .iter()
            .map(|r| {
                let u = r / (BISQUARE * scale);
                if u.abs() < 1.0 { (1.0 - u * u).powi(2) } else { 0.0 }
            })
            .collect();
        // With a scale of rounding errors, what fits to the last digits must not be told apart.
        if scale <= 1e-12 {
            weights = r.iter().map(|r| f64::from(u8::from(r.abs() <= 1e-10))).collect();
        }
        if !step(&mut x, &weights) {
            break;
        }
    }
    let scale = scale_of(&differences(&x));
    RobustFit {
        coefficients: x,
        weights,
        scale,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_third_of_wild_samples_does_not_bend_the_line() {
        let mut points = Design::new(2);
        for n in 1..=30_u32 {
            let n = f64::from(n);
            let wild = if n % 3.0 == 0.0 { 2.0 + n / 10.0 } else { 1.0 };
            points.push(&[1.0, n], (300.0 + 558.0 * n) * wild).unwrap();
        }
        let fit = robust(&points, &[Sign::NonNegative; 2]);
        assert!((fit.coefficients[0] - 300.0).abs() < 1e-6, "{:?}", fit.coefficients);
        assert!((fit.coefficients[1] - 558.0).abs() < 1e-7, "{:?}", fit.coefficients);
        assert_eq!(fit.weights.iter().filter(|w| **w < 0.5).count(), 10);
    }

    #[test]
    fn small_noise_keeps_nearly_all_weight() {
        let mut rng = crate::random::SplitMix64::new(11);
        let mut points = Design::new(2);
        for n in 1..=60_u32 {
            let n = f64::from(n);
            // Sums of uniform numbers: nearly normal, 1 % wide.
            let noise: f64 = (0..12)
                .map(|_| (rng.next_u64() >> 11) as f64 / (1_u64 << 53) as f64 - 0.5)
                .sum();
            points
                .push(&[1.0, n], (300.0 + 558.0 * n) * (1.0 + 0.01 * noise))
                .unwrap();
        }
        let fit = robust(&points, &[Sign::NonNegative; 2]);
        assert!(
            (fit.coefficients[1] / 558.0 - 1.0).abs() < 0.01,
            "{:?}",
            fit.coefficients
        );
        assert!((fit.scale / 0.01 - 1.0).abs() < 0.5, "{}", fit.scale);
        assert!(fit.weights.iter().sum::<f64>() > 45.0);
    }
}
