//! Kohaku as the registry holds it.

use target_api::{
    Captured, Configured, Host, Machine, Malformed, OptionError, Options, Probe, Target, Tool, ToolSpec, unit_model,
};

use crate::configured::Configuration;
use crate::options::KohakuOptions;

/// Kohaku, as a unit model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Kohaku;

impl Target for Kohaku {
    fn id(&self) -> &'static str {
        "kohaku"
    }

    fn about(&self) -> &'static str {
        "6 matrix clusters and 4 vector cores whose byte orders do not agree; a unit model runs plans in software and \
         counts cycles"
    }

    fn tools(&self, options: &Options) -> Result<Vec<ToolSpec>, OptionError> {
        KohakuOptions::parse(options)?;
        Ok(unit_model::tools())
    }

    fn probe(&self, options: &Options, _: &Host, _: &[Tool]) -> Result<Option<Probe>, OptionError> {
        KohakuOptions::parse(options)?;
        Ok(None)
    }

    fn machine(&self, _: &Host, tools: Vec<Tool>, _: Option<&Captured>) -> Result<Machine, Malformed> {
        Ok(unit_model::machine(tools))
    }

    fn configure(&self, options: &Options, machine: &Machine) -> Result<Box<dyn Configured>, OptionError> {
        let options = KohakuOptions::parse(options)?;
        Ok(Box::new(Configuration::new(options, unit_model::binary(machine))))
    }
}
