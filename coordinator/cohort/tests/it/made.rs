//! Small cohorts to test with.

use std::collections::BTreeMap;

use cohort::{
    BuildOutcome, Case, CohortDir, Draft, Frozen, Header, Manifest, Measure, Origin, Record, RecordKind, RunOutcome,
    WorkloadEntry,
};
use jiff::Timestamp;
use planner::{GemmExtents, Operation, OperationKind, Plan, Value, Workload};
use target_api::{
    BuildUnit, CommandSpec, Estimate, Input, InputSet, Machine, Measurement, Moment, Of, Sample, SourceFile, Tool,
    Verdict,
};

pub(crate) fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_700_000_000 + second).unwrap()
}

pub(crate) fn workload(name: &str) -> WorkloadEntry {
    let extents = GemmExtents {
        rows: 4,
        inner: 5,
        columns: 6,
    };
    let operation = Operation {
        name: "up".into(),
        kind: OperationKind::Gemm(extents),
    };
    let workload = Workload {
        name: name.into(),
        operations: vec![operation],
    };
    WorkloadEntry {
        workload,
        control: Some(format!("{name} control")),
    }
}

pub(crate) fn case(workload: &str, name: &str) -> Case {
    let attributes = [
        ("up.inner".to_owned(), Value::Integer(3)),
        ("up.mapping".to_owned(), "identity".into()),
    ];
    Case {
        name: name.into(),
        workload: workload.into(),
        family: "up".into(),
        reason: "because".into(),
        plan: Plan {
            target: "cpu".into(),
            text: name.into(),
            attributes: attributes.into_iter().collect(),
        },
        estimates: vec![Estimate {
            name: "model".into(),
            value: 0.1 + 0.2,
            unit: "ns".into(),
            moment: Moment::Plan,
            parts: vec![("up".into(), 1e-300)],
        }],
        unestimated: std::collections::BTreeMap::new(),
        units: BTreeMap::new(),
        repeat_of: None,
    }
}

pub(crate) fn machine() -> Machine {
    let tool = Tool {
        name: "compiler".into(),
        path: "/usr/bin/cc".into(),
        version: "14".into(),
        output: None,
        sha256: "ab".into(),
    };
    Machine {
        class: [
            ("cpu".to_owned(), "fast".to_owned()),
            ("governor".to_owned(), "performance".to_owned()),
        ]
        .into(),
        instance: [("hostname".to_owned(), "here".to_owned())].into(),
        tools: vec![tool],
        facts: serde_json::json!({"l2": 1_048_576, "clock_ghz": 3.1}),
    }
}

pub(crate) fn header(workloads: &[&str], rounds: u32, pairs: u32) -> Header {
    Header {
        target: "cpu".into(),
        objective: ("time".into(), "ns".into()),
        inverse_of: None,
        definition: "target = \"cpu\"\ncontrol = \"c\"\n".into(),
        options: [("threads".to_owned(), "2".to_owned())].into(),
        workloads: workloads.iter().map(|name| workload(name)).collect(),
        measure: Measure {
            rounds,
            pairs,
            finalists: 24,
            seed: u64::MAX,
            build_timeout_ms: 1000,
            run_timeout_ms: 1000,
            cross: 3,
            confirm: 0,
        },
        screened: [("w/up/normal".to_owned(), u128::MAX.to_string())].into(),
        chosen_from: cohort::ChosenFrom::default(),
        machine: machine(),
        origin: Origin {
            definition_path: "a b.toml".into(),
            frozen_at: at(0),
            git_revision: None,
        },
    }
}

/// A manifest that was never on disk.
pub(crate) fn manifest(workloads: &[&str], rounds: u32, pairs: u32, cases: usize) -> Manifest {
    let header = header(workloads, rounds, pairs);
    Manifest {
        format: Manifest::FORMAT,
        target: header.target,
        objective: header.objective,
        inverse_of: header.inverse_of,
        definition: header.definition,
        options: header.options,
        costs: None,
        workloads: header.workloads,
        measure: header.measure,
        screened: header.screened,
        chosen_from: header.chosen_from,
        cases: cases as u64,
        cases_sha256: "0".repeat(64),
        units: Vec::new(),
        harness: None,
        inputs: Vec::new(),
        binary: Some(cohort::FileDigest {
            path: "layout-sweep".into(),
            sha256: "0".repeat(64),
            bytes: 1,
        }),
        imported: None,
        machine: header.machine,
        origin: header.origin,
    }
}

