//! The stage between guard and command: it asks to be killed when the guard dies, then becomes the command.
//!
//! A process can only set this for itself, and running code between fork and exec needs `unsafe`; so it is a program of
//! its own, the same binary again.

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::process::Command;

use rustix::process::{Signal, getppid, set_parent_process_death_signal};

/// Exit code when the command can't be started, as shells have it.
const NOT_STARTED: i32 = 127;

/// What the guard's own words on standard error begin with.
const OWN: &str = "layout-sweep guard: ";

/// Why a command never ran, where that is so.
pub(crate) fn not_started(exit_code: Option<i32>, stderr: &str) -> Option<&str> {
    let own = stderr.strip_prefix(OWN)?.trim_end();
    (exit_code == Some(NOT_STARTED)).then_some(own)
}

/// The hidden subcommand `guard-child GUARD_PID PROGRAM ARGUMENTS...`. Returns only when it fails; standard error then
/// says why.
#[must_use]
pub fn guard_child_main(arguments: &[OsString]) -> i32 {
    let [guard, program, rest @ ..] = arguments else {
        return fail("it is started by the guard only");
    };
    if let Err(error) = set_parent_process_death_signal(Some(Signal::KILL)) {
        return fail(&format!("cannot ask for the parent-death signal: {error}"));
    }
    // The guard may have died before the line above: then nobody sends the signal.
    let parent = getppid().map(|pid| pid.as_raw_nonzero().get().to_string());
    if parent.as_deref() != guard.to_str() {
        return fail("the guard has gone");
    }
    let error = Command::new(program).args(rest).exec();
    fail(&format!("cannot start `{}`: {error}", program.display()))
}

fn fail(message: &str) -> i32 {
    use std::io::Write as _;
    let _ = writeln!(std::io::stderr(), "{OWN}{message}");
    NOT_STARTED
}
