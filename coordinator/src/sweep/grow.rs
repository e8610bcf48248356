//! What a cohort grows by once everything so far is measured.

use std::error::Error;

use cohort::{Case, Frozen, Growth, State, unit_digest};
use target_api::{BuildUnit, Pairing, Tool};

use super::confirm::next_confirmation;
use super::error::RunError;
use super::finalists::next_grant;
use super::ranking::{Ranking, rankings};
use crate::events::{Event, Reporter};

/// Cases with what they are built from; [`Case::units`] is filled in from there.
pub type NewCases = Vec<(Case, Vec<BuildUnit>)>;

/// Forms the crosses of the fastest choices from the rankings of all workloads. Asked at most once in a cohort's life,
/// when every initial case has come to an end.
pub type Crosses<'a> = Box<dyn FnOnce(&[Ranking<'_>]) -> Result<NewCases, Box<dyn Error + Send + Sync>> + 'a>;

/// Fills in the digests of what a case is built from.
pub(crate) fn with_digests(cases: NewCases, tools: &[Tool]) -> (Vec<Case>, Vec<BuildUnit>) {
    let mut all = Vec::new();
    let named = cases.into_iter().map(|(mut case, units)| {
        case.units = units
            .iter()
            .map(|unit| (unit.label.clone(), unit_digest(unit, tools)))
            .collect();
        all.extend(units);
        case
    });
    (named.collect(), all)
}

/// What comes next, with the reason, if anything does.
pub(super) fn next_growth(
    frozen: &Frozen,
    state: &State<'_>,
    pairing: Pairing,
    crosses: &mut Option<Crosses<'_>>,
) -> Result<Option<(Growth, String)>, RunError> {
    let measure = &frozen.manifest().measure;
    let rankings = rankings(frozen, state);
    if measure.cross > 0
        && state.may_cross()
        && let Some(form) = crosses.take()
    {
        let new = form(&rankings).map_err(RunError::Crosses)?;
        let (cases, units) = with_digests(new, &frozen.manifest().machine.tools);
        let reason = format!(
            "{} crosses of the {} fastest choices of each operation, by median paired ratio",
            cases.len(),
            measure.cross
        );
        return Ok(Some((Growth::Crosses { cases, units }, reason)));
    }
    // Values that don't vary need no further rounds.
    if measure.finalists > 0
        && pairing != Pairing::None
        && let Some((rounds, reason)) = next_grant(&rankings, frozen.additions(), measure.finalists)
    {
        return Ok(Some((Growth::Finalists { rounds }, reason)));
    }
    Ok(next_confirmation(frozen, state, &rankings, pairing))
}

/// Grows the cohort and says so.
pub(super) fn grow(
    frozen: &mut Frozen,
    at: jiff::Timestamp,
    growth: Growth,
    reason: &str,
    reporter: &mut Reporter<'_>,
) -> Result<(), RunError> {
    frozen.grow(at, reason, growth)?;
    reporter.tell(&Event::Grown { reason });
    Ok(())
}
