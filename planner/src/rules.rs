//! What enumeration and selection ask of a target.

use crate::parameters::NoResult;
use crate::refusal::Refusal;
use crate::space::{Assignment, Space};
use crate::value::Attributes;
use crate::workload::Workload;

/// The part of a configured target that the planner needs. Pure: no I/O, no clock.
pub trait Rules {
    /// All plans of `workload`, as parameters and the constraints between them. Parameters of one operation are named
    /// `<operation>.<attribute>`, those of the whole plan have no dot. Fails when the target can't run such a workload.
    fn space(&self, workload: &Workload) -> Result<Space, Refusal>;

    /// The plan that attributes which are not given are taken from: one legal value for every parameter of the space.
    fn defaults(&self, workload: &Workload) -> Result<Assignment, Refusal>;

    /// Whether what a person leaves out of a plan has a meaning of its own, the value that [`Rules::defaults`] gives.
    /// Where parameters are free, the first value is as good as any other: then a plan says all of them.
    fn has_defaults(&self) -> bool {
        true
    }

    /// Canonical text of a legal assignment; of one that has none, because a value is missing or means nothing, its attributes
    /// in words.
    fn text(&self, workload: &Workload, assignment: &Assignment) -> String;

    /// Canonical text of one operation's part of it; breaks ties in screening.
    fn operation_text(&self, workload: &Workload, operation: &str, assignment: &Assignment) -> String;

    /// Attributes that follow from the assignment (footprints, block extents in elements, registers).
    fn derived(&self, workload: &Workload, assignment: &Assignment) -> Attributes;

    /// The screening proxy of one operation's geometry: cheap, smaller is better, finite. `None` where it has no value:
    /// such geometries come after all others, in the order of their text.
    fn proxy(&self, workload: &Workload, operation: &str, assignment: &Assignment) -> Option<f64>;

    /// Whether results only mean something beside those of a control.
    fn needs_control(&self) -> bool {
        true
    }

    /// What left plans out although nobody excluded them: the first evaluation without a result (a division by zero in
    /// a constraint, say) since this was made. `None` where there was none.
    fn fault(&self) -> Option<NoResult> {
        None
    }

    /// Completes one operation's geometry where a screen says that attributes are `derived`: gives the assignment with
    /// these set, or `None` when screening passes over it. Fails when the target does not derive such an attribute.
    fn complete(
        &self,
        _workload: &Workload,
        operation: &str,
        derived: &[String],
        _assignment: &Assignment,
    ) -> Result<Option<Assignment>, Refusal> {
        let message = format!(
            "operation `{operation}`: {} can't be derived, only listed",
            derived.join(", ")
        );
        Err(Refusal::new("derived", message))
    }
}
