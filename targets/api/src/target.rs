//! The plug-in point.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use planner::{Assignment, Plan, Refusal, Rules, Workload};

use crate::command::{BuildFailure, BuildInfo, BuildUnit, Captured, CommandSpec};
use crate::estimate::Estimator;
use crate::machine::{Host, Machine, Tool, ToolSpec};
use crate::measurement::{Malformed, Measurement};

/// The table of a definition that is named after its target.
pub type Options = toml::Table;

/// A wrong option of a target.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{key}`: {message}")]
pub struct OptionError {
    /// `cpu.threads`.
    pub key: String,
    /// What was found, what was expected.
    pub message: String,
}

/// A program that measures the machine once: built and run by the coordinator in a temporary folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Probe {
    /// What to build.
    pub unit: BuildUnit,
    /// What to run in the folder afterwards.
    pub command: CommandSpec,
}

/// A machine that plans can be built for and run on.
pub trait Target: Send + Sync {
    /// Its name in definitions.
    fn id(&self) -> &'static str;

    /// What it is, in one sentence.
    fn about(&self) -> &'static str;

    /// Programs it needs.
    fn tools(&self, options: &Options) -> Result<Vec<ToolSpec>, OptionError>;

    /// What measures the machine, if anything does.
    fn probe(&self, options: &Options, host: &Host, tools: &[Tool]) -> Result<Option<Probe>, OptionError>;

    /// The machine, from what the host says and the probe printed.
    fn machine(&self, host: &Host, tools: Vec<Tool>, probe: Option<&Captured>) -> Result<Machine, Malformed>;

    /// The target with its options on that machine.
    fn configure(&self, options: &Options, machine: &Machine) -> Result<Box<dyn Configured>, OptionError>;
}

/// What a smaller value of means a better plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Objective {
    /// `time`.
    pub name: &'static str,
    /// `ns`, `cycles`.
    pub unit: &'static str,
}

/// How control and case are compared in a round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pairing {
    /// Values do not vary: no control is run beside a case.
    None,
    /// One process calls both in turn.
    InProcess,
    /// The coordinator alternates the two commands.
    AlternatingCommands,
}

/// What a run needs for itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Exclusive {
    /// Nothing: runs may lie side by side.
    Nothing,
    /// The host's own CPU: no builds and no other run meanwhile.
    Host,
    /// One of these devices.
    Devices(Vec<String>),
}

/// A plan with its built artifacts, by the label of their unit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Built<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// Label -> artifact.
    pub artifacts: BTreeMap<String, PathBuf>,
}

/// One round to run.
#[derive(Debug, Clone)]
pub struct RunRequest<'a> {
    /// The workload of both.
    pub workload: &'a Workload,
    /// What is measured.
    pub case: Built<'a>,
    /// What it is compared with.
    pub control: Option<Built<'a>>,
    /// Artifact of [`Configured::harness`].
    pub harness: Option<&'a Path>,
    /// Folder of this workload's inputs.
    pub inputs: &'a Path,
    /// Pairs of calls wanted.
    pub pairs: u32,
    /// Folder that the command may write to.
    pub case_dir: &'a Path,
}

/// One input file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Input {
    /// File name.
    pub name: String,
    /// Content.
    pub bytes: Vec<u8>,
}

/// Input data and reference result of one workload.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct InputSet {
    /// Files, sorted by name.
    pub files: Vec<Input>,
}

/// A target with its options on a machine. Pure.
pub trait Configured: Rules + Send + Sync {
    /// The target's name.
    fn target(&self) -> &'static str;

    /// What is minimised.
    fn objective(&self) -> Objective;

    /// Options as they are in force, defaults included, for people and the manifest.
    fn options(&self) -> BTreeMap<String, String>;

    /// The plan of a legal assignment.
    fn plan(&self, workload: &Workload, assignment: &Assignment) -> Plan {
        let derived = self.derived(workload, assignment);
        let own = assignment
            .iter()
            .chain(derived.iter())
            .map(|(name, value)| (name.to_owned(), value.clone()));
        Plan {
            target: self.target().to_owned(),
            text: self.text(workload, assignment),
            attributes: own.collect(),
        }
    }

    /// Models that predict from the plan, in the order in which they are shown.
    fn estimators(&self) -> Vec<&dyn Estimator>;

    /// Input data and reference result, from a seed.
    fn inputs(&self, workload: &Workload, seed: u64) -> Result<InputSet, Refusal>;

    /// What is built once for all cases.
    fn harness(&self) -> Option<BuildUnit>;

    /// What a plan is built from.
    fn build(&self, workload: &Workload, plan: &Plan) -> Result<Vec<BuildUnit>, Refusal>;

    /// What a finished build of `unit` tells; called only when all its steps succeeded.
    fn parse_build(&self, unit: &BuildUnit, captured: &Captured) -> Result<BuildInfo, BuildFailure>;

    /// The command of one round.
    fn run(&self, request: &RunRequest) -> CommandSpec;

    /// What it printed.
    fn parse_run(&self, workload: &Workload, captured: &Captured) -> Result<Measurement, Malformed>;

    /// How control and case are compared.
    fn pairing(&self) -> Pairing;

    /// What a run needs for itself.
    fn exclusive(&self) -> Exclusive;
}
