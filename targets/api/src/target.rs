//! The plug-in point.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use planner::costs::CostTable;
use planner::network::Layer;
use planner::{Assignment, Plan, Refusal, Rules, Workload};

use crate::amounts::PlanAmounts;
use crate::command::{BuildFailure, BuildInfo, BuildUnit, Captured, CommandSpec, SourceFile};
use crate::constraints::Constraints;
use crate::estimate::{Estimate, Estimator, NoEstimate};
use crate::kernels::KernelProfile;
use crate::limits::Limit;
use crate::machine::{Host, Machine, Tool, ToolSpec};
use crate::measurement::{Malformed, Measurement, Verdict};
use crate::network::{Facility, Level, Support};
use crate::network_default::by_workload_kinds;
use crate::pattern::SourcePattern;
use crate::round::{LockHolder, Places, Round, RoundCaptured};
use crate::timeline::Timeline;

/// The table of a definition that is named after its target.
pub type Options = toml::Table;

/// A wrong option of a target.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{}`: {message}", option(key))]
pub struct OptionError {
    /// `cpu.threads`, `command.build[3]`; it may end in `:start..end`, the bytes of that text which are meant
    /// (`planner::Definition::option_error` finds the place in the file).
    pub key: String,
    /// What was found, what was expected.
    pub message: String,
}

/// The path without the bytes that are meant.
fn option(key: &str) -> &str {
    match key.rsplit_once(':') {
        Some((path, part)) if part.contains("..") => path,
        _ => key,
    }
}

/// A program that a definition names: it must be there before anything is frozen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// The option that names it: `command.run[0]`.
    pub key: String,
    /// As a command has it ([`CommandSpec::program`]).
    pub program: String,
}

