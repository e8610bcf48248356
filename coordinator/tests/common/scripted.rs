//! A target made of shell scripts: a plan's text is a script that sets `VALUE`, or misbehaves.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use cohort::{Case, CohortDir, Header, Measure, Origin, Record, RecordKind, WorkloadEntry, read_records};
use coordinator::sweep::{Crosses, NewCases};
use coordinator::{FreezeRequest, RunError, RunOptions, RunSummary, freeze, run};
use planner::workload::{GemmExtents, Operation, OperationKind};
use planner::{Assignment, Attributes, Plan, Refusal, Rules, Space, Value, Workload};
use target_api::*;

/// Prints `pairs` pairs of case and control, or of the case alone where there is no control (`-`). Each call is noted in
/// `calls`; a plan may misbehave before or after.
const HARNESS: &str = r#"#!/bin/sh
CALLS=@CALLS@
echo "$4" >> "$CALLS"
VALUE=100; WRONG=; CONTROL_VALUE=
[ "$2" = - ] || { . "$2"; CONTROL_VALUE=$VALUE; }
. "$1"
i=0
while [ $i -lt "$3" ]; do
    echo "case $((VALUE * 100 + i % 7))"
    [ "$2" = - ] || echo "control $((CONTROL_VALUE * 100 + i % 5))"
    i=$((i + 1))
done
[ -z "$WRONG" ] || echo "wrong $WRONG"
"#;

pub struct Scripted {
    pub calls: PathBuf,
    /// Shell line of the build of each plan; `$1` is the artifact.
    pub build: String,
    pub exclusive: Exclusive,
    pub harness_build: String,
    /// Whether cases of one script are one program. Else each tells the harness its name.
    pub anonymous: bool,
    /// Whether case and control take turns as commands of their own.
    pub alternating: bool,
    /// After each run: the clock, and the CPU time that this process alone had used by then.
    pub meter: std::sync::Mutex<Vec<(std::time::Instant, Duration)>>,
}

impl Scripted {
    pub fn new(folder: &Path) -> Self {
        Self {
            calls: folder.join("calls"),
            build: "cp plan.sh \"$1\"; ! grep -q BROKEN plan.sh || { echo 'plan.sh:1: error: BROKEN' >&2; exit 1; }"
                .to_owned(),
            exclusive: Exclusive::Host,
            anonymous: false,
            alternating: false,
            meter: std::sync::Mutex::default(),
            harness_build: "cp harness.sh \"$1\"; chmod +x \"$1\"".to_owned(),
        }
    }

    fn unit(label: &str, file: &str, text: String, build: &str) -> BuildUnit {
        let arguments = ["-c", build, "build", label];
        BuildUnit {
            label: label.to_owned(),
            sources: vec![SourceFile {
                path: file.to_owned(),
                text,
            }],
            steps: vec![CommandSpec {
                program: "/bin/sh".to_owned(),
                arguments: arguments.map(str::to_owned).to_vec(),
                environment: BTreeMap::new(),
            }],
            artifact: label.to_owned(),
            inspect: Vec::new(),
        }
    }

    /// How often each case was run, by the harness's own account.
    pub fn counts(&self) -> BTreeMap<String, usize> {
        let mut counts = BTreeMap::new();
        for line in std::fs::read_to_string(&self.calls).unwrap_or_default().lines() {
            *counts.entry(line.to_owned()).or_default() += 1;
        }
        counts
    }

    pub fn total(&self) -> usize {
        self.counts().values().sum()
    }
}

impl Rules for Scripted {
    fn space(&self, _: &Workload) -> Result<Space, Refusal> {
        Err(Refusal::new("test", "plans are scripts"))
    }

    fn defaults(&self, _: &Workload) -> Result<Assignment, Refusal> {
        Err(Refusal::new("test", "plans are scripts"))
    }

    fn text(&self, _: &Workload, _: &Assignment) -> String {
        String::new()
    }

    fn operation_text(&self, _: &Workload, _: &str, _: &Assignment) -> String {
        String::new()
    }

    fn derived(&self, _: &Workload, _: &Assignment) -> Attributes {
        Attributes::new()
    }

    fn proxy(&self, _: &Workload, _: &str, _: &Assignment) -> Option<f64> {
        Some(0.0)
    }
}

