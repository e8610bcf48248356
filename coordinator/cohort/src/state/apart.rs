//! What machines of one class measured, where several classes worked on a cohort.

use std::collections::{BTreeMap, BTreeSet};

use super::model::{Attempt, CaseState, RoundState, State, Status};
use crate::record::Record;
use crate::verify::Difference;

/// A class of machines other than the frozen one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unlike<'a> {
    /// In what it differs from the frozen one, by name.
    pub differences: &'a [Difference],
    /// Whose records tell of it.
    pub(crate) writers: BTreeSet<&'a str>,
    /// Its machines, as far as records tell them apart.
    pub instances: BTreeSet<&'a BTreeMap<String, String>>,
}

impl<'a> State<'a> {
    /// In what the machine of a writer differs from the frozen one; nothing where it is of that class.
    #[must_use]
    pub fn machine_of(&self, writer: &str) -> &'a [Difference] {
        let own = self.unlike.iter().find(|class| class.writers.contains(writer));
        own.map_or(&[], |class| class.differences)
    }

    /// What one class of machines measured: that of these differences, the frozen one where there are none. Rounds of other
    /// classes are not there, as if they had never been asked for; nor are cases of which only other classes know a round,
    /// controls apart, which were measured beside every case. What nobody has run yet belongs to the frozen class.
    ///
    /// It is for comparing what was measured, not for deciding what is left: it has no duplicates, no consents and no classes
    /// of its own.
    #[must_use]
    pub fn apart(&self, differences: &[Difference]) -> Self {
        let is_own = |record: &Record| self.machine_of(&record.writer) == differences;
        let mut cases = Vec::new();
        for case in &self.cases {
            let (mut own, mut others) = (false, false);
            for round in case.attempts.values().flat_map(|attempt| attempt.rounds.values()) {
                let is_own = is_own(record_of(round));
                own |= is_own;
                others |= !is_own;
            }
            let nobodys = !own && !others && differences.is_empty();
            if own || nobodys || case.control {
                cases.push(if others { part(case, &is_own) } else { case.clone() });
            }
        }
        let index = cases.iter().enumerate().map(|(at, case)| (case.case.name.as_str(), at));
        Self {
            index: index.collect(),
            cases,
            crossed: self.crossed,
            duplicates: Vec::new(),
            consents: Vec::new(),
            unlike: Vec::new(),
        }
    }
}

/// The same case with the rounds that `is_own` takes. One that is done stays so: nothing is left of it for anybody.
fn part<'a>(case: &CaseState<'a>, is_own: &dyn Fn(&Record) -> bool) -> CaseState<'a> {
    let attempts = case.attempts.iter().map(|(&number, attempt)| {
        let rounds: BTreeMap<u32, RoundState<'a>> = attempt
            .rounds
            .iter()
            .filter(|(_, round)| is_own(record_of(round)))
            .map(|(&number, &round)| (number, round))
            .collect();
        let lost = rounds.values().filter(|round| round.done().is_none()).count();
        let attempt = Attempt {
            lost_starts: lost as u64,
            rounds,
            ..attempt.clone()
        };
        (number, attempt)
    });
    let mut part = CaseState {
        attempts: attempts.collect(),
        ..case.clone()
    };
    if let (Status::Done(_), Some(latest)) = (case.status(), part.latest()) {
        let measured = |round: usize| u32::try_from(round).is_ok_and(|round| latest.rounds.contains_key(&round));
        let wanted = case.wanted.iter().enumerate().filter(|(round, _)| measured(*round));
        part.wanted = wanted.map(|(_, &pairs)| pairs).collect();
    }
    part
}

fn record_of<'a>(round: &RoundState<'a>) -> &'a Record {
    match round {
        RoundState::Done(done) => done.record,
        RoundState::Lost(record) => record,
    }
}
