//! A machine is measured once, and again when it is asked for or when the result is lost.
#![allow(clippy::unwrap_used, reason = "helpers of tests are tests too")]

mod common;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use coordinator::guard::GuardEvent;
use coordinator::machine::MachineError;
use coordinator::{Measuring, measure_machine};
use target_api::*;

struct Probed {
    calls: PathBuf,
    build: String,
    tool: String,
    version: String,
}

impl Target for Probed {
    fn id(&self) -> &'static str {
        "probed"
    }

    fn about(&self) -> &'static str {
        "a test"
    }

    fn tools(&self, _: &Options) -> Result<Vec<ToolSpec>, OptionError> {
        Ok(vec![ToolSpec {
            name: "compiler",
            variable: None,
            program: self.tool.clone(),
            version_arguments: vec!["-c".to_owned(), self.version.clone()],
        }])
    }

    fn probe(&self, _: &Options, _: &Host, tools: &[Tool]) -> Result<Option<Probe>, OptionError> {
        let command = |arguments: [&str; 2]| CommandSpec {
            program: tools[0].path.clone(),
            arguments: arguments.map(str::to_owned).to_vec(),
            environment: BTreeMap::new(),
        };
        let unit = BuildUnit {
            label: "probe".to_owned(),
            sources: vec![SourceFile {
                path: "probe.sh".to_owned(),
                text: format!("echo x >> '{}'; echo 42\n", self.calls.display()),
            }],
            steps: vec![command(["-c", &self.build])],
            artifact: "probe".to_owned(),
            inspect: Vec::new(),
        };
        let command = command(["./probe", ""]);
        Ok(Some(Probe { unit, command }))
    }

    fn machine(&self, host: &Host, tools: Vec<Tool>, probe: Option<&Captured>) -> Result<Machine, Malformed> {
        let number = probe.unwrap().stdout.trim().parse::<u64>();
        Ok(Machine {
            class: BTreeMap::from([("model".to_owned(), host.cpu_model.clone())]),
            tools,
            facts: number.map_err(|_| Malformed("no number".to_owned()))?.into(),
            ..Machine::default()
        })
    }

    fn configure(&self, _: &Options, _: &Machine) -> Result<Box<dyn Configured>, OptionError> {
        Err(OptionError {
            key: "probed".to_owned(),
            message: "a test".to_owned(),
        })
    }
}

fn scene(folder: &Path) -> (Probed, Measuring) {
    let target = Probed {
        calls: folder.join("calls"),
        build: "cp probe.sh probe".to_owned(),
        tool: "sh".to_owned(),
        version: "echo; echo ' sh 1.2 '; echo more".to_owned(),
    };
    let how = Measuring {
        launcher: common::launcher(),
        refresh: false,
        cache: folder.join("deep/cache"),
        device_lock: Some(folder.join("device.lock")),
    };
    (target, how)
}

fn measure(target: &Probed, how: &Measuring) -> Result<Machine, MachineError> {
    measure_machine(target, &Options::new(), how, &mut |_| ())
}

#[test]
fn measured_once_and_again_on_request() {
    let folder = tempfile::tempdir().unwrap();
    let (target, mut how) = scene(folder.path());
    let calls = || std::fs::read_to_string(&target.calls).unwrap().lines().count();
    let first = measure(&target, &how).unwrap();
    assert_eq!((first.facts.as_u64(), calls()), (Some(42), 1));
    let tool = first.tool("compiler").unwrap();
    assert_eq!(tool.version, "sh 1.2");
    assert!(Path::new(&tool.path).is_absolute() && tool.sha256.len() == 64);
    assert_eq!((measure(&target, &how).unwrap(), calls()), (first.clone(), 1));
    how.refresh = true;
    assert_eq!((measure(&target, &how).unwrap(), calls()), (first.clone(), 2));
    how.refresh = false;
    let kept = std::fs::read_dir(&how.cache)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect::<Vec<_>>();
    assert_eq!(kept.len(), 1);
    std::fs::write(&kept[0], "{ torn").unwrap();
    assert_eq!((measure(&target, &how).unwrap(), calls()), (first, 3));
}

#[test]
fn a_probe_that_does_not_build_leaves_its_log() {
    let folder = tempfile::tempdir().unwrap();
    let (mut target, how) = scene(folder.path());
    target.build = "echo 'probe.c:1: error: bad' >&2; exit 1".to_owned();
    let error = measure(&target, &how).unwrap_err();
    let MachineError::Build { reason, log } = &error else {
        panic!("{error:?}")
    };
    assert!(reason.ends_with("exit code 1: probe.c:1: error: bad"), "{reason}");
    assert!(std::fs::read_to_string(log).unwrap().contains("error: bad"));
    std::fs::remove_dir_all(log.parent().unwrap()).unwrap();
    assert!(!how.cache.exists());
}

#[test]
fn a_missing_compiler_is_said_so() {
    let folder = tempfile::tempdir().unwrap();
    let (mut target, how) = scene(folder.path());
    target.tool = "no-such-compiler".to_owned();
    let message = measure(&target, &how).unwrap_err().to_string();
    assert!(
        message.starts_with("no compiler found: `no-such-compiler` is not on `PATH`"),
        "{message}"
    );
}

#[test]
fn a_cache_that_cannot_be_written_is_told_and_nothing_more() {
    let folder = tempfile::tempdir().unwrap();
    let (target, mut how) = scene(folder.path());
    std::fs::write(folder.path().join("file"), "").unwrap();
    how.cache = folder.path().join("file/cache");
    let mut notes = Vec::new();
    let machine = measure_machine(&target, &Options::new(), &how, &mut |event| {
        if let GuardEvent::Note { message } = event {
            notes.push(message.clone());
        }
    });
    assert_eq!(machine.unwrap().facts.as_u64(), Some(42));
    assert!(
        matches!(&notes[..], [note] if note.starts_with("what was measured can't be kept") && note.contains("file/cache")),
        "{notes:?}"
    );
}

/// Not a test: measures in a process of its own, which gets a signal. Exits with 130 when the error says so.
#[test]
#[ignore = "started by another test"]
fn stand_in() {
    let folder = PathBuf::from(std::env::var("STAND_IN_FOLDER").unwrap());
    let (mut target, how) = scene(&folder);
    let slow = format!("touch '{}'; sleep 100", folder.join("begun").display());
    match std::env::var("STAND_IN_SLOW").unwrap().as_str() {
        "build" => target.build = slow,
        _ => target.version = slow,
    }
    let error = measure(&target, &how).unwrap_err();
    std::process::exit(if error.is_interrupted() { 130 } else { 1 });
}

#[test]
fn an_interrupted_measurement_says_so() {
    for slow in ["version", "build"] {
        let folder = tempfile::tempdir().unwrap();
        let mut child = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "stand_in", "--ignored"])
            .env("STAND_IN_FOLDER", folder.path())
            .env("STAND_IN_SLOW", slow)
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::null())
            .spawn()
            .unwrap();
        let begun = || folder.path().join("begun").exists();
        assert!(common::within(std::time::Duration::from_secs(20), begun));
        let pid = rustix::process::Pid::from_child(&child);
        rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(130), "{slow}");
    }
}
