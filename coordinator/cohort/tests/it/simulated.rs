//! A coordinator of a few lines: it does what `left` says, dies now and then, fails, retries and grows the cohort, as
//! the bytes that it is given decide.

use std::collections::{BTreeMap, BTreeSet};

use cohort::{Addition, AdditionKind, BuildOutcome, Case, Manifest, Record, RecordKind, RunOutcome, State, state};

use crate::made;

/// A cohort in memory with its history.
#[derive(Debug, Clone)]
pub(crate) struct World {
    pub(crate) manifest: Manifest,
    pub(crate) cases: Vec<Case>,
    pub(crate) additions: Vec<Addition>,
    /// In order of time.
    pub(crate) records: Vec<Record>,
    writer: String,
    sequence: u64,
    sessions: u64,
}

impl World {
    pub(crate) fn new(cases: usize, rounds: u32) -> Self {
        let workloads: &[&str] = if cases > 2 { &["v", "w"] } else { &["w"] };
        let mut all: Vec<_> = workloads
            .iter()
            .map(|w| made::case(w, &format!("{w} control")))
            .collect();
        all.extend((all.len()..cases).map(|i| made::case(workloads[i % workloads.len()], &format!("case {i}"))));
        let manifest = made::manifest(workloads, rounds, 3, all.len());
        let mut world = Self {
            manifest,
            cases: all,
            additions: Vec::new(),
            records: Vec::new(),
            writer: String::new(),
            sequence: 0,
            sessions: 0,
        };
        world.session();
        world
    }

    /// A new process: a new writer, whose name sorts anywhere.
    pub(crate) fn session(&mut self) {
        self.writer = format!("{:03}-{}", self.sessions * 37 % 101, self.sessions);
        self.sequence = 0;
        self.sessions += 1;
    }

    pub(crate) fn say(&mut self, case: &str, attempt: u32, kind: RecordKind) {
        self.records
            .push(made::record(&self.writer, self.sequence, case, attempt, kind));
        self.sequence += 1;
    }

