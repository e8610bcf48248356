//! `target = "command"`: its tables stand at the top of the file, and what they mean for the rest of the definition.

use std::ops::Range;

use serde::Deserialize;
use toml::de::DeTable;

use super::command::CommandTables;
use super::document::Document;
use super::error::{DefinitionError, Source};
use super::explore::{Exhaustive, Explore};
use super::located::{Located, Named};
use super::measure::Measure;
use super::parse::WorkloadChoice;
use super::places::{Places, about_expression};
use super::values::Choices;
use crate::parameters::{ParameterError, ParameterTable, Parameters};
use crate::space::Domain;
use crate::value::Value;
use crate::workload::Workload;

/// The target whose cases have free parameters.
pub const TARGET: &str = "command";

/// Tables that only this target has.
const TABLES: [&str; 4] = ["command", "parameters", "derived", "estimates"];

/// The workload of a definition that names none: what is computed is the command's own affair.
pub const WORKLOAD: &str = "command";

/// Options of the command target, before the rest of the definition is read.
pub(super) struct Free {
    pub(super) options: toml::Table,
    pub(super) places: Places,
    /// What `[measure]` says itself.
    given: Vec<String>,
}

impl Free {
    /// Takes copies of the tables.
    pub(super) fn of(source: &Source, root: &DeTable<'_>) -> Result<Self, DefinitionError> {
        let mut own = DeTable::new();
        let mut places = Places::default();
        let mut given = Vec::new();
        for (key, value) in root {
            let name = key.get_ref().as_ref();
            if TABLES.contains(&name) {
                places.add(name.to_owned(), key.span(), value);
                own.insert(key.clone(), value.clone());
            } else if let ("measure", Some(measure)) = (name, value.get_ref().as_table()) {
                given = measure.keys().map(|key| key.get_ref().to_string()).collect();
            }
        }
        let options = toml::Table::deserialize(toml::Deserializer::from(toml::Spanned::new(0..0, own)))
            .map_err(|error| source.error(&error.span().unwrap_or(0..0), error.message()))?;
        Ok(Self { options, places, given })
    }

    /// What the tables mean for the rest: time limits, rounds, and what is explored.
    pub(super) fn settle(
        &mut self,
        source: &Source,
        document: &mut Document,
        workloads: &[WorkloadChoice],
    ) -> Result<(), DefinitionError> {
        let Some(command) = &document.command else {
            let message = "target `command` needs a table `[command]`";
            return Err(source.error(&document.target.span, message));
        };
        let Some(table) = &document.parameters else {
            let message = "target `command` needs a table `[parameters]` with what varies";
            return Err(source.error(&document.target.span, message));
        };
        let controlled = workloads.iter().any(|workload| workload.control.is_some());
        self.options.insert("control".to_owned(), controlled.into());
        let parameters = self.parameters(source, table)?;
        let limits = [
            ("build_timeout", command.timeout.build),
            ("run_timeout", command.timeout.run),
        ];
        for (key, limit) in limits {
            if limit.is_some() && self.given(key) {
                let path = format!("command.timeout.{}", key.trim_end_matches("_timeout"));
                let span = self.places.find(source, &path).unwrap_or(0..0);
                return Err(source.error(&span, format!("this limit stands in `[measure]` too, as `{key}`")));
            }
        }
        let measure = self.measure(&document.measure, controlled);
        document.measure = Measure {
            build_timeout: command.timeout.build.unwrap_or(measure.build_timeout),
            run_timeout: command.timeout.run.unwrap_or(measure.run_timeout),
            ..measure
        };
        if document.explore.is_some() || document.case.is_empty() {
            let span = self.places.find(source, "parameters").unwrap_or(0..0);
            let explore = document.explore.take().unwrap_or(Located {
                value: everything(span.clone()),
                span,
            });
            document.explore = Some(screen_all(explore, &parameters));
        }
        Ok(())
    }

    fn given(&self, key: &str) -> bool {
        self.given.iter().any(|given| given == key)
    }

    /// One round and nothing further where nothing else is said.
    fn measure(&self, measure: &Measure, controlled: bool) -> Measure {
        let mut measure = measure.clone();
        if !self.given("rounds") {
            measure.rounds = 1;
        }
        // Further pairs need a control, and rounds that say where to go on.
        let paired = controlled && self.given("rounds");
        if !(paired || self.given("finalists")) {
            measure.finalists = 0;
        }
        measure
    }

