//! From a definition's path to a configured target and selected cases.

use std::path::Path;

use cohort::{Frozen, Manifest};
use coordinator::machine::{MachineError, cache_folder};
use coordinator::tools::ToolError;
use coordinator::{ExitCode, Launcher, Measuring, measure_machine};
use planner::definition::{Definition, Source};
use planner::select::{Chosen, SelectedWorkload, Selection, select};
use planner::{counted, grouped};
use target_api::{Configured, Machine, Options, Pairing, Program, SourcePattern, Target};

use crate::costs::Costs;
use crate::failure::Failure;
use crate::output;
use crate::registry;
use crate::sources;

/// A definition with its target on this machine.
pub(crate) struct Planning {
    /// The definition, read and checked.
    pub(crate) definition: Definition,
    /// This machine, or the one of a frozen cohort.
    pub(crate) machine: Machine,
    /// The target with its options.
    pub(crate) configured: Box<dyn Configured>,
    /// The cost table that was given beside the definition, if one was.
    pub(crate) costs: Option<Costs>,
}

impl Planning {
    /// Reads the definition at `path` and configures its target for this machine, with the cost table of a file in force
    /// where one was given.
    pub(crate) fn of_path(path: &Path, costs: Option<Costs>) -> Result<Self, Failure> {
        let text = fs_err::read_to_string(path)
            .map_err(|error| Failure::because(ExitCode::Usage, "the definition can't be read", error))?;
        let mut definition = parse(&path.display().to_string(), &text)?;
        if let Some(costs) = &costs {
            definition.options = costs.in_force(target_of(&definition)?, &definition.options)?;
        }
        let machine = machine(target_of(&definition)?, &definition.options, false)
            .map_err(|error| machine_failure(error, Some(&definition)))?;
        let mut planning = Self::new(definition, machine, costs)?;
        planning.check_unlike()?;
        let patterns = planning.patterns()?;
        if !patterns.is_empty() {
            let files = sources::beside(path, &patterns).map_err(|error| {
                let key = format!("command.sources[{}]", error.pattern);
                let source = &planning.definition;
                Failure::usage(source.option_error(&key, error.message).to_string())
            })?;
            planning.configured.accept_sources(files);
        }
        Ok(planning)
    }

    /// Refuses names in `unlike` that mean nothing in which a machine can differ from this one.
    fn check_unlike(&self) -> Result<(), Failure> {
        let keys = self.machine.class.keys().map(|key| format!("machine.{key}"));
        let tools = self
            .machine
            .tools
            .iter()
            .map(|tool| format!("tool.{}.output", tool.name));
        let known: Vec<String> = keys.chain(tools).collect();
        // Another machine may have a cache or a variable that this one has not, and a governor.
        let elsewhere = |name: &str| {
            name == "machine.governor" || name.starts_with("machine.cache.") || name.starts_with("machine.env.")
        };
        let is_known = |name: &str| elsewhere(name) || known.iter().any(|key| coordinator::sweep::matches(name, key));
        match self.definition.executor.unlike.iter().find(|name| !is_known(name)) {
            None => Ok(()),
            Some(wrong) => {
                let message = format!(
                    "machines of target `{}` differ in nothing called `{}`: expected one of {}, or a pattern of them with `*`",
                    self.definition.target.value,
                    wrong.value,
                    known.join(", ")
                );
                Err(Failure::usage(self.definition.error(&wrong.span, message).to_string()))
            }
        }
    }

    /// What a cohort was frozen from, on its machine.
    pub(crate) fn of_frozen(manifest: &Manifest) -> Result<Self, Failure> {
        let mut definition = parse(&manifest.origin.definition_path, &manifest.definition)?;
        let costs = manifest.costs.as_ref().map(Costs::of_frozen).transpose()?;
        if let Some(costs) = &costs {
            definition.options = costs.in_force(target_of(&definition)?, &definition.options)?;
        }
        Self::new(definition, manifest.machine.clone(), costs)
    }

    /// The same definition and machine with another cost table in force.
    pub(crate) fn repriced(&self, costs: Costs) -> Result<Self, Failure> {
        let mut definition = self.definition.clone();
        definition.options = costs.in_force(target_of(&definition)?, &definition.options)?;
        Self::new(definition, self.machine.clone(), Some(costs))
    }

