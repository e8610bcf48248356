//! What targets have in common whose machine is a unit model: a program of this very binary that builds a request and runs
//! what it built.

use std::collections::BTreeMap;

use planner::Refusal;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::command::{BuildFailure, BuildUnit, Captured, CommandSpec, SourceFile};
use crate::machine::{Machine, Tool, ToolSpec};
use crate::measurement::{Malformed, Measurement, NumericalError, Of, Phase, Sample, Verdict};
use crate::target::RunRequest;

/// Name of the tool, of the hidden subcommand, and of the entry of a machine's class that is the program's digest.
pub const UNIT_MODEL: &str = "unit-model";
/// Label of the only unit of a plan.
pub const PROGRAM: &str = "program";
/// What is built.
const REQUEST_FILE: &str = "request.json";
/// What a build leaves.
const PROGRAM_FILE: &str = "program.json";

/// The program that it needs.
#[must_use]
pub fn tools() -> Vec<ToolSpec> {
    vec![ToolSpec {
        name: UNIT_MODEL,
        variable: Some("LAYOUT_SWEEP_BINARY"),
        program: "layout-sweep".to_owned(),
        version_arguments: vec!["--version".to_owned()],
    }]
}

/// The machine. The same cycles come out on every host: only the program that counts them is part of the class.
#[must_use]
pub fn machine(tools: Vec<Tool>) -> Machine {
    let mut machine = Machine {
        tools,
        ..Machine::default()
    };
    if let Some(tool) = machine.tool(UNIT_MODEL) {
        let digest = tool.sha256.clone();
        machine.class.insert(UNIT_MODEL.to_owned(), digest);
    }
    machine
}

/// Path of the program. Planning needs none; a build without one names it and fails.
#[must_use]
pub fn binary(machine: &Machine) -> &str {
    machine
        .tool(UNIT_MODEL)
        .map_or("layout-sweep", |tool| tool.path.as_str())
}

/// `BINARY unit-model TARGET ARGUMENTS...`.
fn command(binary: &str, target: &str, arguments: &[&str]) -> CommandSpec {
    CommandSpec {
        program: binary.to_owned(),
        arguments: [UNIT_MODEL, target]
            .iter()
            .chain(arguments)
            .map(|word| (*word).to_owned())
            .collect(),
        environment: BTreeMap::new(),
    }
}

/// The unit of a plan: `request` as JSON, which the program builds.
pub fn build(binary: &str, target: &str, request: &impl Serialize) -> Result<BuildUnit, Refusal> {
    let text = serde_json::to_string(request).map_err(|error| Refusal::new("request", error.to_string()))?;
    Ok(BuildUnit {
        label: PROGRAM.to_owned(),
        sources: vec![SourceFile {
            path: REQUEST_FILE.to_owned(),
            text,
        }],
        steps: vec![command(binary, target, &["build", REQUEST_FILE, PROGRAM_FILE])],
        artifact: PROGRAM_FILE.to_owned(),
        inspect: vec![PROGRAM_FILE.to_owned()],
    })
}

/// What a build left.
pub fn built<T: DeserializeOwned>(captured: &Captured) -> Result<T, BuildFailure> {
    let failed = |reason: String| BuildFailure::Failed { reason };
    let text = captured.files.get(PROGRAM_FILE);
    let text = text.ok_or_else(|| failed(format!("the build left no `{PROGRAM_FILE}`")))?;
    serde_json::from_str(text).map_err(|error| failed(format!("`{PROGRAM_FILE}`: {error}")))
}

/// The command of one round: runs what was built on the inputs; `more` follows.
#[must_use]
pub fn run(binary: &str, target: &str, request: &RunRequest<'_>, more: &[&str]) -> CommandSpec {
    // An artifact that is missing keeps its name: the process then says what it can't read.
    let program = request
        .case
        .artifacts
        .get(PROGRAM)
        .map_or(PROGRAM_FILE.into(), |path| path.display().to_string());
    let inputs = request.inputs.display().to_string();
    let arguments = [&["run", program.as_str(), inputs.as_str()], more].concat();
    command(binary, target, &arguments)
}

/// What a run printed.
pub fn ran<T: DeserializeOwned>(captured: &Captured) -> Result<T, Malformed> {
    if captured.exit_code != Some(0) {
        return Err(Malformed(format!("the unit model failed: {}", captured.stderr.trim())));
    }
    serde_json::from_str(&captured.stdout).map_err(|error| Malformed(error.to_string()))
}

/// What one run gave.
#[derive(Debug, Clone, PartialEq)]
pub struct Simulated {
    /// Cycles in all.
    pub cycles: usize,
    /// Their parts.
    pub phases: Vec<Phase>,
    /// Other numbers.
    pub extra: BTreeMap<String, f64>,
    /// Largest absolute error; none when something is not finite.
    pub max_absolute: Option<f64>,
    /// Root mean square of the reference.
    pub reference_rms: f64,
    /// Largest absolute error that passes.
    pub tolerance: f64,
    /// Values that were compared.
    pub elements: u64,
    /// Other facts.
    pub facts: BTreeMap<String, String>,
}

impl From<Simulated> for Measurement {
    fn from(run: Simulated) -> Self {
        let verdict = if run.max_absolute.is_some_and(|error| error <= run.tolerance) {
            Verdict::Correct
        } else {
            let found = run
                .max_absolute
                .map_or("a value is not finite".to_owned(), |error| error.to_string());
            Verdict::Incorrect {
                reason: format!("largest error {found}, allowed {}", run.tolerance),
            }
        };
        Self {
            verdict,
            error: Some(NumericalError {
                max_absolute: run.max_absolute,
                reference_rms: run.reference_rms,
                tolerance: run.tolerance,
                elements: run.elements,
                calls: 1,
            }),
            samples: vec![Sample {
                of: Of::Case,
                warm_up: false,
                value: run.cycles as f64,
                phases: run.phases,
                extra: run.extra,
            }],
            probes: Vec::new(),
            facts: run.facts,
        }
    }
}
