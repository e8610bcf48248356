//! A whole search.

use planner::{Assignment, Refusal, Value, Workload};
use target_api::{Estimate, Finalist, Moment, SearchReport, SearchWidth};

use super::beam::{beam, lanes, plan_text};
use super::finalists::{Whole, expand, place, vary};
use super::shortlist::{Open, shortlist};
use crate::attributes::{self, MAPPING};
use crate::costs::CostTable;
use crate::estimate::compact;
use crate::geometry::{Geometry, Memory};
use crate::program::{chain, unplaced as products};

/// Searches all plans of a workload; the finalists come best first. Nothing is run.
pub fn search(
    workload: &Workload,
    costs: &CostTable,
    width: SearchWidth,
    watch: &[(String, Assignment)],
) -> Result<SearchReport, Refusal> {
    let chain = chain(workload)?;
    let watched = watch
        .iter()
        .map(|(name, plan)| {
            attributes::plan(workload, plan).map(|typed| {
                let whole = Whole {
                    geometries: typed.geometries,
                    mapping: typed.mapping,
                };
                (name.clone(), whole)
            })
        })
        .collect::<Result<Vec<_>, _>>()?;
    let mut steps = Vec::new();
    let mut lists = Vec::new();
    for (at, &(name, extents, gelu)) in chain.iter().enumerate() {
        let open = Open {
            name,
            extents,
            gelu,
            first: at == 0,
        };
        let own: Vec<(String, Geometry)> = watched
            .iter()
            .filter_map(|(name, whole)| Some((name.clone(), bare(*whole.geometries.get(at)?))))
            .collect();
        let (list, step) = shortlist(&open, costs, width.shortlist, &own);
        lists.push(list);
        steps.push(step);
    }
    let without: Vec<(String, String)> = watched
        .iter()
        .map(|(name, whole)| {
            let geometries: Vec<Geometry> = whole.geometries.iter().copied().map(bare).collect();
            (name.clone(), plan_text(&geometries))
        })
        .collect();
    let whole: Vec<(String, String)> = watched
        .iter()
        .map(|(name, whole)| (name.clone(), whole.text()))
        .collect();
    let beam = beam(workload, &lists, costs, width.beam, &without)?;
    steps.push(beam.step);
    let lanes = lanes(workload, beam.kept, costs, width.expanded, &without)?;
    steps.push(lanes.step);
    let expanded = expand(workload, lanes.kept, costs, width.finalists, &without);
    steps.push(expanded.step);
    let varied = vary(workload, &expanded.kept, costs, width.finalists, &whole);
    steps.push(varied.step);
    let placed = place(workload, varied.kept, costs, &whole);
    steps.push(placed.step);
    let finalists = placed
        .kept
        .into_iter()
        .map(|(whole, placed)| finalist(workload, costs, &whole, placed))
        .collect::<Result<_, _>>()?;
    Ok(SearchReport {
        width,
        steps,
        finalists,
    })
}

/// A geometry as it stands before memories are tried.
fn bare(g: Geometry) -> Geometry {
    Geometry {
        memory: Memory::Interleaved,
        ..g
    }
}

fn finalist(workload: &Workload, costs: &CostTable, whole: &Whole, placed: usize) -> Result<Finalist, Refusal> {
    let mut assignment = Assignment::new();
    for ((name, _), g) in workload.gemms().zip(&whole.geometries) {
        for (name, value) in attributes::of_geometry(name, g) {
            assignment.set(&name, value);
        }
    }
    assignment.set(MAPPING, Value::text(&whole.mapping));
    let typed = attributes::plan(workload, &assignment)?;
    let estimate = |name: &str, cycles: usize, moment| Estimate {
        name: name.to_owned(),
        value: cycles as f64,
        unit: "cycles".to_owned(),
        moment,
        parts: Vec::new(),
    };
    let compact = compact(&products(workload, &whole.geometries)?, costs)?.total();
    let expanded = super::finalists::expanded_total(workload, whole, costs)?;
    Ok(Finalist {
        text: attributes::plan_text(workload, &typed),
        assignment,
        estimates: vec![
            estimate("compact", compact, Moment::Plan),
            estimate("expanded", expanded, Moment::Plan),
            estimate("placed", placed, Moment::Build),
        ],
    })
}
