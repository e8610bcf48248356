//! The tile array as the registry holds it.

use planner::costs::CostTable as Families;
use target_api::{
    Captured, Configured, Host, Machine, Malformed, OptionError, Options, Probe, Target, Timeline, Tool, ToolSpec,
    unit_model,
};

use crate::configured::Configuration;
use crate::options::IpuOptions;
use crate::profile;

/// The IPU21, as a unit model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Ipu21;

impl Target for Ipu21 {
    fn id(&self) -> &'static str {
        "ipu21"
    }

    fn about(&self) -> &'static str {
        "1,472 tiles with their own memory and a static exchange; a unit model runs plans in software and counts cycles"
    }

    fn tools(&self, options: &Options) -> Result<Vec<ToolSpec>, OptionError> {
        IpuOptions::parse(options)?;
        Ok(unit_model::tools())
    }

    fn probe(&self, options: &Options, _: &Host, _: &[Tool]) -> Result<Option<Probe>, OptionError> {
        IpuOptions::parse(options)?;
        Ok(None)
    }

    fn machine(&self, _: &Host, tools: Vec<Tool>, _: Option<&Captured>) -> Result<Machine, Malformed> {
        Ok(unit_model::machine(tools))
    }

    fn with_costs(&self, options: &Options, costs: &Families) -> Result<Options, OptionError> {
        let wrong = |message: String| OptionError {
            key: "ipu21.costs".to_owned(),
            message,
        };
        let table = costs.to_toml().map_err(|error| wrong(error.to_string()))?;
        let mut options = options.clone();
        options.insert("costs".to_owned(), toml::Value::Table(table));
        IpuOptions::parse(&options)?;
        Ok(options)
    }

    fn timeline(&self, profile: &str) -> Result<Option<Timeline>, Malformed> {
        let profile = serde_json::from_str(profile).map_err(|error| Malformed(error.to_string()))?;
        Ok(Some(profile::timeline(&profile)))
    }

    fn configure(&self, options: &Options, machine: &Machine) -> Result<Box<dyn Configured>, OptionError> {
        let options = IpuOptions::parse(options)?;
        Ok(Box::new(Configuration::new(options, unit_model::binary(machine))))
    }
}
