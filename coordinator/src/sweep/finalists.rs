//! More pairs for cases that can still win.

use std::collections::{BTreeMap, BTreeSet};

use cohort::{Addition, AdditionKind};

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
                "{} cases of `{}` race on: their intervals reach that of `{}`, {:.4} ({lower:.4} to {upper:.4})",
                names.len(),
                ranking.workload,
                best.case.name,
                best.ratio.point,
            ));
        }
    }
    (!rounds.is_empty()).then(|| (rounds, reasons.join("; ")))
}
