//! What a cohort grew by after it was frozen.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

use crate::case::Case;
use crate::manifest::UnitRef;

/// What an addition adds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum AdditionKind {
    /// Crosses of the fastest choices of each operation.
    Crosses {
        /// The new cases, with estimates.
        cases: Vec<Case>,
        /// Units that no earlier case needed.
        units: Vec<UnitRef>,
    },
    /// More rounds for cases that can still win.
    Finalists {
        /// Case -> pairs of each further round, in order.
        rounds: BTreeMap<String, Vec<u32>>,
    },
    /// Fresh builds of winner and control, measured again: built from scratch, each with artifacts of its own. The n-th
    /// one of a workload that repeats another case than the control is compared with the n-th one that repeats the
    /// control ([`crate::Frozen::confirmations`]).
    Confirmation {
        /// The new cases: each repeats one that exists.
        cases: Vec<Case>,
        /// New case -> pairs of each of its rounds, which are all that it has.
        rounds: BTreeMap<String, Vec<u32>>,
    },
}

/// How far a record file was written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    /// Its whole lines.
    pub lines: u64,
    /// The digest in the last of them, which covers all.
    pub chain: String,
}

/// `additions/NNN.json`: immutable, chained by digest, and with a digest of itself at its end, as record lines have.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Addition {
    /// Its number, from 1.
    pub number: u32,
    /// SHA-256 of the file before it: `manifest.json` for the first.
    pub previous_sha256: String,
    /// Why it was made, in words and numbers.
    pub reason: String,
    /// When.
    pub at: jiff::Timestamp,
    /// Writer -> how far its records went by then: what was lost of them afterwards is found. Empty in cohorts of earlier
    /// versions.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub records: BTreeMap<String, Head>,
    /// What it adds.
    #[serde(flatten)]
    pub kind: AdditionKind,
}
