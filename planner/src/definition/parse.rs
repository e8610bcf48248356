//! From a definition's text to checked types. What needs the target's parameters is checked by selection.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use serde::Deserialize;
use toml::de::{DeTable, DeValue};

use super::cases::CaseEntry;
use super::document::{Document, WorkloadEntry};
use super::error::{DefinitionError, Source};
use super::executor::{Executor, tells_machines_apart};
use super::explore::Explore;
use super::free::{self, Free};
use super::located::Located;
use super::measure::Measure;
use super::places::Places;
use crate::workload::Workload;
use crate::workloads;

/// A workload of a definition, with extents, and its control.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkloadChoice {
    /// What is computed.
    pub workload: Workload,
    /// The name of its kind.
    pub kind: &'static str,
    /// The case that others are compared with: its own, else the definition's.
    pub control: Option<Located<String>>,
    /// Where it stands.
    pub span: Range<usize>,
}

/// A definition that was read and checked as far as no target is needed.
#[derive(Debug, Clone)]
pub struct Definition {
    /// Path and text.
    pub source: Source,
    /// The machine that plans are built for.
    pub target: Located<String>,
    /// The target's options, as it wants them; empty where the definition has none.
    pub options: toml::Table,
    /// At least one.
    pub workloads: Vec<WorkloadChoice>,
    /// Explicit cases, in the order of the file.
    pub cases: Vec<Located<CaseEntry>>,
    /// Which of the enumerated plans become cases; its span orders explicit cases before and after it.
    pub explore: Located<Explore>,
    /// How often and how long.
    pub measure: Measure,
    /// Where the cases are measured.
    pub executor: Executor,
    places: Places,
}

impl Definition {
    /// Reads a definition. `path` is only shown in messages.
    pub fn parse(path: &str, text: &str) -> Result<Self, DefinitionError> {
        let source = Source {
            path: path.to_owned(),
            text: text.to_owned(),
        };
        let mut root = DeTable::parse(text).map_err(|error| source.toml(&error))?;
        let target = match root.get_ref().get("target").map(toml::Spanned::get_ref) {
            Some(DeValue::String(name)) => Some(name.to_string()),
            _ => None,
        };
        let mut commands = None;
        let mut own = (toml::Table::new(), Places::default());
        match target.as_deref() {
            Some(free::TARGET) => commands = Some(Free::of(&source, root.get_ref())?),
            Some(name) => {
                source.refuse_free_tables(name, root.get_ref())?;
                if let Some(value) = root.get_mut().remove(name) {
                    own = source.options(name, value)?;
                }
            }
            None if !root.get_ref().contains_key("target") => {
                let message =
                    "it has no `target`: expected the machine that plans are built for, as in `target = \"cpu\"`";
                return Err(source.error(&(0..0), message).help("`layout-sweep targets` lists them"));
            }
            None => {}
        }
        let mut document = Document::deserialize(toml::Deserializer::from(root)).map_err(|error| {
            let other = target.filter(|name| name != free::TARGET);
            let help = other.map(|name| format!("options of the target stand in a table `[{name}]`"));
            let unknown = error.message().starts_with("unknown field") && error.message().contains("`measure`");
            let mut wrong = source.toml(&error);
            if let (Some(help), true) = (help, unknown) {
                wrong.message = free::without_tables(&wrong.message);
                return wrong.help(help);
            }
            wrong
        })?;
        let end = text.len()..text.len();
        let workloads = source.workloads(&document)?;
        if let Some(mut commands) = commands {
            commands.settle(&source, &mut document, &workloads)?;
            own = (commands.options, commands.places);
        }
        let (options, places) = own;
        let definition = Self {
            workloads,
            target: document.target,
            options,
            cases: document.case,
            explore: document.explore.unwrap_or(Located {
                value: Explore::default(),
                span: end,
            }),
            measure: document.measure,
            executor: document.executor,
            places,
            source,
        };
        definition.check_cases()?;
        definition.check_unlike()?;
        Ok(definition)
    }

    /// An error about these bytes of the definition.
    #[must_use]
    pub fn error(&self, span: &Range<usize>, message: impl Into<String>) -> DefinitionError {
        self.source.error(span, message)
    }

