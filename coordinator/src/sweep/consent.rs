//! What somebody consented to stands in a record: a resume does not ask again, and a report can show it.

use cohort::{Difference, Record, RecordKind, State};

use super::error::RunError;
use super::log::Log;

/// Differences of the machine that were consented to earlier.
pub(super) fn given(records: &[Record]) -> Vec<Difference> {
    let consents = records.iter().filter_map(|record| match &record.kind {
        RecordKind::AcceptDifference { difference } => Some(difference.clone()),
        _ => None,
    });
    consents.collect()
}

/// Records consents to differences of the machine that are new.
pub(super) fn to_differences(log: &mut Log, accepted: &[Difference]) -> Result<(), RunError> {
    let given = given(log.records());
    for difference in accepted.iter().filter(|difference| !given.contains(difference)) {
        let difference = difference.clone();
        log.append("", 0, RecordKind::AcceptDifference { difference })?;
    }
    Ok(())
}

/// Attempts with a wrong result that `accepted` names: case and number.
pub(super) fn to_wrong_results(state: &State<'_>, accepted: &[String]) -> Vec<(String, u32)> {
    let stopped = state.stopped_by().into_iter();
    stopped
        .filter(|name| accepted.iter().any(|accepted| accepted == name))
        .filter_map(|name| Some((name.to_owned(), state.get(name)?.attempt())))
        .collect()
}
