//! Plans that a person writes as constraint texts: reading them, asking about them, searching for better ones.

use std::collections::BTreeMap;

use planner::{Assignment, Refusal, Workload};
use serde::Serialize;

use crate::estimate::Estimate;

/// What a target with constraint texts offers beyond sweeps. Pure.
pub trait Constraints {
    /// The plan that these texts describe: `base` supplies operations that none of them names, and the tile mapping
    /// unless one is given (a name, or the content of a file with a permutation). Fails where a text can't be read; the
    /// plan need not be legal.
    fn constrained(
        &self,
        workload: &Workload,
        texts: &[String],
        mapping: Option<Mapping<'_>>,
        base: &Assignment,
    ) -> Result<Assignment, Refusal>;

    /// Two questions about one text: can ownership and storage describe it, and can the target execute it, all other
    /// operations being as in `base`.
    fn why(&self, workload: &Workload, text: &str, base: &Assignment) -> Result<Why, Refusal>;

    /// Searches all plans of a workload without measuring any. `watch` are named plans whose survival is told.
    fn search(
        &self,
        workload: &Workload,
        width: SearchWidth,
        watch: &[(String, Assignment)],
    ) -> Result<SearchReport, Refusal>;
}

/// A tile mapping as a person gives it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mapping<'a> {
    /// Its name.
    Named(&'a str),
    /// Content of a file with the permutation.
    Content(&'a str),
}

/// Answer to one question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Answer {
    /// Yes or no.
    pub yes: bool,
    /// Name of the rule that says no.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// One sentence, with numbers.
    pub why: String,
}

impl Answer {
    /// Yes, and how.
    #[must_use]
    pub fn yes(why: impl Into<String>) -> Self {
        Self {
            yes: true,
            rule: None,
            why: why.into(),
        }
    }

    /// No, and which rule says so.
    #[must_use]
    pub fn no(refusal: &Refusal) -> Self {
        Self {
            yes: false,
            rule: Some(refusal.rule.clone()),
            why: refusal.message.clone(),
        }
    }
}

/// What a target says about one constraint text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Why {
    /// The text.
    pub constraint: String,
    /// The operation that it is for.
    pub operation: String,
    /// Whether ownership and storage can describe it.
    pub described: Answer,
    /// Whether the target can execute it.
    pub executed: Answer,
    /// What of it the published planner does not have, in words.
    pub beyond: Vec<String>,
    /// The plan, where it can be described.
    #[serde(skip)]
    pub assignment: Option<Assignment>,
}

/// How much a search looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct SearchWidth {
    /// Geometries per operation.
    pub shortlist: usize,
    /// Whole plans that are kept after the first estimate.
    pub beam: usize,
    /// Whole plans of these that are looked at tile by tile.
    pub expanded: usize,
    /// Whole plans whose mappings are tried, and then as many that are scheduled.
    pub finalists: usize,
}

/// One step of a search.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SearchStep {
    /// Its name.
    pub name: String,
    /// What it ranks by.
    pub by: String,
    /// How many it looked at.
    pub looked_at: usize,
    /// How many it kept.
    pub kept: usize,
    /// How many dropped out for which reason.
    pub dropped: BTreeMap<String, usize>,
    /// For each watched plan that came so far: its rank from 1, and whether it survived.
    pub watched: BTreeMap<String, Survival>,
}

/// What became of a watched plan in one step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Survival {
    /// Rank by the step's estimate, from 1; none when the step did not have it.
    pub rank: Option<usize>,
    /// Whether it goes on.
    pub survived: bool,
}

/// One of the last plans of a search.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Finalist {
    /// Canonical text.
    pub text: String,
    /// Its attributes.
    #[serde(skip)]
    pub assignment: Assignment,
    /// All estimates, by which it was ranked last.
    pub estimates: Vec<Estimate>,
}

/// What a search found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SearchReport {
    /// The widths.
    pub width: SearchWidth,
    /// The steps, in order.
    pub steps: Vec<SearchStep>,
    /// The last plans, best first.
    pub finalists: Vec<Finalist>,
}