    /// Gives the target the frozen sources of `frozen`, whose definition this is: whatever the cohort grows by is made
    /// from them.
    pub(crate) fn accept_frozen(&mut self, frozen: &Frozen) -> Result<(), Failure> {
        if !self.patterns()?.is_empty() {
            let files = sources::frozen(frozen)
                .map_err(|error| Failure::because(ExitCode::Mismatch, "a frozen source can't be read", error))?;
            self.configured.accept_sources(files);
        }
        Ok(())
    }

    /// Programs that the definition names itself.
    pub(crate) fn programs(&self) -> Result<Vec<Program>, Failure> {
        let definition = &self.definition;
        target_of(definition)?
            .programs(&definition.options)
            .map_err(|error| Failure::usage(definition.option_error(&error.key, error.to_string()).to_string()))
    }

    /// Which files beside the definition belong to what is frozen.
    pub(crate) fn patterns(&self) -> Result<Vec<SourcePattern>, Failure> {
        let definition = &self.definition;
        target_of(definition)?
            .sources(&definition.options)
            .map_err(|error| Failure::usage(definition.option_error(&error.key, error.to_string()).to_string()))
    }

    fn new(definition: Definition, machine: Machine, costs: Option<Costs>) -> Result<Self, Failure> {
        let configured = target_of(&definition)?
            .configure(&definition.options, &machine)
            .map_err(|error| Failure::usage(definition.option_error(&error.key, error.to_string()).to_string()))?;
        if let (Some(first), Pairing::None) = (definition.executor.unlike.first(), configured.pairing()) {
            let message = format!(
                "target `{}` runs no control beside a case, so machines that differ can't be measured apart",
                definition.target.value
            );
            return Err(Failure::usage(definition.error(&first.span, message).to_string()));
        }
        Ok(Self {
            definition,
            machine,
            configured,
            costs,
        })
    }

    /// The cases that the definition chooses.
    pub(crate) fn select(&self) -> Result<Selection, Failure> {
        let mut selection =
            select(&self.definition, &*self.configured).map_err(|error| Failure::usage(error.to_string()))?;
        if let (Some(fault), Some(workload)) = (self.configured.fault(), selection.workloads.first_mut()) {
            workload.notes.push(format!(
                "plans for which a constraint has no value are left out, the first for this: `{}`: `{}`: {}",
                self.definition.place_of(&fault.key),
                fault.key,
                fault.message
            ));
        }
        for selected in &mut selection.workloads {
            let notes = self.unestimated(selected);
            selected.notes.extend(notes);
        }
        Ok(selection)
    }

    /// Which models predict nothing for some of the cases, one sentence each: such a case is run all the same.
    fn unestimated(&self, selected: &SelectedWorkload) -> Vec<String> {
        let choices = self.definition.workloads.iter();
        let Some(choice) = choices.into_iter().find(|choice| choice.workload.name == selected.name) else {
            return Vec::new();
        };
        let mut notes = Vec::new();
        for model in self
            .configured
            .estimators()
            .into_iter()
            .filter(|model| model.is_partial())
        {
            let none = |case: &Chosen| {
                let plan = self.configured.plan(&choice.workload, &case.assignment);
                Some((case.name.clone(), model.estimate(&choice.workload, &plan).err()?))
            };
            let mut without = selected.cases.iter().filter_map(none);
            let Some((first, why)) = without.next() else { continue };
            let number = 1 + without.count();
            let place = why.key.as_ref().map_or_else(String::new, |key| {
                format!("`{}`: `{key}`: ", self.definition.place_of(key))
            });
            notes.push(format!(
                "estimate `{}` has no value for {} of {}, which are kept without it; of `{first}`: {place}{why}",
                model.name(),
                grouped(number),
                counted(selected.cases.len(), "case")
            ));
        }
        notes
    }
}

/// What starts commands: this very binary.
pub(crate) fn launcher() -> Result<Launcher, Failure> {
    let binary = std::env::current_exe()
        .map_err(|error| Failure::because(ExitCode::Failure, "this program's own file can't be found", error))?;
    Ok(Launcher::new(binary))
}