    pub(crate) fn state(&self) -> State<'_> {
        self.state_of(&self.records)
    }

    pub(crate) fn state_of<'a>(&'a self, records: &'a [Record]) -> State<'a> {
        state(&self.manifest, &self.cases, &self.additions, records).unwrap()
    }

    /// One step: two bytes choose what is done and how it ends.
    pub(crate) fn step(&mut self, what: u8, how: u8) {
        let pick = |length: usize| usize::from(how / 4) % length;
        match what % 16 {
            0 => self.session(),
            1 => self.retry(how),
            2 => self.grow(how),
            3 => self.repeat(how),
            _ => {
                let now = self.state();
                let left = now.left();
                let builds: Vec<_> = left.builds.iter().map(|b| (b.case.to_owned(), b.attempt)).collect();
                let rounds: Vec<_> = left
                    .rounds
                    .iter()
                    .map(|r| (r.case.to_owned(), r.attempt, r.round))
                    .collect();
                if !builds.is_empty() && (rounds.is_empty() || what.is_multiple_of(2)) {
                    let (case, attempt) = builds[pick(builds.len())].clone();
                    self.say(&case, attempt, build(how));
                } else if !rounds.is_empty() {
                    let (case, attempt, round) = rounds[pick(rounds.len())].clone();
                    self.say(&case, attempt, made::began(round));
                    if what >= 240 {
                        self.session();
                    } else {
                        self.say(&case, attempt, run(round, how));
                    }
                }
            }
        }
    }

    /// Does all that is left, in a new session, and says what it did.
    pub(crate) fn finish(&mut self) -> Vec<(String, u32, u32)> {
        self.session();
        let mut done = Vec::new();
        for _ in 0..10 {
            let now = self.state();
            let left = now.left();
            if left.is_empty() {
                return done;
            }
            let builds: Vec<_> = left.builds.iter().map(|b| (b.case.to_owned(), b.attempt)).collect();
            let rounds: Vec<_> = left
                .rounds
                .iter()
                .map(|r| (r.case.to_owned(), r.attempt, r.round))
                .collect();
            for (case, attempt) in builds {
                self.say(&case, attempt, made::built());
            }
            for (case, attempt, round) in rounds {
                self.say(&case, attempt, made::began(round));
                self.say(&case, attempt, made::correct(round));
                done.push((case, attempt, round));
            }
        }
        panic!("it doesn't end");
    }

    fn names(&self) -> Vec<String> {
        self.state().cases().iter().map(|case| case.case.name.clone()).collect()
    }

    fn retry(&mut self, how: u8) {
        let names = self.names();
        let name = &names[usize::from(how) % names.len()];
        let attempt = self.state().get(name).unwrap().attempt() + 1;
        self.say(name, attempt, made::retry());
    }

    /// What two shards do that don't know of one another: a build or round that is done is done again.
    fn repeat(&mut self, how: u8) {
        let name = &self.names()[usize::from(how) % self.names().len()];
        let now = self.state();
        let case = now.get(name).unwrap();
        let attempt = case.attempt();
        let Some((latest, build)) = case.latest().and_then(|latest| Some((latest, latest.build?))) else {
            return;
        };
        let build = made::build(build.outcome.clone());
        let round = latest
            .rounds
            .iter()
            .find(|(_, state)| state.done().is_some())
            .map(|(round, _)| *round);
        self.session();
        self.say(name, attempt, build);
        if let Some(round) = round {
            self.say(name, attempt, made::began(round));
            self.say(name, attempt, run(round, how));
        }
    }

    fn grow(&mut self, how: u8) {
        let number = u32::try_from(self.additions.len()).unwrap() + 1;
        let names = self.names();
        let name = names[usize::from(how / 4) % names.len()].clone();
        let repeated = {
            let now = self.state();
            let state = now.get(&name).unwrap();
            Case {
                name: format!("added {number}"),
                repeat_of: Some(name.clone()),
                ..state.case.clone()
            }
        };
        let new = repeated.name.clone();
        let kind = match how % 4 {
            0 if self.state().may_cross() => AdditionKind::Crosses {
                cases: vec![repeated],
                units: Vec::new(),
            },
            1 => AdditionKind::Confirmation {
                cases: vec![repeated],
                rounds: [(new, vec![4, 4])].into(),
            },
            _ => AdditionKind::Finalists {
                rounds: [(name, vec![2])].into(),
            },
        };
        let (previous_sha256, reason) = (String::new(), String::new());
        self.additions.push(Addition {
            number,
            previous_sha256,
            reason,
            at: made::at(0),
            records: std::collections::BTreeMap::new(),
            kind,
        });
    }
}

fn build(how: u8) -> RecordKind {
    let reason = || "x".to_owned();
    made::build(match how {
        0..=7 => BuildOutcome::Rejected { reason: reason() },
        8..=11 => BuildOutcome::BuildFailed { reason: reason() },
        12..=15 => BuildOutcome::TimedOut { reason: reason() },
        _ => BuildOutcome::Built { units: BTreeMap::new() },
    })
}

fn run(round: u32, how: u8) -> RecordKind {
    let reason = || "x".to_owned();
    match how {
        0..=7 => made::incorrect(round),
        8..=11 => made::run(round, RunOutcome::RunFailed { reason: reason() }),
        12..=15 => made::run(round, RunOutcome::TimedOut { reason: reason() }),
        _ => made::correct(round),
    }
}

/// All finished rounds.
pub(crate) fn done(state: &State<'_>) -> BTreeSet<(String, u32, u32)> {
    let mut all = BTreeSet::new();
    for case in state.cases() {
        for (&attempt, known) in &case.attempts {
            let rounds = known.rounds.iter().filter(|(_, round)| round.done().is_some());
            all.extend(rounds.map(|(&round, _)| (case.case.name.clone(), attempt, round)));
        }
    }
    all
}
