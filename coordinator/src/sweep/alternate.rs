//! Case and control in turn, one command each.

use std::collections::BTreeMap;

use cohort::RunOutcome;
use target_api::Of;

use super::earlier::{Earlier, Gave, turns};
use super::error::RunError;
use super::side::{Part, Ran, Side};
use crate::guard::GuardEvent;

/// Runs as many pairs of commands as the visit wants. Ends with the first command that does not give a right result.
/// `None` when it was interrupted: after the first command only what ends a running command does that.
pub(super) async fn alternate(
    case: &Side<'_>,
    control: &Side<'_>,
    digests: &BTreeMap<String, String>,
    on_event: &mut dyn FnMut(&GuardEvent),
) -> Result<Option<Ran>, RunError> {
    let turns = turns(case.visit);
    let mut earlier = Earlier::begin(&case.place.earlier);
    for turn in &turns {
        let side = match turn.of {
            Of::Case => case,
            Of::Control => control,
        };
        let (first, last) = (earlier.gave().is_empty(), earlier.gave().len() + 1 == turns.len());
        let part = if first { Part::First } else { Part::Later };
        let round = side.describe(None, 1)?;
        let note = side.announce(&round, digests.clone(), Some((*turn, earlier.digest())))?;
        // A round can be recovered once all of its commands have ended.
        let Some(ran) = side.run(part, &round, last.then_some(note), on_event).await? else {
            return Ok(None);
        };
        match ran.outcome {
            RunOutcome::Correct { measurement } if !last => earlier.add(Gave {
                turn: *turn,
                run_ms: ran.run_ms,
                waited_ms: ran.waited_ms,
                left: side.left(&round)?,
                measurement,
            })?,
            _ => return Ok(Some(earlier.ended_by(turn.of, ran))),
        }
    }
    // A round has a pair at least.
    Ok(None)
}
