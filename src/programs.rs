//! Whether the programs that a definition names are there. Asked before anything is frozen: a cohort whose commands can't
//! start is worth nothing.

use std::path::Path;

use coordinator::tools::find_program;
use target_api::{Program, SourceFile};

use crate::failure::Failure;
use crate::planning::{parse, target_of};
use crate::sources;

/// Looks for every program of the definition at `path`.
///
/// # Errors
/// All that are missing in one message, the first with its place in the file and what to do.
pub(crate) fn check(path: &Path) -> Result<(), Failure> {
    let text = fs_err::read_to_string(path)
        .map_err(|error| Failure::because(coordinator::ExitCode::Usage, "the definition can't be read", error))?;
    let definition = parse(&path.display().to_string(), &text)?;
    let target = target_of(&definition)?;
    let wrong = |key: &str, message: String| Failure::usage(definition.option_error(key, message).to_string());
    let option = |error: target_api::OptionError| wrong(&error.key, error.to_string());
    let programs = target.programs(&definition.options).map_err(option)?;
    if programs.is_empty() {
        return Ok(());
    }
    let patterns = target.sources(&definition.options).map_err(option)?;
    let files = sources::beside(path, &patterns)
        .map_err(|error| wrong(&format!("command.sources[{}]", error.pattern), error.message))?;
    let folder = path.parent().unwrap_or(Path::new(""));
    let missing: Vec<(&Program, (String, &str))> = programs
        .iter()
        .filter_map(|program| Some((program, complaint(&program.program, folder, &files)?)))
        .collect();
    let Some(((first, (why, help)), others)) = missing.split_first() else {
        return Ok(());
    };
    let mut message = format!("`{}`: {why}", first.key);
    for (program, (why, _)) in others {
        let place = definition.place_of(&program.key);
        message = format!("{message}; `{place}`: `{}`: {why}", program.key);
    }
    Err(wrong(&first.key, format!("{message}\nhelp: {help}")))
}

/// Why a program can't be started, and what to do; `None` where it can.
fn complaint(program: &str, folder: &Path, sources: &[SourceFile]) -> Option<(String, &'static str)> {
    if !program.contains('/') || program.starts_with('/') {
        let place = if program.contains('/') {
            "is no program that is there"
        } else {
            "is not on `PATH`"
        };
        return find_program(program)
            .is_none()
            .then(|| (format!("`{program}` {place}"), "install it, or name another one"));
    }
    let inner = program.strip_prefix("./").unwrap_or(program);
    match sources.iter().find(|source| source.path == inner) {
        Some(source) if source.text.starts_with("#!") => None,
        Some(_) => Some((
            format!("`{program}` is frozen as a text that does not begin with `#!`, so nothing can start it"),
            "begin it with a line such as `#!/bin/sh`, or name the program that reads it",
        )),
        None if folder.join(inner).is_file() => Some((
            format!("`{program}` is not among the frozen sources, which commands run among"),
            "add it to `sources`, or give its whole path",
        )),
        None => Some((
            format!("`{program}` is not there: relative paths start from the frozen sources"),
            "add it to `sources`, or give its whole path",
        )),
    }
}
