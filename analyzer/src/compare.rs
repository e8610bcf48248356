//! The same cases in two cohorts: under two toolchains, or on two machines.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::Serialize;
use stats::interval::{bootstrap, ratio_of_medians};

use crate::analysis::Figure;
use crate::dataset::{CaseData, Chosen, Dataset, Objective, Outcome, Setup};
use crate::error::AnalyzeError;
use crate::evaluate::resampling;
use crate::places::places;

/// Calls on either side below which a bootstrap of two medians says nothing.
pub(crate) const FEWEST: usize = 6;

/// Why two cohorts can't be compared.
#[derive(Debug, thiserror::Error)]
pub enum CompareError {
    /// They measure different things.
    #[error("the first cohort measures {first}, the second {second}: their values can't be compared")]
    Objectives {
        /// Objective and unit of the first.
        first: String,
        /// Those of the second.
        second: String,
    },
    /// No case is in both.
    #[error("no case of the first cohort is in the second (the same workload, name and plan)")]
    NothingInCommon,
    /// Cases of one name compute different things, and there are no others.
    #[error(
        "no case can be compared: workload `{workload}` is {first} in the first cohort and {second} in the second (rows x inner \
         x columns of each operation)"
    )]
    Workloads {
        /// The first workload that differs.
        workload: String,
        /// Its operations in the first cohort, with extents.
        first: String,
        /// The same in the second.
        second: String,
    },
    /// A figure can't be computed: a bug.
    #[error(transparent)]
    Analyze(#[from] AnalyzeError),
}

/// What became of one case. `slower` and `faster` stand for worse and better where the objective is no time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Slower beyond noise: the interval lies wholly above 1.
    Slower,
    /// Faster beyond noise.
    Faster,
    /// The interval holds 1.
    NoDifference,
    /// Too few calls for an interval.
    TooFewCalls,
    /// It had a right result in the first cohort and has failed in the second.
    Broken,
    /// It failed in the first cohort and has a right result in the second.
    Mended,
    /// It has no measurement in one of them, or in both.
    NotMeasured,
}

impl Verdict {
    /// The word for it, of this objective.
    #[must_use]
    pub fn word(self, objective: &Objective) -> &'static str {
        match self {
            Self::Slower => objective.worse(),
            Self::Faster => objective.better(),
            Self::NoDifference => "no difference",
            Self::TooFewCalls => "too few calls",
            Self::Broken => "broken",
            Self::Mended => "mended",
            Self::NotMeasured => "not measured",
        }
    }

    /// Whether a gate can say anything of the case: there is an interval, or it no longer gives a result. A case that
    /// failed before has nothing that it could be held against.
    #[must_use]
    pub fn is_judged(self) -> bool {
        matches!(self, Self::Slower | Self::Faster | Self::NoDifference | Self::Broken)
    }
}

/// One case in both cohorts.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct CaseChange {
    /// The workload.
    pub workload: String,
    /// The case.
    pub case: String,
    /// How it stands in the first cohort.
    pub first_outcome: Outcome,
    /// How it stands in the second.
    pub second_outcome: Outcome,
    /// Its median value in the first cohort, in the objective's unit. Measured.
    pub first: Option<f64>,
    /// Its median value in the second. Measured.
    pub second: Option<f64>,
    /// How much worse it became: second over first, first over second where more is better; above 1 it is worse. Derived; a
    /// bootstrap of both medians.
    pub ratio: Option<Figure>,
    /// Its place in the report of the first cohort: by ratio to the control among all measured cases of its workload, from 1.
    pub first_rank: Option<usize>,
    /// The same in the second.
    pub second_rank: Option<usize>,
    /// What became of it.
    pub verdict: Verdict,
    /// Whether it breaks the gate: slower beyond noise by more than the largest ratio allowed, or broken.
    pub exceeds: bool,
}

