//! Definitions on a machine, as the command line makes them.

use std::path::{Path, PathBuf};

use planner::select::select;
use planner::{Definition, Plan, Selection, Workload};
use target_api::{Built, Captured, Configured, Host, Machine, Places, Round, RoundCaptured, RunRequest, Target};

/// A definition with its target.
pub(crate) struct Made {
    pub(crate) definition: Definition,
    pub(crate) configured: Box<dyn Configured>,
}

/// Reads and configures a definition; an error is what a person would see.
pub(crate) fn make(path: &str, text: &str) -> Result<Made, String> {
    let definition = Definition::parse(path, text).map_err(|error| error.to_string())?;
    let shown = |error: target_api::OptionError| definition.option_error(&error.key, error.to_string()).to_string();
    let target = target_command::Command;
    target.tools(&definition.options).map_err(shown)?;
    let configured = target.configure(&definition.options, &machine()).map_err(shown)?;
    Ok(Made { definition, configured })
}

pub(crate) fn machine() -> Machine {
    let host = Host {
        architecture: "x86_64".to_owned(),
        ..Host::default()
    };
    target_command::Command.machine(&host, Vec::new(), None).unwrap()
}

/// A file of this repository.
pub(crate) fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

impl Made {
    /// A definition that ships.
    pub(crate) fn shipped(name: &str) -> Self {
        let text = std::fs::read_to_string(repository(&format!("cohorts/{name}"))).unwrap();
        make(name, &text).unwrap_or_else(|error| panic!("{error}"))
    }

    pub(crate) fn workload(&self) -> &Workload {
        &self.definition.workloads[0].workload
    }

    pub(crate) fn select(&self) -> Selection {
        select(&self.definition, &*self.configured).unwrap_or_else(|error| panic!("{error}"))
    }

    /// The plan of a case, by its name.
    pub(crate) fn plan(&self, name: &str) -> Plan {
        let selection = self.select();
        let case = selection.workloads[0]
            .cases
            .iter()
            .find(|case| case.name == name)
            .unwrap();
        self.configured.plan(self.workload(), &case.assignment)
    }

    /// Any plan: its first.
    pub(crate) fn first(&self) -> Plan {
        let first = self.configured.defaults(self.workload()).unwrap();
        self.configured.plan(self.workload(), &first)
    }

    /// A round in these places.
    pub(crate) fn round(&self, plan: &Plan, artifact: Option<&Path>, case_dir: &Path, places: &Places) -> Round {
        let artifacts = artifact.map(|path| ("program".to_owned(), path.to_owned()));
        let request = RunRequest {
            workload: self.workload(),
            case: Built {
                plan,
                artifacts: artifacts.into_iter().collect(),
            },
            control: None,
            harness: None,
            inputs: Path::new("/nowhere"),
            round: 0,
            pairs: 1,
            case_dir,
        };
        self.configured.round(&request, places)
    }

    /// What a round that printed this and ended with that exit code is.
    pub(crate) fn read(&self, stdout: &str, exit_code: i32) -> String {
        let captured = RoundCaptured {
            run: Captured {
                stdout: stdout.to_owned(),
                exit_code: Some(exit_code),
                ..Captured::default()
            },
            ..RoundCaptured::default()
        };
        self.outcome(&captured)
    }

    /// The outcome of a round in words.
    pub(crate) fn outcome(&self, captured: &RoundCaptured) -> String {
        match self.configured.parse_round(self.workload(), &self.first(), captured) {
            Err(error) => match self.configured.refusal(&captured.run) {
                Some(words) => format!("rejected: {words}"),
                None => format!("malformed: {error}"),
            },
            Ok(measurement) => serde_json::to_string(&measurement).unwrap(),
        }
    }
}
