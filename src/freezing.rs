//! From selected cases to a frozen cohort.

use std::collections::BTreeMap;
use std::path::Path;

use cohort::digest::unit_digest;
use cohort::{Case, ChosenFrom, Frozen, Header, Measure, Origin, RefusedCase, WorkloadEntry};
use coordinator::sweep::NewCases;
use coordinator::{ExitCode, FreezeRequest, git_revision};
use planner::definition::TimeLimit;
use planner::select::{Chosen, Refused, Selection};
use planner::{Refusal, Workload};
use target_api::{BuildUnit, Configured, Tool};

use crate::failure::Failure;
use crate::planning::{Planning, launcher};

/// Freezes `selection` into the folder `path`.
pub(crate) fn freeze(planning: &Planning, selection: &Selection, path: &Path) -> Result<Frozen, Failure> {
    let configured = &*planning.configured;
    let mut inputs = Vec::new();
    for selected in &selection.workloads {
        let set = configured
            .inputs(workload(planning, &selected.name)?, planning.definition.measure.seed)
            .map_err(|refusal| refused(&selected.name, &refusal))?;
        inputs.push((selected.name.clone(), set));
    }
    let request = FreezeRequest {
        header: header(planning, selection)?,
        cases: cases(planning, selection)?,
        harness: configured.harness(),
        inputs,
        costs: planning
            .costs
            .as_ref()
            .map(|costs| (costs.file.clone(), costs.table.text())),
        binary: launcher()?.binary,
    };
    coordinator::freeze(path, request).map_err(|error| {
        let (code, help) = (error.exit_code(), error.help());
        let failure = Failure::because(code, format!("`{}` can't be frozen", path.display()), error);
        match help {
            Some(help) => failure.help(help),
            None => failure,
        }
    })
}

/// All cases of a selection with their estimates, and what they are built from.
pub(crate) fn cases(planning: &Planning, selection: &Selection) -> Result<NewCases, Failure> {
    let mut cases = NewCases::new();
    for selected in &selection.workloads {
        let workload = workload(planning, &selected.name)?;
        for chosen in &selected.cases {
            let case = case(&*planning.configured, &planning.machine.tools, workload, chosen)
                .map_err(|refusal| refused(&chosen.name, &refusal))?;
            cases.push(case);
        }
    }
    Ok(cases)
}

/// A chosen plan as a case of a cohort, and what it is built from.
pub(crate) fn case(
    configured: &dyn Configured,
    tools: &[Tool],
    workload: &Workload,
    chosen: &Chosen,
) -> Result<(Case, Vec<BuildUnit>), Refusal> {
    let plan = configured.plan(workload, &chosen.assignment);
    let units = configured.build(workload, &plan)?;
    let (mut estimates, mut unestimated) = (Vec::new(), BTreeMap::new());
    for model in configured.estimators() {
        match model.estimate(workload, &plan) {
            Ok(estimate) => estimates.push(estimate),
            Err(none) => _ = unestimated.insert(model.name().to_owned(), none.to_string()),
        }
    }
    let case = Case {
        name: chosen.name.clone(),
        workload: chosen.workload.clone(),
        family: chosen.family.clone(),
        reason: chosen.reason.clone(),
        estimates,
        unestimated,
        units: units
            .iter()
            .map(|unit| (unit.label.clone(), unit_digest(unit, tools)))
            .collect(),
        repeat_of: chosen.repeat_of.clone(),
        plan,
    };
    Ok((case, units))
}

/// The workload called `name`, with its extents.
pub(crate) fn workload<'a>(planning: &'a Planning, name: &str) -> Result<&'a Workload, Failure> {
    planning
        .definition
        .workloads
        .iter()
        .map(|choice| &choice.workload)
        .find(|workload| workload.name == name)
        .ok_or_else(|| Failure::new(ExitCode::Failure, format!("workload `{name}` was lost")))
}

fn refused(name: &str, refusal: &Refusal) -> Failure {
    Failure::usage(format!("`{name}` can't be built: {refusal}"))
}

fn header(planning: &Planning, selection: &Selection) -> Result<Header, Failure> {
    let definition = &planning.definition;
    let objective = planning.configured.objective();
    let mut workloads = Vec::new();
    let mut screened = BTreeMap::new();
    for selected in &selection.workloads {
        workloads.push(WorkloadEntry {
            workload: workload(planning, &selected.name)?.clone(),
            control: selected.control.clone(),
        });
        for (operation, orientations) in &selected.screened {
            for (orientation, n) in orientations {
                screened.insert(format!("{}/{operation}/{orientation}", selected.name), n.to_string());
            }
        }
    }
    let measure = &definition.measure;
    Ok(Header {
        target: planning.configured.target().to_owned(),
        objective: (objective.name.to_owned(), objective.unit.to_owned()),
        inverse_of: planning
            .configured
            .inverse_of()
            .map(|number| (number.name.to_owned(), number.unit.to_owned())),
        definition: definition.source.text.clone(),
        options: planning.configured.options(),
        workloads,
        measure: Measure {
            rounds: measure.rounds,
            pairs: measure.pairs,
            finalists: measure.finalists,
            confirm: measure.confirm,
            seed: measure.seed,
            build_timeout_ms: milliseconds(measure.build_timeout),
            run_timeout_ms: milliseconds(measure.run_timeout),
            cross: definition.explore.adaptive.map_or(0, |adaptive| adaptive.cross),
        },
        screened,
        chosen_from: ChosenFrom {
            legal_plans: selection
                .workloads
                .iter()
                .map(|w| (w.name.clone(), w.total.to_string()))
                .collect(),
            refused: selection.refused.iter().map(refused_case).collect(),
        },
        machine: planning.machine.clone(),
        origin: Origin {
            definition_path: definition.source.path.clone(),
            frozen_at: jiff::Timestamp::now(),
            git_revision: git_revision(Path::new(&definition.source.path).parent().unwrap_or(Path::new("."))),
        },
    })
}

fn refused_case(refused: &Refused) -> RefusedCase {
    RefusedCase {
        name: refused.name.clone(),
        workload: refused.workload.clone(),
        refusal: refused.reason.clone(),
    }
}

fn milliseconds(limit: TimeLimit) -> u64 {
    limit.milliseconds
}