/// The geometric mean of the ratios with its interval over the cases.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct MeanRatio {
    /// The mean.
    pub mean: f64,
    /// Lower end; `null` under 3 cases.
    pub lower: Option<f64>,
    /// Upper end.
    pub upper: Option<f64>,
    /// Cases in it.
    pub cases: usize,
}

/// Something of the workloads, machines or tools that differs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SetupChange {
    /// What: `workload.gemm` (its operations with their extents), `machine.cpu_model`, `tool.compiler`, `option.threads`.
    pub what: String,
    /// In the first cohort.
    pub first: Option<String>,
    /// In the second.
    pub second: Option<String>,
}

/// Two cohorts, case by case.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Comparison {
    /// What is compared; its unit is that of all values.
    pub objective: Objective,
    /// The largest ratio allowed, if one was given.
    pub max_regression: Option<f64>,
    /// What differs in workloads, machine class, tools and options.
    pub setup: Vec<SetupChange>,
    /// Cases in both with the same workload and plan, in the order of the first cohort.
    pub cases: Vec<CaseChange>,
    /// Geometric mean of their ratios; `null` without any.
    pub geometric_mean: Option<MeanRatio>,
    /// Cases of the first cohort only; those of a workload that has other operations or extents in the second are too.
    pub only_first: Vec<String>,
    /// Cases of the second cohort only, likewise.
    pub only_second: Vec<String>,
    /// Cases of one name that have different plans: not compared.
    pub other_plan: Vec<String>,
}

impl Comparison {
    /// Cases that break the gate.
    pub fn exceeding(&self) -> impl Iterator<Item = &CaseChange> {
        self.cases.iter().filter(|case| case.exceeds)
    }

    /// Whether there is a gate of which nothing can be said, because no case can be judged: it is not met.
    #[must_use]
    pub fn judges_nothing(&self) -> bool {
        self.max_regression.is_some() && !self.cases.iter().any(|case| case.verdict.is_judged())
    }
}

/// Compares two cohorts case by case, by raw values: differences of the machine are what is asked for. Confirmations are
/// left out, since their names say which case came out first.
///
/// Errors: objectives or units that differ; nothing in common, or only names of workloads that differ.
pub fn compare(first: &Dataset, second: &Dataset, max_regression: Option<f64>) -> Result<Comparison, CompareError> {
    let objective = |dataset: &Dataset| dataset.setup.objective.described(str::to_owned);
    if !first.setup.objective.is_same(&second.setup.objective) {
        return Err(CompareError::Objectives {
            first: objective(first),
            second: objective(second),
        });
    }
    let apart = workloads(first, second);
    let is_apart = |workload: &str| apart.iter().any(|(name, _)| *name == workload);
    let (in_first, in_second) = (cases(first), cases(second));
    let other: BTreeMap<(&str, &str), (&CaseData, bool)> = in_second
        .iter()
        .filter(|(w, ..)| !is_apart(w))
        .map(|(w, case, paired)| ((*w, case.name.as_str()), (*case, *paired)))
        .collect();
    let is_imported = first.setup.imported.is_some() || second.setup.imported.is_some();
    let mut changes = Vec::new();
    let (mut only_first, mut other_plan) = (Vec::new(), Vec::new());
    for (workload, case, paired) in &in_first {
        match other.get(&(*workload, case.name.as_str())) {
            None => only_first.push(case.name.clone()),
            Some((now, _)) if !same_plan(case, now, is_imported) => other_plan.push(case.name.clone()),
            Some((now, paired_now)) => {
                let varies = *paired || *paired_now;
                changes.push(change(workload, case, now, varies, &first.setup, max_regression)?);
            }
        }
    }
    if changes.is_empty() {
        return Err(nothing(apart));
    }
    rank(&mut changes, first, |change, place| change.first_rank = place)?;
    rank(&mut changes, second, |change, place| change.second_rank = place)?;
    let known: BTreeSet<(&str, &str)> = in_first
        .iter()
        .filter(|(w, ..)| !is_apart(w))
        .map(|(w, case, _)| (*w, case.name.as_str()))
        .collect();
    let only_second = in_second
        .iter()
        .filter(|(w, case, _)| !known.contains(&(*w, case.name.as_str())));
    Ok(Comparison {
        objective: first.setup.objective.clone(),
        max_regression,
        setup: setup(first, second, &apart),
        geometric_mean: mean(&changes, first.setup.seed),
        only_second: only_second.map(|(_, case, _)| case.name.clone()).collect(),
        cases: changes,
        only_first,
        other_plan,
    })
}

