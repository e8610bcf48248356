//! The target as the coordinator uses it: measured, configured, built, run, read.

#![allow(
    clippy::disallowed_methods,
    reason = "a test may read files, clocks and run programs"
)]
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::float_cmp,
    reason = "tests compare exactly and stop at the first surprise"
)]

mod common;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use common::{gemm, mlp};
use planner::{Plan, Workload};
use target_api::{
    BuildFailure, BuildUnit, Built, Captured, CommandSpec, Configured, Host, Of, RunRequest, Target, Tool, Verdict,
};
use target_cpu::Cpu;
use target_cpu::chain::products;
use target_cpu::configured::tolerance;
use target_cpu::inputs::arrays;
use target_cpu::reference::reference;
use target_cpu::report::measurement;

fn options(text: &str) -> toml::Table {
    text.parse().unwrap()
}

/// The host as the coordinator would describe it, and a compiler; `None` where there is none.
fn host() -> Option<(Host, Vec<Tool>)> {
    let cc = std::env::var("CC")
        .ok()
        .filter(|cc| !cc.is_empty())
        .unwrap_or_else(|| "cc".to_owned());
    let version = Command::new(&cc).arg("--version").output();
    let Some(version) = version.ok().filter(|output| output.status.success()) else {
        assert_ne!(
            std::env::var("CI").as_deref(),
            Ok("true"),
            "no C compiler `{cc}`: CI can't leave this test out"
        );
        println!("SKIPPED: no C compiler `{cc}`, nothing was built and nothing was run");
        return None;
    };
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap();
    let flags = text
        .lines()
        .find(|line| line.starts_with("flags"))
        .and_then(|line| line.split_once(':'));
    let host = Host {
        architecture: std::env::consts::ARCH.to_owned(),
        cpu_model: "some model".to_owned(),
        flags: flags.map_or_else(Vec::new, |(_, list)| {
            list.split_whitespace().map(str::to_owned).collect()
        }),
        cores: vec![0],
        caches: BTreeMap::from([("L1d".to_owned(), 32768)]),
        ..Host::default()
    };
    let version = String::from_utf8_lossy(&version.stdout)
        .lines()
        .next()
        .unwrap_or_default()
        .to_owned();
    let tool = Tool {
        name: "compiler".to_owned(),
        path: cc,
        version,
        output: None,
        sha256: "00".to_owned(),
    };
    Some((host, vec![tool]))
}

fn execute(command: &CommandSpec, folder: &Path) -> Captured {
    let output = Command::new(&command.program)
        .args(&command.arguments)
        .envs(&command.environment)
        .current_dir(folder)
        .output()
        .unwrap();
    Captured {
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        exit_code: output.status.code(),
        ..Captured::default()
    }
}

/// Builds a unit in a folder of its own; gives the artifact and what the steps left.
fn build(unit: &BuildUnit, folder: &Path) -> (PathBuf, Captured) {
    std::fs::create_dir_all(folder).unwrap();
    for source in &unit.sources {
        std::fs::write(folder.join(&source.path), &source.text).unwrap();
    }
    let mut captured = Captured::default();
    for step in &unit.steps {
        captured = execute(step, folder);
        assert_eq!(captured.exit_code, Some(0), "{step:?}: {}", captured.stderr);
    }
    let read = |name: &String| (name.clone(), std::fs::read_to_string(folder.join(name)).unwrap());
    captured.files = unit.inspect.iter().map(read).collect();
    (folder.join(&unit.artifact), captured)
}

fn built<'a>(cpu: &dyn Configured, workload: &Workload, plan: &'a Plan, folder: &Path) -> Built<'a> {
    let mut artifacts = BTreeMap::new();
    for unit in cpu.build(workload, plan).unwrap() {
        let (artifact, captured) = build(&unit, &folder.join(&unit.label));
        let info = cpu
            .parse_build(&unit, &captured)
            .unwrap_or_else(|failure| panic!("{}: {failure}", plan.text));
        assert!(
            info.facts.keys().any(|fact| fact.ends_with(".loop_instructions")),
            "{info:?}"
        );
        artifacts.insert(unit.label, artifact);
    }
    Built { plan, artifacts }
}

