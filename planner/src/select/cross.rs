//! Crosses: the fastest choices of each operation, combined.

use std::collections::{BTreeMap, BTreeSet};

use super::names::{operation_of, operations};
use super::types::Chosen;
use crate::rules::Rules;
use crate::space::{Assignment, Space};
use crate::workload::Workload;

/// All combinations of the fastest choices of each operation that are legal and not there yet.
///
/// `fastest` holds for each operation the cases with the fastest choices, fastest first; operations that it does not
/// name, and attributes of the whole plan, are taken from `base`. Names are `<prefix>cross-i-j`, with the ranks (from
/// 0) in the order of the operations; `existing` holds the canonical texts of all plans that the cohort has.
#[must_use]
pub fn crosses(
    workload: &Workload,
    space: &Space,
    rules: &dyn Rules,
    base: &Assignment,
    prefix: &str,
    fastest: &BTreeMap<String, Vec<(String, Assignment)>>,
    existing: &BTreeSet<String>,
) -> Vec<Chosen> {
    let ranked: Vec<(String, &Vec<(String, Assignment)>)> = operations(space)
        .into_iter()
        .filter_map(|operation| fastest.get(&operation).map(|choices| (operation, choices)))
        .filter(|(_, choices)| !choices.is_empty())
        .collect();
    let mut texts = existing.clone();
    let mut chosen = Vec::new();
    if ranked.is_empty() {
        return chosen;
    }
    let mut ranks = vec![0; ranked.len()];
    loop {
        let mut plan = base.clone();
        let mut parts = Vec::new();
        for ((operation, choices), &rank) in ranked.iter().zip(&ranks) {
            let (case, choice) = &choices[rank];
            for (name, value) in choice.iter().filter(|(name, _)| operation_of(name) == Some(operation)) {
                plan.set(name, value.clone());
            }
            parts.push(format!("{operation} of {case}"));
        }
        if space.check(&plan).is_ok() {
            let text = rules.text(workload, &plan);
            if texts.insert(text.clone()) {
                let ranks: Vec<String> = ranks.iter().map(usize::to_string).collect();
                chosen.push(Chosen {
                    name: format!("{prefix}cross-{}", ranks.join("-")),
                    workload: workload.name.clone(),
                    family: "cross".to_owned(),
                    reason: parts.join(" with "),
                    assignment: plan,
                    text,
                    repeat_of: None,
                });
            }
        }
        let moved = (0..ranks.len()).rev().find(|&at| ranks[at] + 1 < ranked[at].1.len());
        let Some(at) = moved else { return chosen };
        ranks[at] += 1;
        ranks[at + 1..].fill(0);
    }
}
