//! More pairs for cases that can still win.

use std::collections::{BTreeMap, BTreeSet};

use cohort::{Addition, AdditionKind};
use stats::paired::can_still_win;

use super::ranking::Ranking;

/// Pairs of one further round.
const PAIRS: u32 = 4;

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

/// One further round for every case of a workload whose interval still reaches the best one's, as long as there are two
/// of them and they have not used up their `budget` of further pairs. `None` when nothing more is to be decided.
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
        let reach = ranking
            .cases
            .iter()
            .filter(|one| can_still_win(&one.ratio, &best.ratio));
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
            let ratio = best.ratio;
            reasons.push(format!(
                "{} cases of `{}` can still win: their intervals reach that of `{}`, {:.4} ({:.4} to {:.4})",
                names.len(),
                ranking.workload,
                best.case.name,
                ratio.point,
                ratio.lower,
                ratio.upper
            ));
        }
    }
    (!rounds.is_empty()).then(|| (rounds, reasons.join("; ")))
}
