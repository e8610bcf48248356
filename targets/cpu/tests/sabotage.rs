//! The harness must catch what a wrong object does: a dropped partial, an unwritten block, a changed input, a write beyond
//! a buffer, a value that is not finite.

#![allow(
    clippy::disallowed_methods,
    reason = "a test may read files, clocks and run programs"
)]
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "these are tests, outside a test function"
)]

mod support;

use support::{Problem, Workshop, native_isa, plain_geometry, problem, sources, workshop};
use target_cpu::geometry::{CpuPlan, GemmGeometry, Staging};
use target_cpu::harness::{PlanObjects, RunReport};

fn small(shop: &Workshop) -> Problem {
    problem(shop.folder.path(), 30, &[(40, 32, false)])
}

fn plan(geometry: GemmGeometry) -> CpuPlan {
    CpuPlan {
        threads: 1,
        carry: false,
        gemms: vec![("up".to_owned(), geometry)],
    }
}

/// Runs the sound plan as control and the same source with `from` replaced by `to` as case.
fn sabotaged(geometry: GemmGeometry, from: &str, to: &str) -> Option<RunReport> {
    let shop = workshop()?;
    let problem = small(shop);
    let plan = plan(geometry);
    let sound = shop.objects_of(&problem.products, &plan);
    let source = sources(shop.isa, &problem.products, &plan).remove(0);
    assert_eq!(
        source.matches(from).count(),
        1,
        "`{from}` should stand once in\n{source}"
    );
    let object = shop.object(&source.replace(from, to));
    let case = PlanObjects {
        objects: vec![object],
        ..sound.clone()
    };
    Some(shop.run(&problem, sound, Some(case)))
}

fn assert_only_the_case_is_wrong(report: &RunReport) {
    assert!(report.inputs_intact, "{:?}", report.changed);
    assert!(report.control_correct);
    assert_eq!(report.case_correct, Some(false), "{:?}", report.calls);
}

#[test]
fn a_dropped_partial_is_caught() {
    let geometry = GemmGeometry {
        inner: 5,
        staging: Staging::Complete,
        ..plain_geometry(native_isa(), None)
    };
    let Some(report) = sabotaged(
        geometry,
        "for (long q = 0; q < count; q++)",
        "for (long q = 1; q < count; q++)",
    ) else {
        return;
    };
    assert_only_the_case_is_wrong(&report);
    assert_eq!(
        report.calls.last().unwrap().error.non_finite,
        0,
        "wrong, but finite: found by its size alone"
    );
}

#[test]
fn a_dropped_inner_block_is_caught() {
    let geometry = GemmGeometry {
        inner: 5,
        ..plain_geometry(native_isa(), None)
    };
    let Some(report) = sabotaged(geometry, "    {0, 0, 0}, {0, 0, 1}, ", "    {0, 0, 0}, ") else {
        return;
    };
    assert_eq!(report.case_correct, Some(false));
}

#[test]
fn an_unwritten_block_is_caught_by_the_poison() {
    let geometry = GemmGeometry {
        rows: 2,
        ..plain_geometry(native_isa(), None)
    };
    let skip = "if (row < first || row >= last) continue;";
    let Some(report) = sabotaged(
        geometry,
        skip,
        "if (row < first || row >= last || t->row == 1) continue;",
    ) else {
        return;
    };
    assert_only_the_case_is_wrong(&report);
    let error = &report.calls.last().unwrap().error;
    // Blocks of 30 tokens in 5 panels of 6: the second begins at panel 2, token 12.
    assert_eq!((error.non_finite, error.first_bad), (18 * 32, Some(12 * 32)));
}

#[test]
fn a_changed_input_is_caught() {
    let geometry = plain_geometry(native_isa(), None);
    let body = "static void compute(const struct ls_buffers *s, int worker, int batch, long first, long last)\n{\n";
    let changed = format!("{body}    ((float *)s->input)[29 * 40 + 39] *= 1.0000001f;\n");
    let Some(report) = sabotaged(geometry.clone(), body, &changed) else {
        return;
    };
    assert_eq!(report.changed, ["x"]);
    assert_eq!(
        (report.inputs_intact, report.control_correct, report.case_correct),
        (false, false, Some(false))
    );

    let changed = format!("{body}    ((char *)s->weights)[5] ^= 1;\n");
    let Some(report) = sabotaged(geometry.clone(), body, &changed) else {
        return;
    };
    assert_eq!(report.changed, ["weights of up"]);

    let changed = format!("{body}    ((char *)s->panels)[5] ^= 1;\n");
    let Some(report) = sabotaged(geometry, body, &changed) else {
        return;
    };
    assert_eq!(report.changed, ["case: packed weights of up"]);
}

