//! What runs before and after a command, under the same lock. What was set before is undone after, whatever happens in
//! between: the command fails, its time is over, somebody interrupts, the coordinator dies.

use std::path::Path;

use super::protocol::{Ended, GuardRequest, Hook, Hooks};
use super::run::{GuardFailure, Stop, run};

/// Runs the command of `request` between its hooks. A hook that fails stands in [`Ended::hook_error`]; when it is the
/// first one, the command is not run.
pub(super) async fn surrounded(request: &GuardRequest, stop: &mut Stop, waited_ms: u64) -> Result<Ended, GuardFailure> {
    let Hooks { before, after } = &request.hooks;
    let not_before = match before {
        Some(hook) => failure(request, hook, "before").await,
        None => None,
    };
    let result = match not_before {
        None => run(request, Some(stop), waited_ms).await,
        Some(reason) => Ok(Ended {
            waited_ms,
            hook_error: Some(reason),
            ..Ended::default()
        }),
    };
    let not_after = match after {
        Some(hook) => failure(request, hook, "after").await,
        None => None,
    };
    let mut ended = result?;
    ended.hook_error = ended.hook_error.or(not_after);
    Ok(ended)
}

/// Runs a hook to its end; says how it failed, if it did.
async fn failure(request: &GuardRequest, hook: &Hook, word: &str) -> Option<String> {
    let beside = |end: &str| request.stderr.with_extension(format!("{word}-{end}"));
    let own = GuardRequest {
        lock: None,
        hooks: Hooks::default(),
        note: None,
        run_timeout_ms: hook.timeout_ms,
        stdout: beside("out"),
        stderr: beside("err"),
        program: hook.program.clone(),
        arguments: hook.arguments.clone(),
        environment: with_mark(request, hook),
        ..request.clone()
    };
    let how = match run(&own, None, 0).await {
        Ok(ended) if ended.timed_out => "it ran too long".to_owned(),
        Ok(Ended { exit_code: Some(0), .. }) => return None,
        Ok(Ended {
            exit_code: Some(code), ..
        }) => format!("exit code {code}"),
        Ok(ended) => format!("ended by signal {}", ended.signal.unwrap_or_default()),
        Err(error) => crate::errors::chain(&error),
    };
    let words = last_line(&own.stderr).or_else(|| last_line(&own.stdout));
    let words = words.map_or_else(String::new, |words| format!(": {words}"));
    Some(format!("`{word}_run` failed: {how}{words}"))
}

/// The variables of a hook, with the one by which processes of this guard are known.
fn with_mark(request: &GuardRequest, hook: &Hook) -> std::collections::BTreeMap<String, String> {
    let mut environment = hook.environment.clone();
    if let Some(mark) = request.environment.get(super::MARK) {
        environment.insert(super::MARK.to_owned(), mark.clone());
    }
    environment
}

fn last_line(path: &Path) -> Option<String> {
    let bytes = std::fs::read(path).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let line = text.lines().rev().map(str::trim).find(|line| !line.is_empty())?;
    Some(line.chars().take(300).collect())
}
