//! Which programs a definition names, as far as they can be told before anything runs.

use target_api::Program;

use crate::settings::Settings;

/// Programs of probes, builds and rounds, each once, in the order in which they are needed.
///
/// What lies behind a launcher is looked for where the launcher leads, and lines of a shell or a `PATH` of the
/// definition's own may put a program where nobody finds it before: these are left to the commands themselves.
pub(crate) fn programs(settings: &Settings) -> Vec<Program> {
    let command = &settings.tables.command;
    let mut found: Vec<Program> = Vec::new();
    let mut add = |key: String, program: String| {
        if found.iter().all(|known| known.program != program) {
            found.push(Program { key, program });
        }
    };
    for (name, probe) in &command.probe {
        if let Some(program) = probe.first() {
            add(format!("command.probe.{name}[0]"), program.clone());
        }
    }
    let searched_elsewhere = !command.setup.is_empty() || command.env.contains_key("PATH");
    let mut of_command = |key: String, program: String| {
        if program.contains('/') || !searched_elsewhere {
            add(key, program);
        }
    };
    if let Some(launcher) = command.launcher.first() {
        of_command("command.launcher[0]".to_owned(), launcher.clone());
        return found;
    }
    for (key, line) in settings.lines() {
        if let Some(program) = line.program() {
            of_command(format!("{key}[0]"), program);
        }
    }
    found
}