#[test]
fn measured_configured_built_run_and_read() {
    let Some((host, tools)) = host() else { return };
    let folder = tempfile::tempdir().unwrap();
    let none = options("");
    assert_eq!(Cpu.tools(&none).unwrap()[0].variable, Some("CC"));
    let probe = Cpu.probe(&none, &host, &tools).unwrap().unwrap();
    let place = folder.path().join("probe");
    build(&probe.unit, &place);
    let printed = execute(&probe.command, &place);
    let machine = Cpu.machine(&host, tools, Some(&printed)).unwrap();
    assert_eq!(machine.class["cache.L1d_bytes"], "32768");
    assert!(machine.class.contains_key("compiler.sha256") && machine.class.contains_key("isa"));

    // The second worker may share the core: what is judged here is the result.
    let cores = machine.facts["physical_cores"].as_array().unwrap().len();
    let threads = cores.min(2);
    let cpu = Cpu
        .configure(&options(&format!("threads = {threads}")), &machine)
        .unwrap();
    assert_eq!(cpu.options()["threads"], threads.to_string());
    let unit = cpu.harness().unwrap();
    let (harness, captured) = build(&unit, &folder.path().join("harness"));
    assert!(cpu.parse_build(&unit, &captured).unwrap().facts.is_empty());

    let workload = mlp(29, 40, 70);
    let inputs = folder.path().join("inputs");
    std::fs::create_dir(&inputs).unwrap();
    for file in cpu.inputs(&workload, 3).unwrap().files {
        std::fs::write(inputs.join(file.name), file.bytes).unwrap();
    }
    let control = cpu.plan(&workload, &cpu.defaults(&workload).unwrap());
    let control = built(cpu.as_ref(), &workload, &control, &folder.path().join("control"));
    let space = cpu.space(&workload).unwrap();
    for (at, assignment) in space.sample(11, 5).unwrap().assignments.iter().enumerate() {
        let plan = cpu.plan(&workload, assignment);
        let case = built(
            cpu.as_ref(),
            &workload,
            &plan,
            &folder.path().join(format!("case-{at}")),
        );
        let request = RunRequest {
            workload: &workload,
            case,
            control: (at > 0).then(|| control.clone()),
            harness: Some(&harness),
            inputs: &inputs,
            round: 0,
            pairs: 2,
            case_dir: folder.path(),
        };
        let captured = execute(&cpu.run(&request), folder.path());
        let round = cpu.parse_run(&workload, &captured).unwrap();
        assert_eq!(round.verdict, Verdict::Correct, "{}", plan.text);
        assert_eq!(round.values(Of::Case).len(), 2);
        assert_eq!(round.values(Of::Control).len(), if at > 0 { 2 } else { 0 });
        assert!(round.probes.iter().all(|probe| probe.peak_gflops > 0.1));
        let error = round.error.clone().unwrap();
        assert_eq!(error.elements, 29 * 40);
        assert!(error.max_absolute.unwrap() <= error.tolerance);
        let kinds = ["pack", "compute", "reduce", "elementwise", "wait"];
        for sample in &round.samples {
            let sum: f64 = sample.phases.iter().map(|phase| phase.value).sum();
            assert!(
                (sum - sample.value).abs() <= 1e-6 * sample.value,
                "{sum} of {}",
                sample.value
            );
            assert!(
                sample.phases.iter().all(|phase| kinds.contains(&phase.kind.as_str())),
                "{:?}",
                sample.phases
            );
        }
        timeline_agrees(&folder.path().join("profile.json"), &round, plan_threads(&plan));
        // The phases that the model predicts are those that the harness measures.
        let analytic = cpu.estimators()[1].estimate(&workload, &plan).unwrap();
        let predicted: Vec<&str> = analytic.parts.iter().map(|(name, _)| name.as_str()).collect();
        let case = round.samples.iter().find(|sample| sample.of == Of::Case).unwrap();
        let measured: Vec<&str> = case.phases.iter().map(|phase| phase.name.as_str()).collect();
        assert_eq!(predicted, measured[..measured.len() - 1], "{}", plan.text);
        assert_eq!(measured.last(), Some(&"wait"));
    }

    // One byte of the weights: the reference no longer holds.
    let path = inputs.join("down.weights.f32");
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[7] ^= 0x40;
    std::fs::write(&path, bytes).unwrap();
    let request = RunRequest {
        workload: &workload,
        case: control.clone(),
        control: Some(control),
        harness: Some(&harness),
        inputs: &inputs,
        round: 0,
        pairs: 1,
        case_dir: folder.path(),
    };
    let round = cpu
        .parse_run(&workload, &execute(&cpu.run(&request), folder.path()))
        .unwrap();
    assert!(matches!(&round.verdict, Verdict::Incorrect { reason } if reason.contains("the result is wrong")));
}

