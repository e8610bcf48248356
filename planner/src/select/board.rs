//! The cases of one workload while they are collected: names and plans are unique.

use std::collections::{BTreeMap, BTreeSet};

use super::context::Context;
use super::names::prefix;
use super::types::{Chosen, Refused};
use crate::refusal::Refusal;
use crate::space::Assignment;

/// A plan that wants to become a case.
pub(super) struct Candidate {
    pub(super) name: String,
    pub(super) family: String,
    pub(super) reason: String,
    pub(super) assignment: Assignment,
}

/// The cases of one workload while they are collected.
pub(super) struct Board {
    prefix: String,
    workload: String,
    /// Canonical text -> the case that has it.
    texts: BTreeMap<String, String>,
    names: BTreeSet<String>,
    pub(super) cases: Vec<Chosen>,
    pub(super) refused: Vec<Refused>,
    pub(super) notes: Vec<String>,
}

impl Board {
    pub(super) fn new(context: &Context<'_>) -> Self {
        let workload = context.workload().name.clone();
        Self {
            prefix: prefix(context.definition, &workload),
            workload,
            texts: BTreeMap::new(),
            names: BTreeSet::new(),
            cases: Vec::new(),
            refused: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// Full name of a case.
    pub(super) fn full(&self, name: &str) -> String {
        format!("{}{name}", self.prefix)
    }

    /// Keeps a name and a plan for an explicit case, wherever it will stand.
    pub(super) fn reserve(&mut self, name: &str, text: Option<&String>) {
        self.names.insert(name.to_owned());
        if let Some(text) = text {
            self.texts.entry(text.clone()).or_insert_with(|| name.to_owned());
        }
    }

    /// The name itself, or with a number when it is taken.
    pub(super) fn free_name(&self, name: String) -> String {
        if !self.names.contains(&name) {
            return name;
        }
        let mut number = 2_u64;
        while self.names.contains(&format!("{name}-{number}")) {
            number += 1;
        }
        format!("{name}-{number}")
    }

    /// Whether a plan is a case already.
    pub(super) fn has(&self, text: &str) -> bool {
        self.texts.contains_key(text)
    }

    /// Whether a name is taken.
    pub(super) fn taken(&self, name: &str) -> bool {
        self.names.contains(name)
    }

    /// Adds an explicit case, whose name and plan were reserved.
    pub(super) fn add_explicit(&mut self, candidate: Candidate, text: String, repeat_of: Option<String>) {
        self.push(candidate, text, repeat_of);
    }

    /// Adds a case unless its plan is there already.
    pub(super) fn add(&mut self, candidate: Candidate, text: String) {
        if self.texts.contains_key(&text) {
            return;
        }
        self.reserve(&candidate.name, Some(&text));
        self.push(candidate, text, None);
    }

    /// Adds a case unless its plan is there already, or records that the target refuses it.
    pub(super) fn offer(&mut self, candidate: Candidate, text: Result<String, Refusal>) {
        match text {
            Ok(text) => self.add(candidate, text),
            Err(refusal) => self.refuse(&candidate.name, refusal),
        }
    }

    /// Records that the target refuses a plan that was asked for.
    pub(super) fn refuse(&mut self, name: &str, reason: Refusal) {
        self.names.insert(name.to_owned());
        self.refused.push(Refused {
            name: self.full(name),
            workload: self.workload.clone(),
            reason,
        });
    }

    fn push(&mut self, candidate: Candidate, text: String, repeat_of: Option<String>) {
        self.cases.push(Chosen {
            name: self.full(&candidate.name),
            workload: self.workload.clone(),
            family: candidate.family,
            reason: candidate.reason,
            assignment: candidate.assignment,
            text,
            repeat_of: repeat_of.map(|name| self.full(&name)),
        });
    }
}
