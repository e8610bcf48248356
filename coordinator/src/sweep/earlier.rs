//! What the commands of a round gave that ended before its last one, where case and control take turns. Each overwrites
//! what the one before it left in its place, so that their measurements are written down until the record is there.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use cohort::{RunOutcome, sha256_hex};
use fs_err as fs;
use serde::{Deserialize, Serialize};
use target_api::{Measurement, Of};

use super::rounds::Visit;
use super::side::Ran;

/// Which command of a round one is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Turn {
    /// Of which pair, from 0.
    pub(super) pair: u32,
    pub(super) of: Of,
}

/// The commands of a round. Who begins a pair changes from pair to pair, and goes on changing over the rounds of a case,
/// so that neither side is always the one that finds the machine warm.
pub(super) fn turns(visit: &Visit<'_>) -> Vec<Turn> {
    let of_pair = |pair: u32| {
        let case_first = (u64::from(visit.round) + u64::from(pair)).is_multiple_of(2);
        let order = if case_first {
            [Of::Case, Of::Control]
        } else {
            [Of::Control, Of::Case]
        };
        order.map(|of| Turn { pair, of })
    };
    (0..visit.pairs).flat_map(of_pair).collect()
}

/// A command that gave a right result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Gave {
    pub(super) turn: Turn,
    pub(super) run_ms: u64,
    pub(super) waited_ms: u64,
    /// Digests of what it left in its place, `command.json` included.
    pub(super) left: BTreeMap<String, String>,
    pub(super) measurement: Measurement,
}

/// What the commands of a round gave so far, in memory and on disk.
#[derive(Debug)]
pub(super) struct Earlier {
    path: PathBuf,
    /// Of all lines.
    digest: String,
    gave: Vec<Gave>,
}

impl Earlier {
    /// Nothing so far.
    pub(super) fn begin(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
            digest: String::new(),
            gave: Vec::new(),
        }
    }

    /// What a file says; `None` where it is not there or not whole.
    pub(super) fn read(path: &Path) -> Option<Self> {
        let mut earlier = Self::begin(path);
        for line in std::fs::read_to_string(path).ok()?.lines() {
            let gave = serde_json::from_str(line).ok()?;
            earlier.take(line, gave);
        }
        Some(earlier)
    }

    /// Writes down what one more command gave.
    pub(super) fn add(&mut self, gave: Gave) -> std::io::Result<()> {
        let line = serde_json::to_string(&gave)?;
        let mut file = fs::OpenOptions::new().create(true).append(true).open(&self.path)?;
        std::io::Write::write_all(&mut file, format!("{line}\n").as_bytes())?;
        self.take(&line, gave);
        Ok(())
    }

    fn take(&mut self, line: &str, gave: Gave) {
        self.digest = sha256_hex(format!("{}{line}", self.digest).as_bytes());
        self.gave.push(gave);
    }

    /// Covers everything that was written down.
    pub(super) fn digest(&self) -> &str {
        &self.digest
    }

    pub(super) fn gave(&self) -> &[Gave] {
        &self.gave
    }

    /// The round, once its last command has ended: what one that gave no right result said stands for all. Wall times are
    /// those of all commands.
    pub(super) fn ended_by(self, of: Of, last: Ran) -> Ran {
        let sum = |own: fn(&Gave) -> u64, last: u64| self.gave.iter().map(own).fold(last, u64::saturating_add);
        let run_ms = sum(|gave| gave.run_ms, last.run_ms);
        let waited_ms = sum(|gave| gave.waited_ms, last.waited_ms);
        let outcome = match last.outcome {
            RunOutcome::Correct { measurement } => {
                let before = self.gave.into_iter().map(|gave| (gave.turn.of, gave.measurement));
                let measurement = Measurement::alternated(before.chain([(of, measurement)]));
                RunOutcome::Correct { measurement }
            }
            outcome if of == Of::Control => of_control(outcome),
            outcome => outcome,
        };
        Ran {
            outcome,
            run_ms,
            waited_ms,
            stderr: last.stderr,
        }
    }
}

/// Trouble with the control is told as such: the case itself may be fine, but nothing can be compared.
fn of_control(outcome: RunOutcome) -> RunOutcome {
    let named = |reason: String| format!("control: {reason}");
    match outcome {
        RunOutcome::Incorrect { reason, .. } => RunOutcome::Incorrect {
            reason: named(reason),
            measurement: None,
        },
        RunOutcome::TimedOut { reason } => RunOutcome::TimedOut { reason: named(reason) },
        RunOutcome::RunFailed { reason } => RunOutcome::RunFailed { reason: named(reason) },
        RunOutcome::Rejected { reason } => RunOutcome::RunFailed {
            reason: named(format!("rejected: {reason}")),
        },
        right @ RunOutcome::Correct { .. } => right,
    }
}
