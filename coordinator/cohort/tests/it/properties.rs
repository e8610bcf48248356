//! What must hold for every history.

use std::collections::BTreeMap;

use cohort::{CohortDir, Outcome, Record, RecordKind, State, Status, read_records, state};
use proptest::prelude::*;

use crate::made;
use crate::simulated::{World, done};

/// Cohorts with a history of at most so many steps.
fn worlds(steps: usize) -> impl Strategy<Value = World> {
    let steps = prop::collection::vec(any::<(u8, u8)>(), 0..steps);
    (1..=5_usize, 1..=3_u32, steps).prop_map(|(cases, rounds, steps)| {
        let mut world = World::new(cases, rounds);
        for (what, how) in steps {
            world.step(what, how);
        }
        world
    })
}

/// Done and left together are what is wanted, and nothing else is left.
fn check(state: &State<'_>) {
    let left = state.left();
    let mut by_case: BTreeMap<&str, Vec<(u32, u32, u32)>> = BTreeMap::new();
    for round in &left.rounds {
        by_case
            .entry(round.case)
            .or_default()
            .push((round.attempt, round.round, round.pairs));
    }
    for case in state.cases() {
        let listed = by_case.remove(&case.case.name[..]).unwrap_or_default();
        let waits = left.builds.iter().filter(|build| build.case == case.case.name).count();
        let finished = case.latest().map_or(0, |latest| latest.correct().count());
        match case.status() {
            Status::Waiting => {
                assert_eq!((waits, listed.len()), (1, 0));
                assert_eq!(case.rounds_left().len(), case.wanted.len());
            }
            Status::Built | Status::Partial => {
                assert_eq!((waits, listed.len() + finished), (0, case.wanted.len()));
                for (attempt, round, pairs) in listed {
                    assert_eq!(attempt, case.attempt());
                    assert_eq!(pairs, case.wanted[round as usize]);
                    let known = case.latest().unwrap().rounds.get(&round);
                    assert!(known.is_none_or(|known| known.done().is_none()));
                }
            }
            Status::Done(outcome) => {
                assert_eq!((waits, listed.len(), case.rounds_left().len()), (0, 0, 0));
                assert_eq!(outcome == Outcome::Correct, finished == case.wanted.len());
            }
        }
    }
    assert!(by_case.is_empty());
    assert_eq!(state.counts().total(), state.cases().len() as u64);
    assert_eq!(left.is_empty(), state.all_terminal());
    assert_eq!(state.stopped_by().len() as u64, state.counts().incorrect);
}

/// Does the rest and checks that it was exactly the rest.
fn resume(mut world: World) {
    let before = done(&world.state());
    let wanted: usize = world.state().left().rounds.len();
    let waiting: Vec<_> = world
        .state()
        .left()
        .builds
        .iter()
        .map(|build| build.case.to_owned())
        .collect();
    let of_waiting: usize = waiting
        .iter()
        .map(|case| world.state().get(case).unwrap().wanted.len())
        .sum();
    let executed = world.finish();
    let state = world.state();
    check(&state);
    assert!(state.all_terminal());
    assert_eq!(executed.len(), wanted + of_waiting);
    let mut after = before.clone();
    for round in executed {
        assert!(after.insert(round.clone()), "{round:?} was done twice");
    }
    assert_eq!(after, done(&state));
}

