//! From argument lists to commands: groups, the launcher, the lines of a shell that come first, and what is built on
//! these.

use std::collections::BTreeMap;

use planner::definition::command::Argument;
use target_api::{CommandSpec, OptionError};

use crate::place::{Place, Role};
use crate::template::{Filling, Template};

/// An argument list that was checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CommandLine(Vec<Entry>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Entry {
    One(Template),
    Group(Vec<Template>),
}

impl CommandLine {
    /// Checks an argument list; `key` is its path in the definition.
    pub(crate) fn parse(
        key: &str,
        arguments: &[Argument],
        role: Role,
        parameters: &[&str],
    ) -> Result<Self, OptionError> {
        let wrong = |message: &str| OptionError {
            key: key.to_owned(),
            message: message.to_owned(),
        };
        match arguments.first() {
            None => return Err(wrong("the list is empty: expected a program and its arguments")),
            Some(Argument::Group(_)) => return Err(wrong("the program can't stand in a list of its own")),
            Some(Argument::One(program)) if program.is_empty() => return Err(wrong("the program has no name")),
            Some(Argument::One(_)) => {}
        }
        let mut entries = Vec::new();
        for (index, argument) in arguments.iter().enumerate() {
            let mut templates = Vec::new();
            for (inner, text) in argument.texts() {
                let place = inner.map_or_else(|| format!("{key}[{index}]"), |inner| format!("{key}[{index}][{inner}]"));
                templates.push(Template::parse(&place, text, role, parameters)?);
            }
            entries.push(match argument {
                Argument::One(_) => Entry::One(templates.remove(0)),
                Argument::Group(_) => Entry::Group(templates),
            });
        }
        Ok(Self(entries))
    }

    /// Its program, where no placeholder stands in it.
    pub(crate) fn program(&self) -> Option<String> {
        match self.0.first() {
            Some(Entry::One(template))
                if template.places().next().is_none() && template.parameters().next().is_none() =>
            {
                Some(template.fill(&Filling::default()).text)
            }
            _ => None,
        }
    }

    /// Its texts, each with whether it stands in a group.
    pub(crate) fn templates(&self) -> impl Iterator<Item = (&Template, bool)> {
        self.0.iter().flat_map(|entry| {
            let (templates, group) = match entry {
                Entry::One(template) => (std::slice::from_ref(template), false),
                Entry::Group(templates) => (templates.as_slice(), true),
            };
            templates.iter().map(move |template| (template, group))
        })
    }

    /// The places that it names, each with whether it stands in a group.
    pub(crate) fn places(&self) -> impl Iterator<Item = (&Place, bool)> {
        self.templates()
            .flat_map(|(template, group)| template.places().map(move |place| (place, group)))
    }

    /// Whether it names this place.
    pub(crate) fn names(&self, place: &Place) -> bool {
        self.places().any(|(own, _)| own == place)
    }

    /// The arguments.
    pub(crate) fn fill(&self, with: &Filling<'_>) -> Vec<String> {
        let mut arguments = Vec::new();
        for entry in &self.0 {
            match entry {
                Entry::One(template) => arguments.push(template.fill(with).text),
                Entry::Group(templates) => {
                    let filled: Vec<_> = templates.iter().map(|template| template.fill(with)).collect();
                    if filled.iter().all(|argument| !argument.silent) {
                        arguments.extend(filled.into_iter().map(|argument| argument.text));
                    }
                }
            }
        }
        arguments
    }
}

/// What every command is put behind.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Prefix {
    /// Lines of a shell.
    pub(crate) setup: Vec<String>,
    /// A program that starts others.
    pub(crate) launcher: Vec<String>,
    /// Names of programs that were found, with their paths.
    pub(crate) found: BTreeMap<String, String>,
}

impl Prefix {
    /// The command that runs these arguments.
    ///
    /// With `setup` a shell runs its lines and then becomes the program. The arguments are handed to that shell as its
    /// positional parameters, so nothing in them is ever read as shell.
    pub(crate) fn command(&self, arguments: Vec<String>, environment: BTreeMap<String, String>) -> CommandSpec {
        let mut all = self.launcher.iter().cloned().chain(arguments);
        let program = all.next().unwrap_or_default();
        if self.setup.is_empty() {
            return CommandSpec {
                program: self.found.get(&program).cloned().unwrap_or_else(|| started(program)),
                arguments: all.collect(),
                environment,
            };
        }
        // `PATH` may be what the lines change: the shell looks for the program itself.
        let script = format!("set -e\n{}\nexec \"$@\"", self.setup.join("\n"));
        let arguments = ["-c".to_owned(), script, "layout-sweep".to_owned(), started(program)];
        CommandSpec {
            program: "/bin/sh".to_owned(),
            arguments: arguments.into_iter().chain(all).collect(),
            environment,
        }
    }
}

/// A program as it can be started: a name, an absolute path, or a path that begins with `./`.
fn started(program: String) -> String {
    let relative = program.contains('/') && !program.starts_with('/') && !program.starts_with("./");
    if relative { format!("./{program}") } else { program }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command(setup: &[&str], launcher: &[&str], arguments: &[&str]) -> (String, Vec<String>) {
        let own = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        let prefix = Prefix {
            setup: own(setup),
            launcher: own(launcher),
            found: BTreeMap::from([("gcc".to_owned(), "/usr/bin/gcc-14".to_owned())]),
        };
        let spec = prefix.command(own(arguments), BTreeMap::new());
        (spec.program, spec.arguments)
    }

    #[test]
    fn commands_are_lists_and_shells_only_see_their_own_lines() {
        assert_eq!(
            command(&[], &[], &["gcc", "-O3"]),
            ("/usr/bin/gcc-14".into(), vec!["-O3".into()])
        );
        assert_eq!(
            command(&[], &[], &["tools/x.sh", "a b"]),
            ("./tools/x.sh".into(), vec!["a b".into()])
        );
        assert_eq!(
            command(&[], &["apptainer", "exec"], &["gcc"]),
            ("apptainer".into(), vec!["exec".into(), "gcc".into()])
        );
        let (program, arguments) = command(&["module load gcc/13"], &[], &["gcc", "$(x); 'y'"]);
        assert_eq!(program, "/bin/sh");
        assert_eq!(
            arguments,
            [
                "-c",
                "set -e\nmodule load gcc/13\nexec \"$@\"",
                "layout-sweep",
                "gcc",
                "$(x); 'y'"
            ]
        );
    }

    #[test]
    fn a_real_shell_hands_arguments_on_untouched() {
        let odd = [
            "/usr/bin/printf",
            "%s|",
            "a b",
            "$(echo no)",
            "`echo no`",
            "'\"",
            "",
            "*",
            "-n",
            "\\n",
        ];
        let (program, arguments) = command(&["X='set by a line'", "export X"], &[], &odd);
        #[expect(clippy::disallowed_methods, reason = "the test runs what it made")]
        let mut command = std::process::Command::new(program);
        let output = command.args(arguments).output().unwrap();
        let expected = "a b|$(echo no)|`echo no`|'\"||*|-n|\\n|";
        assert_eq!(String::from_utf8(output.stdout).unwrap(), expected);
    }
}
