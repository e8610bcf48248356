//! A definition of this target on a machine: commands of each case, and what they printed.

use std::collections::BTreeMap;
use std::path::Path;

use planner::costs::CostTable;
use planner::definition::command::{Direction, LockBy};
use planner::{Attributes, Plan, Refusal, Workload};
use target_api::{
    BuildFailure, BuildInfo, BuildUnit, Captured, CommandSpec, Configured, Estimate, Estimator, Exclusive, InputSet,
    Limited, LockHolder, Malformed, Measurement, Moment, Objective, Pairing, Places, ReportSpec, Round, RoundCaptured,
    RunRequest, SourceFile, Verdict,
};

use crate::command_line::CommandLine;
use crate::costs;
use crate::intern::intern;
use crate::mapping::{file, permutation};
use crate::number::column;
use crate::place::Place;
use crate::settings::{Settings, mapping_of};
use crate::template::Filling;

/// Label of what a case is built from.
pub(crate) const PROGRAM: &str = "program";

/// Label of the sources that all commands run among.
const SOURCES: &str = "sources";

/// What the build makes, in its folder.
const ARTIFACT: &str = "artifact";

/// The file that `{plan}` names.
const PLAN_FILE: &str = "plan.json";

/// The file that `{mapping}` names.
const MAPPING_FILE: &str = "tile-mapping.json";

/// Limit of checks, reports and hooks where the definition has none.
const CHECK_TIMEOUT_MS: u64 = 10_000;

/// A definition of this target on a machine.
#[derive(Debug, Clone)]
pub struct Configuration {
    pub(crate) settings: Settings,
    sources: Vec<SourceFile>,
}

impl Configuration {
    pub(crate) fn new(settings: Settings) -> Self {
        Self {
            settings,
            sources: Vec::new(),
        }
    }

    fn command(&self, line: &CommandLine, with: &Filling<'_>) -> CommandSpec {
        let environment = self.settings.environment(with);
        self.settings.prefix.command(line.fill(with), environment)
    }

    fn limited(&self, line: &CommandLine, with: &Filling<'_>) -> Limited {
        let limit = self.settings.tables.command.timeout.check;
        Limited {
            command: self.command(line, with),
            timeout_ms: Some(limit.map_or(CHECK_TIMEOUT_MS, |limit| limit.milliseconds)),
        }
    }

    /// Files that these commands name.
    fn files(&self, named: impl Fn(&Place) -> bool, workload: &Workload, plan: &Plan) -> Vec<SourceFile> {
        let mut files = Vec::new();
        if named(&Place::Plan) {
            let json = serde_json::json!({
                "workload": workload.name,
                "plan": plan.text,
                "parameters": plan.attributes,
            });
            files.push(SourceFile {
                path: PLAN_FILE.to_owned(),
                text: format!("{json:#}\n"),
            });
        }
        let mapping = mapping_of(&plan.attributes).zip(self.settings.tables.command.tiles);
        let mapping = mapping.and_then(|(name, tiles)| permutation(&name, tiles).ok());
        if let (true, Some(mapping)) = (named(&Place::Mapping), mapping) {
            files.push(SourceFile {
                path: MAPPING_FILE.to_owned(),
                text: file(&mapping),
            });
        }
        files
    }
}

/// What is the same wherever a case runs.
fn filling<'a>(workload: &'a Workload, plan: &'a Attributes) -> Filling<'a> {
    Filling {
        operations: workload
            .operations
            .iter()
            .map(|operation| operation.name.as_str())
            .collect(),
        attributes: Some(plan),
        identity: mapping_of(plan).is_none_or(|mapping| mapping == "identity"),
        ..Filling::default()
    }
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}