/// This machine as `target` sees it; measured once, or again if asked to.
pub(crate) fn machine(target: &dyn Target, options: &Options, refresh: bool) -> Result<Machine, MachineOrFailure> {
    let how = Measuring {
        launcher: launcher().map_err(MachineOrFailure::Failure)?,
        refresh,
        cache: cache_folder(),
        device_lock: None,
    };
    measure_machine(target, options, &how, &mut |event| match event {
        coordinator::guard::GuardEvent::Waiting { holder } => {
            let holder = crate::progress::held_by(holder.as_ref());
            output::narrate(&format!("waiting to measure this machine: {holder}"));
        }
        coordinator::guard::GuardEvent::Note { message } => output::narrate(&format!("note: {message}")),
        _ => {}
    })
    .map_err(MachineOrFailure::Machine)
}

/// This machine, as the target of a frozen cohort sees it now.
///
/// # Errors
/// Exit code 4 where a tool that it was frozen with is gone: that is a difference like any other.
pub(crate) fn machine_now(planning: &Planning) -> Result<Machine, Failure> {
    machine(target_of(&planning.definition)?, &planning.definition.options, false).map_err(|error| match error {
        MachineOrFailure::Machine(MachineError::Tool(error)) if !error.is_interrupted() => {
            let known = error.name().and_then(|name| planning.machine.tool(name));
            let was = known.map_or_else(String::new, |tool| {
                format!("it was `{}` ({}) when the cohort was frozen: ", tool.path, tool.version)
            });
            let message = "a program that the cohort was frozen with can't be used any more";
            Failure::because(ExitCode::Mismatch, message, error).help(format!(
                "{was}put it back, or freeze a fresh cohort with `--cohort DIR`"
            ))
        }
        other => machine_failure(other, Some(&planning.definition)),
    })
}

/// Why there is no machine.
pub(crate) enum MachineOrFailure {
    /// It can't be measured.
    Machine(MachineError),
    /// Something before that failed.
    Failure(Failure),
}

/// The message of a machine that can't be measured, with the place in the definition if an option is to blame.
pub(crate) fn machine_failure(error: MachineOrFailure, definition: Option<&Definition>) -> Failure {
    match (error, definition) {
        (MachineOrFailure::Failure(failure), _) => failure,
        (MachineOrFailure::Machine(MachineError::Option(error)), Some(definition)) => {
            Failure::usage(definition.option_error(&error.key, error.to_string()).to_string())
        }
        (MachineOrFailure::Machine(MachineError::Tool(error @ ToolError::NotFound { .. })), Some(definition))
            if definition.target.value == planner::definition::COMMAND_TARGET =>
        {
            let key = format!("command.probe.{}", error.name().unwrap_or_default());
            Failure::usage(definition.option_error(&key, format!("`{key}`: {error}")).to_string())
        }
        (MachineOrFailure::Machine(error), _) => {
            let code = match &error {
                error if error.is_interrupted() => ExitCode::Interrupted,
                error if error.is_lock_timeout() => ExitCode::LockTimeout,
                MachineError::Tool(_) | MachineError::Option(_) => ExitCode::Usage,
                _ => ExitCode::Failure,
            };
            Failure::because(code, "this machine can't be measured", error)
        }
    }
}

/// The target is looked at first: under a wrong one every other complaint would mislead.
pub(crate) fn parse(path: &str, text: &str) -> Result<Definition, Failure> {
    #[derive(serde::Deserialize)]
    struct OnlyTarget {
        target: toml::Spanned<String>,
    }
    if let Ok(OnlyTarget { target }) = toml::from_str(text)
        && registry::target(target.get_ref()).is_none()
    {
        let names: Vec<String> = registry::TARGETS
            .iter()
            .map(|target| format!("`{}`", target.id()))
            .collect();
        let message = format!(
            "no target is called `{}`: expected {}",
            target.get_ref(),
            names.join(", ")
        );
        let source = Source {
            path: path.to_owned(),
            text: text.to_owned(),
        };
        return Err(Failure::usage(source.error(&target.span(), message).to_string()));
    }
    Definition::parse(path, text).map_err(|error| Failure::usage(error.to_string()))
}

pub(crate) fn target_of(definition: &Definition) -> Result<&'static dyn Target, Failure> {
    registry::target(&definition.target.value)
        .ok_or_else(|| Failure::usage(format!("no target is called `{}`", definition.target.value)))
}
