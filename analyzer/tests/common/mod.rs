//! Small cohorts, built in memory.

#![allow(
    dead_code,
    clippy::unwrap_used,
    reason = "each test file uses its own part; helpers of tests"
)]

use std::collections::BTreeMap;

use analyzer::collect::collect;
use analyzer::rows::evaluate;
use analyzer::{Analysis, AnalyzeError, Dataset};
use cohort::{
    Addition, AdditionKind, BuildOutcome, Case, FileDigest, Manifest, Measure, Origin, Record, RecordKind, RunOutcome,
    WorkloadEntry,
};
use jiff::Timestamp;
use planner::{Attributes, Elementwise, GemmExtents, Operation, OperationKind, Plan, Workload};
use stats::random::SplitMix64;
use target_api::{Estimate, Machine, Measurement, Moment, NumericalError, Of, PeakProbe, Phase, Sample, Tool, Verdict};

pub(crate) fn zeros() -> String {
    "0".repeat(64)
}

pub(crate) fn mlp(name: &str) -> Workload {
    let gemm = |name: &str, inner, columns| Operation {
        name: name.to_owned(),
        kind: OperationKind::Gemm(GemmExtents {
            rows: 100,
            inner,
            columns,
        }),
    };
    Workload {
        name: name.to_owned(),
        operations: vec![
            gemm("up", 500, 1000),
            Operation {
                name: "gelu".to_owned(),
                kind: OperationKind::Elementwise {
                    function: Elementwise::GeluTanh,
                    rows: 100,
                    columns: 1000,
                },
            },
            gemm("down", 1000, 500),
        ],
    }
}

pub(crate) struct Fixture {
    pub(crate) manifest: Manifest,
    pub(crate) cases: Vec<Case>,
    pub(crate) additions: Vec<Addition>,
    pub(crate) records: Vec<Record>,
    pub(crate) rng: SplitMix64,
}

impl Fixture {
    /// Workloads, each with a control of its own.
    pub(crate) fn new(workloads: &[(&str, &str)]) -> Self {
        let manifest = Manifest {
            format: Manifest::FORMAT,
            target: "cpu".to_owned(),
            objective: ("time".to_owned(), "ns".to_owned()),
            inverse_of: None,
            definition: String::new(),
            options: BTreeMap::from([("threads".to_owned(), "2".to_owned())]),
            costs: None,
            workloads: workloads
                .iter()
                .map(|(name, control)| WorkloadEntry {
                    workload: mlp(name),
                    control: Some((*control).to_owned()),
                })
                .collect(),
            measure: Measure {
                rounds: 4,
                pairs: 3,
                finalists: 24,
                seed: 7,
                build_timeout_ms: 1,
                run_timeout_ms: 1,
                cross: 2,
                confirm: 0,
            },
            screened: BTreeMap::new(),
            chosen_from: cohort::ChosenFrom::default(),
            cases: 0,
            cases_sha256: zeros(),
            units: Vec::new(),
            harness: None,
            inputs: Vec::new(),
            binary: Some(FileDigest {
                path: "layout-sweep".to_owned(),
                sha256: zeros(),
                bytes: 1,
            }),
            imported: None,
            machine: Machine {
                class: BTreeMap::from([
                    ("cpu_model".to_owned(), "Example CPU | 2 cores".to_owned()),
                    ("isa".to_owned(), "avx2".to_owned()),
                ]),
                instance: BTreeMap::from([("hostname".to_owned(), "example".to_owned())]),
                tools: vec![Tool {
                    name: "compiler".to_owned(),
                    path: "/usr/bin/cc".to_owned(),
                    version: "cc 14.2.0".to_owned(),
                    output: None,
                    sha256: zeros(),
                }],
                facts: serde_json::Value::Null,
            },
            origin: Origin {
                definition_path: "cohorts/example.toml".to_owned(),
                frozen_at: Timestamp::UNIX_EPOCH,
                git_revision: None,
            },
        };
        Self {
            manifest,
            cases: Vec::new(),
            additions: Vec::new(),
            records: Vec::new(),
            rng: SplitMix64::new(1),
        }
    }

    pub(crate) fn make_case(workload: &str, name: &str, family: &str, estimates: &[(&str, f64, &str)]) -> Case {
        Case {
            name: name.to_owned(),
            workload: workload.to_owned(),
            family: family.to_owned(),
            reason: format!("chosen as a {family} case"),
            plan: Plan {
                target: "cpu".to_owned(),
                text: format!("plan of {name}"),
                attributes: Attributes::new(),
            },
            estimates: estimates
                .iter()
                .map(|(name, value, unit)| Estimate {
                    name: (*name).to_owned(),
                    value: *value,
                    unit: (*unit).to_owned(),
                    moment: Moment::Plan,
                    parts: Vec::new(),
                })
                .collect(),
            unestimated: std::collections::BTreeMap::new(),
            units: BTreeMap::new(),
            repeat_of: None,
        }
    }

