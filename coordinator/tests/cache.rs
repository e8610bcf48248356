//! Builds that are there already: copied, built once, found when they are damaged, removed.
#![allow(clippy::unwrap_used, reason = "helpers of tests are tests too")]

mod common;

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use cohort::{BuildOutcome, RecordKind};
use common::scripted::Scene;
use coordinator::lock::{DeviceLock, Holder, Mode};
use coordinator::{BuildCache, Event, Pruned, run};

const TWO: [(&str, &str); 2] = [("fast", "VALUE=50"), ("slow", "VALUE=200")];

/// A cache and a file in which every build of a plan is noted.
struct Shared {
    folder: tempfile::TempDir,
}

impl Shared {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self { folder }
    }

    fn cache(&self) -> BuildCache {
        BuildCache::new(self.folder.path().join("builds"))
    }

    fn built(&self) -> Vec<String> {
        let text = std::fs::read_to_string(self.folder.path().join("built")).unwrap_or_default();
        let mut lines: Vec<_> = text.lines().map(str::to_owned).collect();
        lines.sort();
        lines
    }

    /// A scene whose builds are noted, and take a while.
    fn scene(&self) -> Scene {
        let mut scene = Scene::new();
        let noted = self.folder.path().join("built");
        scene.target.build = format!("cat plan.sh >> '{}'; sleep 0.1; cp plan.sh \"$1\"", noted.display());
        scene.freeze(&TWO);
        scene
    }

    /// Runs it and gives what was said of the cache.
    fn run(&self, scene: &Scene) -> Vec<String> {
        let mut said = Vec::new();
        let mut options = scene.options();
        options.cache = Some(self.cache());
        let summary = run(&scene.cohort(), &options, None, &mut |event, _| match event {
            Event::Rebuilding { why, .. } => said.push(format!("again: {why}")),
            Event::CacheUnused { why, .. } => said.push(format!("unused: {why}")),
            _ => {}
        });
        assert_eq!(summary.unwrap().counts.correct, 3);
        scene.assert_clean();
        said
    }
}

