//! The plan to take, and what can't be told from it.

use std::collections::BTreeSet;
use std::num::NonZeroU32;

use planner::{Attributes, Value};
use stats::paired::{PairedRatios, PooledErrors, winner_set};

use crate::analysis::{CaseRow, Confirmed, Figure, Member, Winner};
use crate::dataset::{Chosen, WorkloadData};
use crate::error::AnalyzeError;
use crate::evaluate::{LEVEL, figure, resampling};
use crate::judge::flip_rate;

/// Resamples behind a winner set.
pub(crate) const RESAMPLES: NonZeroU32 = NonZeroU32::MIN.saturating_add(1_999);

/// Equal pairs that stand for the control's ratio of 1: so many that an interval of them reaches the level.
const ENOUGH: usize = 12;

/// A single pair never decides.
const FEWEST: usize = 2;

/// The case with the smallest median paired ratio (of equals the control, then the first) among all that are no
/// confirmation, crosses included, and what can't be told from it. The control's ratio is 1, without any spread. Where
/// values vary, a case with a single pair is not chosen as long as another has two.
///
/// Ties: those in the simultaneous 95 % winner set of [`winner_set`]. Where values do not vary: those with the same ratio.
pub(crate) fn winner(workload: &WorkloadData, rows: &[CaseRow], seed: u64) -> Result<Option<Winner>, AnalyzeError> {
    let placed = rows.iter().enumerate();
    let mut candidates: Vec<(usize, &CaseRow, Figure)> = placed
        .filter(|(_, row)| row.rank.is_some())
        .filter_map(|(index, row)| row.ratio.map(|ratio| (index, row, ratio)))
        .collect();
    candidates.sort_by_key(|(_, row, _)| row.rank);
    let singles_decide = !workload.varies || candidates.iter().all(|(_, _, ratio)| ratio.samples < FEWEST);
    let decides = |ratio: &Figure| singles_decide || ratio.is_exact() || ratio.samples >= FEWEST;
    let chosen = candidates.iter().find(|(_, _, ratio)| decides(ratio));
    let Some((_, best, ratio)) = chosen.copied() else {
        return Ok(None);
    };
    let (ties, undecided) = if workload.varies {
        simultaneous(workload, &candidates, &best.name, seed)?
    } else {
        let same = candidates
            .iter()
            .skip(1)
            .filter(|(_, _, other)| other.median <= ratio.median);
        (Some(same.map(|(_, row, _)| row.name.clone()).collect()), Vec::new())
    };
    let draws = |index: usize| workload.cases[index].ratios();
    let drawn: Vec<(&Figure, Vec<f64>)> = candidates
        .iter()
        .filter(|(_, _, ratio)| decides(ratio))
        .map(|(index, _, ratio)| (ratio, if ratio.is_exact() { vec![1.0] } else { draws(*index) }))
        .collect();
    let drawn = drawn.iter().map(|(ratio, draws)| (*ratio, draws.as_slice()));
    let flip_rate = flip_rate(drawn, workload.varies, resampling(seed)).map_err(|source| failed(workload, source))?;
    let mut confirmed = Vec::new();
    let mut confirming = Vec::new();
    for (row, case) in rows.iter().zip(&workload.cases) {
        if row.chosen == Chosen::Confirmation && row.repeat_of.as_ref() == Some(&best.name) {
            confirmed.extend(row.ratio.map(|ratio| Confirmed {
                case: row.name.clone(),
                ratio,
            }));
            confirming.extend(case.ratios());
        }
    }
    Ok(Some(Winner {
        case: best.name.clone(),
        ratio,
        simplest_first: simplest_first(workload, &candidates, &best.name, ties.as_deref().unwrap_or_default()),
        ties,
        flip_rate,
        undecided,
        confirmed,
        confirmed_ratio: figure(&confirming).map_err(|source| failed(workload, source.into()))?,
    }))
}

