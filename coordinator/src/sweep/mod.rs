//! Running a frozen cohort, or going on with it.

mod alternate;
mod case_files;
mod check;
mod claims;
mod confirm;
mod consent;
mod context;
mod device;
mod earlier;
mod endings;
mod error;
mod filter;
mod finalists;
mod grow;
mod hand_out;
mod log;
mod lost;
mod node_digests;
mod on_slurm;
mod options;
mod outcome;
mod queue;
mod ranking;
mod recover;
mod rounds;
mod run;
mod side;
mod todo;
mod twins;

pub use device::locks_of;
pub use error::{DAMAGED, RunError, help_with};
pub use filter::{FilterError, Retry, matches, passes};
pub use grow::{Crosses, NewCases};
pub use hand_out::{ShardStatus, hand_out, shards};
pub use on_slurm::run_on_slurm;
pub use options::{RunOptions, RunSummary};
pub use ranking::{Ranked, Ranking};
pub use run::{open_for, run};

pub(crate) use claims::runs_here;
pub(crate) use context::{Context, Piece};
pub(crate) use log::Log;
