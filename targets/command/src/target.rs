//! The command target as the registry holds it.

use std::collections::BTreeMap;

use planner::costs::CostTable;
use target_api::{
    Captured, Configured, Host, Machine, Malformed, OptionError, Options, Probe, Program, SourcePattern, Target, Tool,
    ToolSpec, Topic,
};

use crate::configured::Configuration;
use crate::costs;
use crate::guide::guide;
use crate::intern::intern;
use crate::programs::programs;
use crate::settings::{Settings, tables};

/// Any machine that has a command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Command;

/// Probes come before programs are found.
fn checked(options: &Options) -> Result<Settings, OptionError> {
    Settings::new(options, BTreeMap::new())
}

impl Target for Command {
    fn id(&self) -> &'static str {
        planner::definition::COMMAND_TARGET
    }

    fn about(&self) -> &'static str {
        "anything with a command line: the definition says how a case is built, run, checked and read"
    }

    fn tools(&self, options: &Options) -> Result<Vec<ToolSpec>, OptionError> {
        let settings = checked(options)?;
        let probes = settings.tables.command.probe.iter();
        Ok(probes
            .filter_map(|(name, command)| {
                let (program, arguments) = command.split_first()?;
                Some(ToolSpec {
                    name: intern(name),
                    variable: None,
                    program: program.clone(),
                    version_arguments: arguments.to_vec(),
                })
            })
            .collect())
    }

    fn probe(&self, _: &Options, _: &Host, _: &[Tool]) -> Result<Option<Probe>, OptionError> {
        Ok(None)
    }

    fn machine(&self, host: &Host, tools: Vec<Tool>, _: Option<&Captured>) -> Result<Machine, Malformed> {
        let mut class = BTreeMap::from([
            ("architecture".to_owned(), host.architecture.clone()),
            ("cpu_model".to_owned(), host.cpu_model.clone()),
        ]);
        if let Some(governor) = &host.governor {
            class.insert("governor".to_owned(), governor.clone());
        }
        let instance = BTreeMap::from([
            ("hostname".to_owned(), host.hostname.clone()),
            ("kernel".to_owned(), host.kernel.clone()),
            ("boot_id".to_owned(), host.boot_id.clone()),
        ]);
        Ok(Machine {
            class,
            instance,
            tools,
            facts: serde_json::Value::Null,
        })
    }

    fn sources(&self, options: &Options) -> Result<Vec<SourcePattern>, OptionError> {
        let settings = checked(options)?;
        let sources = settings.tables.command.sources.iter();
        Ok(sources.map(|pattern| SourcePattern(pattern.clone())).collect())
    }

    fn programs(&self, options: &Options) -> Result<Vec<Program>, OptionError> {
        Ok(programs(&checked(options)?))
    }

    fn guide(&self) -> Vec<Topic> {
        guide()
    }

    fn environment(&self, options: &Options) -> Result<Vec<String>, OptionError> {
        Ok(tables(options)?.command.pass_env)
    }

    fn with_costs(&self, options: &Options, costs: &CostTable) -> Result<Options, OptionError> {
        costs::with(options, costs)
    }

    fn configure(&self, options: &Options, machine: &Machine) -> Result<Box<dyn Configured>, OptionError> {
        let mut found = BTreeMap::new();
        for (name, command) in tables(options)?.command.probe {
            if let (Some(program), Some(tool)) = (command.into_iter().next(), machine.tool(&name)) {
                found.insert(program, tool.path.clone());
            }
        }
        Ok(Box::new(Configuration::new(Settings::new(options, found)?)))
    }
}
