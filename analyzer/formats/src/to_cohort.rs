//! From a table to a cohort.

use std::collections::{BTreeMap, HashMap};

use cohort::{
    BuildOutcome, Case, ChosenFrom, CohortError, Draft, Header, Imported, Measure, RecordKind, RunOutcome,
    WorkloadEntry,
};
use jiff::Timestamp;
use planner::{Plan, Workload};
use target_api::{Machine, Measurement, Moment, Of, Sample, Verdict};

use crate::table::{Failed, Found, Row, Table, key, text};

/// The target of everything that was imported.
const TARGET: &str = "imported";

/// Where a table was read from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// What the manifest says of it.
    pub imported: Imported,
    /// Now.
    pub at: Timestamp,
    /// The case that others are compared with, where one is wanted.
    pub control: Option<String>,
}

/// A cohort of `table` that can be analysed. A configuration that is there again becomes a wanted repetition of the
/// first. Where the file does not say when a configuration was measured, the record has the time of the import.
pub fn draft(table: &Table, origin: &Origin) -> Result<Draft, CohortError> {
    let mut draft = Draft::of_import(header(table, origin), origin.imported.clone());
    let device = table.facts.get("device").map_or(TARGET, String::as_str);
    let mut names = Names::default();
    for row in &table.rows {
        let case = case(table, row, &mut names);
        for kind in records(row, device, table.larger_is_better) {
            let round = match &kind {
                RecordKind::Run { round, .. } => row.times.get(round).copied(),
                _ => None,
            };
            let at = round.or(row.at).unwrap_or(origin.at);
            draft.add_record(at, &case.name, kind)?;
        }
        draft.add_case(case);
    }
    Ok(draft)
}

/// A name that a folder can have.
fn workload_name(name: &str) -> String {
    let name: String = name
        .chars()
        .map(|c| if c == '/' || c.is_control() { '-' } else { c })
        .take(60)
        .collect();
    match name.as_str() {
        "" | "." | ".." => TARGET.to_owned(),
        _ => name,
    }
}

fn workload_of(table: &Table, row: &Row) -> String {
    workload_name(row.workload.as_deref().unwrap_or(&table.workload))
}

fn header(table: &Table, origin: &Origin) -> Header {
    let mut workloads: Vec<WorkloadEntry> = Vec::new();
    let mut controls = origin.control.iter();
    for row in &table.rows {
        let name = workload_of(table, row);
        if workloads.iter().all(|entry| entry.workload.name != name) {
            let operations = Vec::new();
            workloads.push(WorkloadEntry {
                workload: Workload { name, operations },
                control: controls.next().cloned(),
            });
        }
    }
    let measured = table.rows.iter().filter_map(|row| match &row.found {
        Found::Measured { samples } => Some(samples),
        Found::Failed { .. } => None,
    });
    let (mut rounds, mut pairs) = (1, 1);
    for samples in measured {
        for round in samples.chunk_by(|a, b| a.0 == b.0) {
            rounds = rounds.max(round[0].0.saturating_add(1));
            pairs = pairs.max(u32::try_from(round.len()).unwrap_or(u32::MAX));
        }
    }
    let own = (table.objective.clone(), table.unit.clone());
    let facts = table.facts.clone().into_iter();
    let (class, instance) = facts.partition(|(name, _)| name == "device");
    Header {
        target: TARGET.to_owned(),
        objective: if table.larger_is_better {
            (format!("inverse {}", table.objective), format!("1/({})", table.unit))
        } else {
            own.clone()
        },
        inverse_of: table.larger_is_better.then_some(own),
        definition: String::new(),
        options: BTreeMap::new(),
        workloads,
        measure: Measure {
            rounds,
            pairs,
            finalists: 0,
            confirm: 0,
            seed: 0,
            build_timeout_ms: 0,
            run_timeout_ms: 0,
            cross: 0,
        },
        screened: BTreeMap::new(),
        chosen_from: ChosenFrom::default(),
        machine: Machine {
            class,
            instance,
            ..Machine::default()
        },
        origin: cohort::Origin {
            definition_path: origin.imported.file.clone(),
            frozen_at: origin.at,
            git_revision: None,
        },
    }
}

