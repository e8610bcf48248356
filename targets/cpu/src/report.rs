//! What a round printed, as a measurement.

use std::collections::BTreeMap;

use planner::Workload;
use target_api::{Captured, Malformed, Measurement, NumericalError, Of, PeakProbe, Phase, Sample, Verdict};

use crate::harness::{ABI, CallSample, RunReport, Side};
use crate::machine::how_it_ended;

/// Reads the report of a round of `workload`.
///
/// A report with one plan is of the case, whatever the harness calls it. A wrong call of either plan, or an input that
/// changed, makes the round incorrect: its times mean nothing.
pub fn measurement(workload: &Workload, captured: &Captured) -> Result<Measurement, Malformed> {
    if captured.exit_code != Some(0) {
        return Err(Malformed(format!(
            "the harness {}: {}",
            how_it_ended(captured),
            captured.stderr.trim()
        )));
    }
    let report: RunReport = serde_json::from_str(&captured.stdout).map_err(|error| Malformed(error.to_string()))?;
    if report.kind != "run" || report.abi != ABI {
        let message = format!(
            "expected a `run` report of version {ABI}, found `{}` of {}",
            report.kind, report.abi
        );
        return Err(Malformed(message));
    }
    let alone = report.case_correct.is_none();
    let of = |call: &CallSample| {
        if alone || call.plan == Side::Case {
            Of::Case
        } else {
            Of::Control
        }
    };
    let case: Vec<&CallSample> = report.calls.iter().filter(|call| of(call) == Of::Case).collect();
    if !case.iter().any(|call| !call.warm_up) {
        return Err(Malformed("the harness measured no call of the case".to_owned()));
    }
    let samples = report
        .calls
        .iter()
        .map(|call| sample(call, of(call)))
        .collect::<Result<_, _>>()?;
    let finite = case.iter().all(|call| call.error.non_finite == 0);
    let largest = case.iter().map(|call| call.error.max_abs).fold(0.0, f64::max);
    let of_products = workload.gemms().last().map(|(_, e)| e.rows * e.columns);
    let of_attention = workload
        .attentions()
        .last()
        .map(|(_, e)| e.heads * e.queries * e.value_width);
    let elements = of_products.or(of_attention).unwrap_or(0);
    Ok(Measurement {
        verdict: verdict(&report, of),
        error: Some(NumericalError {
            max_absolute: finite.then_some(largest),
            reference_rms: report.reference_rms,
            tolerance: report.tolerance * report.reference_rms,
            elements,
            calls: case.len() as u64,
        }),
        samples,
        probes: report
            .probes
            .iter()
            .map(|probe| PeakProbe {
                peak_gflops: probe.fma_gflops.iter().sum(),
                clock_ghz: mean(&probe.core_hz).map(|hz| hz / 1e9),
            })
            .collect(),
        facts: facts(&report),
    })
}

fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

fn verdict(report: &RunReport, of: impl Fn(&CallSample) -> Of) -> Verdict {
    let incorrect = |reason: String| Verdict::Incorrect { reason };
    if !report.inputs_intact || !report.changed.is_empty() {
        return incorrect(format!("changed during the run: {}", report.changed.join(", ")));
    }
    // The case first: a wrong control spoils the pair, a wrong case is the finding.
    for (side, whose) in [(Of::Case, "the result"), (Of::Control, "the control's result")] {
        let wrong = report
            .calls
            .iter()
            .find(|call| of(call) == side && call.error.first_bad.is_some());
        if let Some((call, at)) = wrong.and_then(|call| Some((call, call.error.first_bad?))) {
            return incorrect(format!(
                "{whose} is wrong {}: {}; the first wrong element is {at}",
                which(call),
                how_wrong(call, report)
            ));
        }
    }
    if !report.control_correct || report.case_correct == Some(false) {
        return incorrect("the harness found a result wrong, but names no element".to_owned());
    }
    Verdict::Correct
}

/// Which call of its plan it is, in words.
fn which(call: &CallSample) -> String {
    match call.pair {
        Some(pair) => format!("in the call of pair {pair}"),
        None => "in the warm-up call".to_owned(),
    }
}

/// What is wrong with the output of a call; errors are those of its finite elements.
fn how_wrong(call: &CallSample, report: &RunReport) -> String {
    let limit = report.tolerance * report.reference_rms;
    let largest = call.error.max_abs;
    let too_far = format!("the largest error is {largest:.2e}, more than the {limit:.2e} that pass");
    match call.error.non_finite {
        0 => too_far,
        bad => {
            let noun = if bad == 1 { "element is" } else { "elements are" };
            let rest = if largest > limit {
                format!(", and {too_far}")
            } else {
                String::new()
            };
            format!("{bad} {noun} not finite{rest}")
        }
    }
}

fn sample(call: &CallSample, of: Of) -> Result<Sample, Malformed> {
    if !(call.wall_ns.is_finite() && call.wall_ns > 0.0) {
        return Err(Malformed(format!("a call took {} ns", call.wall_ns)));
    }
    let phases = call.phases.iter().map(|phase| Phase {
        name: phase.name.clone(),
        kind: kind(&phase.kind).to_owned(),
        value: phase.ns,
    });
    Ok(Sample {
        of,
        warm_up: call.warm_up,
        value: call.wall_ns,
        phases: phases.collect(),
        extra: BTreeMap::from([
            ("tsc_cycles".to_owned(), call.tsc_cycles),
            ("involuntary_switches".to_owned(), call.involuntary_switches as f64),
        ]),
    })
}

/// The harness's kinds in the words that all targets share.
fn kind(own: &str) -> &str {
    match own {
        "gemm" => "compute",
        "activation" => "elementwise",
        other => other,
    }
}

fn facts(report: &RunReport) -> BTreeMap<String, String> {
    let cores: Vec<String> = report.cores.iter().map(ToString::to_string).collect();
    let huge = match report.huge_page_bytes {
        None => "not told".to_owned(),
        Some(bytes) if bytes >= report.mapped_bytes => "granted".to_owned(),
        Some(bytes) => format!("{:.0} % granted", 100.0 * bytes / report.mapped_bytes),
    };
    let mut facts = BTreeMap::from([
        ("cores".to_owned(), cores.join(", ")),
        ("huge_pages".to_owned(), huge),
        ("probe_isa".to_owned(), report.probe_isa.clone()),
        ("tsc_hz".to_owned(), report.tsc_hz.to_string()),
        ("control_load_ns".to_owned(), report.control_load_ns.to_string()),
    ]);
    if let Some(ns) = report.case_load_ns {
        facts.insert("case_load_ns".to_owned(), ns.to_string());
    }
    facts
}