/// The best candidate and those that tie with it; see [`Winner::simplest_first`].
fn simplest_first(
    workload: &WorkloadData,
    candidates: &[(usize, &CaseRow, Figure)],
    best: &str,
    ties: &[String],
) -> Vec<Member> {
    let control = workload.cases.iter().find(|case| case.name == workload.control);
    let ties: BTreeSet<&String> = ties.iter().collect();
    let mut members: Vec<(usize, usize, Member)> = candidates
        .iter()
        .filter(|(_, row, _)| row.name == best || ties.contains(&row.name))
        .map(|(_, row, ratio)| {
            let changes = control.map_or(0, |control| differences(&row.attributes, &control.attributes).count());
            let member = Member {
                case: row.name.clone(),
                ratio: *ratio,
                changes,
            };
            (changes, row.plan.chars().count(), member)
        })
        .collect();
    // Stable: candidates come by ratio.
    members.sort_by_key(|(changes, length, _)| (*changes, *length));
    members.into_iter().map(|(_, _, member)| member).collect()
}

/// Attributes that differ: name, value on either side where there is one; in the order of the first, then those that only
/// the second has.
pub(crate) fn differences<'a>(
    a: &'a Attributes,
    b: &'a Attributes,
) -> impl Iterator<Item = (&'a str, Option<&'a Value>, Option<&'a Value>)> {
    let first = a.iter().map(|(name, value)| (name, Some(value), b.get(name)));
    let rest = b.iter().filter(|(name, _)| a.get(name).is_none());
    let all = first.chain(rest.map(|(name, value)| (name, None, Some(value))));
    all.filter(|(_, a, b)| a != b)
}

fn failed(workload: &WorkloadData, source: Box<dyn std::error::Error + Send + Sync>) -> AnalyzeError {
    AnalyzeError::Statistic {
        workload: workload.name.clone(),
        statistic: "the winner".to_owned(),
        source,
    }
}

/// The ties of the best candidate, and whom nothing can be said of: a case with a single pair, and where no case has two,
/// so that nothing is known of the noise, any with too few pairs for an interval.
fn simultaneous(
    workload: &WorkloadData,
    candidates: &[(usize, &CaseRow, Figure)],
    best: &str,
    seed: u64,
) -> Result<(Option<Vec<String>>, Vec<String>), AnalyzeError> {
    let mut all = Vec::with_capacity(candidates.len());
    for (index, row, ratio) in candidates {
        let measured = || workload.cases[*index].pairs.iter();
        let pairs: Vec<(f64, f64)> = if ratio.is_exact() {
            vec![(1.0, 1.0); ENOUGH]
        } else {
            measured().map(|pair| (pair.case, pair.control)).collect()
        };
        let ratios = PairedRatios::new(&pairs).map_err(|e| failed(workload, e.into()))?;
        all.push((row.name.as_str(), ratios, ratio.is_exact()));
    }
    // What holds by definition says nothing of the noise.
    let measured = all.iter().filter(|(_, _, exact)| !exact);
    let errors = PooledErrors::new(measured.map(|(_, ratios, _)| ratios.ratios()));
    let is_known = |ratios: &PairedRatios| {
        ratios.interval(LEVEL).reaches_level() || (errors.is_some() && ratios.pairs() >= FEWEST)
    };
    let (known, unknown): (Vec<_>, Vec<_>) = all.into_iter().partition(|(_, ratios, _)| is_known(ratios));
    let undecided = unknown.iter().map(|(name, _, _)| *name).filter(|name| *name != best);
    let undecided = undecided.map(str::to_owned).collect();
    if known.iter().all(|(name, _, _)| *name != best) {
        return Ok((None, undecided));
    }
    let (names, ratios): (Vec<&str>, Vec<PairedRatios>) =
        known.into_iter().map(|(name, ratios, _)| (name, ratios)).unzip();
    let set = winner_set(&ratios, errors.as_ref(), resampling(seed)).map_err(|e| failed(workload, e.into()))?;
    let members = set.members.iter().map(|member| names[*member]);
    let ties = members.filter(|name| *name != best).map(str::to_owned).collect();
    Ok((Some(ties), undecided))
}
