//! The shipped definitions of attention: every case is legal, nothing is refused, and each estimate has a value for it.

#![allow(clippy::unwrap_used, missing_docs, reason = "tests stop at the first surprise")]

use planner::{Definition, select};
use target_api::Configured;
use target_cpu::configured::Configuration;
use target_cpu::isa::Isa;
use target_cpu::options::Settings;

fn planned(name: &str, text: &str, least: usize) {
    let report = serde_json::from_str(include_str!("data/zen3-guest.json")).unwrap();
    let settings = Settings {
        threads: 2,
        isa: Isa::Avx2,
        cores: vec![0, 1],
    };
    let configuration = Configuration::new(settings, &report, "cc").unwrap();
    let definition = Definition::parse(name, text).unwrap();
    let selection = select(&definition, &configuration).unwrap();
    assert!(selection.refused.is_empty(), "{name}: {:?}", selection.refused);
    for selected in &selection.workloads {
        assert_eq!(selected.notes, Vec::<String>::new(), "{name}: {}", selected.name);
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
            assert_eq!(units.map(|units| units.len()), Ok(1), "{name}: {}", case.name);
            for estimator in configuration.estimators() {
                let estimate = estimator.estimate(workload, &plan).unwrap();
                assert!(estimate.value > 1e5 && estimate.value < 1e10, "{name}: {estimate:?}");
            }
        }
    }
}

#[test]
fn shipped_attentions_can_be_planned() {
    let siglip = include_str!("../../../cohorts/siglip-attention-cpu.toml");
    planned("siglip-attention-cpu.toml", siglip, 20);
    let sdxl = include_str!("../../../cohorts/sdxl-attention-cpu.toml");
    planned("sdxl-attention-cpu.toml", sdxl, 14);
}
