//! Properties that hold for every input; values come from small grids so that ties are frequent.

#![expect(
    clippy::unwrap_used,
    clippy::float_cmp,
    reason = "tests; the properties are exact where they compare exactly"
)]

use std::num::{NonZeroU32, NonZeroUsize};

use proptest::collection::vec;
use proptest::prelude::*;
use stats::interval::{Bootstrap, Level, bootstrap, median_interval};
use stats::order::{median, quantile};
use stats::paired::{PairedRatios, winner_set};
use stats::rank::{inversions, kendall_tau_b, mid_ranks, spearman};
use stats::regret::{regret, regret_at_k};
use stats::theil_sen::theil_sen;

/// Multiples of a quarter in -5..=5.
fn gridded() -> impl Strategy<Value = f64> {
    (-20_i32..=20).prop_map(|n| f64::from(n) / 4.0)
}

fn positive() -> impl Strategy<Value = f64> {
    (1_i32..=40).prop_map(|n| f64::from(n) / 8.0)
}

fn pairs(
    value: impl Strategy<Value = f64>,
    sizes: std::ops::Range<usize>,
) -> impl Strategy<Value = (Vec<f64>, Vec<f64>)> {
    (vec(value, sizes.clone()), vec(positive(), sizes)).prop_map(|(mut a, mut b)| {
        let n = a.len().min(b.len());
        a.truncate(n);
        b.truncate(n);
        (a, b)
    })
}

fn plan(seed: u64) -> Bootstrap {
    Bootstrap {
        level: Level::P95,
        resamples: NonZeroU32::new(100).unwrap(),
        seed,
    }
}

/// Tau-b by its definition.
fn tau_by_pairs(a: &[f64], b: &[f64]) -> Option<f64> {
    let (mut score, mut untied_a, mut untied_b) = (0_i32, 0_i32, 0_i32);
    for j in 0..a.len() {
        for i in 0..j {
            let (x, y) = (
                a[i].partial_cmp(&a[j]).unwrap() as i32,
                b[i].partial_cmp(&b[j]).unwrap() as i32,
            );
            score += x * y;
            untied_a += x * x;
            untied_b += y * y;
        }
    }
    (a.len() >= 3 && untied_a > 0 && untied_b > 0)
        .then(|| f64::from(score) / (f64::from(untied_a) * f64::from(untied_b)).sqrt())
}

/// Rho by its definition, in floating point throughout.
fn rho_by_pearson(a: &[f64], b: &[f64]) -> f64 {
    let (a, b) = (mid_ranks(a).unwrap(), mid_ranks(b).unwrap());
    let mean = |v: &[f64]| v.iter().sum::<f64>() / v.len() as f64;
    let dot = |v: &[f64], w: &[f64]| -> f64 {
        let (mv, mw) = (mean(v), mean(w));
        v.iter().zip(w).map(|(x, y)| (x - mv) * (y - mw)).sum()
    };
    dot(&a, &b) / (dot(&a, &a) * dot(&b, &b)).sqrt()
}