/// Workloads of one name that are not the same: operations with extents, first and second. Of an imported one they are not
/// known.
fn workloads<'d>(first: &'d Dataset, second: &'d Dataset) -> Vec<(&'d str, [&'d str; 2])> {
    let pairs = first.workloads.iter().filter_map(|workload| {
        let mut others = second.workloads.iter();
        let other = others.find(|other| other.name == workload.name)?;
        Some((
            workload.name.as_str(),
            [workload.extents.as_str(), other.extents.as_str()],
        ))
    });
    let differ = |[a, b]: [&str; 2]| a != b && !a.is_empty() && !b.is_empty();
    pairs.filter(|(_, extents)| differ(*extents)).collect()
}

/// Why no case is compared.
fn nothing(apart: Vec<(&str, [&str; 2])>) -> CompareError {
    apart
        .into_iter()
        .next()
        .map_or(CompareError::NothingInCommon, |(workload, [first, second])| {
            CompareError::Workloads {
                workload: workload.to_owned(),
                first: first.to_owned(),
                second: second.to_owned(),
            }
        })
}

/// Whether two cases are one plan. A file that was exported and imported holds a plan's attributes, and their values as
/// words; not its text.
fn same_plan(a: &CaseData, b: &CaseData, is_imported: bool) -> bool {
    let words = |case: &CaseData| -> BTreeMap<String, String> {
        let each = case.attributes.iter();
        each.map(|(name, value)| (name.to_owned(), value.to_string())).collect()
    };
    a.plan == b.plan || (is_imported && words(a) == words(b))
}

/// Cases with their workload and whether values vary there.
fn cases(dataset: &Dataset) -> Vec<(&str, &CaseData, bool)> {
    let each = dataset.workloads.iter().flat_map(|workload| {
        let cases = workload.cases.iter();
        cases.map(|case| (workload.name.as_str(), case, workload.varies))
    });
    each.filter(|(_, case, _)| case.chosen != Chosen::Confirmation)
        .collect()
}

fn change(
    workload: &str,
    first: &CaseData,
    second: &CaseData,
    varies: bool,
    setup: &Setup,
    max_regression: Option<f64>,
) -> Result<CaseChange, CompareError> {
    let values = |case: &CaseData| case.pairs.iter().map(|pair| pair.case).collect::<Vec<f64>>();
    let (before, now) = (values(first), values(second));
    let ratio = if before.is_empty() || now.is_empty() {
        None
    } else {
        let found =
            ratio_of_medians(&now, &before, resampling(setup.seed)).map_err(|source| AnalyzeError::Statistic {
                workload: workload.to_owned(),
                statistic: format!("the ratio of case `{}`", first.name),
                source: source.into(),
            })?;
        let is_known = !varies || before.len().min(now.len()) >= FEWEST;
        Some(Figure {
            median: found.point,
            lower: is_known.then_some(found.lower),
            upper: is_known.then_some(found.upper),
            samples: before.len().min(now.len()),
        })
    };
    let number = |value: &f64| setup.objective.shown(*value);
    let shown = |values: &[f64]| stats::order::median(&values.iter().map(number).collect::<Vec<f64>>());
    let verdict = verdict(first.outcome, second.outcome, ratio);
    let exceeds = max_regression.is_some_and(|most| match verdict {
        Verdict::Broken => true,
        Verdict::Slower => ratio.is_some_and(|ratio| ratio.median > most),
        _ => false,
    });
    Ok(CaseChange {
        workload: workload.to_owned(),
        case: first.name.clone(),
        first_outcome: first.outcome,
        second_outcome: second.outcome,
        first: shown(&before),
        second: shown(&now),
        ratio,
        first_rank: None,
        second_rank: None,
        verdict,
        exceeds,
    })
}