impl Configured for Scripted {
    fn target(&self) -> &'static str {
        "scripted"
    }

    fn objective(&self) -> Objective {
        Objective {
            name: "time",
            unit: "ns",
        }
    }

    fn options(&self) -> BTreeMap<String, String> {
        BTreeMap::from([("threads".to_owned(), "1".to_owned())])
    }

    fn estimators(&self) -> Vec<&dyn Estimator> {
        Vec::new()
    }

    fn inputs(&self, _: &Workload, _: u64) -> Result<InputSet, Refusal> {
        Ok(InputSet {
            files: vec![Input {
                name: "a.bin".to_owned(),
                bytes: vec![7; 1000],
            }],
        })
    }

    fn harness(&self) -> Option<BuildUnit> {
        let text = HARNESS.replace(
            "@CALLS@",
            &format!("'{}'", self.calls.display().to_string().replace('\'', r"'\''")),
        );
        Some(Self::unit("runner", "harness.sh", text, &self.harness_build))
    }

    fn build(&self, _: &Workload, plan: &Plan) -> Result<Vec<BuildUnit>, Refusal> {
        Ok(vec![Self::unit("plan", "plan.sh", plan.text.clone(), &self.build)])
    }

    fn parse_build(&self, unit: &BuildUnit, _: &Captured) -> Result<BuildInfo, BuildFailure> {
        let text = &unit.sources[0].text;
        if text.contains("SPILLED") {
            let reason = "the inner loop touches the stack".to_owned();
            return Err(BuildFailure::Failed { reason });
        }
        if text.contains("REJECTED") {
            let reason = "too many registers".to_owned();
            return Err(BuildFailure::Rejected { reason });
        }
        Ok(BuildInfo::default())
    }

    fn run(&self, request: &RunRequest) -> CommandSpec {
        let text = |path: &Path| path.to_str().unwrap().to_owned();
        let name = request.case_dir.file_name().unwrap().to_str().unwrap().to_owned();
        let mut arguments = vec![
            text(&request.case.artifacts["plan"]),
            request
                .control
                .as_ref()
                .map_or_else(|| "-".to_owned(), |control| text(&control.artifacts["plan"])),
            request.pairs.to_string(),
            name,
        ];
        if !self.anonymous {
            arguments.extend(request.case.plan.attributes.get("label").map(ToString::to_string));
        }
        CommandSpec {
            program: text(request.harness.unwrap()),
            arguments,
            environment: BTreeMap::from([(super::MARK.to_owned(), text(&self.calls))]),
        }
    }

    fn parse_run(&self, _: &Workload, captured: &Captured) -> Result<Measurement, Malformed> {
        let read = (std::time::Instant::now(), super::cpu_time());
        self.meter.lock().unwrap().push(read);
        let mut measurement = Measurement {
            verdict: Verdict::Correct,
            error: None,
            samples: Vec::new(),
            probes: Vec::new(),
            facts: BTreeMap::new(),
        };
        for line in captured.stdout.lines() {
            let (word, rest) = line.split_once(' ').ok_or_else(|| Malformed(format!("`{line}`")))?;
            let of = match word {
                "case" => Of::Case,
                "control" => Of::Control,
                "wrong" => {
                    let reason = rest.to_owned();
                    measurement.verdict = Verdict::Incorrect { reason };
                    continue;
                }
                _ => return Err(Malformed(format!("`{line}`"))),
            };
            measurement.samples.push(Sample {
                of,
                warm_up: false,
                value: rest.parse().map_err(|_| Malformed(format!("`{line}`")))?,
                phases: Vec::new(),
                extra: BTreeMap::new(),
            });
        }
        Ok(measurement)
    }

    fn pairing(&self) -> Pairing {
        if self.alternating {
            Pairing::AlternatingCommands
        } else {
            Pairing::InProcess
        }
    }

    fn exclusive(&self) -> Exclusive {
        self.exclusive.clone()
    }
}

/// A cohort of scripts in a folder of its own.
pub struct Scene {
    /// Removed at the end, unless the scene belongs to another process.
    pub folder: Option<tempfile::TempDir>,
    pub target: Scripted,
    pub machine: Machine,
    pub measure: Measure,
    /// The control's script.
    pub control: &'static str,
}

impl Scene {
    pub fn new() -> Self {
        Self::named("plain")
    }

    /// In a subfolder of that name.
    pub fn named(name: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join(name);
        std::fs::create_dir(&inner).unwrap();
        let scene = Self::attached(&inner);
        Self {
            folder: Some(folder),
            ..scene
        }
    }

    /// The scene of another process.
    pub fn attached(inner: &Path) -> Self {
        Self {
            target: Scripted::new(inner),
            machine: Machine {
                class: BTreeMap::from([("model".to_owned(), "paper".to_owned())]),
                ..Machine::default()
            },
            measure: Measure {
                rounds: 3,
                pairs: 2,
                finalists: 0,
                seed: 7,
                build_timeout_ms: 20_000,
                run_timeout_ms: 20_000,
                cross: 0,
                confirm: 0,
            },
            folder: None,
            control: "VALUE=100",
        }
    }

    pub fn cohort(&self) -> PathBuf {
        self.target.calls.with_file_name("cohort")
    }

    /// The only file of records that a finished run left.
    pub fn record_file(&self) -> PathBuf {
        let files: Vec<_> = std::fs::read_dir(self.dir().records()).unwrap().collect();
        assert_eq!(files.len(), 1);
        files.into_iter().next().unwrap().unwrap().path()
    }

    pub fn dir(&self) -> CohortDir {
        CohortDir::new(self.cohort())
    }

