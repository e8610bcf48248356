//! The guard: a process between the coordinator and every command, so that neither a process nor a lock survives.

mod capture;
mod child;
mod dispatch;
mod hooks;
mod note;
mod protocol;
mod run;
mod tree;

pub use child::guard_child_main;
pub(crate) use child::not_started;
pub use dispatch::{CHILD_SUBCOMMAND, SUBCOMMAND, hidden_subcommand};
pub(crate) use note::digests;
pub(crate) use protocol::TELL_WAITING_AFTER;
pub use protocol::{EndNote, Ended, GuardEvent, GuardRequest, Hook, Hooks, LockRequest, NoteRequest};
pub(crate) use run::MARK;
pub use run::guard_main;