#[test]
fn a_write_beyond_the_output_is_caught() {
    let body = "static void compute(const struct ls_buffers *s, int worker, int batch, long first, long last)\n{\n";
    let changed = format!("{body}    s->output[30 * 32] = 0.0f;\n");
    let Some(report) = sabotaged(plain_geometry(native_isa(), None), body, &changed) else {
        return;
    };
    assert_eq!(report.changed, ["case: behind output of up"]);
}

#[test]
fn one_value_that_is_not_finite_is_caught() {
    let end = "block(s, t, t + 1 < end ? t + 1 : t);";
    let changed = format!("{end}\n        s->output[77] = 1.0f / (float)(worker - worker);");
    let Some(report) = sabotaged(plain_geometry(native_isa(), None), end, &changed) else {
        return;
    };
    assert_only_the_case_is_wrong(&report);
    let error = &report.calls.last().unwrap().error;
    assert_eq!((error.non_finite, error.first_bad), (1, Some(77)));
}

#[test]
fn misuse_ends_with_a_message_and_no_result() {
    let Some(shop) = workshop() else { return };
    for (arguments, word) in [
        (vec!["run"], "needed"),
        (vec!["run", "colour=red"], "unknown key: colour"),
        (vec!["dance"], "expected a mode"),
        (vec![], "expected a mode"),
    ] {
        let arguments: Vec<String> = arguments.into_iter().map(str::to_owned).collect();
        let problem = shop.harness(&arguments).unwrap_err();
        assert!(problem.contains(word), "{problem}");
    }
    // An object for other extents, and one for other layouts, are refused before anything runs.
    let problem = small(shop);
    let other = support::problem(shop.folder.path(), 30, &[(40, 33, false)]);
    let object = shop.objects_of(&other.products, &plan(plain_geometry(native_isa(), None)));
    let request = target_cpu::harness::RunRequest {
        products: &problem.products,
        x: problem.x.clone(),
        weights: problem.weights.clone(),
        reference: problem.reference.clone(),
        calls: support::calls(1e-5, object, None),
    };
    let message = shop.harness(&target_cpu::harness::run_arguments(&request)).unwrap_err();
    assert!(message.contains("other extents"), "{message}");
}

#[test]
fn the_machine_is_described_in_one_object() {
    let Some(shop) = workshop() else { return };
    let text = shop
        .harness(&target_cpu::harness::machine_arguments(support::cores()[0]))
        .unwrap();
    let report: target_cpu::harness::MachineReport = serde_json::from_str(&text).unwrap();
    assert_eq!(report.fma.last().unwrap().isa, shop.isa.word());
    assert!(
        report.fma.iter().all(|peak| peak.gflops > 0.1 && peak.gflops < 2000.0),
        "{:?}",
        report.fma
    );
    assert!(report.knees.l1_bytes <= report.knees.l2_bytes && report.knees.l2_bytes <= report.knees.l3_bytes);
    assert!(!report.physical_cores.is_empty());
    assert!(report.core_hz > 1e8 && report.core_hz < 1e10, "{}", report.core_hz);
    assert_eq!(report.read_bandwidth.len(), report.load_latency.len());
}

/// A rate of memory that a cache delivered would be several times too high.
#[test]
fn the_rate_of_memory_comes_from_beyond_every_cache() {
    let Some(shop) = workshop() else { return };
    let text = shop
        .harness(&target_cpu::harness::machine_arguments(support::cores()[0]))
        .unwrap();
    let report: target_cpu::harness::MachineReport = serde_json::from_str(&text).unwrap();
    let largest = report.read_bandwidth.last().unwrap();
    if let Some(rate) = report.dram_gb_per_s {
        assert!((rate - largest.gb_per_s).abs() < f64::EPSILON * rate, "{rate}");
        let cache = report.largest_cache_bytes.unwrap_or(0.0);
        assert!(largest.bytes as f64 >= 2.0 * cache, "{} of {cache}", largest.bytes);
    }
    // Of every core the lowest processor that shares its largest cache: itself or one before it.
    assert_eq!(report.largest_cache_lowest.len(), report.physical_cores.len());
    for (core, lowest) in report.physical_cores.iter().zip(&report.largest_cache_lowest) {
        assert!(lowest.is_none_or(|lowest| lowest <= *core), "{core} {lowest:?}");
    }
    let described = |rate: Option<f64>| {
        let report = target_cpu::harness::MachineReport {
            dram_gb_per_s: rate,
            ..report.clone()
        };
        target_cpu::estimate::Hardware::new(&report, shop.isa)
    };
    assert!(described(Some(10.0)).is_some());
    assert_eq!(described(None), None, "nothing is made up for it");
}
