//! Workers of shards beside one another, with a target made of shell scripts.
#![allow(clippy::unwrap_used, reason = "helpers of tests are tests too")]

mod common;

use std::collections::{BTreeMap, BTreeSet};

use cohort::{
    Batch, Claim, RecordKind, Release, ShardId, Worker, latest_claim, make_claim, release_claim, write_batch,
};
use common::scripted::Scene;
use coordinator::sweep::{hand_out, shards};
use coordinator::{ExitCode, RunError, RunSummary};

const SIX: [(&str, &str); 6] = [
    ("a", "VALUE=50"),
    ("b", "VALUE=60"),
    ("c", "VALUE=70"),
    ("d", "VALUE=80"),
    ("e", "VALUE=90"),
    ("f", "VALUE=40"),
];

fn handed_out(scene: &Scene, size: usize) -> Option<Batch> {
    hand_out(&scene.cohort(), Some(size), false, None, &mut |_, _| ()).unwrap()
}

fn shard(batch: u32, shard: u32) -> ShardId {
    ShardId { batch, shard }
}

fn work(scene: &Scene, on: ShardId) -> Result<RunSummary, RunError> {
    scene.run_with(|options| options.shard = Some(on))
}

/// A worker that died: on this host, with the number of a process that is none.
fn dead(host: &str) -> Worker {
    Worker {
        writer: "dead".to_owned(),
        coordinator: false,
        host: host.to_owned(),
        boot_id: std::fs::read_to_string("/proc/sys/kernel/random/boot_id")
            .unwrap()
            .trim()
            .to_owned(),
        pid: u32::MAX,
        started_ticks: 1,
        job: None,
        instance: BTreeMap::new(),
    }
}

fn this_host() -> String {
    std::fs::read_to_string("/proc/sys/kernel/hostname")
        .unwrap()
        .trim()
        .to_owned()
}

fn claim(scene: &Scene, on: ShardId, worker: Worker) -> Claim {
    let claim = Claim {
        shard: on,
        generation: 1,
        at: jiff::Timestamp::now(),
        worker,
        takes_over: None,
    };
    assert!(make_claim(&scene.dir(), &claim).unwrap());
    claim
}

#[test]
fn shards_side_by_side_do_what_one_coordinator_does() {
    let scene = Scene::new();
    scene.freeze(&SIX);
    let batch = handed_out(&scene, 3).unwrap();
    let sizes: Vec<usize> = batch.shards.iter().map(Vec::len).collect();
    assert_eq!((batch.number, sizes), (1, vec![3, 3, 1]));

    // At once, as on a cluster. One device lock serialises their rounds, as on one node.
    let summaries: Vec<RunSummary> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..3)
            .map(|n| {
                scope.spawn({
                    let scene = &scene;
                    move || work(scene, shard(1, n))
                })
            })
            .collect();
        workers
            .into_iter()
            .map(|worker| worker.join().unwrap().unwrap())
            .collect()
    });
    assert!(summaries.iter().all(|summary| summary.exit_code() == ExitCode::Done));
    assert_eq!(summaries.iter().map(|summary| summary.counts.correct).sum::<u64>(), 7);
    let status = coordinator::status(&scene.cohort(), &[]).unwrap();
    assert_eq!((status.counts.correct, status.rounds_left), (7, 0));

    // Each case was measured by one worker, and each worker wrote only of its own cases.
    let mut writers: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for record in scene.records() {
        writers.entry(record.case).or_default().insert(record.writer);
    }
    assert!(
        writers.len() == 7 && writers.values().all(|by| by.len() == 1),
        "{writers:?}"
    );
    assert_eq!(scene.rounds().len(), 7 * 3);
    let calls = scene.target.counts();
    assert!(calls.len() == 7 && calls.values().all(|&calls| calls == 3), "{calls:?}");
    scene.assert_clean();
    let shown = shards(&scene.cohort()).unwrap();
    assert!(shown.iter().all(|shard| shard.done == shard.cases));
    assert!(
        shown
            .iter()
            .all(|shard| shard.held.as_ref().unwrap().release.as_ref().unwrap().why.is_none())
    );
    assert_eq!(handed_out(&scene, 3), None, "nothing is left");
}

#[test]
fn a_shard_has_one_worker() {
    let scene = Scene::new();
    scene.freeze(&SIX);
    handed_out(&scene, 4);
    let mut other = dead("elsewhere");
    claim(&scene, shard(1, 0), other.clone());
    let error = work(&scene, shard(1, 0)).unwrap_err();
    assert_eq!(error.exit_code(), ExitCode::LockTimeout);
    let text = error.to_string();
    assert!(
        text.contains("shard 1/0") && text.contains("`elsewhere`") && text.contains("can't be told"),
        "{text}"
    );
    assert!(error.help().unwrap().contains("--take-over"));
    // Neither does a coordinator begin, nor is anything handed out again.
    assert!(matches!(scene.run_with(|_| ()), Err(RunError::ShardBusy { .. })));
    assert!(hand_out(&scene.cohort(), None, false, None, &mut |_, _| ()).is_err());
    assert!(scene.rounds().is_empty());
    // The other shard is free all the same.
    assert_eq!(work(&scene, shard(1, 1)).unwrap().counts.correct, 3);
    // Somebody knows better.
    let taken = scene.run_with(|options| {
        options.shard = Some(shard(1, 0));
        options.take_over = true;
    });
    assert_eq!(taken.unwrap().counts.correct, 4);
    let held = latest_claim(&scene.dir(), shard(1, 0)).unwrap().unwrap();
    assert!(held.claim.generation == 2 && held.claim.takes_over.unwrap().contains("--take-over"));
    // Of a host that was started anew nobody is left.
    other.boot_id = "another".to_owned();
    other.host = this_host();
    let second = Scene::new();
    second.freeze(&SIX);
    handed_out(&second, 10);
    claim(&second, shard(1, 0), other);
    assert_eq!(work(&second, shard(1, 0)).unwrap().counts.correct, 7);
}

