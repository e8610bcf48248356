//! The plan to take, and what can't be told from it.

use std::collections::BTreeSet;
use std::num::NonZeroU32;

use planner::{Attributes, Value};
use stats::interval::Bootstrap;
use stats::paired::{PairedRatios, pooled_noise, winner_set};

use crate::analysis::{CaseRow, Confirmed, Figure, Member, Winner};
use crate::dataset::{Chosen, WorkloadData};
use crate::error::AnalyzeError;
use crate::evaluate::{LEVEL, figure, resampling};
use crate::judge::flip_rate;

/// Resamples behind a winner set.
pub(crate) const RESAMPLES: NonZeroU32 = NonZeroU32::MIN.saturating_add(1_999);

/// Equal pairs that stand for the control's ratio of 1: so many that an interval of them reaches the level.
const ENOUGH: usize = 12;

/// The case with the smallest median paired ratio (of equals the control, then the first) among all that are no
/// confirmation, crosses included, and what can't be told from it. The control's ratio is 1, without any spread.
///
/// Ties: of the cases whose interval still reaches the winner's (the others are out by a wide margin; see
/// [`MedianInterval::reach`](stats::interval::MedianInterval::reach)), those in the simultaneous 95 % winner set of [`winner_set`], with fewer resamples beyond 2,000
/// contenders. Where values do not vary: those with the same ratio.
pub(crate) fn winner(workload: &WorkloadData, rows: &[CaseRow], seed: u64) -> Result<Option<Winner>, AnalyzeError> {
    let placed = rows.iter().enumerate();
    let mut candidates: Vec<(usize, &CaseRow, Figure)> = placed
        .filter(|(_, row)| row.rank.is_some())
        .filter_map(|(index, row)| row.ratio.map(|ratio| (index, row, ratio)))
        .collect();
    candidates.sort_by_key(|(_, row, _)| row.rank);
    let Some((_, best, ratio)) = candidates.first().copied() else {
        return Ok(None);
    };
    let (ties, undecided) = if workload.varies {
        simultaneous(workload, &candidates, seed)?
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
        .map(|(index, _, ratio)| (ratio, if ratio.is_exact() { vec![1.0] } else { draws(*index) }))
        .collect();
    let drawn = drawn.iter().map(|(ratio, draws)| (*ratio, draws.as_slice()));
    let flip_rate = flip_rate(drawn, resampling(seed)).map_err(|source| failed(workload, source))?;
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
        simplest_first: simplest_first(workload, &candidates, ties.as_deref().unwrap_or_default()),
        ties,
        flip_rate,
        undecided,
        confirmed,
        confirmed_ratio: figure(&confirming).map_err(|source| failed(workload, source.into()))?,
    }))
}

/// The best candidate and those that tie with it; see [`Winner::simplest_first`].
fn simplest_first(workload: &WorkloadData, candidates: &[(usize, &CaseRow, Figure)], ties: &[String]) -> Vec<Member> {
    let control = workload.cases.iter().find(|case| case.name == workload.control);
    let ties: BTreeSet<&String> = ties.iter().collect();
    let mut members: Vec<(usize, usize, Member)> = candidates
        .iter()
        .enumerate()
        .filter(|(place, (_, row, _))| *place == 0 || ties.contains(&row.name))
        .map(|(_, (_, row, ratio))| {
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

/// The ties of the best candidate, and whom nothing can be said of. A case with too few pairs for an interval of its own is
/// held against the noise of all cases together; only where no case has two pairs nothing is known of any.
fn simultaneous(
    workload: &WorkloadData,
    candidates: &[(usize, &CaseRow, Figure)],
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
    let noise = pooled_noise(
        all.iter()
            .filter(|(_, _, exact)| !exact)
            .map(|(_, ratios, _)| ratios.ratios()),
    );
    let known = |ratios: &PairedRatios| noise.is_some() || ratios.interval(LEVEL).reaches_level();
    let undecided = all.iter().skip(1).filter(|(_, ratios, _)| !known(ratios));
    let undecided = undecided.map(|(name, _, _)| (*name).to_owned()).collect();
    let Some(best) = all.first().filter(|(_, ratios, _)| known(ratios)) else {
        return Ok((None, undecided));
    };
    let (_, upper) = best.1.interval(LEVEL).reach(noise);
    let contenders: Vec<&(&str, PairedRatios, bool)> = all
        .iter()
        .filter(|(_, ratios, _)| known(ratios) && ratios.interval(LEVEL).reach(noise).0 <= upper)
        .collect();
    let ratios: Vec<PairedRatios> = contenders.iter().map(|(_, ratios, _)| ratios.clone()).collect();
    let plan = Bootstrap {
        resamples: affordable(ratios.len()),
        ..resampling(seed)
    };
    let set = winner_set(&ratios, noise, plan).map_err(|e| failed(workload, e.into()))?;
    let members = set.members.iter().filter(|member| **member != 0);
    Ok((
        Some(members.map(|member| contenders[*member].0.to_owned()).collect()),
        undecided,
    ))
}

/// Resamples for a winner set of so many contenders: as many as usual, and fewer where all comparisons would take minutes,
/// but 200, of which the bound is the eleventh largest.
fn affordable(contenders: usize) -> NonZeroU32 {
    let comparisons = (contenders * contenders).max(1);
    let most = u32::try_from(8_000_000_000 / comparisons).unwrap_or(u32::MAX);
    NonZeroU32::new(most.clamp(200, RESAMPLES.get())).unwrap_or(RESAMPLES)
}