fn plan_threads(plan: &planner::Plan) -> usize {
    let threads = plan.attributes.get("threads").and_then(planner::Value::as_integer);
    usize::try_from(threads.unwrap()).unwrap()
}

/// The timeline beside the case is that of one of its counted calls: the mean over its lanes is what the call says of each
/// phase, and what it says of waiting is what no span covers.
fn timeline_agrees(profile: &std::path::Path, round: &target_api::Measurement, threads: usize) {
    let text = std::fs::read_to_string(profile).unwrap();
    let timeline = Cpu.timeline(&text).unwrap().unwrap();
    assert_eq!((timeline.lanes.len(), timeline.origin.as_str()), (threads, "measured"));
    let own = |sample: &&target_api::Sample| sample.of == Of::Case && !sample.warm_up;
    let call = round
        .samples
        .iter()
        .filter(own)
        .find(|sample| (sample.value - timeline.end).abs() < 1e-6 * timeline.end)
        .expect("no call took as long as the timeline says");
    for lane in &timeline.lanes {
        assert!(lane.spans.windows(2).all(|two| two[0].end <= two[1].start), "{lane:?}");
        assert!(lane.spans.iter().all(|span| span.end <= timeline.end + 1.0), "{lane:?}");
    }
    for phase in &call.phases {
        let lanes = timeline.lanes.iter();
        let times: Vec<f64> = lanes
            .map(|lane| {
                if phase.kind == "wait" {
                    timeline.end - lane.busy()
                } else {
                    lane.time_in(&phase.name)
                }
            })
            .collect();
        let mean = times.iter().sum::<f64>() / threads as f64;
        // Ends of spans are whole nanoseconds.
        let spans = timeline.lanes.iter().map(|lane| lane.spans.len()).max().unwrap_or(0);
        assert!(
            (mean - phase.value).abs() <= 2.0 * (spans + 1) as f64,
            "{}: {mean} of {}",
            phase.name,
            phase.value
        );
    }
    assert!(Cpu.timeline("{}").is_err());
}

#[test]
fn a_machine_without_figures_is_no_machine() {
    let host = Host {
        architecture: "x86_64".to_owned(),
        ..Host::default()
    };
    assert!(Cpu.machine(&host, vec![], None).is_err());
    let failed = Captured {
        exit_code: Some(1),
        stderr: "no memory\n".to_owned(),
        ..Captured::default()
    };
    let error = Cpu.machine(&host, vec![], Some(&failed)).unwrap_err();
    assert!(error.to_string().contains("exit code 1: no memory"), "{error}");
    let text = Captured {
        exit_code: Some(0),
        stdout: "{}".to_owned(),
        ..Captured::default()
    };
    assert!(Cpu.machine(&host, vec![], Some(&text)).is_err());
    let error = Cpu.probe(&options(""), &host, &[]).unwrap_err();
    assert!(error.message.contains("no C compiler"), "{error}");
    assert_eq!(Cpu.tools(&options("treads = 1")).unwrap_err().key, "cpu.treads");
}

#[test]
fn the_class_is_what_must_not_change() {
    let report = include_str!("data/zen3-guest.json").to_owned();
    let printed = Captured {
        exit_code: Some(0),
        stdout: report,
        ..Captured::default()
    };
    let machine = |change: fn(&mut Host, &mut Tool)| {
        let flags = ["avx2", "fma"].map(str::to_owned).to_vec();
        let mut host = Host {
            architecture: "x86_64".to_owned(),
            flags,
            cores: vec![0],
            ..Host::default()
        };
        let mut tool = Tool {
            name: "compiler".to_owned(),
            path: "/usr/bin/cc".to_owned(),
            version: "cc 1".to_owned(),
            output: None,
            sha256: "ab".to_owned(),
        };
        change(&mut host, &mut tool);
        Cpu.machine(&host, vec![tool], Some(&printed)).unwrap()
    };
    let plain = machine(|_, _| {});
    assert_eq!(plain.class["isa"], "avx2");
    assert_eq!(plain.class, machine(|host, _| host.hostname = "other".to_owned()).class);
    let changes: [fn(&mut Host, &mut Tool); 5] = [
        |host, _| host.cpu_model = "other".to_owned(),
        |host, _| host.flags.push("avx512f".to_owned()),
        |host, _| host.governor = Some("powersave".to_owned()),
        |_, tool| tool.sha256 = "cd".to_owned(),
        |_, tool| tool.version = "cc 2".to_owned(),
    ];
    assert!(changes.into_iter().all(|change| machine(change).class != plain.class));
    // Facts survive freezing.
    assert!(Cpu.configure(&options(""), &plain).unwrap().options()["cores"] == "0, 1");
    let error = Cpu.configure(&options("isa = \"avx512\""), &plain).err().unwrap();
    assert_eq!(error.key, "cpu.isa");
}