#[test]
fn the_shard_of_a_worker_that_died_is_taken_over() {
    let scene = Scene::new();
    scene.freeze(&SIX);
    handed_out(&scene, 10);
    claim(&scene, shard(1, 0), dead(&this_host()));
    assert_eq!(work(&scene, shard(1, 0)).unwrap().counts.correct, 7);
    let held = latest_claim(&scene.dir(), shard(1, 0)).unwrap().unwrap();
    assert_eq!(held.claim.takes_over.as_deref(), Some("its process has ended"));
    assert_eq!(scene.rounds().len(), 7 * 3);
}

#[test]
fn whoever_was_taken_over_stops() {
    let scene = Scene::new();
    // The first round of each case makes the claim of the next generation, as another worker would.
    let next = scene.dir().claim(shard(1, 0), 2);
    let script = format!("VALUE=50; : > '{}'", next.display());
    scene.freeze(&[("a", &script), ("b", "VALUE=60"), ("c", "VALUE=70")]);
    let batch = write_batch(&scene.dir(), jiff::Timestamp::now(), vec![vec!["a".to_owned()]]).unwrap();
    assert_eq!(batch.number, 1);
    let error = work(&scene, shard(1, 0)).unwrap_err();
    assert!(matches!(error, RunError::TakenOver(_)), "{error}");
    assert_eq!(error.exit_code(), ExitCode::LockTimeout);
    assert_eq!(scene.rounds().len(), 1, "the round that ran is kept, none follows");
}

#[test]
fn only_the_latest_batch_is_worked_on() {
    let scene = Scene::new();
    scene.freeze(&SIX);
    handed_out(&scene, 4);
    assert_eq!(work(&scene, shard(1, 1)).unwrap().counts.correct, 3);
    let second = handed_out(&scene, 2).unwrap();
    assert_eq!(
        (second.number, second.shards.len()),
        (2, 2),
        "what is left, and nothing that is done"
    );
    let stale = work(&scene, shard(1, 0)).unwrap_err();
    assert!(stale.to_string().contains("handed out again in batch 2"), "{stale}");
    for missing in [shard(2, 2), shard(3, 0)] {
        let error = work(&scene, missing).unwrap_err();
        assert_eq!(error.exit_code(), ExitCode::Usage, "{error}");
    }
    // A coordinator takes all that is open, and a worker that comes after it finds nothing to do.
    assert_eq!(scene.run().counts.correct, 7);
    assert_eq!(work(&scene, shard(2, 1)).unwrap().rounds_done, 0);
    assert_eq!(scene.rounds().len(), 7 * 3);
}

#[test]
fn a_control_of_another_shard_is_built_without_a_record() {
    let scene = Scene::new();
    scene.freeze(&SIX);
    write_batch(
        &scene.dir(),
        jiff::Timestamp::now(),
        vec![vec!["control".to_owned()], vec!["a".to_owned(), "b".to_owned()]],
    )
    .unwrap();
    assert_eq!(work(&scene, shard(1, 1)).unwrap().counts.correct, 2);
    assert!(scene.records().iter().all(|record| record.case != "control"));
    assert_eq!(work(&scene, shard(1, 0)).unwrap().counts.correct, 1);
    let built = scene
        .records()
        .into_iter()
        .filter(|record| record.case == "control" && matches!(record.kind, RecordKind::Build { .. }));
    assert_eq!(built.count(), 1);
}

#[test]
fn a_released_shard_is_free_and_says_why_it_ended() {
    let scene = Scene::new();
    scene.freeze(&SIX);
    handed_out(&scene, 10);
    let first = claim(&scene, shard(1, 0), dead("elsewhere"));
    let release = Release {
        at: jiff::Timestamp::now(),
        exit_code: 130,
        why: Some("it was interrupted".to_owned()),
    };
    release_claim(&scene.dir(), &first, &release).unwrap();
    let limited = scene.run_with(|options| {
        options.shard = Some(shard(1, 0));
        options.time_limit = Some(std::time::Duration::ZERO);
    });
    assert!(limited.unwrap().time_over);
    let held = latest_claim(&scene.dir(), shard(1, 0)).unwrap().unwrap();
    assert_eq!(held.claim.generation, 2);
    assert_eq!(held.release.unwrap().why.as_deref(), Some("its time limit was over"));
    assert_eq!(work(&scene, shard(1, 0)).unwrap().counts.correct, 7);
}
