//! Kohaku as the registry holds it.

use target_api::{Captured, Configured, Host, Machine, Malformed, OptionError, Options, Probe, Target, Tool, ToolSpec};

use crate::configured::Configuration;
use crate::options::KohakuOptions;

/// Name of the tool that runs the unit model: this program itself.
const UNIT_MODEL: &str = "unit-model";

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
        Ok(vec![ToolSpec {
            name: UNIT_MODEL,
            variable: Some("LAYOUT_SWEEP_BINARY"),
            program: "layout-sweep".to_owned(),
            version_arguments: vec!["--version".to_owned()],
        }])
    }

    fn probe(&self, options: &Options, _: &Host, _: &[Tool]) -> Result<Option<Probe>, OptionError> {
        KohakuOptions::parse(options)?;
        Ok(None)
    }

    fn machine(&self, _: &Host, tools: Vec<Tool>, _: Option<&Captured>) -> Result<Machine, Malformed> {
        // The same cycles come out on every host: only the program that counts them is part of the class.
        let mut machine = Machine {
            tools,
            ..Machine::default()
        };
        if let Some(tool) = machine.tool(UNIT_MODEL) {
            let digest = tool.sha256.clone();
            machine.class.insert("unit-model".to_owned(), digest);
        }
        Ok(machine)
    }

    fn configure(&self, options: &Options, machine: &Machine) -> Result<Box<dyn Configured>, OptionError> {
        let options = KohakuOptions::parse(options)?;
        // Planning needs no program; a build without one names it and fails.
        let binary = machine
            .tool(UNIT_MODEL)
            .map_or("layout-sweep", |tool| tool.path.as_str());
        Ok(Box::new(Configuration::new(options, binary)))
    }
}