    pub(crate) fn case(&mut self, workload: &str, name: &str, family: &str, estimates: &[(&str, f64, &str)]) {
        self.cases.push(Self::make_case(workload, name, family, estimates));
    }

    pub(crate) fn add(&mut self, kind: AdditionKind) {
        self.additions.push(Addition {
            number: u32::try_from(self.additions.len()).unwrap() + 1,
            previous_sha256: zeros(),
            reason: "because of results".to_owned(),
            at: Timestamp::UNIX_EPOCH,
            records: std::collections::BTreeMap::new(),
            kind,
        });
    }

    pub(crate) fn record(&mut self, case: &str, attempt: u32, kind: RecordKind) {
        self.records.push(Record {
            writer: "w".to_owned(),
            sequence: self.records.len() as u64,
            // One record every 10 seconds.
            at: Timestamp::from_second(10 * i64::try_from(self.records.len()).unwrap()).unwrap(),
            case: case.to_owned(),
            attempt,
            kind,
        });
    }

    pub(crate) fn built(&mut self, case: &str, attempt: u32) {
        self.build(case, attempt, BuildOutcome::Built { units: BTreeMap::new() });
    }

    pub(crate) fn build(&mut self, case: &str, attempt: u32, outcome: BuildOutcome) {
        self.record(
            case,
            attempt,
            RecordKind::Build {
                outcome,
                estimates: Vec::new(),
            },
        );
    }

    pub(crate) fn run(&mut self, case: &str, attempt: u32, round: u32, outcome: RunOutcome) {
        self.record(
            case,
            attempt,
            RecordKind::Run {
                round,
                device: "cpu".to_owned(),
                outcome,
                run_ms: 1,
                waited_ms: 0,
                recovered: false,
                profile_sha256: None,
            },
        );
    }

    pub(crate) fn round(&mut self, case: &str, attempt: u32, round: u32, pairs: &[(f64, f64, f64)]) {
        let outcome = RunOutcome::Correct {
            measurement: measurement(pairs),
        };
        self.run(case, attempt, round, outcome);
    }

    /// Built, and four rounds of three pairs: `ratio` times a control of 1 ms, with noise of one percent.
    pub(crate) fn measure(&mut self, case: &str, ratio: f64) {
        self.built(case, 1);
        for round in 0..4 {
            let pairs: Vec<(f64, f64, f64)> = (0..3).map(|_| self.pair(ratio)).collect();
            self.round(case, 1, round, &pairs);
        }
    }

    /// A pair with a clock that both share, and noise of about one percent.
    fn pair(&mut self, ratio: f64) -> (f64, f64, f64) {
        let clock = 1.0 + 0.1 * self.uniform();
        let (a, b) = (0.01 * self.uniform(), 0.01 * self.uniform());
        (1e6 * ratio * clock * (1.0 + a), 1e6 * clock * (1.0 + b), 400.0 / clock)
    }

    fn uniform(&mut self) -> f64 {
        self.rng.index(1_000_001).unwrap() as f64 / 1e6
    }

    pub(crate) fn dataset(&self) -> Result<Dataset, AnalyzeError> {
        let mut manifest = self.manifest.clone();
        manifest.cases = self.cases.len() as u64;
        let state = cohort::state(&manifest, &self.cases, &self.additions, &self.records).unwrap();
        collect(&manifest, &self.additions, &state)
    }

    pub(crate) fn analysis(&self) -> Analysis {
        evaluate(&self.dataset().unwrap()).unwrap()
    }
}

/// A round of pairs (case ns, control ns, peak in GFLOP/s), after one pair that only warms up.
pub(crate) fn measurement(pairs: &[(f64, f64, f64)]) -> Measurement {
    let sample = |of, value, warm_up| Sample {
        of,
        warm_up,
        value,
        phases: vec![
            Phase {
                name: "up".to_owned(),
                kind: "compute".to_owned(),
                value: value * 0.6,
            },
            Phase {
                name: "down".to_owned(),
                kind: "reduce".to_owned(),
                value: value * 0.4,
            },
        ],
        extra: BTreeMap::new(),
    };
    let mut samples = vec![sample(Of::Case, 9e9, true), sample(Of::Control, 9e9, true)];
    for (case, control, _) in pairs {
        samples.extend([sample(Of::Case, *case, false), sample(Of::Control, *control, false)]);
    }
    Measurement {
        verdict: Verdict::Correct,
        error: Some(NumericalError {
            max_absolute: Some(1e-6),
            reference_rms: 1.0,
            tolerance: 1e-4,
            elements: 50_000,
            calls: 2,
        }),
        samples,
        probes: pairs
            .iter()
            .map(|(_, _, peak)| PeakProbe {
                peak_gflops: *peak,
                clock_ghz: None,
            })
            .collect(),
        facts: BTreeMap::new(),
    }
}