/// `(case, whether its plan was built)`, and the digest of its unit.
fn plans(scene: &Scene) -> Vec<(String, bool, String)> {
    let records = scene.records().into_iter();
    let mut plans: Vec<_> = records
        .filter_map(|record| match record.kind {
            RecordKind::Build {
                outcome: BuildOutcome::Built { units },
                ..
            } => Some((
                record.case,
                units["plan"].build_ms.is_some(),
                units["plan"].unit.clone(),
            )),
            _ => None,
        })
        .collect();
    plans.sort();
    plans
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<_> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn another_cohort_copies_what_is_built() {
    let shared = Shared::new();
    let (one, two) = (shared.scene(), shared.scene());
    assert!(shared.run(&one).is_empty());
    assert!(plans(&one).iter().all(|(_, built, _)| *built));
    assert!(shared.run(&two).is_empty());
    assert!(plans(&two).iter().all(|(_, built, _)| !built));
    assert_eq!(shared.built(), ["VALUE=100", "VALUE=200", "VALUE=50"]);
    // Copies, not links: each may be edited without the others.
    let unit = &plans(&two)[1].2;
    let (own, cached) = (
        two.dir().artifact(unit, "plan"),
        shared.cache().folder().join(unit).join("artifact"),
    );
    let inode = |path: &Path| std::fs::metadata(path).unwrap().ino();
    assert_ne!(inode(&own), inode(&cached));
    let text = std::fs::read(&cached).unwrap();
    std::fs::write(&own, "VALUE=1").unwrap();
    assert_eq!(std::fs::read(&cached).unwrap(), text);
    assert!(
        std::fs::read_to_string(two.dir().unit_build_log(unit))
            .unwrap()
            .contains("from the build cache")
    );
    // Three plans and a harness of each scene.
    assert_eq!(shared.cache().entries().unwrap().len(), 5);
    assert!(names(shared.cache().folder()).iter().all(|name| !name.starts_with('.')));
}

#[test]
fn two_coordinators_build_once() {
    let shared = Shared::new();
    let scenes = [shared.scene(), shared.scene(), shared.scene()];
    std::thread::scope(|scope| {
        for scene in &scenes {
            scope.spawn(|| assert!(shared.run(scene).is_empty()));
        }
    });
    assert_eq!(shared.built(), ["VALUE=100", "VALUE=200", "VALUE=50"]);
    let built = scenes.iter().flat_map(plans).filter(|(_, built, _)| *built).count();
    assert_eq!(built, 3);
}

#[test]
fn a_damaged_entry_is_named_and_built_again() {
    let shared = Shared::new();
    let first = shared.scene();
    shared.run(&first);
    let unit = plans(&first)[1].2.clone();
    let entry = shared.cache().folder().join(unit);
    let whole: Vec<_> = ["artifact", "captured.json", "entry.json"]
        .map(|name| (name, std::fs::read(entry.join(name)).unwrap()))
        .to_vec();
    let mut builds = 3;
    for (name, bytes) in &whole {
        let mut flipped = bytes.clone();
        flipped[bytes.len() / 2] ^= 1;
        for bad in [Some(flipped), Some(bytes[..bytes.len() / 2].to_vec()), None] {
            match bad {
                Some(bad) => std::fs::write(entry.join(name), bad).unwrap(),
                None => std::fs::remove_file(entry.join(name)).unwrap(),
            }
            let said = shared.run(&shared.scene());
            let place = entry.to_str().unwrap();
            assert!(
                said.len() == 1 && said[0].starts_with("again: ") && said[0].contains(place),
                "{name}: {said:?}"
            );
            builds += 1;
            assert_eq!(shared.built().len(), builds);
        }
    }
    assert!(shared.run(&shared.scene()).is_empty());
    assert_eq!(shared.built().len(), builds);
    // It is as it was, but for the time that the build took.
    assert_eq!(std::fs::read(entry.join("artifact")).unwrap(), whole[0].1);
}

#[test]
fn what_a_killed_builder_left_is_no_entry() {
    let shared = Shared::new();
    let scene = shared.scene();
    let cache = shared.cache();
    shared.run(&scene);
    for entry in cache.entries().unwrap() {
        let half = cache.folder().join(format!(".making-{}", entry.unit));
        std::fs::rename(cache.folder().join(&entry.unit), &half).unwrap();
        std::fs::remove_file(half.join("entry.json")).unwrap();
    }
    assert_eq!(cache.entries().unwrap(), []);
    assert!(shared.run(&shared.scene()).is_empty());
    assert_eq!(shared.built().len(), 6);
    // The first scene's harness is nobody else's: only `prune` finds what is left of it.
    let hidden = || {
        names(cache.folder())
            .iter()
            .filter(|name| name.starts_with('.'))
            .count()
    };
    assert_eq!(hidden(), 1);
    let pruned = cache.prune(Some(Duration::from_secs(3600))).unwrap();
    assert_eq!((pruned.entries, hidden()), (0, 0));
    assert!(pruned.bytes > 0);
}

#[test]
fn prune_takes_what_is_old_and_free() {
    let shared = Shared::new();
    shared.run(&shared.scene());
    let cache = shared.cache();
    let entries = cache.entries().unwrap();
    assert!(
        entries
            .iter()
            .all(|entry| entry.bytes > 0 && entry.used.is_some() && entry.locked_by.is_none())
    );
    assert_eq!(cache.prune(Some(Duration::from_secs(3600))).unwrap(), Pruned::default());

    let age = |unit: &str, hours: u64| {
        let time = std::time::SystemTime::now() - Duration::from_secs(3600 * hours);
        let file = std::fs::File::open(cache.folder().join(unit).join("entry.json")).unwrap();
        file.set_modified(time).unwrap();
    };
    age(&entries[0].unit, 3);
    age(&entries[1].unit, 3);
    let lock: PathBuf = cache.folder().join(format!("{}.lock", entries[1].unit));
    let held = DeviceLock::try_acquire(&lock, Mode::Exclusive, &Holder::this_process("test", "")).unwrap();
    let pruned = cache.prune(Some(Duration::from_secs(7200))).unwrap();
    assert_eq!((pruned.entries, pruned.bytes, pruned.in_use), (1, entries[0].bytes, 1));
    assert_eq!(
        cache.entries().unwrap()[0].locked_by.as_ref().unwrap().pid,
        std::process::id()
    );
    drop(held);
    let pruned = cache.prune(None).unwrap();
    assert_eq!((pruned.entries, pruned.in_use), (3, 0));
    assert_eq!(names(cache.folder()), Vec::<String>::new());
    assert_eq!(cache.prune(None).unwrap(), Pruned::default());
    assert_eq!(
        BuildCache::new("/nowhere/at/all").prune(None).unwrap(),
        Pruned::default()
    );
}

#[test]
fn without_a_usable_cache_everything_is_built() {
    let shared = Shared::new();
    std::fs::write(shared.cache().folder(), "a file").unwrap();
    let said = shared.run(&shared.scene());
    assert!(
        said.len() == 4 && said.iter().all(|line| line.starts_with("unused: ")),
        "{said:?}"
    );
    assert_eq!(shared.built().len(), 3);
}
