//! `layout-sweep plan DEFINITION --why`: three questions about a geometry.

use planner::select::{Selection, Step, Trace, trace};
use serde::Serialize;
use target_api::{Answer, Why};

use crate::failure::Failure;
use crate::freezing;
use crate::output::{Format, print, print_json, table};
use crate::planning::Planning;
use crate::trial_constraints::{base, one_workload, texts};

#[derive(Serialize)]
struct Told {
    #[serde(flatten)]
    why: Why,
    #[serde(skip_serializing_if = "Option::is_none")]
    explored: Option<Trace>,
}

/// Answers, for each constraint text: can ownership and storage describe it, can the target execute it, and does this
/// exploration make and keep it.
pub(crate) fn tell(
    planning: &Planning,
    selection: &Selection,
    workload: Option<&str>,
    constraints: &[String],
    format: Format,
) -> Result<(), Failure> {
    let selected = one_workload(selection, workload)?;
    let its = freezing::workload(planning, &selected.name)?;
    let mut all = Vec::new();
    for constraint in constraints {
        let why = texts(planning)?
            .why(its, constraint, base(selected))
            .map_err(|refusal| Failure::usage(refusal.to_string()))?;
        let explored = match &why.assignment {
            Some(plan) => Some(
                trace(
                    &planning.definition,
                    &*planning.configured,
                    selection,
                    &selected.name,
                    &why.operation,
                    plan,
                )
                .map_err(|error| Failure::usage(error.to_string()))?,
            ),
            None => None,
        };
        all.push(Told { why, explored });
    }
    if format == Format::Json {
        return print_json(&all);
    }
    for (at, told) in all.iter().enumerate() {
        if at > 0 {
            print("");
        }
        show(told);
    }
    Ok(())
}

fn show(told: &Told) {
    print(&format!("{} (operation `{}`)", told.why.constraint, told.why.operation));
    let row = |question: &str, answer: &Answer| {
        let rule = answer
            .rule
            .as_ref()
            .map_or(String::new(), |rule| format!("rule `{rule}`: "));
        vec![question.to_owned(), word(answer.yes), format!("{rule}{}", answer.why)]
    };
    let mut rows = vec![
        row("ownership and storage can describe it", &told.why.described),
        row("the target can execute it", &told.why.executed),
    ];
    let question = "this exploration makes and keeps it".to_owned();
    rows.push(match &told.explored {
        None => vec![question, word(false), "no plan can say it".to_owned()],
        Some(trace) => vec![question, word(trace.step == Step::Kept), explored(trace)],
    });
    print(&table(&["question", "answer", "why"], rows));
    for beyond in &told.why.beyond {
        print(&format!("beyond the published planner: {beyond}"));
    }
}

fn explored(trace: &Trace) -> String {
    let step = match trace.step {
        Step::Space => "not in the space: ",
        Step::Screen => "not screened: ",
        Step::Strata => "screened, not chosen: ",
        Step::Rank => "screened, outranked: ",
        Step::Kept => "",
    };
    let rank = trace.screened.map_or(String::new(), |(rank, of)| {
        format!("; rank {rank} of {of} screened by the proxy")
    });
    format!("{step}{}{rank}", trace.why)
}

fn word(yes: bool) -> String {
    if yes { "yes" } else { "no" }.to_owned()
}
