//! Time and memory of a whole evaluation: `cargo run --release -p layout-sweep-analyzer --example million_cases [CASES]`.
//!
//! One workload whose values do not vary, as a unit model or an import gives it: every case with one value, two estimates
//! and a plan of two attributes. Prints what took how long, and the largest memory of the process (Linux).

#![expect(clippy::print_stdout, reason = "an example prints its result")]

use std::collections::BTreeMap;
use std::time::Instant;

use analyzer::ceiling::Repeated;
use analyzer::dataset::{CaseData, Chosen, Objective, Outcome, Pair, Prediction, Setup, WorkloadData};
use analyzer::{AnalyzeError, Dataset, page};
use stats::random::SplitMix64;
use target_api::Moment;

fn main() -> Result<(), AnalyzeError> {
    let cases = std::env::args()
        .nth(1)
        .and_then(|word| word.parse().ok())
        .unwrap_or(1_000_000);
    let dataset = dataset(cases);
    println!("{cases} cases; dataset: {} MB", peak_mb());
    let start = Instant::now();
    let analysis = analyzer::rows::evaluate(&dataset)?;
    println!("evaluated: {:.1} s, {} MB", start.elapsed().as_secs_f64(), peak_mb());
    for estimate in &analysis.workloads[0].estimates {
        let judged = &estimate.whole;
        println!(
            "{}: Spearman {:?} {:?}, inversions {} of {}, regret {:?}, line {:?}",
            estimate.name,
            judged.spearman,
            judged
                .spearman_interval
                .map(|ends| (ends.lower, ends.upper, ends.drawn)),
            judged.inversions,
            judged.comparable_pairs,
            judged.regret_ratio,
            judged.line.map(|line| (line.slope, line.intercept))
        );
    }
    let start = Instant::now();
    let bytes = analyzer::report::summary(&analysis)?.len();
    println!(
        "summary.csv: {:.1} s, {} MB of text, {} MB",
        start.elapsed().as_secs_f64(),
        bytes >> 20,
        peak_mb()
    );
    let start = Instant::now();
    let bytes = page::render(&page::Input {
        analysis: &analysis,
        links: &page::Links::default(),
        parameters: &BTreeMap::new(),
        timelines: &BTreeMap::new(),
    })?
    .len();
    println!(
        "report.html: {:.1} s, {} MB of text, {} MB",
        start.elapsed().as_secs_f64(),
        bytes >> 20,
        peak_mb()
    );
    Ok(())
}

fn dataset(cases: usize) -> Dataset {
    let mut rng = SplitMix64::new(1);
    let mut uniform = || rng.index(1 << 30).unwrap_or_default() as f64 / f64::from(1 << 30);
    let control = (60_000.0 * uniform()).round() + 20_000.0;
    let case = |index: usize| {
        let value = if index == 0 {
            control
        } else {
            (20_000.0 * (3.0 * uniform()).exp()).round()
        };
        let predicted = (0.8 * value * (0.7 + 0.6 * uniform())).round();
        let prediction = |value: f64, unit: &str| Prediction {
            value,
            unit: unit.to_owned(),
            moment: Moment::Plan,
            parts: Vec::new(),
        };
        let mut attributes = planner::Attributes::new();
        attributes.set("rows", (u32::try_from(index % 64).unwrap_or_default()).into());
        attributes.set("columns", (u32::try_from(index / 64).unwrap_or_default()).into());
        CaseData {
            name: format!("case-{index}"),
            family: format!("family-{}", index % 5),
            chosen: Chosen::Initial,
            because: String::new(),
            plan: format!("{}x{}", index % 64, index / 64),
            attributes,
            repeat_of: None,
            outcome: Outcome::Correct,
            reason: None,
            attempts: Vec::new(),
            estimates: BTreeMap::from([
                ("model".to_owned(), prediction(predicted, "cycles")),
                ("score".to_owned(), prediction((predicted / 100.0).round(), "score")),
            ]),
            unestimated: BTreeMap::new(),
            pairs: vec![Pair {
                round: 0,
                case: value,
                control,
                peak_gflops: None,
                disturbed: false,
            }],
            phases: Vec::new(),
            control_phases: Vec::new(),
            kinds: BTreeMap::new(),
            left_out: BTreeMap::new(),
            times: Vec::new(),
            other: BTreeMap::new(),
            error: None,
        }
    };
    let cases: Vec<CaseData> = (0..cases).map(case).collect();
    Dataset {
        setup: Setup {
            class: 0,
            classes: Vec::new(),
            target: "example".to_owned(),
            objective: Objective {
                name: "time".to_owned(),
                unit: "cycles".to_owned(),
                larger_is_better: false,
                shown_in: None,
            },
            machine: BTreeMap::new(),
            instance: BTreeMap::new(),
            tools: Vec::new(),
            options: BTreeMap::new(),
            rounds: 1,
            pairs: 1,
            finalists: 0,
            tie: Some(24.0),
            seed: 1,
            cross: 0,
            imported: None,
            frozen_at: String::new(),
            definition_path: String::new(),
            git_revision: None,
        },
        consents: Vec::new(),
        workloads: vec![WorkloadData {
            name: "example".to_owned(),
            extents: String::new(),
            flops: 1,
            least_flops: 1,
            weight: 1.0,
            control: "case-0".to_owned(),
            has_control: true,
            paired: false,
            varies: false,
            repeated: Repeated::Rounds,
            cases,
            screened: Vec::new(),
            legal_plans: None,
            refused: Vec::new(),
        }],
    }
}

/// Largest resident memory of this process so far; 0 where it can't be told.
fn peak_mb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kb = line.and_then(|rest| rest.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok());
    kb.unwrap_or_default() / 1_024
}
