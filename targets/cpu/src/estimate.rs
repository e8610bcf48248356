//! What a plan will cost, predicted from the plan alone.

pub mod amounts;
pub mod analytic;
pub mod constants;
pub mod hardware;
pub mod kernel;
pub mod limits;
pub mod proxy;
pub mod reuse;
pub mod shape;
pub mod works;

use planner::Refusal;
use target_api::{Estimate, Moment, NoEstimate};

pub use analytic::Analytic;
pub use constants::Constants;
pub use hardware::Hardware;
pub use proxy::Proxy;
pub use works::{PhaseWork, Works};

/// An estimate of moment `plan` that is the sum of its parts. A plan that can't be read is no legal plan of the
/// workload: it has none.
fn estimate(name: &str, unit: &str, parts: Result<Vec<(String, f64)>, Refusal>) -> Result<Estimate, NoEstimate> {
    let parts = parts?;
    Ok(Estimate {
        name: name.to_owned(),
        value: parts.iter().map(|(_, part)| part).sum(),
        unit: unit.to_owned(),
        moment: Moment::Plan,
        parts,
    })
}
