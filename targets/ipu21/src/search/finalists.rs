//! Finalists: plans expanded to all tiles, with other memories and mappings, and scheduled.

use std::collections::{BTreeMap, BTreeSet};

use planner::{Refusal, Workload};

use super::beam::plan_text;
use super::steps::{Ranked, Score, rank};
use crate::costs::CostTable;
use crate::estimate::expanded;
use crate::exchange::Policy;
use crate::geometry::{Geometry, Memory};
use crate::program::Program;
use crate::traffic::{Phase, Stats, phases};
use crate::work::segments;
use crate::{mapping, unit};

/// A whole plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Whole {
    pub(super) geometries: Vec<Geometry>,
    pub(super) mapping: String,
}

impl Whole {
    /// Canonical text, as watched plans have it.
    pub(super) fn text(&self) -> String {
        format!("{} {}", plan_text(&self.geometries), self.mapping)
    }

    fn program(&self, workload: &Workload) -> Result<Program, Refusal> {
        let tiles = mapping::parse(&self.mapping).map_err(|message| Refusal::new("tile-mapping", message))?;
        Program::new(workload, &self.geometries, tiles)
    }
}

type Dropped = BTreeMap<String, usize>;

fn scored<T>(
    candidates: Vec<T>,
    text: impl Fn(&T) -> String,
    mut score: impl FnMut(&T) -> Result<usize, Refusal>,
) -> (Vec<(Score, String, T)>, Dropped) {
    let mut dropped = Dropped::new();
    let mut all = Vec::with_capacity(candidates.len());
    for candidate in candidates {
        match score(&candidate) {
            Ok(score) => all.push(((score, 0), text(&candidate), candidate)),
            Err(refusal) => *dropped.entry(refusal.rule).or_default() += 1,
        }
    }
    (all, dropped)
}

/// Ranks plans (interleaved weights, identity mapping) by the expanded estimate; what does not fit drops out.
pub(super) fn expand(
    workload: &Workload,
    plans: Vec<Vec<Geometry>>,
    costs: &CostTable,
    most: usize,
    watch: &[(String, String)],
) -> Ranked<Vec<Geometry>> {
    let score = |plan: &Vec<Geometry>| {
        let whole = Whole {
            geometries: plan.clone(),
            mapping: "identity".to_owned(),
        };
        let program = whole.program(workload)?;
        let phases = phases(&program);
        unit::check(&program, &phases)?;
        Ok(expanded(&phases, &segments(&program), costs, false)?.total())
    };
    let (all, dropped) = scored(plans, |plan| plan_text(plan), score);
    rank("expanded finalists", "expanded estimate", all, dropped, most, watch)
}

/// Most variants of one plan among those that are scheduled.
const VARIANTS: usize = 2;

/// Gives each plan both memories of each product's weights and the mappings that its grids suggest, and ranks them by
/// expanded work and the lanes' lower bounds of each phase.
pub(super) fn vary(
    workload: &Workload,
    plans: &[Vec<Geometry>],
    costs: &CostTable,
    most: usize,
    watch: &[(String, String)],
) -> Ranked<Whole> {
    let bounds = |whole: &Whole| {
        let program = whole.program(workload)?;
        let phases = phases(&program);
        unit::check(&program, &phases)?;
        let work: usize = expanded(&phases, &segments(&program), costs, false)?.work.iter().sum();
        Ok(work + phases.iter().map(bound).sum::<usize>())
    };
    let mut all = Vec::new();
    let mut dropped = Dropped::new();
    for plan in plans {
        let (mut variants, more) = scored(variants(plan), Whole::text, bounds);
        for (rule, count) in more {
            *dropped.entry(rule).or_default() += count;
        }
        variants.sort_by(|a, b| (a.0, &a.1).cmp(&(b.0, &b.1)));
        let beyond = variants.len().saturating_sub(VARIANTS);
        if beyond > 0 {
            *dropped.entry("variant".to_owned()).or_default() += beyond;
        }
        all.extend(variants.into_iter().take(VARIANTS));
    }
    rank(
        "memories and mappings",
        "expanded work and the bound of the busiest lane of each phase, at most two variants of a plan",
        all,
        dropped,
        most,
        watch,
    )
}

/// Cycles of the busiest lane, paired where that is shorter.
fn bound(phase: &Phase) -> usize {
    let stats = Stats::new(&phase.transfers);
    let ordinary = stats.max_send_words.max(stats.max_receive_words);
    if stats.eligible_paired > 0 {
        ordinary.min(stats.paired_bound)
    } else {
        ordinary
    }
}

fn variants(plan: &[Geometry]) -> Vec<Whole> {
    let mut memories: Vec<Vec<Geometry>> = vec![Vec::new()];
    for g in plan {
        let both = [Memory::Interleaved, Memory::Standard];
        memories = memories
            .into_iter()
            .flat_map(|start| {
                both.map(|memory| {
                    start
                        .iter()
                        .copied()
                        .chain([Geometry { memory, ..*g }])
                        .collect::<Vec<_>>()
                })
            })
            .collect();
    }
    let mappings = mappings(plan);
    let all = memories.into_iter().flat_map(|geometries| {
        mappings.iter().map(move |mapping| Whole {
            geometries: geometries.clone(),
            mapping: mapping.clone(),
        })
    });
    all.collect()
}

/// The identity, and blocks along the strides of the grids: within the tiles of one row group columns and inner
/// partitions change places, and within a run of columns halves are interleaved, so that neighbours become pairs.
pub(super) fn mappings(plan: &[Geometry]) -> Vec<String> {
    let mut names = BTreeSet::new();
    for g in plan {
        let (columns, group) = (g.columns, g.columns * g.inner);
        names.extend([
            format!("block:{columns}:2"),
            format!("block:{group}:{columns}"),
            format!("block:{group}:{}", g.inner),
        ]);
    }
    let legal = names.into_iter().filter(|name| mapping::parse(name).is_ok());
    std::iter::once("identity".to_owned()).chain(legal).collect()
}

/// Schedules plans and ranks them by the placed estimate.
pub(super) fn place(
    workload: &Workload,
    plans: Vec<Whole>,
    costs: &CostTable,
    watch: &[(String, String)],
) -> Ranked<(Whole, usize)> {
    let most = plans.len();
    let score = |whole: &Whole| {
        let compiled = unit::compile(whole.program(workload)?, Policy::default())?;
        Ok(expanded(&compiled.phases, &compiled.segments, costs, false)?.placed(&compiled.horizons()))
    };
    let (all, dropped) = scored(plans, Whole::text, score);
    let all = all
        .into_iter()
        .map(|(score, text, whole)| (score, text, (whole, score.0)))
        .collect();
    rank(
        "placed finalists",
        "expanded work and the horizons of the schedule",
        all,
        dropped,
        most,
        watch,
    )
}

/// The expanded estimate of one plan.
pub(super) fn expanded_total(workload: &Workload, whole: &Whole, costs: &CostTable) -> Result<usize, Refusal> {
    let program = whole.program(workload)?;
    Ok(expanded(&phases(&program), &segments(&program), costs, false)?.total())
}
