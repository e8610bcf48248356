//! Numbers in the output of a program: where each comes from, and reading it.

use planner::definition::command::{Number, When};
use regex::{Regex, RegexBuilder};
use serde_json::Value;
use target_api::OptionError;

use crate::pointer::Pointer;

/// A number that is read.
#[derive(Debug, Clone)]
pub(crate) struct NumberSpec {
    pub(crate) name: String,
    pub(crate) unit: Option<String>,
    pub(crate) moment: When,
    pub(crate) from: From,
}

/// Where a number stands.
#[derive(Debug, Clone)]
pub(crate) enum From {
    /// In the output.
    Log {
        /// Only in the first line with this text.
        line: Option<String>,
        regex: Regex,
    },
    /// In a report.
    Report { name: String, pointer: Pointer },
    /// In a file of the case's folder.
    File { path: String, pointer: Pointer },
}

impl std::fmt::Display for From {
    /// What is looked for.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Log { line: None, regex } => write!(f, "nothing matches `{regex}`"),
            Self::Log {
                line: Some(line),
                regex,
            } => {
                write!(f, "nothing matches `{regex}` in the first line with `{line}`")
            }
            Self::Report { name, pointer } => write!(f, "`{pointer}` of report `{name}`"),
            Self::File { path, pointer } => write!(f, "`{pointer}` of `{path}`"),
        }
    }
}

/// What is searched for numbers.
pub(crate) trait Output {
    /// What was printed.
    fn log(&self) -> &str;
    /// A report or file; why there is none.
    fn json(&self, from: &From) -> Result<Value, String>;
}

/// A pattern over lines.
pub(crate) fn pattern(key: &str, text: &str) -> Result<Regex, OptionError> {
    RegexBuilder::new(text).multi_line(true).build().map_err(|error| {
        let message = error.to_string();
        // The library shows the pattern with carets of its own; its last line says what is wrong.
        let reason = message
            .lines()
            .last()
            .unwrap_or_default()
            .trim()
            .trim_start_matches("error: ");
        OptionError {
            key: key.to_owned(),
            message: format!("no regular expression: {reason}"),
        }
    })
}

impl NumberSpec {
    /// Checks one entry of `[command.result]`.
    pub(crate) fn parse(name: &str, number: &Number, reports: &[&str]) -> Result<Self, OptionError> {
        let at = |own: &str| format!("command.result.{name}{own}");
        let wrong = |key: String, message: String| OptionError { key, message };
        let from = match (&number.regex, &number.json, &number.file) {
            (Some(text), None, None) => {
                if number.pointer.is_some() || number.reduce.is_some() {
                    let message = "`pointer` and `reduce` go with `json` or `file`, not with `regex`".to_owned();
                    return Err(wrong(at(""), message));
                }
                let regex = pattern(&at(".regex"), text)?;
                if regex.captures_len() != 2 {
                    let message = format!(
                        "expected one group, the number, found {}: `cycles=([0-9]+)`; `(?:...)` groups without counting",
                        regex.captures_len() - 1
                    );
                    return Err(wrong(at(".regex"), message));
                }
                From::Log {
                    line: number.line.clone(),
                    regex,
                }
            }
            (None, json, file) if json.is_some() != file.is_some() => {
                if number.line.is_some() {
                    return Err(wrong(at(".line"), "`line` goes with `regex`".to_owned()));
                }
                let Some(pointer) = &number.pointer else {
                    return Err(wrong(
                        at(""),
                        "expected `pointer`, a JSON pointer such as `/cycles`".to_owned(),
                    ));
                };
                let pointer =
                    Pointer::parse(pointer, number.reduce).map_err(|message| wrong(at(".pointer"), message))?;
                match (json, file) {
                    (Some(report), _) if reports.contains(&report.as_str()) => From::Report {
                        name: report.clone(),
                        pointer,
                    },
                    (Some(report), _) => return Err(wrong(at(".json"), no_report(report, reports))),
                    (None, file) => {
                        let path = file.clone().unwrap_or_default();
                        if !is_inside(&path) {
                            let message = format!("expected a file in the case's folder, found `{path}`");
                            return Err(wrong(at(".file"), message));
                        }
                        From::File { path, pointer }
                    }
                }
            }
            _ => {
                let message = "expected exactly one of `regex`, `json` (a report) and `file`".to_owned();
                return Err(wrong(at(""), message));
            }
        };
        if number.moment == When::Build && !matches!(from, From::Log { .. }) {
            let message = "what the build prints is read by `regex`".to_owned();
            return Err(wrong(at(".moment"), message));
        }
        Ok(Self {
            name: name.to_owned(),
            unit: number.unit.clone(),
            moment: number.moment,
            from,
        })
    }

