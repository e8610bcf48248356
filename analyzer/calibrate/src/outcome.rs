//! All that a calibration found.

use std::collections::BTreeMap;

use planner::costs::SourceOf;
use schemars::JsonSchema;
use serde::Serialize;

use crate::database::SampleSource;
use crate::fit::FamilyFit;
use crate::judge::{HeldOutFamily, Judgement};

/// Regrets that differ by less than this share are the same.
const SAME: f64 = 1e-9;

/// *Regret before -> after*, by the estimate that counts.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Headline {
    /// The estimate.
    pub estimate: String,
    /// Regret of the old table: of several workloads the geometric mean.
    pub before: f64,
    /// Regret of the new table.
    pub after: f64,
}

/// What the held-out plans say of the new table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// There were no held-out plans.
    NotJudged,
    /// It chooses better plans.
    Better,
    /// It chooses plans that are as good.
    Same,
    /// It chooses worse plans.
    Worse,
    /// Its kernels are nearer to what was measured, and it chooses worse plans all the same.
    WorseThoughKernelsFit,
}

impl Verdict {
    /// In words.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::NotJudged => "not judged: there are no held-out plans",
            Self::Better => "the new table chooses better plans",
            Self::Same => "the new table chooses plans that are as good",
            Self::Worse => "the new table chooses worse plans",
            Self::WorseThoughKernelsFit => {
                "the new table prices kernels better and chooses worse plans: something beside kernels misleads it"
            }
        }
    }
}

/// The headline of judgements by one estimate; `None` without any.
#[must_use]
pub fn headline(estimate: &str, judgements: &[Judgement]) -> Option<Headline> {
    let own: Vec<&Judgement> = judgements
        .iter()
        .filter(|judgement| judgement.estimate == estimate)
        .collect();
    let mean = |regret: &dyn Fn(&Judgement) -> f64| {
        let logs: f64 = own.iter().map(|judgement| regret(judgement).ln()).sum();
        (logs / own.len() as f64).exp()
    };
    (!own.is_empty()).then(|| Headline {
        estimate: estimate.to_owned(),
        before: mean(&|judgement| judgement.old.regret.point),
        after: mean(&|judgement| judgement.new.regret.point),
    })
}

/// The verdict of a headline and of the errors on held-out keys.
#[must_use]
pub fn verdict(headline: Option<&Headline>, families: &[HeldOutFamily]) -> Verdict {
    let Some(headline) = headline else {
        return Verdict::NotJudged;
    };
    let change = headline.after / headline.before - 1.0;
    // Families count by their keys.
    let total =
        |error: fn(&HeldOutFamily) -> f64| -> f64 { families.iter().map(|one| error(one) * one.keys as f64).sum() };
    let kernels_fit = total(|one| one.new) < total(|one| one.old);
    if change < -SAME {
        Verdict::Better
    } else if change <= SAME {
        Verdict::Same
    } else if kernels_fit {
        Verdict::WorseThoughKernelsFit
    } else {
        Verdict::Worse
    }
}

/// A held-out plan that an estimate says nothing of under one of the tables: it judges neither.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct Unjudged {
    /// The estimate.
    pub estimate: String,
    /// The workload.
    pub workload: String,
    /// Why, and under which table.
    pub why: String,
    /// The plan.
    pub case: String,
}

impl Unjudged {
    /// One line for each estimate of each workload: how many, which, and why the first.
    #[must_use]
    pub fn lines(all: &[Self]) -> Vec<String> {
        let alike = |a: &Self, b: &Self| (&a.estimate, &a.workload) == (&b.estimate, &b.workload);
        let line = |run: &[Self]| -> Option<String> {
            let first = run.first()?;
            let names: Vec<String> = run.iter().map(|one| format!("`{}`", one.case)).collect();
            let number = names.len();
            let plans = if number == 1 { "plan" } else { "plans" };
            Some(format!(
                "`{}` does not judge {number} held-out {plans} of `{}`: {}; the first because {}",
                first.estimate,
                first.workload,
                names.join(", "),
                first.why
            ))
        };
        all.chunk_by(alike).filter_map(line).collect()
    }
}

/// All that a calibration found.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Calibration {
    /// The target.
    pub target: String,
    /// Unit of the objective.
    pub unit: String,
    /// The table whose terms were fitted.
    pub old: TableName,
    /// The new table.
    pub new: TableName,
    /// What it was fitted on.
    pub fit: Vec<SampleSource>,
    /// What it was judged on.
    pub holdout: Vec<SampleSource>,
    /// Samples that were left out of the fit: why -> how many.
    pub excluded: BTreeMap<String, u64>,
    /// Each family.
    pub families: Vec<FamilyFit>,
    /// Kernels with samples that no family prices: name, samples.
    pub unpriced: Vec<(String, u64)>,
    /// Errors on held-out keys.
    pub held_out: Vec<HeldOutFamily>,
    /// Whole plans, by estimate and workload.
    pub judgements: Vec<Judgement>,
    /// Held-out plans that an estimate does not judge.
    pub unjudged: Vec<Unjudged>,
    /// *Regret before -> after*.
    pub headline: Option<Headline>,
    /// What the held-out plans say.
    pub verdict: Verdict,
    /// What a reader must know.
    pub notes: Vec<String>,
}

/// A table: its name, its file and its digest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TableName {
    /// Its name.
    pub name: String,
    /// The file; of what is not in a file, where it comes from.
    pub file: String,
    /// SHA-256 of its canonical text.
    pub sha256: String,
}

impl From<&TableName> for SourceOf {
    fn from(table: &TableName) -> Self {
        Self {
            path: table.file.clone(),
            sha256: table.sha256.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn families(old: f64, new: f64) -> Vec<HeldOutFamily> {
        vec![HeldOutFamily {
            family: "gemm".to_owned(),
            keys: 3,
            old,
            new,
        }]
    }

    fn regret(before: f64, after: f64) -> Headline {
        Headline {
            estimate: "compact".to_owned(),
            before,
            after,
        }
    }

    #[test]
    fn plans_that_are_not_judged_are_counted_and_named() {
        let one = |estimate: &str, case: &str| Unjudged {
            estimate: estimate.to_owned(),
            workload: "w".to_owned(),
            why: format!("`{case}` has no price"),
            case: case.to_owned(),
        };
        let lines = Unjudged::lines(&[one("compact", "a"), one("compact", "b"), one("expanded", "c")]);
        assert_eq!(lines.len(), 2);
        assert_eq!(
            lines[0],
            "`compact` does not judge 2 held-out plans of `w`: `a`, `b`; the first because `a` has no price"
        );
        assert!(lines[1].contains("1 held-out plan of"), "{}", lines[1]);
    }

    #[test]
    fn kernels_that_fit_better_do_not_excuse_worse_plans() {
        let worse = regret(1.01, 1.06);
        assert_eq!(
            verdict(Some(&worse), &families(0.2, 0.01)),
            Verdict::WorseThoughKernelsFit
        );
        assert_eq!(verdict(Some(&worse), &families(0.01, 0.2)), Verdict::Worse);
        assert_eq!(
            verdict(Some(&regret(1.06, 1.01)), &families(0.01, 0.2)),
            Verdict::Better
        );
        assert_eq!(verdict(Some(&regret(1.06, 1.06)), &[]), Verdict::Same);
        assert_eq!(verdict(None, &families(0.2, 0.01)), Verdict::NotJudged);
    }
}
