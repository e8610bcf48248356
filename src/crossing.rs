//! Crosses: all combinations of the fastest choices of each operation.

use std::collections::BTreeSet;

use cohort::Manifest;
use coordinator::sweep::{Crosses, NewCases, Ranking};
use planner::select::{SelectedWorkload, crosses as cross, prefix};
use planner::{Assignment, Attributes};

use crate::freezing;
use crate::planning::Planning;

/// What the coordinator asks for crosses once all initial cases are terminal.
pub(crate) fn crosses<'a>(planning: &'a Planning, manifest: &'a Manifest) -> Crosses<'a> {
    Box::new(move |rankings| {
        let mut cases = NewCases::new();
        let selection = planning.select().map_err(|failure| failure.to_string())?;
        for selected in &selection.workloads {
            let Some(ranking) = rankings.iter().find(|ranking| ranking.workload == selected.name) else {
                continue;
            };
            let workload = freezing::workload(planning, &selected.name).map_err(|failure| failure.to_string())?;
            let fastest = workload
                .operations
                .iter()
                .map(|operation| {
                    (
                        operation.name.clone(),
                        choices(ranking, selected, &operation.name, manifest.measure.cross),
                    )
                })
                .filter(|(_, choices)| !choices.is_empty())
                .collect();
            let existing: BTreeSet<String> = selected.cases.iter().map(|chosen| chosen.text.clone()).collect();
            let chosen = cross(
                workload,
                &selected.space,
                &*planning.configured,
                &selected.base,
                &prefix(&planning.definition, &selected.name),
                &fastest,
                &existing,
            );
            for chosen in &chosen {
                cases.push(freezing::case(
                    &*planning.configured,
                    &planning.machine.tools,
                    workload,
                    chosen,
                )?);
            }
        }
        Ok(cases)
    })
}

/// The `k` fastest choices for one operation: of the cases that differ from the base in this operation only, the base
/// itself included. A case that changes two operations says nothing about either alone.
fn choices(ranking: &Ranking<'_>, selected: &SelectedWorkload, operation: &str, k: u32) -> Vec<(String, Assignment)> {
    let own = format!("{operation}.");
    let base = split(&chosen(&selected.base, selected), &own);
    let mut seen: BTreeSet<Vec<String>> = BTreeSet::new();
    ranking
        .cases
        .iter()
        .map(|ranked| (ranked.case.name.clone(), chosen(&ranked.case.plan.attributes, selected)))
        .filter(|(_, assignment)| {
            let (mine, others) = split(assignment, &own);
            others == base.1 && !mine.is_empty() && seen.insert(mine)
        })
        .take(k as usize)
        .collect()
}

/// The part of a plan that was chosen, in the order of the space; what derives from it is left out.
fn chosen(attributes: &Attributes, selected: &SelectedWorkload) -> Assignment {
    let parameters = selected.space.parameters.iter();
    parameters
        .filter_map(|p| Some((p.name.clone(), attributes.get(&p.name)?.clone())))
        .collect()
}

fn split(assignment: &Attributes, own: &str) -> (Vec<String>, Vec<String>) {
    let text = |(name, value): (&str, &planner::Value)| format!("{name}={value}");
    let (mine, others): (Vec<_>, Vec<_>) = assignment.iter().partition(|(name, _)| name.starts_with(own));
    (
        mine.into_iter().map(text).collect(),
        others.into_iter().map(text).collect(),
    )
}