proptest! {
    // A failing input is printed; it belongs into a test of its own, not into a file beside this one.
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn ranks_are_the_counts_below_plus_half_the_ties(values in vec(gridded(), 0..40)) {
        let ranks = mid_ranks(&values).unwrap();
        for (value, rank) in values.iter().zip(&ranks) {
            let below = values.iter().filter(|other| *other < value).count() as f64;
            let equal = values.iter().filter(|other| *other <= value).count() as f64 - below;
            prop_assert_eq!(*rank, below + 0.5 * (equal + 1.0));
        }
    }

    #[test]
    fn spearman_ignores_increasing_transforms((a, b) in pairs(gridded(), 0..40)) {
        let warped: Vec<f64> = a.iter().map(|x| x * x * x + 7.0).collect();
        prop_assert_eq!(spearman(&a, &b), spearman(&warped, &b));
        prop_assert_eq!(spearman(&a, &b), spearman(&b, &a));
        let turned: Vec<f64> = a.iter().map(|x| -x).collect();
        prop_assert_eq!(spearman(&a, &b), spearman(&turned, &b).map(|rho| 0.0 - rho));
        if let Some(rho) = spearman(&a, &b) {
            prop_assert!((rho - rho_by_pearson(&a, &b)).abs() < 1e-12);
            prop_assert!((-1.0..=1.0).contains(&rho));
        }
    }

    #[test]
    fn kendall_equals_its_definition((a, b) in pairs(gridded(), 0..60)) {
        match (kendall_tau_b(&a, &b), tau_by_pairs(&a, &b)) {
            (Some(fast), Some(slow)) => prop_assert!((fast - slow).abs() < 1e-12),
            (fast, slow) => prop_assert_eq!(fast, slow),
        }
    }

    #[test]
    fn rank_correlations_are_defined_together((a, b) in pairs(gridded(), 0..6)) {
        prop_assert_eq!(spearman(&a, &b).is_some(), kendall_tau_b(&a, &b).is_some());
    }

    #[test]
    fn inversions_turn_with_the_prediction((a, b) in pairs(gridded(), 0..30)) {
        let turned: Vec<f64> = a.iter().map(|x| -x).collect();
        let (forth, back) = (inversions(&a, &b, |_, _| true).unwrap(), inversions(&turned, &b, |_, _| true).unwrap());
        prop_assert_eq!(forth.inversions + back.inversions + forth.ties_predicted, forth.comparable_pairs);
        prop_assert_eq!(inversions(&b, &b, |_, _| true).unwrap().inversions, 0);
    }

    #[test]
    fn median_is_the_quantile_at_one_half(values in vec(gridded(), 1..40)) {
        let middle = median(&values).unwrap();
        prop_assert!((middle - quantile(&values, 0.5).unwrap()).abs() < 1e-12);
        let below = values.iter().filter(|value| **value < middle).count();
        let above = values.iter().filter(|value| **value > middle).count();
        prop_assert!(2 * below <= values.len() && 2 * above <= values.len());
    }

    #[test]
    fn median_interval_contains_the_median(values in vec(gridded(), 1..60), level in 0.05..0.999) {
        let interval = median_interval(&values, Level::new(level).unwrap()).unwrap();
        prop_assert!(interval.lower <= interval.point && interval.point <= interval.upper);
        prop_assert!(values.contains(&interval.lower) && values.contains(&interval.upper));
        let (least, most) = (quantile(&values, 0.0), quantile(&values, 1.0));
        prop_assert!(interval.reaches_level() || (Some(interval.lower), Some(interval.upper)) == (least, most));
    }

    #[test]
    fn bootstrap_repeats_and_stays_within_the_samples(values in vec(gridded(), 1..20), seed: u64) {
        let first = bootstrap(&values, plan(seed), median).unwrap();
        prop_assert_eq!(first, bootstrap(&values, plan(seed), median).unwrap());
        prop_assert!(first.lower <= first.upper);
        prop_assert!(quantile(&values, 0.0).unwrap() <= first.lower && first.upper <= quantile(&values, 1.0).unwrap());
    }

    #[test]
    fn winners_contain_the_best_and_do_not_depend_on_units(
        cases in vec(vec((positive(), positive()), 6..12), 1..6), seed: u64,
    ) {
        let ratios = |scale: f64| -> Vec<PairedRatios> {
            cases
                .iter()
                .map(|pairs| pairs.iter().map(|(case, control)| (case * scale, control * scale)).collect::<Vec<_>>())
                .map(|pairs| PairedRatios::new(&pairs).unwrap())
                .collect()
        };
        let winners = winner_set(&ratios(1.0), None, plan(seed)).unwrap();
        prop_assert!(winners.members.contains(&winners.best));
        prop_assert!(winners.members.is_sorted());
        prop_assert_eq!(&winners, &winner_set(&ratios(1024.0), None, plan(seed)).unwrap());
    }

    #[test]
    fn regret_is_at_least_one_and_falls_with_k((predicted, measured) in pairs(gridded(), 1..30)) {
        let found = regret(&predicted, &measured).unwrap().unwrap();
        prop_assert!(found.ratio >= 1.0 && found.difference >= 0.0);
        let at = |k: usize| regret_at_k(&predicted, &measured, NonZeroUsize::new(k).unwrap()).unwrap().unwrap();
        prop_assert_eq!(at(1), found.ratio);
        for k in 1..predicted.len() {
            prop_assert!(at(k) >= at(k + 1));
        }
        // `best` is found when it is tried. An equally good case may be found earlier.
        prop_assert_eq!(at(found.rank_of_best), 1.0);
        let perfect = regret(&measured, &measured).unwrap().unwrap();
        prop_assert_eq!((perfect.ratio, perfect.rank_of_best), (1.0, 1));
    }

    #[test]
    fn theil_sen_recovers_lines(x in vec(gridded(), 3..30), slope in gridded(), intercept in gridded()) {
        let y: Vec<f64> = x.iter().map(|x| slope * x + intercept).collect();
        match theil_sen(&x, &y) {
            Ok(line) => {
                prop_assert!((line.slope - slope).abs() < 1e-12 && (line.intercept - intercept).abs() < 1e-12);
            }
            Err(_) => prop_assert!(x.iter().all(|other| *other == x[0])),
        }
    }
}