    /// Reads it, or says why it can't be read.
    pub(crate) fn read(&self, output: &dyn Output) -> Result<f64, String> {
        match &self.from {
            From::Log { line, regex } => in_log(line.as_deref(), regex, output.log()),
            from @ (From::Report { pointer, .. } | From::File { pointer, .. }) => output
                .json(from)
                .and_then(|json| pointer.number(&json))
                .map_err(|why| format!("{from}: {why}")),
        }
    }
}

fn in_log(line: Option<&str>, regex: &Regex, log: &str) -> Result<f64, String> {
    let searched = match line {
        None => log,
        Some(mark) => log
            .lines()
            .find(|line| line.contains(mark))
            .ok_or_else(|| format!("no line contains `{mark}`, in which `{regex}` is looked for"))?,
    };
    let group = regex.captures(searched).and_then(|found| found.get(1));
    let group = group.ok_or_else(|| format!("nothing matches `{regex}`"))?.as_str();
    let number: Option<f64> = group.trim().parse().ok();
    number
        .filter(|number| number.is_finite())
        .ok_or_else(|| format!("`{group}`, which `{regex}` found, is no finite number"))
}

fn no_report(name: &str, reports: &[&str]) -> String {
    if reports.is_empty() {
        return format!("no report is called `{name}`: expected a table `[[command.report]]` with this name");
    }
    let names: Vec<String> = reports.iter().map(|name| format!("`{name}`")).collect();
    format!("no report is called `{name}`: expected {}", names.join(", "))
}

/// Whether a path leads to a file below a folder and nowhere else.
pub(crate) fn is_inside(path: &str) -> bool {
    !path.is_empty() && path.split('/').all(|part| !matches!(part, "" | "." | ".."))
}

/// A column's name: the unit is part of it, as it is written, unless the name ends in it already, in whatever case.
pub(crate) fn column(name: &str, unit: Option<&str>) -> String {
    let Some(unit) = unit else { return name.to_owned() };
    let (small, own) = (name.to_lowercase(), unit.to_lowercase());
    if small == own || small.ends_with(&format!("_{own}")) {
        name.to_owned()
    } else {
        format!("{name}_{unit}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_match_counts() {
        let log = "cycles=1\nbest: x=2 cycles=30\ncycles=nan\nt = 1.5e3 ms\nlast: cycles=inf\nneg -7\n";
        let table: [(Option<&str>, &str, Result<f64, &str>); 8] = [
            (None, r"cycles=(\S+)", Ok(1.0)),
            (Some("best:"), r"cycles=(\S+)", Ok(30.0)),
            (None, r"^t = (\S+) ms$", Ok(1500.0)),
            (None, r"neg (-?\d+)", Ok(-7.0)),
            (
                Some("last:"),
                r"cycles=(\S+)",
                Err(r"`inf`, which `cycles=(\S+)` found, is no finite number"),
            ),
            (
                Some("nowhere"),
                r"(x)",
                Err("no line contains `nowhere`, in which `(x)` is looked for"),
            ),
            (Some("best:"), r"t = (\S+)", Err(r"nothing matches `t = (\S+)`")),
            (
                None,
                r"(best)",
                Err("`best`, which `(best)` found, is no finite number"),
            ),
        ];
        for (line, regex, expected) in table {
            let found = in_log(line, &pattern("k", regex).unwrap(), log);
            assert_eq!(found, expected.map_err(str::to_owned), "{regex}");
        }
    }

    #[test]
    fn columns_carry_their_unit_once() {
        for (name, unit, expected) in [
            ("energy_j", Some("J"), "energy_j"),
            ("energy", Some("J"), "energy_J"),
            ("cycles", Some("cycles"), "cycles"),
            ("clock", Some("MHz"), "clock_MHz"),
            ("rate", Some("GFLOP/s"), "rate_GFLOP/s"),
            ("ratio", None, "ratio"),
        ] {
            assert_eq!(column(name, unit), expected);
        }
    }
}
