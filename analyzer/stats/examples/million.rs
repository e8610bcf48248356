//! Time and memory of the statistics over many cases: `cargo run --release -p layout-sweep-stats --example million [CASES]`.
//!
//! Predictions and measurements are whole cycles with many ties, made by the seeded generator; each line says what was
//! computed, its result, its time, and the largest memory of the process so far (Linux).

#![expect(clippy::print_stdout, reason = "an example prints its result")]

use std::num::NonZeroU32;
use std::time::Instant;

use stats::interval::{Bootstrap, Level};
use stats::noise::noise_ceiling;
use stats::order::{median_absolute_percentage_error, median_ratio};
use stats::random::SplitMix64;
use stats::rank::{Draws, inversions_beyond, kendall_interval, kendall_tau_b, spearman, spearman_interval};
use stats::regret::{cross_fitted_regret, regret, top_k};
use stats::theil_sen::theil_sen;

fn main() {
    let cases = std::env::args()
        .nth(1)
        .and_then(|word| word.parse().ok())
        .unwrap_or(1_000_000);
    let mut rng = SplitMix64::new(1);
    let mut uniform = || rng.index(1 << 30).unwrap_or_default() as f64 / f64::from(1 << 30);
    let mut predicted = Vec::with_capacity(cases);
    let mut measured = Vec::with_capacity(cases);
    let mut rounds = Vec::with_capacity(cases);
    for _ in 0..cases {
        let time = (20_000.0 * (3.0 * uniform()).exp()).round();
        predicted.push((0.8 * time * (0.7 + 0.6 * uniform())).round());
        measured.push(time);
        rounds.push([time * (1.0 + 0.01 * uniform()), time * (1.0 + 0.01 * uniform())]);
    }
    let (p, m) = (predicted.as_slice(), measured.as_slice());
    let odd: Vec<f64> = rounds.iter().map(|round| round[0]).collect();
    let even: Vec<f64> = rounds.iter().map(|round| round[1]).collect();
    let plan = |resamples: u32| Bootstrap {
        level: Level::P95,
        resamples: NonZeroU32::MIN.saturating_add(resamples - 1),
        seed: 1,
    };
    println!("{cases} cases; data: {} MB", peak_mb());
    show("Spearman", || spearman(p, m));
    show("Kendall tau-b", || kendall_tau_b(p, m));
    show("median ratio", || median_ratio(p, m));
    show("MdAPE", || median_absolute_percentage_error(p, m));
    show("inversions beyond 24", || inversions_beyond(p, m, 24.0));
    show("regret", || regret(p, m));
    show("regret@k, hit rate", || top_k(p, m, &[1, 10, 100, 1_000]));
    show("cross-fitted regret", || cross_fitted_regret(p, &odd, &even));
    show("noise ceiling", || noise_ceiling(&rounds));
    show("Theil-Sen", || theil_sen(p, m));
    let logs = |values: &[f64]| values.iter().map(|value| value.max(1.0).ln()).collect::<Vec<f64>>();
    let (log_p, log_m) = (logs(p), logs(m));
    show("Theil-Sen of logs", || theil_sen(&log_p, &log_m));
    let draws = |all_up_to, then| Draws { all_up_to, then };
    let all = draws(cases, cases);
    show("Spearman interval, all by weights, 200 resamples", || {
        spearman_interval(p, m, plan(200), all)
    });
    show("Spearman interval, 2,000 out of all, 2,000 resamples", || {
        spearman_interval(p, m, plan(2_000), draws(20_000, 2_000))
    });
    show("Kendall interval, 1,000 out of all, 2,000 resamples", || {
        kendall_interval(p, m, plan(2_000), draws(1_000, 1_000))
    });
}

fn show<T: std::fmt::Debug>(what: &str, compute: impl FnOnce() -> T) {
    let start = Instant::now();
    let found = compute();
    println!(
        "{what}: {:.3} s, {} MB: {found:?}",
        start.elapsed().as_secs_f64(),
        peak_mb()
    );
}

/// Largest resident memory of this process so far; 0 where it can't be told.
fn peak_mb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kb = line.and_then(|rest| rest.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok());
    kb.unwrap_or_default() / 1_024
}
