//! Programs that a target needs: found, resolved and digested.

use std::env;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use cohort::sha256_file;
use target_api::{CommandSpec, Tool, ToolSpec};

use crate::guard::Hooks;
use crate::interrupt::Interrupt;
use crate::process::{Job, Launcher, ProcessError};

/// Programs that stand in for a compiler by the name they are called by. With links resolved that name is lost.
const LAUNCHERS: [&str; 4] = ["ccache", "sccache", "distcc", "icecc"];

/// Limit for printing a version.
const VERSION_TIMEOUT: Duration = Duration::from_secs(30);

/// Why a tool can't be used.
#[derive(Debug, thiserror::Error)]
pub enum ToolError {
    /// It is not on the search path.
    #[error("no {name} found: `{program}` is not on `PATH`{}", hint(.variable.as_ref()))]
    NotFound {
        /// What it is to the target.
        name: String,
        /// What was looked for.
        program: String,
        /// The variable that may name another.
        variable: Option<&'static str>,
    },
    /// The variable names something that is not a program.
    #[error("`{variable}` is `{value}`, and that is no program that can be found; set it to a program, or unset it")]
    Variable {
        /// The variable.
        variable: &'static str,
        /// Its value.
        value: String,
    },
    /// The variable contains arguments. They would not be part of the frozen flags.
    #[error("`{variable}` is `{value}`: arguments are not taken from there; set it to the program alone")]
    Arguments {
        /// The variable.
        variable: &'static str,
        /// Its value.
        value: String,
    },
    /// It is a wrapper that hides the real program.
    #[error(
        "{name} `{path}` is `{launcher}` in disguise, so its digest says nothing; set `{}` to the real program",
        .variable.unwrap_or("PATH")
    )]
    Launcher {
        /// What it is to the target.
        name: String,
        /// Where it was found.
        path: PathBuf,
        /// The wrapper.
        launcher: String,
        /// The variable that may name another.
        variable: Option<&'static str>,
    },
    /// It does not print its version.
    #[error("{name} `{path}` does not print its version: {reason}")]
    Version {
        /// What it is to the target.
        name: String,
        /// Where it was found.
        path: PathBuf,
        /// How it ended.
        reason: String,
    },
    /// It could not be started.
    #[error("cannot ask {name} `{path}` for its version")]
    Process {
        /// What it is to the target.
        name: String,
        /// Where it was found.
        path: PathBuf,
        /// Why.
        source: Box<ProcessError>,
    },
    /// The file can't be read.
    #[error("cannot read {name}")]
    Io {
        /// What it is to the target.
        name: String,
        /// Why.
        source: std::io::Error,
    },
}

impl ToolError {
    /// What the tool is to its target.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        match self {
            Self::NotFound { name, .. }
            | Self::Launcher { name, .. }
            | Self::Version { name, .. }
            | Self::Process { name, .. }
            | Self::Io { name, .. } => Some(name),
            Self::Variable { .. } | Self::Arguments { .. } => None,
        }
    }

    /// Whether Ctrl-C ended it.
    #[must_use]
    pub fn is_interrupted(&self) -> bool {
        matches!(self, Self::Process { source, .. } if matches!(**source, ProcessError::Cancelled))
    }
}

fn hint(variable: Option<&&'static str>) -> String {
    variable.map_or_else(
        || "; install it".to_owned(),
        |variable| format!("; install one (a package such as `gcc` or `clang`) or set `{variable}`"),
    )
}

/// Finds every tool, in order: `variable` if it is set, else `program` on `PATH`.
/// The name by which targets ask for the program that they are part of.
const THIS_PROGRAM: &str = "layout-sweep";

pub(crate) async fn find_all(
    specs: &[ToolSpec],
    launcher: &Launcher,
    interrupt: &Interrupt,
) -> Result<Vec<Tool>, ToolError> {
    let mut tools = Vec::with_capacity(specs.len());
    for spec in specs {
        let set = spec
            .variable
            .and_then(|variable| Some((variable, env::var(variable).ok()?)));
        // A target that runs its unit model as a process means this very program.
        if spec.program == THIS_PROGRAM && set.is_none() {
            tools.push(identify(spec, launcher.binary.clone(), launcher, interrupt).await?);
            continue;
        }
        let path = locate(
            spec,
            set.filter(|(_, value)| !value.trim().is_empty()),
            &env::var_os("PATH").unwrap_or_default(),
        )?;
        tools.push(identify(spec, path, launcher, interrupt).await?);
    }
    Ok(tools)
}

