//! Ranking of candidates in one step of a search.

use std::collections::BTreeMap;

use target_api::{SearchStep, Survival};

/// Why candidates drop out that the cost table has no price for.
pub(super) const UNPRICED: &str = "price";

/// Candidates with a score each, ranked and cut.
pub(super) struct Ranked<T> {
    /// Best first.
    pub(super) kept: Vec<T>,
    pub(super) step: SearchStep,
}

/// Score of a candidate: cycles, and what decides among equals.
pub(super) type Score = (usize, usize);

/// Ranks candidates by score, then by text, and keeps the first `most`. `text` names a candidate as watched plans are
/// named.
pub(super) fn rank<T>(
    name: &str,
    by: &str,
    scored: Vec<(Score, String, T)>,
    mut dropped: BTreeMap<String, usize>,
    most: usize,
    watch: &[(String, String)],
) -> Ranked<T> {
    let refused: usize = dropped.values().sum();
    let mut scored = scored;
    scored.sort_by(|a, b| (a.0, &a.1).cmp(&(b.0, &b.1)));
    let watched: BTreeMap<String, Survival> = watch
        .iter()
        .map(|(name, text)| {
            let place = scored.iter().position(|(_, other, _)| other == text);
            let survival = Survival {
                rank: place.map(|place| place + 1),
                survived: place.is_some_and(|place| place < most),
            };
            (name.clone(), survival)
        })
        .collect();
    let looked_at = scored.len() + refused;
    if scored.len() > most {
        dropped.insert("rank".to_owned(), scored.len() - most);
    }
    let kept: Vec<T> = scored
        .into_iter()
        .take(most)
        .map(|(_, _, candidate)| candidate)
        .collect();
    Ranked {
        step: SearchStep {
            name: name.to_owned(),
            by: by.to_owned(),
            looked_at,
            kept: kept.len(),
            dropped,
            watched,
        },
        kept,
    }
}