/// What a definition of a target may say: keys, placeholders and the like, each with its meaning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Topic {
    /// `key`, `placeholder`.
    pub name: &'static str,
    /// Words with their meanings, in the order in which they are shown.
    pub entries: Vec<(String, String)>,
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

    /// Files beside the definition that belong to what is frozen. The caller reads those that match, below the
    /// definition's folder (or the frozen ones, of a frozen cohort), and hands them to
    /// [`Configured::accept_sources`] before it asks for anything to be built. A pattern that matches nothing is an error.
    fn sources(&self, _options: &Options) -> Result<Vec<SourcePattern>, OptionError> {
        Ok(Vec::new())
    }

    /// Programs that the definition names itself, as far as they can be told before anything is built: relative ones are
    /// relative to what [`Target::sources`] asks for.
    fn programs(&self, _options: &Options) -> Result<Vec<Program>, OptionError> {
        Ok(Vec::new())
    }

    /// What a definition may say, for a person who writes one. Empty where the attributes of plans say it all.
    fn guide(&self) -> Vec<Topic> {
        Vec::new()
    }

    /// Names of inherited variables whose values are recorded with the machine's instance, as `env.NAME`.
    fn environment(&self, _options: &Options) -> Result<Vec<String>, OptionError> {
        Ok(Vec::new())
    }

    /// What was measured of the machine, as lines of name and value for a person; labelled where they are derived.
    fn describe(&self, machine: &Machine) -> Vec<(String, String)> {
        let _ = machine;
        Vec::new()
    }

    /// These options with another cost table in force: what `--costs` and a calibration change.
    fn with_costs(&self, _options: &Options, _costs: &CostTable) -> Result<Options, OptionError> {
        Err(OptionError {
            key: "costs".to_owned(),
            message: format!("target `{}` takes no cost table", self.id()),
        })
    }

    /// The timeline of the run that left this profile (the text of `profile.json` beside the case); `None` where runs
    /// leave none.
    fn timeline(&self, profile: &str) -> Result<Option<Timeline>, Malformed> {
        let _ = profile;
        Ok(None)
    }

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
    /// Which round of the case this is, from 0: whoever alternates the order within pairs goes on alternating from it.
    pub round: u32,
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

    /// What it offers for constraint texts, if plans have such texts.
    fn constraints(&self) -> Option<&dyn Constraints> {
        None
    }

    /// What is minimised.
    fn objective(&self) -> Objective;

    /// The number that people know, where larger values of it are better and the objective is one over it; `None` where the
    /// objective is the number itself.
    fn inverse_of(&self) -> Option<Objective> {
        None
    }

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

    /// The cost table in force, where estimates are made with one: [`Target::with_costs`] takes it back unchanged.
    fn costs(&self) -> Option<CostTable> {
        None
    }

    /// What a profile beside a case says of kernels. Unless a target says otherwise it is a [`KernelProfile`] (JSON).
    fn kernels(&self, profile: &str) -> Result<KernelProfile, Malformed> {
        serde_json::from_str(profile).map_err(|error| Malformed(format!("no kernel profile: {error}")))
    }

    /// Time that the exchange of a profiled case takes beyond what its busiest lanes need: a matter of placement. `None`
    /// where the profile does not tell it.
    fn beyond_lanes(&self, _profile: &str) -> Option<f64> {
        None
    }

    /// What a measurement itself says of kernels, for targets that time them without a profile; `None` where it says
    /// nothing.
    fn measured_kernels(
        &self,
        _workload: &Workload,
        _plan: &Plan,
        _measurement: &Measurement,
    ) -> Option<KernelProfile> {
        None
    }

    /// How much each phase of a plan does; `None` where the target does not tell, or the plan is none of the workload's.
    fn amounts(&self, _workload: &Workload, _plan: &Plan) -> Option<PlanAmounts> {
        None
    }

    /// What bounds every plan of a workload, as far as the machine is known. A target whose peak is probed beside every call
    /// ([`Measurement::probes`]) says nothing of operations. Default: nothing is known.
    fn limits(&self, _workload: &Workload) -> Vec<Limit> {
        Vec::new()
    }

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

    /// Takes the files that [`Target::sources`] asked for, sorted by path.
    fn accept_sources(&mut self, _files: Vec<SourceFile>) {}

    /// Takes the logical CPUs that this process may use, one of each distinct core. A target that pins itself to cores of
    /// the frozen machine takes others of them where it may not use those (a job of a cluster is given some). The error
    /// says in words why it can't.
    fn accept_cores(&mut self, _cores: &[u32]) -> Result<(), String> {
        Ok(())
    }

    /// Everything that one round does. Targets that need one command only describe it in [`Configured::run`].
    fn round(&self, request: &RunRequest, _places: &Places) -> Round {
        Round::of(self.run(request))
    }

    /// Whether a round's result is right, as far as its run and its check tell: reports are not made yet.
    fn verdict(&self, workload: &Workload, plan: &Plan, captured: &RoundCaptured) -> Result<Verdict, Malformed> {
        self.parse_round(workload, plan, captured)
            .map(|measurement| measurement.verdict)
    }

    /// What a round measured; see [`crate::round`] for when it is asked.
    fn parse_round(
        &self,
        workload: &Workload,
        _plan: &Plan,
        captured: &RoundCaptured,
    ) -> Result<Measurement, Malformed> {
        self.parse_run(workload, &captured.run)
    }

    /// The target's own words where a failed build or run is its refusal of the plan: then the outcome is `rejected`.
    fn refusal(&self, _captured: &Captured) -> Option<String> {
        None
    }

    /// Estimates of moment `build`, from the facts that [`Configured::parse_build`] gave for each unit of a case (by
    /// label): they stand in the case's build record.
    fn build_estimates(&self, _plan: &Plan, _facts: &BTreeMap<String, BTreeMap<String, String>>) -> Vec<Estimate> {
        Vec::new()
    }

    /// Estimates of moment `build` under the prices in force, from what the build of a plan told, whatever prices it was
    /// made under: what [`Configured::build_estimates`] would give for a build under these. `None` where it takes one.
    fn rebuilt_estimates(
        &self,
        _workload: &Workload,
        _plan: &Plan,
        _facts: &BTreeMap<String, BTreeMap<String, String>>,
    ) -> Option<Result<Vec<Estimate>, NoEstimate>> {
        None
    }

    /// Unit of one of the other numbers of a sample ([`crate::Sample::extra`]), where it is known.
    fn sample_unit(&self, _column: &str) -> Option<String> {
        None
    }

    /// Whether a plan of the space can be built, as far as that is known without building it: what spaces leave to the
    /// target's compiler.
    fn legal(&self, _workload: &Workload, _assignment: &Assignment) -> Result<(), Refusal> {
        Ok(())
    }

    /// What it makes of one operation of a network. Default: what its workload kinds compute, by its own rules.
    fn express(&self, layer: &Layer) -> Support {
        by_workload_kinds(self, layer)
    }

    /// What the machine has besides operations, for these layers of a network and how often each occurs. Default: nothing
    /// that it would speak of.
    fn facilities(&self, _layers: &[(Layer, u128)]) -> Vec<Facility> {
        Vec::new()
    }

    /// What would have to change for a rule that refuses a plan to be kept.
    fn refusal_level(&self, _rule: &str) -> Level {
        Level::Compiler
    }

    /// Who takes the device lock.
    fn lock(&self) -> LockHolder {
        LockHolder::Guard
    }

    /// A legal plan as source files that a user's own program can be built with: `NAME.c` and `NAME.h`, say. `name` is a C
    /// identifier; `about` says in lines where the plan and its figures come from. A target without such a form refuses.
    fn kernel(
        &self,
        _workload: &Workload,
        _plan: &Plan,
        _name: &str,
        _about: &[String],
    ) -> Result<Vec<SourceFile>, Refusal> {
        let message = format!(
            "target `{}` has no kernels that could be used outside of it",
            self.target()
        );
        Err(Refusal::new("kernel", message))
    }

    /// How control and case are compared.
    fn pairing(&self) -> Pairing;

    /// What a run needs for itself.
    fn exclusive(&self) -> Exclusive;

    /// Bytes of memory that one run takes at most, where runs may lie side by side and it is much: no more lie side by
    /// side than fit.
    fn run_bytes(&self) -> Option<u64> {
        None
    }
}