#[test]
fn a_spill_fails_the_build() {
    let report = serde_json::from_str(include_str!("data/zen3-guest.json")).unwrap();
    let settings = target_cpu::options::Settings {
        threads: 1,
        isa: target_cpu::isa::Isa::Avx2,
        cores: vec![0],
    };
    let cpu = target_cpu::configured::Configuration::new(settings, &report, "cc").unwrap();
    let workload = mlp(9, 9, 9);
    let plan = cpu.plan(&workload, &planner::Rules::defaults(&cpu, &workload).unwrap());
    let unit = cpu.build(&workload, &plan).unwrap().remove(0);
    let parse = |text: Option<&str>| {
        let files = text
            .map(|text| ("gemm.s".to_owned(), text.to_owned()))
            .into_iter()
            .collect();
        cpu.parse_build(
            &unit,
            &Captured {
                files,
                ..Captured::default()
            },
        )
    };
    let clean = "kernel:\n.L1:\n\t# layout-sweep k-loop tile\n\tvfmadd231ps %ymm0, %ymm1, %ymm2\n\tjne\t.L1\n";
    assert_eq!(parse(Some(clean)).unwrap().facts["tile.loop_instructions"], "2");
    let spilled = clean.replace("%ymm0, %ymm1", "32(%rsp), %ymm1");
    let reason = |result| match result {
        Err(BuildFailure::Failed { reason }) => reason,
        other => panic!("{other:?}"),
    };
    assert!(reason(parse(Some(&spilled))).contains("touches the stack"));
    assert!(reason(parse(None)).contains("`gemm.s`"));
}

fn run_report(calls: &str, case_correct: &str, changed: &str) -> Captured {
    let intact = changed.is_empty();
    let stdout = format!(
        r#"{{"kind":"run","abi":1,"changed":[{changed}],"inputs_intact":{intact},"control_correct":true,
        "case_correct":{case_correct},"tolerance":1e-5,"reference_rms":2.0,"probe_isa":"avx2","tsc_hz":2e9,
        "mapped_bytes":100.0,"huge_page_bytes":50.0,"control_load_ns":1.0,"case_load_ns":null,"cores":[0,1],
        "probes":[{{"fma_gflops":[90.0,80.0],"core_hz":[3e9,2e9]}}],"calls":[{calls}]}}"#
    );
    Captured {
        exit_code: Some(0),
        stdout,
        ..Captured::default()
    }
}

fn call(plan: &str, ns: f64, first_bad: &str) -> String {
    format!(
        r#"{{"plan":"{plan}","warm_up":false,"pair":0,"wall_ns":{ns},"tsc_cycles":7.0,"involuntary_switches":2,
        "phases":[{{"name":"only","kind":"gemm","ns":{ns}}}],
        "error":{{"max_abs":3e-6,"non_finite":0,"first_bad":{first_bad}}}}}"#
    )
}

