//! Regret against budget: how good is the best of the first k cases that an estimate would try.

use serde::Serialize;

/// Regret after trying so many cases.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Curve {
    /// Numbers of cases tried, ascending from 1.
    pub budgets: Vec<usize>,
    /// Best measured ratio among them over the best of all samples: at least 1, never growing.
    pub regrets: Vec<f64>,
}

/// The curve of an estimate over `(predicted, measured ratio)` of its samples in the cohort's order: cases are tried by
/// ascending prediction, of equal ones the first. Only budgets at which the regret falls are listed, and the last.
#[must_use]
pub fn of_estimate(samples: &[(f64, f64)]) -> Curve {
    let Some(best) = samples.iter().map(|sample| sample.1).min_by(f64::total_cmp) else {
        return Curve::default();
    };
    let mut order: Vec<&(f64, f64)> = samples.iter().collect();
    order.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut curve = Curve::default();
    let mut least = f64::INFINITY;
    for (tried, (_, ratio)) in (1..).zip(order) {
        if *ratio < least || tried == samples.len() {
            least = least.min(*ratio);
            curve.budgets.push(tried);
            curve.regrets.push(least / best);
        }
    }
    curve
}

/// What trying cases at random, without any model, would give on average: the expected least of `k` of the `n` ratios,
/// over the least of all. With ratios ascending, the i-th (from 0) is the least with probability
/// `C(n - 1 - i, k - 1) / C(n, k)`. At about 40 budgets, evenly in the logarithm.
#[must_use]
pub fn at_random(ratios: &[f64]) -> Curve {
    let mut sorted = ratios.to_vec();
    sorted.sort_by(f64::total_cmp);
    let n = sorted.len();
    let mut curve = Curve::default();
    let Some(best) = sorted.first().copied() else {
        return curve;
    };
    let mut budget = 1;
    while budget <= n {
        // The probability of the first is k / n; each next one follows from the one before.
        let mut probability = budget as f64 / n as f64;
        let mut expected = 0.0;
        for (index, ratio) in sorted.iter().enumerate() {
            expected += probability * ratio;
            let left = n - 1 - index;
            if left < budget {
                break;
            }
            probability *= (left - (budget - 1)) as f64 / left as f64;
        }
        curve.budgets.push(budget);
        curve.regrets.push(expected / best);
        if budget == n {
            break;
        }
        // About a sixth more each time.
        budget = (budget + (budget / 6).max(1)).min(n);
    }
    curve
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn budgets_at_which_regret_falls() {
        let curve = of_estimate(&[(3.0, 0.5), (1.0, 0.9), (1.0, 0.8), (2.0, 0.95), (9.0, 2.0)]);
        assert_eq!(curve.budgets, [1, 2, 4, 5]);
        assert_eq!(curve.regrets, [0.9 / 0.5, 0.8 / 0.5, 1.0, 1.0]);
        assert_eq!(of_estimate(&[]), Curve::default());
    }

    #[test]
    fn chance_by_hand() {
        // Of 1, 2, 4: one alone gives 7/3 on average; the least of two is 1 with 2/3 and 2 with 1/3.
        let curve = at_random(&[4.0, 1.0, 2.0]);
        assert_eq!(curve.budgets, [1, 2, 3]);
        for (found, expected) in curve.regrets.iter().zip([7.0 / 3.0, 4.0 / 3.0, 1.0]) {
            assert!((found - expected).abs() < 1e-12, "{found} is not {expected}");
        }
        assert!(at_random(&[]).budgets.is_empty());
        assert_eq!(
            at_random(&(1..=20_000).map(f64::from).collect::<Vec<f64>>())
                .budgets
                .len(),
            62
        );
    }
}