/// A sweep as it may come out: two estimates, failures, crosses, a retry, a confirmation.
pub(crate) fn typical() -> Fixture {
    let mut it = Fixture::new(&[("mlp", "row-major")]);
    for (key, count) in [
        ("mlp/up/normal", "2046"),
        ("mlp/up/swapped", "483"),
        ("mlp/down/normal", "1231"),
        ("mlp/down/swapped", "859"),
    ] {
        it.manifest.screened.insert(key.to_owned(), count.to_owned());
    }
    // Name, family, ratio, what the analytic model says in ms, what the proxy scores.
    let measured = [
        ("row-major", "control", 1.0, 0.9, 500.0),
        ("up-00", "up", 0.82, 0.75, 410.0),
        ("up-01", "up", 0.95, 0.93, 470.0),
        ("up-02", "up", 1.3, 1.6, 450.0),
        ("down-00", "down", 0.88, 0.8, 420.0),
        ("down-01", "down", 1.05, 0.92, 800.0),
        ("down-02", "down", 2.2, 2.9, 1500.0),
        ("joint-00", "joint", 0.815, 0.7, 400.0),
    ];
    for (name, family, ratio, ms, score) in measured {
        it.case(
            "mlp",
            name,
            family,
            &[("analytic", ms * 1e6, "ns"), ("proxy", score, "score")],
        );
        // The model says less of the first product than was measured, and more of the second.
        let parts = [("up", 0.5 * ms), ("down", 0.5 * ms * ms)];
        let last = it.cases.last_mut().unwrap();
        last.estimates[0].parts = parts.map(|(name, ms)| (name.to_owned(), ms * 1e6)).to_vec();
        last.plan.attributes.set("family", family.into());
        last.plan.attributes.set("inner", i64::from(name.ends_with('1')).into());
        it.measure(name, ratio);
    }
    it.case(
        "mlp",
        "up-03",
        "up",
        &[("analytic", 1e6, "ns"), ("proxy", 600.0, "score")],
    );
    let reason = "refused by rule `registers`: 17 | 16".to_owned();
    it.build("up-03", 1, BuildOutcome::Rejected { reason });
    it.case("mlp", "down-03", "down", &[("analytic", 1e6, "ns")]);
    let reason = "inner loop touches the stack".to_owned();
    it.build("down-03", 1, BuildOutcome::BuildFailed { reason });
    it.case("mlp", "up-04", "up", &[]);
    it.built("up-04", 1);
    let reason = "signal 11".to_owned();
    it.run("up-04", 1, 0, RunOutcome::RunFailed { reason });
    let because = "asked for".to_owned();
    it.record("up-04", 2, RecordKind::Retry { because });
    it.built("up-04", 2);
    for round in 0..4 {
        it.round("up-04", 2, round, &[(1.5e6, 1e6, 400.0); 3]);
    }
    it.case(
        "mlp",
        "up-05",
        "up",
        &[("analytic", 1e6, "ns"), ("proxy", 600.0, "score")],
    );

    let cross = |name, ms: f64, inner: i64| {
        let mut case = Fixture::make_case("mlp", name, "cross", &[("analytic", ms * 1e6, "ns")]);
        case.plan.attributes.set("family", "cross".into());
        case.plan.attributes.set("inner", inner.into());
        case
    };
    it.add(AdditionKind::Crosses {
        cases: vec![cross("cross-0-0", 0.6, 3), cross("cross-0-1", 0.62, 0)],
        units: Vec::new(),
    });
    it.measure("cross-0-0", 0.7);
    it.measure("cross-0-1", 0.702);
    let mut again = Fixture::make_case("mlp", "confirm-cross-0-0", "confirm", &[]);
    again.repeat_of = Some("cross-0-0".to_owned());
    it.add(AdditionKind::Confirmation {
        cases: vec![again],
        rounds: BTreeMap::from([("confirm-cross-0-0".to_owned(), vec![3; 4])]),
    });
    it.measure("confirm-cross-0-0", 0.705);
    it
}