#[test]
fn reports_become_measurements() {
    let workload = Workload {
        name: "gemm".to_owned(),
        operations: vec![gemm("only", 3, 4, 5)],
    };
    let read = |captured: &Captured| measurement(&workload, captured);
    let (good, control) = (call("case", 10.0, "null"), call("control", 20.0, "null"));
    let both = format!("{control},{good}");
    let round = read(&run_report(&both, "true", "")).unwrap();
    assert_eq!(round.verdict, Verdict::Correct);
    assert_eq!(round.pairs(), [(10.0, 20.0)]);
    assert_eq!(round.probes[0].peak_gflops, 170.0);
    assert_eq!(round.probes[0].clock_ghz, Some(2.5));
    assert_eq!(round.facts["huge_pages"], "50 % granted");
    assert_eq!(round.samples[0].phases[0].kind, "compute");
    assert_eq!(round.samples[0].extra["involuntary_switches"], 2.0);
    let error = round.error.clone().unwrap();
    assert_eq!(
        (error.max_absolute, error.tolerance, error.elements),
        (Some(3e-6), 2e-5, 15)
    );

    // Measured alone, the harness calls it its control.
    let alone = read(&run_report(&control, "null", "")).unwrap();
    assert_eq!(alone.values(Of::Case), [20.0]);

    let reason = |captured: &Captured| match read(captured).unwrap().verdict {
        Verdict::Incorrect { reason } => reason,
        Verdict::Correct => panic!("correct"),
    };
    let bad = format!("{control},{}", call("case", 10.0, "4"));
    assert_eq!(
        reason(&run_report(&bad.replace("3e-6", "3e-2"), "false", "")),
        "the result is wrong in the call of pair 0: the largest error is 3.00e-2, more than the 2.00e-5 that pass; the \
         first wrong element is 4"
    );
    let not_finite = bad.replace("\"non_finite\":0,\"first_bad\":4", "\"non_finite\":6,\"first_bad\":4");
    assert_eq!(
        reason(&run_report(&not_finite, "false", "")),
        "the result is wrong in the call of pair 0: 6 elements are not finite; the first wrong element is 4"
    );
    let both_ways = not_finite
        .replace("3e-6", "3e-2")
        .replace("\"non_finite\":6", "\"non_finite\":1")
        .replace("\"warm_up\":false,\"pair\":0", "\"warm_up\":true,\"pair\":null");
    let both_ways = format!("{both_ways},{good}");
    assert_eq!(
        reason(&run_report(&both_ways, "false", "")),
        "the result is wrong in the warm-up call: 1 element is not finite, and the largest error is 3.00e-2, more than \
         the 2.00e-5 that pass; the first wrong element is 4"
    );
    let bad = format!("{},{good}", call("control", 10.0, "0"));
    assert!(reason(&run_report(&bad, "true", "")).starts_with("the control's result is wrong"));
    assert!(reason(&run_report(&both, "true", "\"x\"")).contains("changed during the run: x"));

    assert!(
        read(&run_report(&control, "true", ""))
            .unwrap_err()
            .to_string()
            .contains("no call of the case")
    );
    assert!(read(&run_report(&call("control", 0.0, "null"), "null", "")).is_err());
    let killed = Captured {
        signal: Some(11),
        ..Captured::default()
    };
    assert!(read(&killed).unwrap_err().to_string().contains("signal 11"));
    let torn = Captured {
        exit_code: Some(0),
        stdout: "{\"kind\":".to_owned(),
        ..Captured::default()
    };
    assert!(read(&torn).is_err());
}

/// The workload in float32, each sum from first to last: the worst order that a right plan may have. Step `skip` of the
/// last product is left out.
fn float32(workload: &Workload, seed: u64, skip: Option<usize>) -> Vec<f32> {
    let data = arrays(workload, seed).unwrap();
    let mut current = data.x;
    let count = workload.gemms().count();
    for (at, ((_, extents), weights)) in workload.gemms().zip(&data.weights).enumerate() {
        let size = |extent: u64| usize::try_from(extent).unwrap();
        let (inner, columns) = (size(extents.inner), size(extents.columns));
        let mut result = vec![0.0_f32; size(extents.rows) * columns];
        for (line, a) in result.chunks_exact_mut(columns).zip(current.chunks_exact(inner)) {
            for (k, (a, row)) in a.iter().zip(weights.chunks_exact(columns)).enumerate() {
                if at + 1 == count && Some(k) == skip {
                    continue;
                }
                line.iter_mut().zip(row).for_each(|(sum, b)| *sum += a * b);
            }
        }
        current = result;
    }
    current
}

#[test]
fn the_tolerance_passes_rounding_and_catches_one_missing_step() {
    let operations = vec![gemm("a", 24, 500, 4304), gemm("b", 24, 4304, 64)];
    let workload = Workload {
        name: "chain".to_owned(),
        operations,
    };
    let expected = reference(&workload, &arrays(&workload, 1).unwrap(), 2).unwrap();
    let rms = (expected.iter().map(|v| v * v).sum::<f64>() / expected.len() as f64).sqrt();
    let allowed = tolerance(&products(&workload).unwrap());
    assert!((allowed - 6.26e-5).abs() < 1e-7, "{allowed}");
    let worst = |skip| {
        let result = float32(&workload, 1, skip);
        result
            .iter()
            .zip(&expected)
            .map(|(a, b)| (f64::from(*a) - b).abs())
            .fold(0.0, f64::max)
            / rms
    };
    let right = worst(None);
    assert!(right < allowed / 2.0, "{right}");
    for skip in [0, 1000, 4303] {
        let wrong = worst(Some(skip));
        assert!(wrong > 100.0 * allowed, "step {skip}: {wrong}");
    }
}
