//! A whole definition for this target, checked: what is left is to fill placeholders in.

use std::collections::BTreeMap;

use planner::definition::command::{Argument, Command, CommandTables, LockBy};
use planner::{Domain, Value};
use target_api::{OptionError, Options};

use crate::command_line::{CommandLine, Prefix};
use crate::constraint_text;
use crate::estimate::Model;
use crate::intern::intern;
use crate::mapping::permutation;
use crate::place::{Place, Role};
use crate::plan_space::{PlanSpace, declared, parameters};
use crate::reading::Reading;
use crate::template::Template;

/// The parameter that names a tile mapping.
pub(crate) const MAPPING: &str = "mapping";

/// A checked definition.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    pub(crate) tables: CommandTables,
    pub(crate) plans: PlanSpace,
    pub(crate) models: Vec<Model>,
    pub(crate) reading: Reading,
    pub(crate) build: Option<CommandLine>,
    pub(crate) run: CommandLine,
    pub(crate) check: Option<CommandLine>,
    pub(crate) before: Option<CommandLine>,
    pub(crate) after: Option<CommandLine>,
    pub(crate) reports: Vec<(String, CommandLine)>,
    environment: Vec<(String, Template)>,
    pub(crate) prefix: Prefix,
}

fn wrong(key: &str, message: impl Into<String>) -> OptionError {
    OptionError {
        key: key.to_owned(),
        message: message.into(),
    }
}

/// The tables; only what a reader of definitions does not see itself is checked again.
pub(crate) fn tables(options: &Options) -> Result<CommandTables, OptionError> {
    CommandTables::of(options).map_err(|message| wrong("command", message))
}

impl Settings {
    /// Checks everything that can be checked without a workload. `found` holds programs by name.
    pub(crate) fn new(options: &Options, found: BTreeMap<String, String>) -> Result<Self, OptionError> {
        let tables = tables(options)?;
        let command = &tables.command;
        let free = parameters(&tables)?;
        let kinds = declared(&free);
        let names: Vec<&str> = kinds.iter().map(|(name, _)| *name).collect();
        for name in &names {
            if Place::named(name).is_some_and(|place| place != Place::Mapping) {
                let message = format!("`{{{name}}}` is a placeholder of its own: expected another name");
                return Err(wrong(&format!("parameters.{name}"), message));
            }
        }
        // `{mapping}` is the file, not the parameter's word.
        let words: Vec<&str> = names.iter().copied().filter(|name| *name != MAPPING).collect();
        let line = |key: &str, arguments: &[Argument], role| CommandLine::parse(key, arguments, role, &words);
        let round = |key: &str, arguments: &Option<Vec<Argument>>| {
            let list = arguments.as_deref();
            list.map(|list| line(&format!("command.{key}"), list, Role::Round))
                .transpose()
        };
        let reading = Reading::parse(&tables, &kinds)?;
        let unit = intern(&reading.compared().1);
        let models = tables
            .estimates
            .iter()
            .map(|(name, table)| Model::parse(name, table, &kinds, unit, reading.direction));
        let models = models.collect::<Result<Vec<_>, _>>()?;
        let mut reports = Vec::new();
        for (index, report) in command.report.iter().enumerate() {
            let key = format!("command.report[{index}].run");
            reports.push((report.name.clone(), line(&key, &report.run, Role::Round)?));
        }
        let mut environment = Vec::new();
        for (name, value) in &command.env {
            let key = format!("command.env.{name}");
            if name.is_empty() || name.contains(['=', '\0']) {
                return Err(wrong(&key, "a variable's name is not empty and has no `=`"));
            }
            environment.push((name.clone(), Template::parse(&key, value, Role::Environment, &words)?));
        }
        let build = command
            .build
            .as_deref()
            .map(|list| line("command.build", list, Role::Build))
            .transpose()?;
        let settings = Self {
            plans: PlanSpace::new(&free, &tables.parameters)?,
            models,
            reading,
            build,
            run: line("command.run", &command.run, Role::Round)?,
            check: round("check", &command.check)?,
            before: round("before_run", &command.before_run)?,
            after: round("after_run", &command.after_run)?,
            reports,
            environment,
            prefix: Prefix {
                setup: command.setup.clone(),
                launcher: command.launcher.clone(),
                found,
            },
            tables,
        };
        settings.check_places()?;
        settings.check_command()?;
        settings.check_use()?;
        Ok(settings)
    }

    /// All command lines with their paths in the definition.
    pub(crate) fn lines(&self) -> Vec<(String, &CommandLine)> {
        let single = [
            ("build", self.build.as_ref()),
            ("run", Some(&self.run)),
            ("check", self.check.as_ref()),
            ("before_run", self.before.as_ref()),
            ("after_run", self.after.as_ref()),
        ];
        let single = single
            .into_iter()
            .filter_map(|(key, line)| Some((format!("command.{key}"), line?)));
        let reports = self.reports.iter().enumerate();
        let reports = reports.map(|(index, (_, line))| (format!("command.report[{index}].run"), line));
        single.chain(reports).collect()
    }

    /// Variables with their values for a plan.
    pub(crate) fn environment(&self, with: &crate::template::Filling<'_>) -> BTreeMap<String, String> {
        let filled = self
            .environment
            .iter()
            .map(|(name, template)| (name.clone(), template.fill(with).text));
        filled.collect()
    }

    /// Whether some command names this place.
    pub(crate) fn names(&self, place: &Place) -> bool {
        self.lines().iter().any(|(_, line)| line.names(place))
    }