    pub fn case(&self, name: &str, script: &str) -> (Case, Vec<BuildUnit>) {
        let named = [("up.value", script), ("label", name)];
        let attributes: Attributes = named
            .map(|(key, value)| (key.to_owned(), Value::text(value)))
            .into_iter()
            .collect();
        let plan = Plan {
            target: "scripted".to_owned(),
            text: format!("{script}\n"),
            attributes,
        };
        let units = self.target.build(&workload(), &plan).unwrap();
        let case = Case {
            name: name.to_owned(),
            workload: "w".to_owned(),
            family: "test".to_owned(),
            reason: "a test".to_owned(),
            plan,
            estimates: Vec::new(),
            unestimated: std::collections::BTreeMap::new(),
            units: BTreeMap::new(),
            repeat_of: None,
        };
        (case, units)
    }

    /// Freezes `control` and these cases.
    pub fn freeze(&self, cases: &[(&str, &str)]) {
        let control = [("control", self.control)];
        let cases: NewCases = control
            .iter()
            .chain(cases)
            .map(|(name, script)| self.case(name, script))
            .collect();
        let request = FreezeRequest {
            header: Header {
                target: "scripted".to_owned(),
                objective: ("time".to_owned(), "ns".to_owned()),
                inverse_of: None,
                definition: "target = \"scripted\"\n".to_owned(),
                options: self.target.options(),
                workloads: vec![WorkloadEntry {
                    workload: workload(),
                    control: Some("control".to_owned()),
                }],
                measure: self.measure.clone(),
                screened: BTreeMap::new(),
                chosen_from: cohort::ChosenFrom::default(),
                machine: self.machine.clone(),
                origin: Origin {
                    definition_path: "test.toml".to_owned(),
                    frozen_at: jiff::Timestamp::UNIX_EPOCH,
                    git_revision: None,
                },
            },
            cases,
            harness: self.target.harness(),
            costs: None,
            inputs: vec![("w".to_owned(), self.target.inputs(&workload(), 0).unwrap())],
            binary: PathBuf::from(env!("CARGO_BIN_EXE_coordinator-guard")),
        };
        freeze(&self.cohort(), request).unwrap();
    }

    /// Options with a device lock of this scene's own, so that tests don't wait for one another.
    pub fn options(&self) -> RunOptions<'_> {
        let mut options = RunOptions::new(&self.target, &self.machine);
        options.device_lock = Some(self.target.calls.with_file_name("device.lock"));
        options.lock_timeout = Some(Duration::from_secs(30));
        options
    }

    pub fn run_with(&self, change: impl FnOnce(&mut RunOptions<'_>)) -> Result<RunSummary, RunError> {
        self.run_crossing(change, None)
    }

    pub fn run_crossing(
        &self,
        change: impl FnOnce(&mut RunOptions<'_>),
        crosses: Option<Crosses<'_>>,
    ) -> Result<RunSummary, RunError> {
        let mut options = self.options();
        change(&mut options);
        run(&self.cohort(), &options, crosses, &mut |_, _| ())
    }

    /// A run whose events are heard.
    pub fn run_telling(&self, mut hear: impl FnMut(&coordinator::Event<'_>)) -> RunSummary {
        run(&self.cohort(), &self.options(), None, &mut |event, _| hear(event)).unwrap()
    }

    pub fn run(&self) -> RunSummary {
        self.run_with(|_| ()).unwrap()
    }

    pub fn records(&self) -> Vec<Record> {
        read_records(&self.dir()).unwrap().records
    }

    /// `(case, attempt, round)` of all finished rounds, sorted.
    pub fn rounds(&self) -> Vec<(String, u32, u32)> {
        let mut rounds: Vec<_> = self
            .records()
            .into_iter()
            .filter_map(|record| match record.kind {
                RecordKind::Run { round, .. } => Some((record.case, record.attempt, round)),
                _ => None,
            })
            .collect();
        rounds.sort();
        rounds
    }

    /// No process of this cohort is there, and nothing temporary lies in it.
    pub fn assert_clean(&self) {
        assert!(super::alive(self.target.calls.to_str().unwrap()).is_empty());
        for folder in [
            self.cohort(),
            self.dir().artifacts(),
            self.dir().records(),
            self.dir().sources(),
        ] {
            let hidden = std::fs::read_dir(folder)
                .unwrap()
                .flatten()
                .map(|entry| entry.file_name());
            let hidden: Vec<_> = hidden.filter(|name| name.to_str().unwrap().starts_with('.')).collect();
            assert!(hidden.is_empty(), "{hidden:?}");
        }
    }
}

pub fn workload() -> Workload {
    Workload {
        name: "w".to_owned(),
        operations: vec![Operation {
            name: "up".to_owned(),
            kind: OperationKind::Gemm(GemmExtents {
                rows: 1,
                inner: 1,
                columns: 1,
            }),
        }],
    }
}
