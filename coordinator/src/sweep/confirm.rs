//! Fresh builds of winner and control, measured again: rounds that did not choose the winner.

use std::collections::{BTreeMap, HashSet};

use cohort::{Case, Frozen, Growth, Outcome, State};
use target_api::Pairing;

use super::finalists::PAIRS;
use super::ranking::Ranking;

/// So many pairs each confirmation has at least.
const FEWEST: u32 = 8;

/// As many fresh builds as the definition asks for, of the fastest case of each workload and of its control. `None` when
/// the present winners have been confirmed, or nothing is to be. (A retry may make another case the winner: then that
/// one is confirmed as well.)
pub(super) fn next_confirmation(
    frozen: &Frozen,
    state: &State<'_>,
    rankings: &[Ranking<'_>],
    pairing: Pairing,
) -> Option<(Growth, String)> {
    let measure = &frozen.manifest().measure;
    let pairs = match pairing {
        // Values that don't vary say everything at once.
        Pairing::None => vec![1],
        Pairing::InProcess | Pairing::AlternatingCommands => in_rounds(measure.finalists.max(FEWEST)),
    };
    let confirmed = frozen.confirmations();
    let repeated: HashSet<&str> = frozen
        .cases()
        .filter(|case| confirmed.contains_key(case.name.as_str()))
        .filter_map(|case| case.repeat_of.as_deref())
        .collect();
    let (mut cases, mut reasons) = (Vec::new(), Vec::new());
    for ranking in rankings.iter().filter(|_| measure.confirm > 0) {
        let (Some(winner), Some(control)) = (winner(frozen, ranking), ranking.control) else {
            continue;
        };
        let compared = state.get(&control.name).and_then(cohort::CaseState::outcome) == Some(Outcome::Correct);
        if !compared || repeated.contains(winner.name.as_str()) {
            continue;
        }
        let name = |number: u32, case: &Case| format!("confirm-{number}-{}", case.name);
        let free = |number: &u32| {
            [control, winner]
                .iter()
                .all(|case| state.get(&name(*number, case)).is_none())
        };
        for number in (1..).filter(free).take(measure.confirm as usize) {
            cases.push(again(control, name(number, control)));
            if winner.name != control.name {
                cases.push(again(winner, name(number, winner)));
            }
        }
        reasons.push(format!(
            "`{}` is the fastest case of `{}`; it and the control `{}` are built from scratch {} times and measured again",
            winner.name, ranking.workload, control.name, measure.confirm
        ));
    }
    let rounds: BTreeMap<_, _> = cases
        .iter()
        .map(|case: &Case| (case.name.clone(), pairs.clone()))
        .collect();
    (!cases.is_empty()).then(|| (Growth::Confirmation { cases, rounds }, reasons.join("; ")))
}

/// The case with the smallest median ratio, of equal ones the control, then the first of the cohort: as in reports.
fn winner<'a>(frozen: &'a Frozen, ranking: &Ranking<'a>) -> Option<&'a Case> {
    let best = ranking.cases.first()?.ratio.point;
    let equal = ranking.cases.iter().take_while(|one| one.ratio.point <= best);
    let equal: HashSet<&str> = equal.map(|one| one.case.name.as_str()).collect();
    let control = ranking.control.filter(|control| equal.contains(control.name.as_str()));
    control.or_else(|| frozen.cases().find(|case| equal.contains(case.name.as_str())))
}

/// The same plan from the same units, under another name. It predicts nothing: its estimates are those of the other.
fn again(case: &Case, name: String) -> Case {
    Case {
        name,
        family: "confirm".to_owned(),
        reason: format!("a fresh build of `{}`", case.name),
        estimates: Vec::new(),
        unestimated: BTreeMap::new(),
        repeat_of: Some(case.name.clone()),
        ..case.clone()
    }
}

fn in_rounds(pairs: u32) -> Vec<u32> {
    let mut rounds = vec![PAIRS; (pairs / PAIRS) as usize];
    rounds.extend(Some(pairs % PAIRS).filter(|rest| *rest > 0));
    rounds
}