fn locate(
    spec: &ToolSpec,
    set: Option<(&'static str, String)>,
    search: &std::ffi::OsStr,
) -> Result<PathBuf, ToolError> {
    let Some((variable, value)) = set else {
        return on_path(&spec.program, search).ok_or_else(|| ToolError::NotFound {
            name: spec.name.to_owned(),
            program: spec.program.clone(),
            variable: spec.variable,
        });
    };
    match on_path(&value, search) {
        Some(path) => Ok(path),
        None if value.split_whitespace().nth(1).is_some() => Err(ToolError::Arguments { variable, value }),
        None => Err(ToolError::Variable { variable, value }),
    }
}

/// Where a program is: on `PATH`, or where its own path leads. `None` where nothing there may be executed.
#[must_use]
pub fn find_program(program: &str) -> Option<PathBuf> {
    on_path(program, &env::var_os("PATH").unwrap_or_default())
}

/// The first file of this name on the search path that may be executed; a name with a slash is a path already.
fn on_path(program: &str, search: &std::ffi::OsStr) -> Option<PathBuf> {
    let runs = |path: &Path| {
        std::fs::metadata(path).is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
    };
    if program.contains('/') {
        return Some(PathBuf::from(program)).filter(|path| runs(path));
    }
    env::split_paths(search)
        .map(|folder| folder.join(program))
        .find(|path| runs(path))
}

async fn identify(
    spec: &ToolSpec,
    found: PathBuf,
    launcher: &Launcher,
    interrupt: &Interrupt,
) -> Result<Tool, ToolError> {
    let name = || spec.name.to_owned();
    let io = |source| ToolError::Io { name: name(), source };
    let path = fs_err::canonicalize(&found).map_err(io)?;
    let file = path.file_name().and_then(|file| file.to_str()).unwrap_or_default();
    if LAUNCHERS.contains(&file) {
        return Err(ToolError::Launcher {
            name: name(),
            launcher: file.to_owned(),
            path: found,
            variable: spec.variable,
        });
    }
    let (sha256, _) = sha256_file(&path).map_err(|error| io(std::io::Error::other(error)))?;
    let text = path
        .to_str()
        .ok_or_else(|| io(std::io::Error::other("its path is no UTF-8")))?;
    let command = CommandSpec {
        program: text.to_owned(),
        arguments: spec.version_arguments.clone(),
        // Versions in the language of the day would be different classes.
        environment: [("LC_ALL".to_owned(), "C".to_owned())].into(),
    };
    let scratch = tempfile::tempdir().map_err(io)?;
    let job = Job {
        command: &command,
        directory: scratch.path(),
        hooks: Hooks::default(),
        lock: None,
        timeout: Some(VERSION_TIMEOUT),
        stdout: &scratch.path().join("out"),
        stderr: &scratch.path().join("err"),
    };
    let finished = launcher
        .run(&job, interrupt, &mut |_| ())
        .await
        .map_err(|source| ToolError::Process {
            name: name(),
            path: path.clone(),
            source: Box::new(source),
        })?;
    let captured = finished.captured;
    let first = captured.stdout.lines().map(str::trim).find(|line| !line.is_empty());
    match first {
        Some(version) if captured.exit_code == Some(0) => Ok(Tool {
            name: name(),
            path: text.to_owned(),
            version: version.to_owned(),
            // Even where it is one line: whoever says more later says something else.
            output: Some(captured.stdout.trim().to_owned()),
            sha256,
        }),
        _ => Err(ToolError::Version {
            name: name(),
            reason: crate::steps::how_it_ended(&captured, &finished.ended),
            path,
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec() -> ToolSpec {
        ToolSpec {
            name: "compiler",
            variable: Some("CC"),
            program: "cc".to_owned(),
            version_arguments: vec!["--version".to_owned()],
        }
    }

    fn cc(value: &str) -> Result<PathBuf, ToolError> {
        locate(&spec(), Some(("CC", value.to_owned())), "/usr/bin".as_ref())
    }

    #[test]
    fn nothing_found_says_what_to_install_or_set() {
        let message = locate(&spec(), None, "/nowhere".as_ref()).unwrap_err().to_string();
        assert_eq!(
            message,
            "no compiler found: `cc` is not on `PATH`; install one (a package such as `gcc` or `clang`) or set `CC`"
        );
    }

    #[test]
    fn arguments_in_the_variable_are_refused() {
        let message = cc("gcc -m32").unwrap_err().to_string();
        assert!(
            message.contains("`CC` is `gcc -m32`: arguments are not taken"),
            "{message}"
        );
        let message = cc("/no/such").unwrap_err().to_string();
        assert!(message.contains("no program that can be found"), "{message}");
    }

    #[test]
    fn a_path_with_a_space_is_no_argument() {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("my cc");
        std::fs::write(&program, "#!/bin/sh\n").unwrap();
        std::fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).unwrap();
        assert_eq!(cc(program.to_str().unwrap()).unwrap(), program);
        // Not executable: passed over.
        std::fs::set_permissions(&program, PermissionsExt::from_mode(0o644)).unwrap();
        assert!(cc(program.to_str().unwrap()).is_err());
    }
}
