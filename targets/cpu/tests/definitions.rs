//! The shipped definitions: with AVX2 and with AVX-512 every case is legal, only shapes of kernels that the instruction set
//! does not have are refused, and each estimate has a value for every case.

#![allow(clippy::unwrap_used, missing_docs, reason = "tests stop at the first surprise")]

use planner::{Definition, Selection, select};
use target_api::Configured;
use target_cpu::configured::Configuration;
use target_cpu::harness::MachineReport;
use target_cpu::isa::Isa;
use target_cpu::options::Settings;

fn planned(name: &str, text: &str, least: usize) {
    for isa in [Isa::Avx2, Isa::Avx512] {
        planned_for(isa, name, text, least);
    }
}

fn planned_for(isa: Isa, name: &str, text: &str, least: usize) {
    let configuration = configuration(isa);
    let definition = Definition::parse(name, text).unwrap();
    let selection = select(&definition, &configuration).unwrap();
    for selected in &selection.workloads {
        assert_eq!(selected.notes, Vec::<String>::new(), "{name}: {}", selected.name);
    }
    sound(&configuration, &definition, &selection, isa, least);
}

fn configuration(isa: Isa) -> Configuration {
    let mut report: MachineReport = serde_json::from_str(include_str!("data/zen3-guest.json")).unwrap();
    if isa == Isa::Avx512 {
        // Twice the lanes: what such a machine would say.
        let mut wider = report.fma[report.fma.len() - 1].clone();
        isa.word().clone_into(&mut wider.isa);
        (wider.lanes, wider.gflops) = (isa.lanes(), 2.0 * wider.gflops);
        report.fma.push(wider);
    }
    let settings = Settings {
        threads: 2,
        isa,
        cores: vec![0, 1],
    };
    Configuration::new(settings, &report, "cc").unwrap()
}

/// Only shapes of kernels are refused; every workload has its cases; each builds and has both estimates.
fn sound(configuration: &Configuration, definition: &Definition, selection: &Selection, isa: Isa, least: usize) {
    let name = &definition.source.path;
    for refused in &selection.refused {
        let said = format!("{refused:?}");
        assert!(refused.name.contains("kernel-"), "{name}, {isa}: {said}");
        let shape = ["registers", "width", "query_panel"]
            .iter()
            .any(|word| said.contains(word));
        assert!(shape, "{name}, {isa}: {said}");
    }
    for selected in &selection.workloads {
        assert!(
            selected.cases.len() >= least,
            "{name}: only {} cases",
            selected.cases.len()
        );
        let choice = definition
            .workloads
            .iter()
            .find(|choice| choice.workload.name == selected.name);
        let workload = &choice.unwrap().workload;
        for case in &selected.cases {
            let plan = configuration.plan(workload, &case.assignment);
            let units = configuration.build(workload, &plan);
            let operations = workload.gemms().count() + workload.attentions().count();
            assert_eq!(units.map(|units| units.len()), Ok(operations), "{name}: {}", case.name);
            for estimator in configuration.estimators() {
                let estimate = estimator.estimate(workload, &plan).unwrap();
                assert!(estimate.value > 1e3 && estimate.value < 1e10, "{name}: {estimate:?}");
            }
        }
    }
}

#[test]
fn shipped_products_can_be_planned() {
    for (name, text, least) in [
        (
            "quick-gemm-cpu.toml",
            include_str!("../../../cohorts/quick-gemm-cpu.toml"),
            6,
        ),
        (
            "decode-mlp-cpu.toml",
            include_str!("../../../cohorts/decode-mlp-cpu.toml"),
            12,
        ),
        (
            "skewed-gemm-cpu.toml",
            include_str!("../../../cohorts/skewed-gemm-cpu.toml"),
            14,
        ),
    ] {
        planned(name, text, least);
    }
}

#[test]
fn shipped_attentions_can_be_planned() {
    let siglip = include_str!("../../../cohorts/siglip-attention-cpu.toml");
    planned("siglip-attention-cpu.toml", siglip, 20);
    let sdxl = include_str!("../../../cohorts/sdxl-attention-cpu.toml");
    planned("sdxl-attention-cpu.toml", sdxl, 14);
}

/// What a workload is too small for is noted there: extents are drawn.
#[test]
fn what_calibrates_can_be_planned() {
    for (name, text, least) in [
        (
            "calibrate-cpu-held-out.toml",
            include_str!("../../../cohorts/calibrate-cpu-held-out.toml"),
            32,
        ),
        (
            "calibrate-decode-cpu-held-out.toml",
            include_str!("../../../cohorts/calibrate-decode-cpu-held-out.toml"),
            31,
        ),
        (
            "calibrate-attention-cpu.toml",
            include_str!("../../../cohorts/calibrate-attention-cpu.toml"),
            15,
        ),
    ] {
        for isa in [Isa::Avx2, Isa::Avx512] {
            let configuration = configuration(isa);
            let definition = Definition::parse(name, text).unwrap();
            let selection = select(&definition, &configuration).unwrap();
            sound(&configuration, &definition, &selection, isa, least);
        }
    }
}