/// What names and plans there are.
#[derive(Default)]
struct Names {
    /// How often each name was wanted.
    wanted: HashMap<String, u32>,
    /// `(workload, plan)` -> the first case.
    plans: HashMap<(String, String), String>,
}

impl Names {
    /// `name`, or `name (2)` where there is one already.
    fn free(&mut self, name: String) -> String {
        let count = self.wanted.entry(name.clone()).or_default();
        *count += 1;
        match *count {
            1 => name,
            n => self.free(format!("{name} ({n})")),
        }
    }
}

fn case(table: &Table, row: &Row, names: &mut Names) -> Case {
    let workload = workload_of(table, row);
    let name = names.free(row.name.clone().unwrap_or_else(|| key(&row.configuration)));
    let plan = text(&row.configuration);
    let known = (workload.clone(), plan.clone());
    let repeat_of = names.plans.get(&known).cloned();
    if repeat_of.is_none() {
        names.plans.insert(known, name.clone());
    }
    let estimates = row.estimates.iter().filter(|one| one.moment == Moment::Plan);
    Case {
        name,
        workload,
        family: row.family.clone().unwrap_or_else(|| TARGET.to_owned()),
        reason: "it is in the imported file".to_owned(),
        plan: Plan {
            target: TARGET.to_owned(),
            text: plan,
            attributes: row.configuration.clone(),
        },
        estimates: estimates.cloned().collect(),
        unestimated: std::collections::BTreeMap::new(),
        units: BTreeMap::new(),
        repeat_of,
    }
}

/// Where larger values are better, one over each is what is compared: the manifest says so.
fn records(row: &Row, device: &str, larger_is_better: bool) -> Vec<RecordKind> {
    let estimates = row.estimates.iter().filter(|one| one.moment == Moment::Build);
    let build = |outcome| RecordKind::Build {
        outcome,
        estimates: estimates.cloned().collect(),
    };
    let run = |round, outcome| RecordKind::Run {
        round,
        device: device.to_owned(),
        outcome,
        run_ms: 0,
        waited_ms: 0,
        recovered: false,
        profile_sha256: None,
    };
    let units = BTreeMap::new();
    let (how, reason) = match &row.found {
        Found::Measured { samples } => {
            let mut records = vec![build(BuildOutcome::Built { units })];
            let mut extra = Some(&row.extra);
            for round in samples.chunk_by(|a, b| a.0 == b.0) {
                let measurement = measurement(round, extra.take(), larger_is_better);
                records.push(run(round[0].0, RunOutcome::Correct { measurement }));
            }
            return records;
        }
        Found::Failed { how, reason } => (*how, reason.clone()),
    };
    match how {
        Failed::Rejected => vec![build(BuildOutcome::Rejected { reason })],
        Failed::BuildFailed => vec![build(BuildOutcome::BuildFailed { reason })],
        Failed::RunFailed => vec![
            build(BuildOutcome::Built { units }),
            run(0, RunOutcome::RunFailed { reason }),
        ],
        Failed::TimedOut => vec![
            build(BuildOutcome::Built { units }),
            run(0, RunOutcome::TimedOut { reason }),
        ],
        Failed::Incorrect => {
            let measurement = None;
            vec![
                build(BuildOutcome::Built { units }),
                run(0, RunOutcome::Incorrect { reason, measurement }),
            ]
        }
    }
}

/// One round; numbers that belong to the whole configuration stand with its first sample.
fn measurement(round: &[(u32, f64)], mut extra: Option<&BTreeMap<String, f64>>, larger_is_better: bool) -> Measurement {
    let samples = round.iter().map(|(_, value)| Sample {
        of: Of::Case,
        warm_up: false,
        value: if larger_is_better { 1.0 / value } else { *value },
        phases: Vec::new(),
        extra: extra.take().cloned().unwrap_or_default(),
    });
    Measurement {
        verdict: Verdict::Correct,
        error: None,
        samples: samples.collect(),
        probes: Vec::new(),
        facts: BTreeMap::new(),
    }
}