    /// An error about one of the target's options, for a target that does not like what it was given. `key` is the
    /// path of the option (`command.build[3]`; with or without the target's name where its options stand in one table),
    /// and may end in `:start..end` where only these bytes of its text are meant. A line `help: ...` at the end of the
    /// message is shown as such.
    #[must_use]
    pub fn option_error(&self, key: &str, message: impl Into<String>) -> DefinitionError {
        let own = key.strip_prefix(&format!("{}.", self.target.value)).unwrap_or(key);
        let place = |key| self.places.find(&self.source, key);
        let span = place(key).or_else(|| place(own));
        self.source
            .helped(&span.unwrap_or(self.target.span.clone()), &message.into())
    }

    /// Where an option stands, as `FILE:LINE:COLUMN`; `key` is as in [`Definition::option_error`].
    #[must_use]
    pub fn place_of(&self, key: &str) -> String {
        let error = self.option_error(key, "");
        format!("{}:{}:{}", error.path, error.line, error.column)
    }

    /// Machines that are measured apart have no ranking in common, so nothing can be chosen by one.
    fn check_unlike(&self) -> Result<(), DefinitionError> {
        let unlike = &self.executor.unlike;
        if let Some(wrong) = unlike.iter().find(|name| !tells_machines_apart(name)) {
            let message = format!(
                "machines can't be told apart by `{}`: expected `machine.NAME` or `tool.NAME.output`",
                wrong.value
            );
            return Err(self.error(&wrong.span, message));
        }
        let mut seen = BTreeSet::new();
        if let Some(twice) = unlike.iter().find(|name| !seen.insert(&name.value)) {
            let message = format!("`{}` stands in `unlike` twice", twice.value);
            return Err(self.error(&twice.span, message));
        }
        let Some(first) = unlike.first() else { return Ok(()) };
        if let Some(without) = self.workloads.iter().find(|choice| choice.control.is_none()) {
            let message = format!(
                "machines are measured apart each with a control beside its cases, and workload `{}` has no `control`",
                without.workload.name
            );
            return Err(self.error(&first.span, message));
        }
        let chosen = [
            ("adaptive", self.explore.adaptive.is_some()),
            ("finalists", self.measure.finalists > 0),
            ("confirm", self.measure.confirm > 0),
        ];
        match chosen.iter().find(|(_, wanted)| *wanted) {
            None => Ok(()),
            Some((key, _)) => {
                let message = format!(
                    "machines that are measured apart have no common ranking for `{key}` to choose by: `unlike` goes with \
                     `finalists = 0`, without `confirm` and `adaptive`"
                );
                Err(self.error(&first.span, message))
            }
        }
    }

    fn check_cases(&self) -> Result<(), DefinitionError> {
        let known: BTreeSet<&str> = self.workloads.iter().map(|w| w.workload.name.as_str()).collect();
        for case in &self.cases {
            let name = &case.name;
            if name.trim().is_empty() || name.contains('/') || name.chars().any(char::is_control) {
                return Err(self.error(&name.span, "a case needs a name without `/` and control characters"));
            }
            if let Some(workload) = &case.workload
                && !known.contains(workload.as_str())
            {
                let names: Vec<String> = known.iter().map(|name| format!("`{name}`")).collect();
                let message = format!(
                    "no workload is called `{}`: expected {}",
                    workload.value,
                    names.join(", ")
                );
                return Err(self.error(&workload.span, message));
            }
        }
        for workload in known {
            let mut seen: BTreeMap<&str, &Range<usize>> = BTreeMap::new();
            for case in self.cases.iter().filter(|case| case.applies_to(workload)) {
                if let Some(first) = seen.insert(&case.name, &case.name.span) {
                    let (line, _) = self.source.position(first.start);
                    let message = format!("a case called `{}` stands already in line {line}", case.name.value);
                    return Err(self.error(&case.name.span, message));
                }
            }
        }
        Ok(())
    }
}

impl CaseEntry {
    /// Whether the case is wanted for the workload of this name.
    #[must_use]
    pub fn applies_to(&self, workload: &str) -> bool {
        self.workload.as_ref().is_none_or(|only| only.value == workload)
    }
}

impl Source {
    fn toml(&self, error: &toml::de::Error) -> DefinitionError {
        // The parser names types of this program's language.
        let message = error
            .message()
            .replace("expected i64", "expected a whole number")
            .replace("expected f64", "expected a number")
            .replace("expected a string", "expected a text");
        self.error(&error.span().unwrap_or(0..0), message)
    }

