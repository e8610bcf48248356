//! The whole way: from a cohort on disk to a report on disk.

use std::collections::BTreeMap;
use std::path::Path;

use cohort::Snapshot;
use target_api::{Limit, PlanAmounts, Timeline};

use crate::analysis::Analysis;
use crate::calibration::of_cohort;
use crate::collect::{collect, collect_all};
use crate::dataset::Dataset;
use crate::error::AnalyzeError;
use crate::page;
use crate::report::write_with;
use crate::rows::evaluate_with;

/// Name of the page in a report.
const PAGE: &str = "report.html";

/// What is known of a cohort beside what lies in it: the caller knows its target.
pub struct Known<'a> {
    /// For each workload the attributes that are a plan's parameters. The others follow from them; without this the page
    /// can't tell the two apart.
    pub parameters: BTreeMap<String, Vec<String>>,
    /// The timeline of a case, where its run left one.
    pub timeline: &'a dyn Fn(&str) -> Option<Timeline>,
    /// For each workload what no plan can beat on the frozen machine, as far as its target tells.
    pub limits: BTreeMap<String, Vec<Limit>>,
    /// What the phases of a case do, where its target tells.
    pub amounts: &'a dyn Fn(&str) -> Option<PlanAmounts>,
}

impl Default for Known<'_> {
    fn default() -> Self {
        Self {
            parameters: BTreeMap::new(),
            timeline: &|_| None,
            limits: BTreeMap::new(),
            amounts: &|_| None,
        }
    }
}

/// Analyses a cohort and writes its report into `report`, which is made if it is not there. Reads nothing but the
/// snapshot, which logs lie in the cohort, which calibrations the report knows of and what `known` reads, and executes nothing; the same input gives the same
/// bytes. Where machines of several classes measured the cohort, each of the others has its report in a folder
/// `machine-N` inside, and an analysis of its own after that of the frozen class, which comes first; there is always one.
///
/// Errors: [`AnalyzeError::NoCorrectCase`] when nothing can be compared, after the reports were written all the same;
/// every other error before anything was renamed into place, or by the operating system.
pub fn analyze(snapshot: &Snapshot, report: &Path, known: &Known<'_>) -> Result<Vec<Analysis>, AnalyzeError> {
    let mut analyses = Vec::new();
    for dataset in datasets(snapshot)? {
        let class = dataset.setup.classes.get(dataset.setup.class);
        let other = class.filter(|class| class.number > 0);
        let folder = other.map_or_else(|| report.to_owned(), |class| report.join(&class.report));
        analyses.push(write_one(snapshot, &dataset, &folder, known)?);
    }
    if analyses.iter().any(Analysis::has_winner) {
        Ok(analyses)
    } else {
        Err(AnalyzeError::NoCorrectCase {
            report: report.to_owned(),
            analyses,
        })
    }
}

fn write_one(
    snapshot: &Snapshot,
    dataset: &Dataset,
    report: &Path,
    known: &Known<'_>,
) -> Result<Analysis, AnalyzeError> {
    let mut analysis = evaluate_with(dataset, known)?;
    fs_err::create_dir_all(report)?;
    analysis.calibrations = of_cohort::read(report)?;
    let links = page::Links::find(snapshot.frozen.dir(), report)?;
    // A case keeps the timeline of its last run, whichever machine that was on.
    let one_class = analysis.setup.classes.is_empty();
    let timeline = |case: &str| (known.timeline)(case).filter(|_| one_class);
    let page = page::render(&page::Input {
        analysis: &analysis,
        links: &links,
        parameters: &known.parameters,
        timelines: &page::timelines(&analysis, &timeline),
    })?;
    write_with(&mut analysis, &[(PAGE, page)], report)?;
    Ok(analysis)
}

/// What a cohort measured and predicted, case by case; where machines of several classes measured it, on the frozen one.
///
/// Errors: a cohort whose records do not fit together, and those of [`collect`].
pub fn dataset(snapshot: &Snapshot) -> Result<Dataset, AnalyzeError> {
    let state = snapshot.state()?;
    collect(snapshot.frozen.manifest(), snapshot.frozen.additions(), &state)
}

/// The same for each class of machines, the frozen one first.
///
/// Errors: those of [`dataset`].
pub fn datasets(snapshot: &Snapshot) -> Result<Vec<Dataset>, AnalyzeError> {
    let state = snapshot.state()?;
    collect_all(snapshot.frozen.manifest(), snapshot.frozen.additions(), &state)
}
