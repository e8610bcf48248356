//! What happened, one object per line.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use target_api::{Estimate, Measurement};

use crate::verify::Difference;

/// Label of the unit that all cases share, in build records.
pub const HARNESS: &str = "harness";

/// One artifact of a case's build.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnitBuilt {
    /// Digest of the unit.
    pub unit: String,
    /// SHA-256 of the artifact.
    pub artifact_sha256: String,
    /// Wall time of its steps; `None` when it was there already.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub build_ms: Option<u64>,
    /// Of a build from scratch: whether the artifact has the bytes of the one that the cohort had.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reproduces: Option<bool>,
    /// What the target read from the build.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub facts: BTreeMap<String, String>,
}

/// How a build ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "kebab-case")]
pub enum BuildOutcome {
    /// All artifacts are there.
    Built {
        /// Label -> artifact.
        units: BTreeMap<String, UnitBuilt>,
    },
    /// The target says no: a result.
    Rejected {
        /// Its words.
        reason: String,
    },
    /// A step failed, or the artifact is not what the plan asked for.
    BuildFailed {
        /// What, with the log's path.
        reason: String,
    },
    /// A step took longer than its limit.
    TimedOut {
        /// Which step, which limit.
        reason: String,
    },
}

/// How a round ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "kebab-case")]
pub enum RunOutcome {
    /// Measured, and every result was right.
    Correct {
        /// What was measured.
        measurement: Measurement,
    },
    /// Some result was wrong.
    Incorrect {
        /// What was found.
        reason: String,
        /// What was measured all the same; never ranked.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        measurement: Option<Measurement>,
    },
    /// The target says no while it runs (programs that compile inside): a result.
    Rejected {
        /// Its words.
        reason: String,
    },
    /// It ended without a result.
    RunFailed {
        /// How it ended: exit code or signal, last line of its errors.
        reason: String,
    },
    /// It ran longer than its limit.
    TimedOut {
        /// Which limit.
        reason: String,
    },
}

/// What a record tells.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "record", rename_all = "kebab-case")]
pub enum RecordKind {
    /// A build ended. Precedes the first round of its attempt.
    Build {
        /// How it ended.
        #[serde(flatten)]
        outcome: BuildOutcome,
        /// Estimates of moment `build`.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        estimates: Vec<Estimate>,
    },
    /// A round begins: written (not synced) before the device is touched, so that a resume can tell that it was lost.
    Began {
        /// Which, from 0; whatever people read counts from 1.
        round: u32,
        /// The device.
        device: String,
    },
    /// A round ended.
    Run {
        /// Which, from 0.
        round: u32,
        /// The device.
        device: String,
        /// How it ended.
        #[serde(flatten)]
        outcome: RunOutcome,
        /// Wall time of the command, without waiting for the device.
        run_ms: u64,
        /// Time that it waited for the device.
        waited_ms: u64,
        /// Whether a later coordinator took this from the log: the one that ran it died before it could write the record.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        recovered: bool,
        /// SHA-256 of the profile that lay beside the case when it had ended; `None` where none did, or none is kept, and in
        /// records of earlier versions.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        profile_sha256: Option<String>,
    },
    /// Somebody consented to a difference between the machine and the frozen one. Belongs to no case: its case is empty
    /// and its attempt 0.
    AcceptDifference {
        /// What differs, as it was then; another value is another difference.
        #[serde(flatten)]
        difference: Difference,
    },
    /// Everything in this file was measured on a machine of another class than the frozen one. Belongs to no case: its case
    /// is empty and its attempt 0.
    Machine {
        /// In what it differs, by name.
        differences: Vec<Difference>,
        /// Which machine it is: host name, kernel, boot.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        instance: BTreeMap<String, String>,
    },
    /// Somebody accepted that the result of this attempt is wrong: it no longer stops the sweep.
    AcceptIncorrect {},
    /// Somebody asked for a further attempt of this case.
    Retry {
        /// What was asked for.
        because: String,
    },
}

/// One line of `records/*.jsonl`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Who wrote it; also the stem of the file's name.
    pub writer: String,
    /// Its number in this file, from 0.
    pub sequence: u64,
    /// When it was written.
    pub at: jiff::Timestamp,
    /// The case; empty where it belongs to none.
    pub case: String,
    /// Which attempt, from 1; of a retry, the attempt that it begins.
    pub attempt: u32,
    /// What happened.
    #[serde(flatten)]
    pub kind: RecordKind,
}
