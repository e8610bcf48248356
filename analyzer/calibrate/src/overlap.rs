//! Nothing is fitted and judged on the same samples.

use std::collections::BTreeSet;

use planner::counted;

use crate::database::{Database, Key};

/// What two databases have in common.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Overlap {
    /// Sources with the same digest.
    pub sources: Vec<String>,
    /// Keys that were measured in both, whatever their values.
    pub keys: Vec<Key>,
}

impl Overlap {
    /// Whether they have nothing in common.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.sources.is_empty() && self.keys.is_empty()
    }

    /// In words, with the first few of many.
    #[must_use]
    pub fn words(&self) -> String {
        let mut words = Vec::new();
        if !self.sources.is_empty() {
            words.push(format!("`{}` stands on both sides", self.sources.join("`, `")));
        }
        if !self.keys.is_empty() {
            let first = self.keys.iter().take(3).map(|key| {
                let arguments = key.arguments.iter().map(|(name, value)| format!("{name} {value}"));
                format!("{} ({})", key.kernel, arguments.collect::<Vec<_>>().join(", "))
            });
            let more = if self.keys.len() > 3 { ", ..." } else { "" };
            let first = first.collect::<Vec<_>>().join("; ");
            words.push(format!(
                "measured on both sides: {}: {first}{more}",
                counted(self.keys.len(), "key")
            ));
        }
        words.join("; ")
    }
}

/// What `fit` and `holdout` have in common. The same call under another build is another key only if the builds differ.
#[must_use]
pub fn overlap(fit: &Database, holdout: &Database) -> Overlap {
    let known: BTreeSet<&str> = fit.sources.iter().map(|source| source.sha256.as_str()).collect();
    let sources = holdout
        .sources
        .iter()
        .filter(|source| known.contains(source.sha256.as_str()));
    let keys: BTreeSet<&Key> = fit.keys.iter().map(|measured| &measured.key).collect();
    let shared = holdout
        .keys
        .iter()
        .map(|measured| &measured.key)
        .filter(|key| keys.contains(key));
    Overlap {
        sources: sources.map(|source| source.path.clone()).collect(),
        keys: shared.cloned().collect(),
    }
}

impl Database {
    /// Takes these keys out, so that a fit does not see what it will be judged on; gives how many samples went.
    pub fn without(&mut self, keys: &[Key]) -> u64 {
        let gone: BTreeSet<&Key> = keys.iter().collect();
        let (out, kept): (Vec<_>, Vec<_>) = std::mem::take(&mut self.keys)
            .into_iter()
            .partition(|measured| gone.contains(&measured.key));
        self.keys = kept;
        let samples = out.iter().map(|measured| measured.samples).sum();
        if samples > 0 {
            self.exclude("measured on the held-out side too", samples);
        }
        samples
    }
}