    fn options(
        &self,
        target: &str,
        value: toml::Spanned<DeValue<'_>>,
    ) -> Result<(toml::Table, Places), DefinitionError> {
        let span = value.span();
        let DeValue::Table(table) = value.into_inner() else {
            return Err(self.error(
                &span,
                format!("`{target}` holds the target's options: expected a table"),
            ));
        };
        let mut places = Places::default();
        places.add_keys(&table);
        let table = toml::Table::deserialize(toml::Deserializer::from(toml::Spanned::new(span, table)))
            .map_err(|error| self.toml(&error))?;
        Ok((table, places))
    }

    fn workloads(&self, document: &Document) -> Result<Vec<WorkloadChoice>, DefinitionError> {
        if document.workload.is_empty() && document.target.value == free::TARGET {
            return Ok(vec![free::workload(document.control.as_ref(), &document.target.span)]);
        }
        if document.workload.is_empty() {
            let message = "the definition has no workload: expected at least one `[[workload]]` table";
            return Err(self.error(&document.target.span, message));
        }
        let mut choices: Vec<WorkloadChoice> = Vec::new();
        let mut entries = Vec::new();
        for entry in &document.workload {
            entries.extend(self.drawn(entry)?);
        }
        for entry in &entries {
            if entry.name.trim().is_empty() || entry.name.contains('/') || entry.name.chars().any(char::is_control) {
                return Err(self.error(
                    &entry.name.span,
                    "a workload needs a name without `/` and control characters",
                ));
            }
            if let Some(first) = choices.iter().find(|choice| choice.workload.name == entry.name.value) {
                let (line, _) = self.position(first.span.start);
                let message = format!("a workload called `{}` stands already in line {line}", entry.name.value);
                return Err(self.error(&entry.name.span, message));
            }
            choices.push(self.workload(entry, document.control.as_ref())?);
        }
        Ok(choices)
    }

    fn workload(
        &self,
        entry: &Located<WorkloadEntry>,
        control: Option<&Located<String>>,
    ) -> Result<WorkloadChoice, DefinitionError> {
        let named = entry.kind.as_ref().unwrap_or(&entry.name);
        let Some(kind) = workloads::kind(named) else {
            let names: Vec<String> = workloads::KINDS.iter().map(|kind| format!("`{}`", kind.name)).collect();
            let message = format!("no workload of kind `{}`: expected {}", named.value, names.join(", "));
            let error = self.error(&named.span, message);
            return Err(if entry.kind.is_none() {
                error.help("another name is possible beside `kind = \"...\"`")
            } else {
                error
            });
        };
        let mut given = BTreeMap::new();
        for (name, value) in entry.extents() {
            if kind.extents.iter().all(|key| key.name != name) {
                let names: Vec<String> = kind.extents.iter().map(|key| format!("`{}`", key.name)).collect();
                let message = format!(
                    "a workload of kind `{}` takes no `{name}`: expected {}",
                    kind.name,
                    names.join(", ")
                );
                return Err(self.error(&value.span, message));
            }
            given.insert(name, value.value);
        }
        let activation = match &entry.activation {
            None => None,
            Some(word) => match kind.activations.iter().find(|(name, _)| *name == word.value) {
                Some((_, function)) => Some(*function),
                None if kind.activations.is_empty() => {
                    let message = format!("a workload of kind `{}` takes no `activation`", kind.name);
                    return Err(self.error(&word.span, message));
                }
                None => {
                    let names: Vec<String> = kind.activations.iter().map(|(name, _)| format!("`{name}`")).collect();
                    let message = format!("no activation `{}`: expected {}", word.value, names.join(", "));
                    return Err(self.error(&word.span, message));
                }
            },
        };
        let operations = kind.operations(&given, activation).map_err(|error| {
            let at = entry.extents().find(|(name, _)| *name == error.key);
            let span = at.map_or(&entry.name.span, |(_, value)| &value.span);
            self.error(span, format!("workload `{}`: {}", entry.name.value, error.message))
        })?;
        Ok(WorkloadChoice {
            workload: Workload {
                name: entry.name.value.clone(),
                operations,
            },
            kind: kind.name,
            control: entry.control.as_ref().or(control).cloned(),
            span: entry.name.span.clone(),
        })
    }
}