fn config() -> ProptestConfig {
    ProptestConfig {
        cases: 400,
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn every_prefix_can_be_resumed(world in worlds(60), at in any::<prop::sample::Index>()) {
        let mut before = std::collections::BTreeSet::new();
        for length in 0..=world.records.len() {
            let state = world.state_of(&world.records[..length]);
            check(&state);
            let now = done(&state);
            prop_assert!(before.is_subset(&now), "a done round was undone");
            before = now;
        }
        let mut prefix = world.clone();
        prefix.records.truncate(at.index(world.records.len() + 1));
        resume(prefix);
        resume(world);
    }

    #[test]
    fn order_and_copies_do_not_matter(
        (world, shuffled) in worlds(60).prop_flat_map(|w| (Just(w.records.clone()).prop_shuffle(), Just(w)))
            .prop_map(|(shuffled, world)| (world, shuffled)),
        copies in prop::collection::vec(any::<prop::sample::Index>(), 0..5),
    ) {
        let state = world.state();
        prop_assert!(world.state_of(&shuffled) == state);
        let mut copied = shuffled.clone();
        if !shuffled.is_empty() {
            copied.extend(copies.iter().map(|index| index.get(&shuffled).clone()));
        }
        let with_copies = world.state_of(&copied);
        prop_assert!(with_copies.cases() == state.cases());
        prop_assert_eq!(with_copies.duplicates().len(), state.duplicates().len() + copied.len() - shuffled.len());
    }

    /// Every round belongs to the class of machines that measured it, and to no other; what one class has measured is what
    /// it would be if the others had never been there.
    #[test]
    fn classes_of_machines_share_nothing(world in worlds(60), classes in prop::collection::vec(0..3_usize, 101)) {
        let of = |writer: &str| classes[writer[..3].parse::<usize>().unwrap()];
        let kinds = [Vec::new(), vec![made::difference()], vec![made::difference(), made::difference()]];
        let mut records = world.records.clone();
        let writers: std::collections::BTreeSet<String> = records.iter().map(|record| record.writer.clone()).collect();
        for writer in writers.iter().filter(|writer| of(writer) > 0) {
            let instance = BTreeMap::from([("hostname".to_owned(), writer.clone())]);
            let differences = kinds[of(writer)].clone();
            // Beyond all others of its file: where it stands does not matter.
            records.push(made::record(writer, 1 << 20, "", 0, RecordKind::Machine { differences, instance }));
        }
        let whole = world.state_of(&records);
        let plain = world.state();
        prop_assert!(whole.cases() == plain.cases(), "what is left does not depend on machines");
        let mut parts = Vec::new();
        for (class, differences) in kinds.iter().enumerate() {
            let part = whole.apart(differences);
            for case in part.cases() {
                let rounds = case.attempts.values().flat_map(|attempt| attempt.rounds.values());
                for round in rounds.filter_map(cohort::RoundState::done) {
                    prop_assert_eq!(of(&round.record.writer), class);
                    parts.push((case.case.name.as_str(), round.record));
                }
                prop_assert!(part.get(&case.case.name) == Some(case));
                let ended = whole.get(&case.case.name).unwrap().outcome();
                let measured = case.latest().is_some_and(|latest| latest.correct().next().is_some());
                prop_assert!(ended != Some(Outcome::Correct) || !measured || case.outcome() == ended);
            }
            prop_assert!(part.cases().iter().filter(|case| case.control).count() == world.manifest.workloads.len());
        }
        let all = plain.cases().iter().flat_map(|case| {
            let rounds = case.attempts.values().flat_map(|attempt| attempt.rounds.values());
            rounds.filter_map(cohort::RoundState::done).map(|round| (case.case.name.as_str(), round.record))
        });
        let mut all: Vec<_> = all.collect();
        let key = |(case, record): &(&str, &Record)| (case.to_string(), record.writer.clone(), record.sequence);
        all.sort_by_key(key);
        parts.sort_by_key(key);
        prop_assert!(parts == all);
        let hosts: usize = whole.unlike().iter().map(|class| class.instances.len()).sum();
        prop_assert_eq!(hosts, writers.iter().filter(|writer| of(writer) > 0).count());
    }

    /// Nonsense gives an error or a state that adds up, and the same one in every order.
    #[test]
    fn nonsense_never_panics(
        (records, shuffled) in prop::collection::vec((0..3_u8, 0..6_u8, 0..4_u32, 0..4_u32, any::<u8>()), 0..12)
            .prop_map(nonsense).prop_flat_map(|records| (Just(records.clone()), Just(records).prop_shuffle())),
    ) {
        let world = World::new(3, 2);
        let one = state(&world.manifest, &world.cases, &[], &records);
        let two = state(&world.manifest, &world.cases, &[], &shuffled);
        match (one, two) {
            (Ok(one), Ok(two)) => {
                check(&one);
                prop_assert!(one == two);
            }
            (Err(one), Err(two)) => prop_assert_eq!(one, two),
            (one, two) => prop_assert!(false, "{one:?} {two:?}"),
        }
    }
}

fn nonsense(parts: Vec<(u8, u8, u32, u32, u8)>) -> Vec<Record> {
    let names = ["v control", "w control", "case 2", "nobody"];
    let mut sequences = [0; 3];
    let make = |(writer, kind, attempt, round, case): (u8, u8, u32, u32, u8)| {
        let kind: RecordKind = match kind {
            0 => made::retry(),
            1 => made::built(),
            2 => made::build(cohort::BuildOutcome::Rejected { reason: "x".into() }),
            3 => made::began(round),
            4 => made::correct(round),
            _ => made::incorrect(round),
        };
        // Mostly something that exists.
        let case = names[if case < 10 { 3 } else { usize::from(case) % 3 }];
        let attempt = if attempt == 3 { 0 } else { attempt.max(1) };
        let sequence = &mut sequences[usize::from(writer)];
        *sequence += 1;
        made::record(&writer.to_string(), *sequence, case, attempt, kind)
    };
    parts.into_iter().map(make).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 10, ..config() })]

    /// The last writer is killed at every byte of its file; what is read then is resumed.
    #[test]
    fn torn_at_every_byte(world in worlds(20)) {
        let Some(last) = world.records.last().map(|record| record.writer.clone()) else { return Ok(()) };
        let folder = tempfile::tempdir().unwrap();
        let dir = CohortDir::new(folder.path());
        fs_err::create_dir(dir.records()).unwrap();
        let mut files: BTreeMap<&str, Vec<u8>> = BTreeMap::new();
        for record in &world.records {
            let file = files.entry(&record.writer).or_default();
            file.extend(serde_json::to_vec(record).unwrap());
            file.push(b'\n');
        }
        for (writer, bytes) in &files {
            fs_err::write(dir.record_file(writer), bytes).unwrap();
        }
        let whole = &files[&last[..]];
        let file = fs_err::OpenOptions::new().write(true).open(dir.record_file(&last)).unwrap();
        let mut lines = usize::MAX;
        for cut in (0..=whole.len()).rev() {
            file.set_len(cut as u64).unwrap();
            let read = read_records(&dir).unwrap();
            prop_assert_eq!(read.dropped.is_empty(), cut == 0 || whole[cut - 1] == b'\n');
            // The state only changes where a line does.
            if read.records.len() != lines {
                lines = read.records.len();
                check(&world.state_of(&read.records));
                let mut resumed = world.clone();
                resumed.records = read.records;
                resume(resumed);
            }
        }
    }
}