impl Configured for Configuration {
    fn target(&self) -> &'static str {
        planner::definition::COMMAND_TARGET
    }

    fn objective(&self) -> Objective {
        let (name, unit) = self.settings.reading.compared();
        Objective {
            name: intern(&name),
            unit: intern(&unit),
        }
    }

    fn inverse_of(&self) -> Option<Objective> {
        let reading = &self.settings.reading;
        (reading.direction == Direction::Higher).then(|| Objective {
            name: intern(&reading.objective),
            unit: intern(&reading.unit),
        })
    }

    fn options(&self) -> BTreeMap<String, String> {
        let command = &self.settings.tables.command;
        let reading = &self.settings.reading;
        let better = match reading.direction {
            Direction::Lower => "less",
            Direction::Higher => "more",
        };
        let objective = format!("{} in {}, {better} is better", reading.objective, reading.unit);
        let mut options = BTreeMap::from([("objective".to_owned(), objective)]);
        for (key, arguments) in [
            ("build", command.build.as_ref()),
            ("run", Some(&command.run)),
            ("check", command.check.as_ref()),
            ("before_run", command.before_run.as_ref()),
            ("after_run", command.after_run.as_ref()),
        ] {
            let Some(arguments) = arguments else { continue };
            let texts = arguments
                .iter()
                .flat_map(|argument| argument.texts().map(|(_, text)| text));
            options.insert(key.to_owned(), texts.collect::<Vec<_>>().join(" "));
        }
        if let Some(devices) = &command.devices {
            options.insert("devices".to_owned(), devices.join(" "));
        }
        for (name, value) in &command.env {
            options.insert(format!("env.{name}"), value.clone());
        }
        for (key, texts) in [("setup", &command.setup), ("launcher", &command.launcher)] {
            if !texts.is_empty() {
                options.insert(key.to_owned(), texts.join(if key == "setup" { "\n" } else { " " }));
            }
        }
        options
    }

    fn costs(&self) -> Option<CostTable> {
        costs::table(&self.settings)
    }

    fn estimators(&self) -> Vec<&dyn Estimator> {
        self.settings
            .models
            .iter()
            .map(|model| model as &dyn Estimator)
            .collect()
    }

    fn inputs(&self, _: &Workload, _: u64) -> Result<InputSet, Refusal> {
        Ok(InputSet::default())
    }

    /// The sources that commands run among, frozen once. Nothing is done to them: the artifact is the first of them.
    fn harness(&self) -> Option<BuildUnit> {
        let first = self.sources.first()?;
        Some(BuildUnit {
            label: SOURCES.to_owned(),
            sources: self.sources.clone(),
            steps: Vec::new(),
            artifact: first.path.clone(),
            inspect: Vec::new(),
        })
    }

    fn build(&self, workload: &Workload, plan: &Plan) -> Result<Vec<BuildUnit>, Refusal> {
        let Some(line) = &self.settings.build else {
            return Ok(Vec::new());
        };
        let mut with = filling(workload, &plan.attributes);
        with.artifact = Some(ARTIFACT.to_owned());
        PLAN_FILE.clone_into(&mut with.plan);
        MAPPING_FILE.clone_into(&mut with.mapping);
        let mut sources = self.sources.clone();
        sources.extend(self.files(|place| line.names(place), workload, plan));
        sources.sort();
        let taken = sources.windows(2).find(|pair| pair[0].path == pair[1].path);
        let taken = taken.map(|pair| pair[0].path.as_str());
        let own = sources
            .iter()
            .find(|source| source.path == ARTIFACT)
            .map(|source| source.path.as_str());
        if let Some(path) = taken.or(own) {
            let message = format!("a source is called `{path}`, as is a file that the build gets or makes: rename it");
            return Err(Refusal::new("sources", message));
        }
        Ok(vec![BuildUnit {
            label: PROGRAM.to_owned(),
            sources,
            steps: vec![self.command(line, &with)],
            artifact: ARTIFACT.to_owned(),
            inspect: Vec::new(),
        }])
    }

    fn parse_build(&self, unit: &BuildUnit, captured: &Captured) -> Result<BuildInfo, BuildFailure> {
        let printed = match unit.label.as_str() {
            PROGRAM => self.settings.reading.printed_by_build(captured),
            _ => BTreeMap::new(),
        };
        Ok(BuildInfo {
            facts: printed
                .into_iter()
                .map(|(name, number)| (name, number.to_string()))
                .collect(),
        })
    }

    fn build_estimates(&self, _: &Plan, facts: &BTreeMap<String, BTreeMap<String, String>>) -> Vec<Estimate> {
        let units = self.settings.reading.units();
        let facts = facts.get(PROGRAM).into_iter().flatten();
        facts
            .filter_map(|(name, value)| {
                let value: f64 = value.parse().ok()?;
                let unit = units.get(name.as_str()).copied()?;
                value.is_finite().then(|| Estimate {
                    name: name.clone(),
                    value,
                    unit: unit.unwrap_or("score").to_owned(),
                    moment: Moment::Build,
                    parts: Vec::new(),
                })
            })
            .collect()
    }

    fn accept_sources(&mut self, mut files: Vec<SourceFile>) {
        files.sort();
        self.sources = files;
    }

    /// The command alone, as if the case's folder were all there is; [`Configured::round`] knows more.
    fn run(&self, request: &RunRequest) -> CommandSpec {
        let run_log = request.case_dir.join("run.log");
        let places = Places {
            cohort: request.case_dir,
            sources: None,
            run_log: &run_log,
            device: "host",
            device_lock: None,
        };
        self.round(request, &places).run
    }

    fn round(&self, request: &RunRequest, places: &Places) -> Round {
        let settings = &self.settings;
        let plan = request.case.plan;
        let mut with = filling(request.workload, &plan.attributes);
        with.artifact = request.case.artifacts.get(PROGRAM).map(|path| shown(path));
        with.case_dir = shown(request.case_dir);
        with.cohort = shown(places.cohort);
        with.run_log = shown(places.run_log);
        places.device.clone_into(&mut with.device);
        with.device_lock = places.device_lock.map(shown);
        with.plan = shown(&request.case_dir.join(PLAN_FILE));
        with.mapping = shown(&request.case_dir.join(MAPPING_FILE));
        let limited = |line: &Option<CommandLine>| line.as_ref().map(|line| self.limited(line, &with));
        let report = |(name, line): &(String, CommandLine)| ReportSpec {
            name: name.clone(),
            command: self.limited(line, &with),
        };
        Round {
            directory: places.sources.map(Path::to_path_buf),
            files: self.files(|place| settings.names(place), request.workload, plan),
            before: limited(&settings.before),
            run: self.command(&settings.run, &with),
            after: limited(&settings.after),
            inspect: settings.reading.files(),
            check: limited(&settings.check),
            reports: settings.reports.iter().map(report).collect(),
        }
    }

    fn parse_run(&self, _: &Workload, captured: &Captured) -> Result<Measurement, Malformed> {
        let captured = RoundCaptured {
            run: captured.clone(),
            ..RoundCaptured::default()
        };
        self.settings.reading.measurement(&Attributes::new(), &captured)
    }

    fn verdict(&self, _: &Workload, _: &Plan, captured: &RoundCaptured) -> Result<Verdict, Malformed> {
        self.settings.reading.verdict(captured)
    }

    fn parse_round(&self, _: &Workload, plan: &Plan, captured: &RoundCaptured) -> Result<Measurement, Malformed> {
        self.settings.reading.measurement(&plan.attributes, captured)
    }

    fn refusal(&self, captured: &Captured) -> Option<String> {
        self.settings.reading.refusal(captured)
    }

    fn lock(&self) -> LockHolder {
        match self.settings.tables.command.lock {
            LockBy::Guard => LockHolder::Guard,
            LockBy::Child => LockHolder::Child,
        }
    }

    fn pairing(&self) -> Pairing {
        if self.settings.tables.control {
            Pairing::AlternatingCommands
        } else {
            Pairing::None
        }
    }

    fn exclusive(&self) -> Exclusive {
        match self.settings.tables.command.devices.as_deref() {
            None => Exclusive::Host,
            Some([]) => Exclusive::Nothing,
            Some(devices) => Exclusive::Devices(devices.to_vec()),
        }
    }

    fn sample_unit(&self, column_name: &str) -> Option<String> {
        let units = self.settings.reading.units();
        let own = units
            .into_iter()
            .find(|(name, unit)| column(name, *unit) == column_name);
        own.and_then(|(_, unit)| unit.map(str::to_owned))
    }
}
