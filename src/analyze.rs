//! `layout-sweep analyze`, and the end of `sweep`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use analyzer::{Analysis, AnalyzeError, Known};
use clap::Args;
use cohort::{CohortDir, Snapshot};
use coordinator::ExitCode;
use target_api::Limit;

use crate::failure::Failure;
use crate::freeze::read;
use crate::output::{Format, narrate, print, print_json};
use crate::place::report_of;
use crate::planning::Planning;

/// Arguments of `analyze`.
#[derive(Args)]
pub(crate) struct Arguments {
    /// The cohort's folder.
    #[arg(required_unless_present = "schema")]
    cohort: Option<PathBuf>,
    /// The report's folder.
    #[arg(long, value_name = "DIR")]
    report: Option<PathBuf>,
    /// How to print.
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
    /// Print the JSON schema of `statistics.json`, which describes every field, and do nothing else.
    #[arg(long, conflicts_with_all = ["cohort", "report", "format"])]
    schema: bool,
}

/// Evaluates a cohort.
pub(crate) fn execute(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let Some(cohort) = &arguments.cohort else {
        print_json(&analyzer::report::schema())?;
        return Ok(ExitCode::Done);
    };
    let report = arguments.report.clone().unwrap_or_else(|| report_of(cohort));
    analyze(cohort, &report, arguments.format)
}

/// Writes the report of `cohort` into `report` and prints the result. A cohort without any result gives an overview and
/// exit code 3.
pub(crate) fn analyze(cohort: &Path, report: &Path, format: Format) -> Result<ExitCode, Failure> {
    let snapshot = read(cohort)?;
    if CohortDir::new(report).manifest().is_file() {
        return Err(Failure::usage(format!(
            "`{}` holds a cohort: a report belongs elsewhere",
            report.display()
        )));
    }
    let timeline = |case: &str| match crate::profile::timeline(&snapshot, case) {
        Ok(timeline) => timeline,
        Err(failure) => {
            narrate(&format!("note: the page draws `{case}` without its profile: {failure}"));
            None
        }
    };
    let amounts = |name: &str| {
        let case = snapshot.frozen.cases().find(|case| case.name == name)?;
        crate::amounts::amounts(&snapshot, case)
    };
    let (parameters, limits) = of_target(&snapshot);
    let known = Known {
        parameters,
        timeline: &timeline,
        limits,
        amounts: &amounts,
    };
    let (analyses, code) = match analyzer::analyze(&snapshot, report, &known) {
        Ok(analyses) => (analyses, ExitCode::Done),
        Err(AnalyzeError::NoCorrectCase { analyses, report }) => {
            narrate(&format!(
                "no case has a correct result; the overview lies in `{}`",
                report.display()
            ));
            (analyses, ExitCode::SomeFailed)
        }
        Err(error @ AnalyzeError::InUse { .. }) => {
            return Err(Failure::new(ExitCode::LockTimeout, error.to_string())
                .help("wait until it is done, or choose another folder with `--report`"));
        }
        Err(error) => {
            let code = match &error {
                AnalyzeError::Cohort(damaged) if damaged.is_damage() => ExitCode::Mismatch,
                _ => ExitCode::Failure,
            };
            return Err(Failure::because(code, "the cohort can't be analysed", error));
        }
    };
    show(&analyses, cohort, report, format)?;
    Ok(code)
}

/// Something for each workload, by its name.
type ByWorkload<T> = BTreeMap<String, Vec<T>>;

/// For each workload the attributes that are a plan's parameters, as the target says them for the frozen definition, and
/// what bounds every plan; nothing of a cohort whose target or definition this program does not know, and no bounds of one
/// that somebody else measured.
fn of_target(snapshot: &Snapshot) -> (ByWorkload<String>, ByWorkload<Limit>) {
    let manifest = snapshot.frozen.manifest();
    let Ok(planning) = Planning::of_frozen(manifest) else {
        return (BTreeMap::new(), BTreeMap::new());
    };
    let workloads = || manifest.workloads.iter().map(|entry| &entry.workload);
    let parameters = workloads().filter_map(|workload| {
        let space = planning.configured.space(workload).ok()?;
        let names = space.parameters.into_iter().map(|parameter| parameter.name);
        Some((workload.name.clone(), names.collect()))
    });
    let limits = workloads().filter(|_| manifest.imported.is_none());
    let limits = limits.map(|workload| (workload.name.clone(), planning.configured.limits(workload)));
    (parameters.collect(), limits.collect())
}

/// JSON is that of the frozen class of machines, like all that a command works with; the others' lies in their reports.
fn show(analyses: &[Analysis], cohort: &Path, report: &Path, format: Format) -> Result<(), Failure> {
    if format == Format::Json {
        return analyses.first().map_or(Ok(()), print_json);
    }
    let tables: Vec<String> = analyses.iter().map(analyzer::tables::render).collect();
    print(&tables.join("\n"));
    print(&format!(
        "report: {} (and report.md)",
        report.join("report.html").display()
    ));
    print(&format!("cohort: {}", cohort.display()));
    Ok(())
}
