//! `[command.result]`, checked: what is looked for in the output of a case.

use std::collections::BTreeMap;

use planner::definition::command::{Command, CommandTables, Direction, ResultTable, When};
use planner::expression::Kind;
use regex::Regex;
use target_api::OptionError;

use crate::derived::{self, DerivedSpec};
use crate::number::{From, NumberSpec, pattern};

/// What is looked for in the output of a case.
#[derive(Debug, Clone)]
pub(crate) struct Reading {
    pub(crate) pass: Option<Regex>,
    pub(crate) loaded: Option<Regex>,
    pub(crate) rejected: Option<Regex>,
    pub(crate) numbers: Vec<NumberSpec>,
    pub(crate) derived: Vec<DerivedSpec>,
    pub(crate) objective: String,
    pub(crate) unit: String,
    pub(crate) direction: Direction,
    /// Whether there is a build that prints estimates.
    pub(crate) builds: bool,
    /// Whether a check says what is right.
    pub(crate) checks: bool,
}

fn wrong(key: &str, message: impl Into<String>) -> OptionError {
    OptionError {
        key: key.to_owned(),
        message: message.into(),
    }
}

impl Reading {
    pub(crate) fn parse(tables: &CommandTables, parameters: &[(&str, Kind)]) -> Result<Self, OptionError> {
        let (command, result) = (&tables.command, &tables.command.result);
        let reports = reports(command)?;
        let mut names = Vec::new();
        let mut numbers = Vec::new();
        for (name, number) in result.numbers.iter() {
            derived::check_name(&format!("command.result.{name}"), name, parameters, &names)?;
            numbers.push(NumberSpec::parse(name, number, &reports)?);
            names.push(name.to_owned());
        }
        let derived = derived::parse(&tables.derived, parameters, &names)?;
        let one = |key: &str, table: &Option<planner::definition::command::Pattern>| {
            let key = format!("command.result.{key}.regex");
            table.as_ref().map(|table| pattern(&key, &table.regex)).transpose()
        };
        if result.pass.is_none() && command.check.is_none() {
            let message = "nothing says whether a result is right: expected `pass = { regex = '...' }`, or `check` in \
                           `[command]`";
            return Err(wrong("command.result", message));
        }
        let (objective, unit) = objective(result, &numbers, &derived)?;
        Ok(Self {
            pass: one("pass", &result.pass)?,
            loaded: one("loaded", &result.loaded)?,
            rejected: one("rejected", &result.rejected)?,
            numbers,
            derived,
            objective,
            unit,
            direction: result.direction,
            builds: command.build.is_some(),
            checks: command.check.is_some(),
        })
    }

    /// Name and unit of what is compared: where larger values are better, the inverse.
    ///
    /// That is the only place that knows of directions: everything else compares by "smaller is better", ratios
    /// included (a rate that is twice as high has half the inverse). The rate itself is kept beside it.
    pub(crate) fn compared(&self) -> (String, String) {
        match self.direction {
            Direction::Lower => (self.objective.clone(), self.unit.clone()),
            Direction::Higher => (format!("inverse {}", self.objective), format!("1/({})", self.unit)),
        }
    }

    /// Files of the case's folder that numbers are read from.
    pub(crate) fn files(&self) -> Vec<String> {
        let mut files: Vec<String> = Vec::new();
        for number in &self.numbers {
            if let From::File { path, .. } = &number.from
                && !files.contains(path)
            {
                files.push(path.clone());
            }
        }
        files
    }

    /// Units of numbers by name.
    pub(crate) fn units(&self) -> BTreeMap<&str, Option<&str>> {
        let numbers = self
            .numbers
            .iter()
            .map(|number| (number.name.as_str(), number.unit.as_deref()));
        let derived = self
            .derived
            .iter()
            .map(|derived| (derived.name.as_str(), derived.unit.as_deref()));
        numbers.chain(derived).collect()
    }
}

fn reports(command: &Command) -> Result<Vec<&str>, OptionError> {
    let mut names: Vec<&str> = Vec::new();
    for (index, report) in command.report.iter().enumerate() {
        let key = format!("command.report[{index}].name");
        let name = report.name.as_str();
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        if name.is_empty() || !name.chars().all(plain) {
            return Err(wrong(
                &key,
                "a report is named by letters, digits, `-` and `_`: it becomes a file's name",
            ));
        }
        if ["command", "plan", "tile-mapping", "profile"].contains(&name) {
            return Err(wrong(
                &key,
                format!("`{name}.json` is a file of the case already: expected another name"),
            ));
        }
        if names.contains(&name) {
            return Err(wrong(&key, format!("a report called `{name}` stands there already")));
        }
        names.push(name);
    }
    Ok(names)
}

fn objective(
    result: &ResultTable,
    numbers: &[NumberSpec],
    derived: &[DerivedSpec],
) -> Result<(String, String), OptionError> {
    let all = || {
        let numbers = numbers
            .iter()
            .filter(|number| number.moment == When::Run)
            .map(|number| &number.name);
        let names = numbers.chain(derived.iter().map(|derived| &derived.name));
        names.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
    };
    let Some(name) = &result.objective else {
        let message = match all() {
            names if names.is_empty() => {
                "nothing is measured: expected a number such as `cycles = { regex = 'cycles=([0-9]+)', unit = \"cycles\" }` \
                 and `objective = \"cycles\"`"
                    .to_owned()
            }
            names => format!("expected `objective`, the name of the number that decides: {names}"),
        };
        return Err(wrong("command.result", message));
    };
    let key = "command.result.objective";
    let unit = match numbers.iter().find(|number| number.name == *name) {
        Some(number) if number.moment == When::Build => {
            return Err(wrong(
                key,
                format!("`{name}` is an estimate of the build: expected what a run measures"),
            ));
        }
        Some(number) => &number.unit,
        None => match derived.iter().find(|derived| derived.name == *name) {
            Some(derived) => &derived.unit,
            None => return Err(wrong(key, format!("no number is called `{name}`: expected {}", all()))),
        },
    };
    match unit {
        Some(unit) => Ok((name.clone(), unit.clone())),
        None => Err(wrong(
            key,
            format!("`{name}` has no unit: expected `unit = \"...\"` where it is read"),
        )),
    }
}
