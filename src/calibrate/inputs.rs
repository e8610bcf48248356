//! What a calibration reads: cohorts and databases.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use analyzer::Dataset;
use calibrate::{Database, OBJECTIVE, SampleSource};
use cohort::{CohortDir, Manifest, RunOutcome, Snapshot, sha256_file, sha256_hex};
use coordinator::ExitCode;
use planner::Value;
use planner::costs::CostTable;
use target_api::unit_model::UNIT_MODEL;
use target_api::{Clock, KernelProfile, Machine, Measurement, Options};

use super::refused;
use crate::costs::Costs;
use crate::failure::Failure;
use crate::freeze::{read, read_unedited, unreadable};
use crate::planning::Planning;
use crate::registry;

/// A cohort that was read.
pub(crate) struct ReadCohort {
    pub(crate) path: PathBuf,
    pub(crate) snapshot: Snapshot,
    pub(crate) dataset: Dataset,
    pub(crate) planning: Planning,
}

impl ReadCohort {
    /// Reads a cohort.
    pub(crate) fn read(path: &Path) -> Result<Self, Failure> {
        Self::of(path, read(path)?)
    }

    /// The same for a gate, which nothing passes that was edited.
    pub(crate) fn read_unedited(path: &Path) -> Result<Self, Failure> {
        Self::of(path, read_unedited(path)?)
    }

    fn of(path: &Path, snapshot: Snapshot) -> Result<Self, Failure> {
        let dataset = analyzer::dataset(&snapshot).map_err(crate::explain::unreadable)?;
        let planning = Planning::of_frozen(snapshot.frozen.manifest())?;
        Ok(Self {
            path: path.to_owned(),
            snapshot,
            dataset,
            planning,
        })
    }

    fn manifest(&self) -> &Manifest {
        self.snapshot.frozen.manifest()
    }

    fn source(&self) -> Result<SampleSource, Failure> {
        let manifest = self.manifest();
        let (sha256, _) = sha256_file(&self.snapshot.frozen.dir().manifest())
            .map_err(|error| unreadable(format!("`{}` can't be read", self.path.display()), error))?;
        let label = match &manifest.imported {
            Some(_) => "measured elsewhere",
            None if manifest.machine.class.contains_key(UNIT_MODEL) => "simulated",
            None => "measured",
        };
        Ok(SampleSource {
            path: self.path.display().to_string(),
            sha256,
            build: build_id(manifest),
            label: label.to_owned(),
        })
    }
}

/// Which build of the kernels a cohort measured: a digest of what it froze of them, never of today's checkout. Of a unit
/// model its program and options, of others the sources that every case shares, else the tools.
fn build_id(manifest: &Manifest) -> String {
    if let Some(imported) = &manifest.imported {
        return imported.build_id.clone().unwrap_or_else(|| imported.sha256.clone());
    }
    let mut words = Vec::new();
    if let Some(program) = manifest.machine.class.get(UNIT_MODEL) {
        words.push(program.clone());
        words.extend(manifest.options.iter().map(|(key, value)| format!("{key}={value}")));
        words.extend(manifest.costs.iter().map(|costs| costs.sha256.clone()));
    } else {
        words.extend(manifest.harness.clone());
        let mut units = manifest.units.iter();
        let first: Vec<_> = units.next().map_or_else(Vec::new, |unit| unit.files.clone());
        let shared = first
            .iter()
            .filter(|file| manifest.units.iter().all(|unit| unit.files.contains(file)));
        words.extend(shared.map(|file| format!("{} {}", file.path, file.sha256)));
        words.extend(
            manifest
                .machine
                .tools
                .iter()
                .map(|tool| format!("{} {}", tool.name, tool.sha256)),
        );
    }
    sha256_hex(words.join("\n").as_bytes())
}

/// All that one side of a calibration reads.
pub(crate) struct Inputs {
    pub(crate) database: Database,
    pub(crate) cohorts: Vec<ReadCohort>,
    /// The table that is calibrated.
    pub(crate) old: Costs,
}

impl Inputs {
    /// Reads cohorts and databases. Without `costs` the table is that of the first cohort, or the target's own.
    pub(crate) fn read(paths: &[PathBuf], costs: Option<&Costs>) -> Result<Self, Failure> {
        let (mut cohorts, mut databases) = (Vec::new(), Vec::new());
        for path in paths {
            if path.is_dir() {
                cohorts.push(ReadCohort::read(path)?);
            } else {
                let text = fs_err::read_to_string(path)
                    .map_err(|error| Failure::because(ExitCode::Usage, "the database can't be read", error))?;
                databases.push(Database::parse(&path.display().to_string(), &text).map_err(refused)?);
            }
        }
        let old = match costs {
            Some(costs) => costs.clone(),
            None => own_table(cohorts.first(), databases.first())?,
        };
        let whole_plans = old
            .table
            .families
            .iter()
            .any(|(name, family)| family.kernel(name) == OBJECTIVE);
        let mut all: Option<Database> = None;
        let parts = cohorts.iter().map(|cohort| {
            if whole_plans {
                objective_samples(cohort)
            } else {
                kernel_samples(cohort)
            }
        });
        for part in databases.into_iter().map(Ok).chain(parts) {
            let part = part?;
            match &mut all {
                Some(all) => all.merge(part).map_err(refused)?,
                None => all = Some(part),
            }
        }
        let database = all.ok_or_else(|| Failure::usage("there is nothing to read"))?;
        Ok(Self { database, cohorts, old })
    }
}