fn verdict(first: Outcome, second: Outcome, ratio: Option<Figure>) -> Verdict {
    match ratio {
        _ if first.is_measured() && second.is_failure() => Verdict::Broken,
        _ if first.is_failure() && second.is_measured() => Verdict::Mended,
        None => Verdict::NotMeasured,
        Some(ratio) => match ratio.lower.zip(ratio.upper) {
            None => Verdict::TooFewCalls,
            Some((lower, _)) if lower > 1.0 => Verdict::Slower,
            Some((_, upper)) if upper < 1.0 => Verdict::Faster,
            Some(_) => Verdict::NoDifference,
        },
    }
}

/// Gives each case its place in one cohort's report.
fn rank(
    changes: &mut [CaseChange],
    dataset: &Dataset,
    set: impl Fn(&mut CaseChange, Option<usize>),
) -> Result<(), AnalyzeError> {
    let mut all: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for workload in &dataset.workloads {
        let places = places(workload).map_err(|source| AnalyzeError::Statistic {
            workload: workload.name.clone(),
            statistic: "the order of its cases".to_owned(),
            source: source.into(),
        })?;
        for (case, place) in workload.cases.iter().zip(places) {
            all.extend(place.map(|place| ((workload.name.as_str(), case.name.as_str()), place)));
        }
    }
    for change in changes {
        let place = all.get(&(change.workload.as_str(), change.case.as_str())).copied();
        set(change, place);
    }
    Ok(())
}

fn mean(changes: &[CaseChange], seed: u64) -> Option<MeanRatio> {
    let logs: Vec<f64> = changes
        .iter()
        .filter_map(|change| change.ratio)
        .map(|ratio| ratio.median.ln())
        .collect();
    let arithmetic = |logs: &[f64]| (!logs.is_empty()).then(|| logs.iter().sum::<f64>() / logs.len() as f64);
    let mean = arithmetic(&logs)?.exp();
    let interval = bootstrap(&logs, resampling(seed), arithmetic)
        .ok()
        .filter(|_| logs.len() >= 3);
    Some(MeanRatio {
        mean,
        lower: interval.map(|interval| interval.lower.exp()),
        upper: interval.map(|interval| interval.upper.exp()),
        cases: logs.len(),
    })
}

fn setup(first: &Dataset, second: &Dataset, workloads: &[(&str, [&str; 2])]) -> Vec<SetupChange> {
    let facts = |dataset: &Dataset| -> BTreeMap<String, String> {
        let setup = &dataset.setup;
        let machine = setup
            .machine
            .iter()
            .map(|(key, value)| (format!("machine.{key}"), value.clone()));
        let options = setup
            .options
            .iter()
            .map(|(key, value)| (format!("option.{key}"), value.clone()));
        let tools = setup.tools.iter().map(|tool| {
            let digest = tool.sha256.get(..12).unwrap_or(&tool.sha256);
            (format!("tool.{}", tool.name), format!("{} ({digest})", tool.version))
        });
        let target = [("target".to_owned(), setup.target.clone())];
        target.into_iter().chain(machine).chain(options).chain(tools).collect()
    };
    let (first, second) = (facts(first), facts(second));
    let names: BTreeSet<&String> = first.keys().chain(second.keys()).collect();
    let changed = names.into_iter().filter(|name| first.get(*name) != second.get(*name));
    let changed = changed.map(|name| SetupChange {
        what: name.clone(),
        first: first.get(name).cloned(),
        second: second.get(name).cloned(),
    });
    let workloads = workloads.iter().map(|(name, [first, second])| SetupChange {
        what: format!("workload.{name}"),
        first: Some((*first).to_owned()),
        second: Some((*second).to_owned()),
    });
    workloads.chain(changed).collect()
}
