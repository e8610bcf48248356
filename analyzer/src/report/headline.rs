//! The first sentence of the answer. Shared by report and page.

use super::answer::role;
use super::words::{achieves, times_as_fast};
use crate::analysis::{Analysis, Figure, Winner, WorkloadRow};
use crate::format::{counted, significant};
use crate::standing::Standing;

/// How the parts of a sentence are written.
pub(crate) struct Form<'a> {
    /// A case's name.
    pub(crate) case: &'a dyn Fn(&str) -> String,
    /// Words of users.
    pub(crate) plain: &'a dyn Fn(&str) -> String,
    /// What matters most.
    pub(crate) strong: &'a dyn Fn(&str) -> String,
}

/// Which plan to take, and what it gains; or that no gain is shown, and why.
pub(crate) fn headline(analysis: &Analysis, workload: &WorkloadRow, winner: &Winner, form: &Form<'_>) -> String {
    let objective = &analysis.setup.objective;
    let (role, better) = (role(workload), objective.better());
    let (case, control) = ((form.case)(&winner.case), (form.case)(&workload.control));
    let counts = |figure: Figure| counted(figure.samples, workload.counts());
    let achieved = |figure| achieves(objective, figure, role, &(form.plain)(&objective.name));
    let found = || format!("{} ({})", achieved(winner.ratio), counts(winner.ratio));
    match workload.standing().unwrap_or(Standing::Nothing) {
        Standing::Control => {
            let verb = if workload.has_control { "Keep" } else { "Take" };
            format!("{verb} {role}, {control}: no case is shown to be {better} than {role}.")
        }
        Standing::ControlFailed(failed) => format!(
            "No gain can be stated: {role}, {control}, failed ({}). The best median of the others is that of {case}: {}, by \
             its calls beside the cases.",
            failed.outcome.word(),
            found()
        ),
        Standing::Unconfirmed(confirmed) => format!(
            "No gain over {role}, {control}, is confirmed. The best median is that of {case}: {} ({} of confirmation); the \
             rounds that chose it said {}.",
            achieved(confirmed),
            counts(confirmed),
            found()
        ),
        Standing::Nothing => format!(
            "No case is shown to be {better} than {role}, {control}. The best median is that of {case}: {}.",
            found()
        ),
        Standing::Another(other, figure) => format!(
            "Take {}, or measure more: {} ({}). The best median is that of {case}, {}, but it is not shown to be {better} than \
             {role}, {control}.",
            (form.case)(&other.name),
            achieved(figure),
            counts(figure),
            found()
        ),
        Standing::Winner => {
            let (ratio, confirmed) = match winner.confirmed_ratio {
                Some(ratio) => (ratio, " of confirmation"),
                None => (winner.ratio, ""),
            };
            let said = if workload.varies {
                format!("{} ({}{confirmed})", achieved(ratio), counts(ratio))
            } else {
                let name = (form.plain)(&objective.name);
                let (shown, of) = if objective.larger_is_better {
                    (1.0 / ratio.median, "times")
                } else {
                    (ratio.median, "of")
                };
                format!("{} {of} {role}'s {name} (values do not vary)", significant(shown, 4))
            };
            let fast = times_as_fast(objective, ratio.median, &control);
            let fast = fast
                .strip_prefix(", ")
                .map_or_else(String::new, |fast| format!(", {}", (form.strong)(fast)));
            format!("Take {case}: {said}{fast}.")
        }
    }
}