/// The table in force where none was given.
fn own_table(cohort: Option<&ReadCohort>, database: Option<&Database>) -> Result<Costs, Failure> {
    let none = |target: &str| {
        Failure::usage(format!("target `{target}` has no cost table of its own here"))
            .help("`--costs FILE` gives the table whose terms are fitted")
    };
    if let Some(cohort) = cohort {
        let target = cohort.planning.configured.target();
        let table = cohort.planning.configured.costs().ok_or_else(|| none(target))?;
        return Ok(Costs {
            file: format!("the definition of {}", cohort.path.display()),
            table,
        });
    }
    let name = database.map_or("", |database| database.target.as_str());
    let table = default_table(name).ok_or_else(|| none(name))?;
    Ok(Costs {
        file: format!("the defaults of target {name}"),
        table,
    })
}

/// The table of a target with default options, where that needs no measured machine.
pub(crate) fn default_table(target: &str) -> Option<CostTable> {
    let configured = registry::target(target)?.configure(&Options::new(), &Machine::default());
    configured.ok()?.costs()
}

/// Samples of kernels in the profiles of a cohort's cases.
fn kernel_samples(cohort: &ReadCohort) -> Result<Database, Failure> {
    let source = cohort.source()?;
    let mut database = None;
    let dir = CohortDir::new(&cohort.path);
    let mut add = |profile: &KernelProfile| -> Result<(), Failure> {
        let all = match &mut database {
            Some(all) => all,
            None => database.insert(begun(cohort, &source, profile.clock.clone())?),
        };
        all.gather(&source, profile).map(|_| ()).map_err(refused)
    };
    for case in measured(cohort) {
        let path = dir.case_profile(case);
        if path.is_file() {
            let text = fs_err::read_to_string(&path)
                .map_err(|error| Failure::because(ExitCode::Mismatch, "a profile can't be read", error))?;
            let profile = cohort.planning.configured.kernels(&text).map_err(|error| {
                Failure::because(ExitCode::Mismatch, format!("`{}` can't be read", path.display()), error)
            })?;
            add(&profile)?;
        }
    }
    for (workload, plan, measurement) in measurements(cohort)? {
        if let Some(profile) = cohort
            .planning
            .configured
            .measured_kernels(&workload, &plan, &measurement)
        {
            add(&profile)?;
        }
    }
    database.ok_or_else(|| {
        Failure::usage(format!("no measured case of `{}` has a profile of kernels", cohort.path.display())).help(
            "profiles are kept for each case of a small cohort, where the target or a report called `profile` makes them; a \
             table whose families have `kernel = \"objective\"` is fitted to whole plans",
        )
    })
}

fn begun(cohort: &ReadCohort, source: &SampleSource, clock: Clock) -> Result<Database, Failure> {
    let mut database = Database::new(&cohort.manifest().target, clock);
    database
        .begin(source.clone(), &cohort.manifest().machine.class)
        .map_err(refused)?;
    Ok(database)
}

fn measured(cohort: &ReadCohort) -> impl Iterator<Item = &str> {
    let cases = cohort.dataset.workloads.iter().flat_map(|workload| &workload.cases);
    cases
        .filter(|case| !case.pairs.is_empty())
        .map(|case| case.name.as_str())
}

/// Every right round of the attempts that count, with its workload and plan.
fn measurements(cohort: &ReadCohort) -> Result<Vec<(planner::Workload, planner::Plan, Measurement)>, Failure> {
    let state = cohort
        .snapshot
        .state()
        .map_err(|error| unreadable(format!("`{}` can't be read", cohort.path.display()), error))?;
    let mut all = Vec::new();
    for case in state.cases() {
        let entry = cohort
            .manifest()
            .workloads
            .iter()
            .find(|entry| entry.workload.name == case.case.workload);
        let (Some(entry), Some(latest)) = (entry, case.latest()) else {
            continue;
        };
        for (_, round) in latest.correct() {
            if let RunOutcome::Correct { measurement } = round.outcome {
                all.push((entry.workload.clone(), case.case.plan.clone(), measurement.clone()));
            }
        }
    }
    Ok(all)
}

/// Whole plans of a cohort with their objective.
fn objective_samples(cohort: &ReadCohort) -> Result<Database, Failure> {
    let source = cohort.source()?;
    let objective = &cohort.dataset.setup.objective;
    let clock = Clock {
        name: objective.name.clone(),
        unit: objective.unit.clone(),
        hz: None,
    };
    let mut database = begun(cohort, &source, clock.clone())?;
    let several = cohort.dataset.workloads.len() > 1;
    let mut plans = Vec::new();
    for workload in &cohort.dataset.workloads {
        for case in workload.cases.iter().filter(|case| !case.pairs.is_empty()) {
            let attributes = case
                .attributes
                .iter()
                .map(|(name, value)| (name.to_owned(), value.clone()));
            let mut arguments: BTreeMap<String, Value> = attributes.collect();
            if several {
                arguments.insert("workload".to_owned(), Value::text(&workload.name));
            }
            let values: Vec<f64> = case.undisturbed().map(|pair| pair.case).collect();
            let disturbed = case.pairs.len() - values.len();
            plans.push((arguments, values, disturbed as u64));
        }
    }
    database.gather_objective(&source, &clock, plans).map_err(refused)?;
    Ok(database)
}
