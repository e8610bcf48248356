//! More pairs for cases that can still win.

use std::collections::{BTreeMap, BTreeSet};

use cohort::{Addition, AdditionKind};
use planner::counted;

use super::ranking::Ranking;

/// Pairs of one further round.
pub(super) const PAIRS: u32 = 4;

/// So many cases always stay in the race while their interval reaches the best one's. Beyond that, each further round
/// goes to the faster half of those that had the round before (successive halving): with few pairs and much noise nearly
/// every interval reaches, and time is better spent on the fast ones. Who is dropped keeps what was measured of it.
const FEW: usize = 12;

/// Pairs that finalists were granted so far.
fn granted(additions: &[Addition]) -> BTreeMap<&str, u32> {
    let mut sums: BTreeMap<&str, u32> = BTreeMap::new();
    for addition in additions {
        if let AdditionKind::Finalists { rounds } = &addition.kind {
            for (case, pairs) in rounds {
                *sums.entry(case).or_default() += pairs.iter().sum::<u32>();
            }
        }
    }
    sums
}

/// How many cases may get the next round: half of those of this workload that got the last one.
fn places(ranking: &Ranking<'_>, additions: &[Addition]) -> usize {
    let own = |name: &&String| ranking.cases.iter().any(|one| one.case.name == **name);
    let last = additions.iter().rev().find_map(|addition| match &addition.kind {
        AdditionKind::Finalists { rounds } => Some(rounds.keys().filter(own).count()).filter(|n| *n > 0),
        _ => None,
    });
    last.unwrap_or(ranking.cases.len()).div_ceil(2).max(FEW)
}

/// One further round for every case of a workload that can still win: its interval reaches the best one's (see
/// [`Ranking::reach`]), it is among the fastest by [`places`], and it has not used up its `budget` of further pairs; as
/// long as there are two such plans. `None` when nothing more is to be decided.
pub(super) fn next_grant(
    rankings: &[Ranking<'_>],
    additions: &[Addition],
    budget: u32,
) -> Option<(BTreeMap<String, Vec<u32>>, String)> {
    let used = granted(additions);
    let mut rounds = BTreeMap::new();
    let mut reasons = Vec::new();
    for ranking in rankings {
        let Some(best) = ranking.cases.first() else { continue };
        let (_, upper) = ranking.reach(best);
        let reach = ranking.cases.iter().filter(|one| ranking.reach(one).0 <= upper);
        let reach = reach.take(places(ranking, additions));
        // The same plan twice can never be told apart.
        let names: Vec<_> = reach
            .map(|one| (one.case.name.as_str(), one.case.plan.text.as_str()))
            .collect();
        let plans: BTreeSet<_> = names.iter().map(|(_, plan)| plan).collect();
        if plans.len() < 2 {
            continue;
        }
        let before = rounds.len();
        for (name, _) in &names {
            let left = budget.saturating_sub(used.get(name).copied().unwrap_or(0));
            if left > 0 {
                rounds.insert((*name).to_owned(), vec![left.min(PAIRS)]);
            }
        }
        if rounds.len() > before {
            let (lower, upper) = ranking.reach(best);
            reasons.push(format!(
                "{} of `{}` race on: their intervals reach that of `{}`, {:.4} ({lower:.4} to {upper:.4})",
                counted(names.len(), "case"),
                ranking.workload,
                best.case.name,
                best.ratio.point,
            ));
        }
    }
    (!rounds.is_empty()).then(|| (rounds, reasons.join("; ")))
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use cohort::Case;
    use planner::{Attributes, Plan};
    use stats::interval::{Bootstrap, Level};
    use stats::paired::{PairedRatios, PooledErrors, pooled_noise, winner_set};
    use stats::random::SplitMix64;

    use super::*;
    use crate::sweep::ranking::Ranked;

    fn case(number: usize) -> Case {
        let name = format!("case-{number}");
        Case {
            workload: "w".to_owned(),
            family: String::new(),
            reason: String::new(),
            plan: Plan {
                target: "t".to_owned(),
                text: name.clone(),
                attributes: Attributes::new(),
            },
            estimates: Vec::new(),
            unestimated: BTreeMap::new(),
            units: BTreeMap::new(),
            repeat_of: None,
            name,
        }
    }

    fn paired(ratios: &[f64]) -> PairedRatios {
        let pairs: Vec<(f64, f64)> = ratios.iter().map(|ratio| (*ratio, 1.0)).collect();
        PairedRatios::new(&pairs).unwrap()
    }

    /// Ratios of a sweep of equally good cases, the first of which is the control: `pairs` of each with normal noise of 3 %,
    /// then what the race grants; and how often it granted.
    fn raced(number: usize, pairs: usize, budget: u32, rng: &mut SplitMix64) -> (Vec<Vec<f64>>, usize) {
        let cases: Vec<Case> = (0..number).map(case).collect();
        let mut draw = |count: usize| -> Vec<f64> { (0..count).map(|_| (0.03 * rng.normal()).exp()).collect() };
        let mut ratios: Vec<Vec<f64>> = (0..number).map(|_| draw(pairs)).collect();
        let mut additions: Vec<Addition> = Vec::new();
        loop {
            let mut ranked: Vec<Ranked<'_>> = cases
                .iter()
                .zip(&ratios)
                .map(|(case, own)| Ranked {
                    case,
                    pairs: own.len(),
                    ratio: paired(own).interval(Level::P95),
                })
                .collect();
            // As in `ranking`: the control's own is 1.
            let control = &mut ranked[0].ratio;
            (control.point, control.lower, control.upper) = (1.0, 1.0, 1.0);
            ranked.sort_by(|a, b| a.ratio.point.total_cmp(&b.ratio.point));
            let ranking = Ranking {
                workload: "w",
                control: None,
                cases: ranked,
                noise: pooled_noise(ratios.iter().map(Vec::as_slice)),
            };
            let Some((rounds, reason)) = next_grant(&[ranking], &additions, budget) else {
                return (ratios, additions.len());
            };
            for (case, own) in cases.iter().zip(&mut ratios) {
                let granted: u32 = rounds.get(&case.name).into_iter().flatten().sum();
                own.extend(draw(granted as usize));
            }
            additions.push(Addition {
                number: 1,
                previous_sha256: String::new(),
                reason,
                at: jiff::Timestamp::UNIX_EPOCH,
                records: BTreeMap::new(),
                kind: AdditionKind::Finalists { rounds },
            });
        }
    }

    /// The race looks again and again, and who is behind gets no more pairs. Equal cases are all truly best all the same,
    /// and the winner set leaves some out in about 5 % of the sweeps: in 10 of 200, deviation 3.1.
    #[test]
    fn a_race_leaves_the_truly_best_in() {
        let mut rng = SplitMix64::new(3);
        let (mut missing, mut looks) = (0, 0);
        for seed in 0..200 {
            let (ratios, grants) = raced(6, 6, 24, &mut rng);
            looks += 1 + grants;
            let errors = PooledErrors::new(ratios.iter().map(Vec::as_slice));
            let mut all: Vec<PairedRatios> = ratios.iter().map(|own| paired(own)).collect();
            // As in reports.
            all[0] = paired(&[1.0; 12]);
            let plan = Bootstrap {
                level: Level::P95,
                resamples: NonZeroU32::new(200).unwrap(),
                seed,
            };
            let set = winner_set(&all, errors.as_ref(), plan).unwrap();
            missing += usize::from(set.members.len() < all.len());
        }
        assert!(looks > 200 * 4 && missing <= 17, "{looks} looks, {missing} of 200");
    }
}