    fn parameters(&self, source: &Source, table: &ParameterTable) -> Result<Parameters, DefinitionError> {
        let place = |path: &str| self.places.find(source, path).unwrap_or(0..0);
        if table.parameters.is_empty() {
            let message = "the table has no parameters: expected names with arrays of values or ranges";
            return Err(source.error(&place("parameters"), message));
        }
        Parameters::new(table).map_err(|error| match &error {
            ParameterError::Name { name }
            | ParameterError::Twice { name }
            | ParameterError::Single { name, .. }
            | ParameterError::NoValues { name }
            | ParameterError::Mixed { name, .. }
            | ParameterError::NotFinite { name }
            | ParameterError::Repeated { name, .. }
            | ParameterError::TooMany { name, .. }
            | ParameterError::Range { name, .. } => source.helped(&place(&format!("parameters.{name}")), &error),
            ParameterError::Constant { number, text } => {
                let key = format!("parameters.constraints[{}]", number - 1);
                let message = format!("`{key}`: `{text}` names no parameter, so it decides nothing");
                source.error(&place(&key), message)
            }
            ParameterError::Constraint { number, error } => {
                let index = number - 1;
                let path = format!("parameters.constraints[{index}]");
                let text = table.constraints.get(index).map(String::as_str).unwrap_or_default();
                about_expression(source, &self.places, &path, &format!("`{path}`: "), text, error)
            }
        })
    }
}

impl Source {
    /// A message that ends in a help of its own.
    pub(super) fn helped(&self, span: &Range<usize>, message: &impl ToString) -> DefinitionError {
        let message = message.to_string();
        match message.split_once("\nhelp: ") {
            Some((message, help)) => self.error(span, message).help(help),
            None => self.error(span, message),
        }
    }

    /// Tables of the command target mean nothing to others.
    pub(super) fn refuse_free_tables(&self, target: &str, root: &DeTable<'_>) -> Result<(), DefinitionError> {
        let other = root.keys().find(|key| TABLES.contains(&key.get_ref().as_ref()));
        other.map_or(Ok(()), |key| {
            let message = format!(
                "`[{}]` belongs to target `{TARGET}`; the target here is `{target}`",
                key.get_ref()
            );
            Err(self.error(&key.span(), message))
        })
    }
}

/// A list of expected tables, for other targets.
pub(super) fn without_tables(message: &str) -> String {
    message.replace(&format!(", `{}`", TABLES.join("`, `")), "")
}

/// The workload of a definition that names none.
pub(super) fn workload(control: Option<&Located<String>>, span: &Range<usize>) -> WorkloadChoice {
    WorkloadChoice {
        workload: Workload {
            name: WORKLOAD.to_owned(),
            operations: Vec::new(),
        },
        kind: WORKLOAD,
        control: control.cloned(),
        span: span.clone(),
    }
}

fn everything(span: Range<usize>) -> Explore {
    Explore {
        exhaustive: Some(Located {
            value: Exhaustive {
                wanted: true,
                limit: Exhaustive::LIMIT,
            },
            span,
        }),
        ..Explore::default()
    }
}

/// Every parameter varies over all of its values where the definition does not say which do.
fn screen_all(mut explore: Located<Explore>, parameters: &Parameters) -> Located<Explore> {
    let wanted = !explore.strata.is_empty()
        || !explore.joint.is_empty()
        || explore.random.is_some()
        || explore.exhaustive.as_ref().is_some_and(|whole| whole.wanted);
    if wanted && explore.screen.is_empty() {
        let span = explore.span.clone();
        let located = |value: String| Located {
            value,
            span: span.clone(),
        };
        let (space, _) = parameters.space();
        let all = space.parameters.into_iter().map(|parameter| {
            let values = match parameter.domain {
                Domain::List(values) => values,
                Domain::Range { start, stop } => (start..=stop).map(Value::Integer).collect(),
            };
            let choices = Located {
                value: Choices::These(values),
                span: span.clone(),
            };
            (located(parameter.name), choices)
        });
        explore.value.screen = Named(all.collect());
    }
    explore
}

impl CommandTables {
    /// The tables from a target's options.
    ///
    /// # Errors
    /// What is missing or wrong, in words; a definition that was read has been checked for it.
    pub fn of(options: &toml::Table) -> Result<Self, String> {
        options
            .clone()
            .try_into()
            .map_err(|error: toml::de::Error| error.message().to_owned())
    }
}
