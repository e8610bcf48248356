//! The CPU as the registry holds it.

use planner::costs::CostTable as Families;
use target_api::{
    Captured, Configured, Host, Machine, Malformed, OptionError, Options, Probe, Target, Timeline, Tool, ToolSpec,
};

use crate::configured::{COMPILER, Configuration, harness_unit};
use crate::costs::{CostTable, shipped};
use crate::describe::describe;
use crate::harness::machine_arguments;
use crate::isa::Isa;
use crate::machine::{self, best_isa};
use crate::options::CpuOptions;
use crate::profile::timeline;

/// The host's own CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Cpu;

fn missing_compiler() -> OptionError {
    OptionError {
        key: "cpu".to_owned(),
        message: "no C compiler was found".to_owned(),
    }
}

impl Target for Cpu {
    fn id(&self) -> &'static str {
        "cpu"
    }

    fn about(&self) -> &'static str {
        "this machine's CPU: plans become C, compiled by `$CC` or `cc`, on pinned threads"
    }

    fn tools(&self, options: &Options) -> Result<Vec<ToolSpec>, OptionError> {
        CpuOptions::parse(options)?;
        Ok(vec![ToolSpec {
            name: COMPILER,
            variable: Some("CC"),
            program: "cc".to_owned(),
            version_arguments: vec!["--version".to_owned()],
        }])
    }

    fn probe(&self, options: &Options, host: &Host, tools: &[Tool]) -> Result<Option<Probe>, OptionError> {
        let options = CpuOptions::parse(options)?;
        let compiler = tools
            .iter()
            .find(|tool| tool.name == COMPILER)
            .ok_or_else(missing_compiler)?;
        // The last core: the first one is where a machine's other work most often runs.
        let own = options
            .cores
            .as_ref()
            .and_then(|cores| cores.last())
            .or(host.cores.last());
        let core = own.copied().ok_or_else(|| OptionError {
            key: "cpu.cores".to_owned(),
            message: "no core of this machine may be used".to_owned(),
        })?;
        let unit = harness_unit(best_isa(host), &compiler.path);
        let command = target_api::CommandSpec {
            program: format!("./{}", unit.artifact),
            arguments: machine_arguments(core),
            environment: std::collections::BTreeMap::new(),
        };
        Ok(Some(Probe { unit, command }))
    }

    fn machine(&self, host: &Host, tools: Vec<Tool>, probe: Option<&Captured>) -> Result<Machine, Malformed> {
        machine::machine(host, tools, probe)
    }

    fn describe(&self, machine: &Machine) -> Vec<(String, String)> {
        describe(machine)
    }

    fn with_costs(&self, options: &Options, costs: &Families) -> Result<Options, OptionError> {
        let wrong = |message: String| OptionError {
            key: "cpu.costs".to_owned(),
            message,
        };
        let table = costs.to_toml().map_err(|error| wrong(error.to_string()))?;
        let mut options = options.clone();
        options.insert("costs".to_owned(), toml::Value::Table(table));
        CpuOptions::parse(&options)?;
        Ok(options)
    }

    fn timeline(&self, profile: &str) -> Result<Option<Timeline>, Malformed> {
        timeline(profile).map(Some)
    }

    fn configure(&self, options: &Options, machine: &Machine) -> Result<Box<dyn Configured>, OptionError> {
        let options = CpuOptions::parse(options)?;
        let wrong = |message: String| OptionError {
            key: "cpu".to_owned(),
            message,
        };
        let report = machine::facts(machine).map_err(|error| wrong(format!("the machine's facts: {error}")))?;
        let best = machine.class.get("isa").and_then(|word| Isa::parse(word));
        let best = best.ok_or_else(|| wrong("the machine's instruction set is not known".to_owned()))?;
        let settings = options.settle(best, &report)?;
        let compiler = machine.tool(COMPILER).ok_or_else(missing_compiler)?;
        let costs = match options.costs {
            Some(costs) => CostTable::try_from(costs),
            None => shipped(settings.isa),
        };
        let costs = costs.map_err(|error| wrong(error.to_string()))?;
        let configuration = Configuration::under(costs, settings, &report, &compiler.path).map_err(wrong)?;
        Ok(Box::new(configuration))
    }
}