    /// Every parameter must reach some command, else its values would be measured as if they meant something.
    fn check_use(&self) -> Result<(), OptionError> {
        if self.names(&Place::Plan) {
            return Ok(());
        }
        let lines = self.lines();
        let of_lines = lines
            .iter()
            .flat_map(|(_, line)| line.templates().map(|(template, _)| template));
        let templates: Vec<&Template> = of_lines
            .chain(self.environment.iter().map(|(_, value)| value))
            .collect();
        let used = |name: &str| {
            templates.iter().any(|template| {
                template.parameters().any(|own| own == name)
                    || template.places().any(|place| match place {
                        Place::Mapping => name == MAPPING,
                        Place::Constraint(operation) => constraint_text::uses(operation, name),
                        _ => false,
                    })
            })
        };
        match self
            .plans
            .space
            .parameters
            .iter()
            .find(|parameter| !used(&parameter.name))
        {
            Some(parameter) => {
                let name = &parameter.name;
                let message =
                    format!("no command takes `{{{name}}}`: expected it where it has an effect, or `{{plan}}`");
                Err(wrong(&format!("parameters.{name}"), message))
            }
            None => Ok(()),
        }
    }

    fn check_places(&self) -> Result<(), OptionError> {
        let command = &self.tables.command;
        for (key, line) in self.lines() {
            for (place, in_group) in line.places() {
                match place {
                    Place::Artifact if self.build.is_none() => {
                        return Err(wrong(
                            &key,
                            "`{artifact}` is what `build` makes, and there is no `build`",
                        ));
                    }
                    Place::DeviceLock if !in_group && command.devices.as_deref() == Some(&[]) => {
                        return Err(wrong(&key, "there is no `{device_lock}` where `devices` is empty"));
                    }
                    Place::Mapping => self.check_mapping(&key)?,
                    Place::Constraint(operation) => {
                        constraint_text::check(operation, &self.plans.space).map_err(|message| wrong(&key, message))?;
                    }
                    _ => {}
                }
            }
        }
        match &self.build {
            Some(build) if !build.names(&Place::Artifact) => {
                let message = "`build` does not say where its result goes: expected `{artifact}` in it";
                Err(wrong("command.build", message))
            }
            _ => Ok(()),
        }
    }

    /// Every value of the parameter `mapping` must be a bijection.
    fn check_mapping(&self, key: &str) -> Result<(), OptionError> {
        let Some(tiles) = self.tables.command.tiles else {
            return Err(wrong(
                key,
                "`{mapping}` permutes tiles: expected `tiles`, how many there are",
            ));
        };
        let parameter = self.plans.space.parameter(MAPPING);
        let Some(Domain::List(values)) = parameter.map(|parameter| &parameter.domain) else {
            let message =
                "`{mapping}` is made from a parameter `mapping` with names such as \"identity\", \"transpose-4\"";
            return Err(wrong(key, message));
        };
        for (index, value) in values.iter().enumerate() {
            let name = value.to_string();
            if let Err(error) = permutation(&name, tiles) {
                return Err(wrong(&format!("parameters.{MAPPING}[{index}]"), error.to_string()));
            }
        }
        Ok(())
    }

    fn check_command(&self) -> Result<(), OptionError> {
        let command = &self.tables.command;
        check_devices(command)?;
        if command.lock == LockBy::Child && !self.run.names(&Place::DeviceLock) {
            let message = "the program is to take the lock itself: expected `{device_lock}` in `run`";
            return Err(wrong("command.lock", message));
        }
        if command.lock == LockBy::Child && command.devices.as_deref() == Some(&[]) {
            return Err(wrong(
                "command.lock",
                "there is no lock to take where `devices` is empty",
            ));
        }
        if command.after_run.is_none() && command.before_run.is_some() {
            let message = "`before_run` changes something: expected `after_run`, which undoes it whatever happens";
            return Err(wrong("command.before_run", message));
        }
        for (index, pattern) in command.sources.iter().enumerate() {
            if !crate::number::is_inside(pattern) {
                let message = format!("expected a file beside the definition or below it, found `{pattern}`");
                return Err(wrong(&format!("command.sources[{index}]"), message));
            }
        }
        for (name, probe) in &command.probe {
            if probe.first().is_none_or(String::is_empty) {
                let key = format!("command.probe.{name}");
                return Err(wrong(
                    &key,
                    "expected a program and the arguments that make it print its version",
                ));
            }
        }
        Ok(())
    }
}

/// The name of a plan's tile mapping.
pub(crate) fn mapping_of(plan: &planner::Attributes) -> Option<String> {
    plan.get(MAPPING).map(Value::to_string)
}

fn check_devices(command: &Command) -> Result<(), OptionError> {
    let devices = command.devices.as_deref().unwrap_or_default();
    for (index, device) in devices.iter().enumerate() {
        let key = format!("command.devices[{index}]");
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_.:".contains(c);
        if device.is_empty() || device.starts_with('.') || !device.chars().all(plain) {
            return Err(wrong(
                &key,
                "a device is named by letters, digits, `-`, `_`, `.` and `:`: it names its lock",
            ));
        }
        if ["host", "none"].contains(&device.as_str()) {
            return Err(wrong(
                &key,
                format!("`{device}` has a meaning of its own: expected another name"),
            ));
        }
        if devices[..index].contains(device) {
            return Err(wrong(&key, format!("`{device}` stands there already")));
        }
    }
    Ok(())
}