pub(crate) fn unit(label: &str, text: &str) -> BuildUnit {
    let arguments = vec!["-shared".into(), "src/k.c".into(), "-o".into(), "k.so".into()];
    let environment = [("LANG".to_owned(), "C".to_owned())].into();
    BuildUnit {
        label: label.into(),
        sources: vec![
            SourceFile {
                path: "src/k.c".into(),
                text: text.into(),
            },
            SourceFile {
                path: "src/k.h".into(),
                text: String::new(),
            },
        ],
        steps: vec![CommandSpec {
            program: "/usr/bin/cc".into(),
            arguments,
            environment,
        }],
        artifact: "k.so".into(),
        inspect: vec!["k.s".into()],
    }
}

/// A cohort of two cases, one of them the control, ready to be frozen; its binary is a file in `folder`.
pub(crate) fn draft(folder: &std::path::Path) -> Draft {
    let binary = folder.join("program");
    fs_err::write(&binary, "program").unwrap();
    let mut draft = Draft::new(header(&["w"], 2, 3), binary);
    draft.set_harness(unit("harness", "int main;")).unwrap();
    let digest = draft.add_unit(unit("up", "int k;")).unwrap();
    let files = vec![Input {
        name: "a.f32".into(),
        bytes: vec![1, 2, 3],
    }];
    draft.set_inputs("w", InputSet { files }).unwrap();
    for name in ["w control", "other"] {
        let mut case = case("w", name);
        case.units.insert("up".into(), digest.clone());
        draft.add_case(case);
    }
    draft
}

pub(crate) fn frozen() -> (tempfile::TempDir, Frozen) {
    let folder = tempfile::tempdir().unwrap();
    let dir = CohortDir::new(folder.path().join("sweep"));
    let frozen = draft(folder.path()).freeze(&dir, 1).unwrap();
    (folder, frozen)
}

pub(crate) fn measurement() -> Measurement {
    let sample = |of, value| Sample {
        of,
        warm_up: false,
        value,
        phases: Vec::new(),
        extra: BTreeMap::new(),
    };
    Measurement {
        verdict: Verdict::Correct,
        error: None,
        samples: vec![sample(Of::Control, 1.0), sample(Of::Case, 0.1)],
        probes: Vec::new(),
        facts: BTreeMap::new(),
    }
}

pub(crate) fn built() -> RecordKind {
    build(BuildOutcome::Built { units: BTreeMap::new() })
}

pub(crate) fn build(outcome: BuildOutcome) -> RecordKind {
    RecordKind::Build {
        outcome,
        estimates: Vec::new(),
    }
}

pub(crate) fn began(round: u32) -> RecordKind {
    RecordKind::Began {
        round,
        device: "cpu0".into(),
    }
}

pub(crate) fn correct(round: u32) -> RecordKind {
    run(
        round,
        RunOutcome::Correct {
            measurement: measurement(),
        },
    )
}

pub(crate) fn incorrect(round: u32) -> RecordKind {
    run(
        round,
        RunOutcome::Incorrect {
            reason: "block 3 was never written".into(),
            measurement: None,
        },
    )
}

pub(crate) fn run(round: u32, outcome: RunOutcome) -> RecordKind {
    RecordKind::Run {
        round,
        device: "cpu0".into(),
        outcome,
        run_ms: 5,
        waited_ms: 0,
        recovered: false,
        profile_sha256: None,
    }
}

pub(crate) fn difference() -> cohort::Difference {
    cohort::Difference {
        name: "machine.model".into(),
        expected: Some("paper".into()),
        found: Some("stone".into()),
    }
}

pub(crate) fn retry() -> RecordKind {
    RecordKind::Retry {
        because: "--retry failed".into(),
    }
}

pub(crate) fn record(writer: &str, sequence: u64, case: &str, attempt: u32, kind: RecordKind) -> Record {
    let at = at(i64::try_from(sequence).unwrap());
    Record {
        writer: writer.into(),
        sequence,
        at,
        case: case.into(),
        attempt,
        kind,
    }
}

/// Names of everything in `folder`, hidden files included, sorted.
pub(crate) fn names(folder: &std::path::Path) -> Vec<String> {
    let entries = fs_err::read_dir(folder).unwrap();
    let mut names: Vec<_> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}
