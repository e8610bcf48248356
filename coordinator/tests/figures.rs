//! What the coordinator itself costs: `cargo test --release -p layout-sweep-coordinator --test figures -- --ignored --nocapture
//! --test-threads 1`.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "helpers of tests are tests too")]

mod common;

use std::time::Instant;

use cohort::RecordKind;
use common::scripted::Scene;
use target_api::Exclusive;

/// CPU time of this process alone, in seconds (children are not in it).
fn cpu_seconds() -> f64 {
    common::cpu_time().as_secs_f64()
}

/// Median and 95 % quantile of what lies between one run and the next, in ms: by the clock, and of this process's CPU.
fn between_runs(scene: &Scene) -> [(f64, f64); 2] {
    let meter = scene.target.meter.lock().unwrap();
    let quantiles = |mut steps: Vec<f64>| {
        steps.sort_by(f64::total_cmp);
        (steps[steps.len() / 2], steps[steps.len() * 95 / 100])
    };
    // A result is read when it comes and again when it is recorded: the first of the two counts.
    let firsts: Vec<_> = meter
        .iter()
        .step_by(meter.len().div_ceil(scene.target.total()))
        .collect();
    let steps = || firsts.windows(2);
    [
        quantiles(steps().map(|w| (w[1].0 - w[0].0).as_secs_f64() * 1e3).collect()),
        quantiles(
            steps()
                .map(|w| (w[1].1.as_secs_f64() - w[0].1.as_secs_f64()) * 1e3)
                .collect(),
        ),
    ]
}

#[test]
#[ignore = "figures, not a check"]
fn cost_of_a_round() {
    let mut scene = Scene::new();
    scene.target.exclusive = Exclusive::Host;
    scene.measure.rounds = 4;
    let names: Vec<String> = (0..249).map(|n| format!("case-{n:03}")).collect();
    let cases: Vec<_> = names.iter().map(|name| (name.as_str(), "VALUE=100")).collect();
    let begin = Instant::now();
    scene.freeze(&cases);
    println!("freeze of 250 cases: {:?}", begin.elapsed());
    scene
        .run_with(|options| options.only = vec!["control".to_owned()])
        .unwrap();
    let (begin, cpu) = (Instant::now(), cpu_seconds());
    let summary = scene.run();
    let (wall, cpu) = (begin.elapsed().as_secs_f64() * 1e3, (cpu_seconds() - cpu) * 1e3);
    let rounds = summary.rounds_done as f64;
    let ran: u64 = scene
        .records()
        .iter()
        .map(|record| match record.kind {
            RecordKind::Run { run_ms, .. } => run_ms,
            _ => 0,
        })
        .sum();
    println!(
        "{rounds} rounds: wall {:.2} ms each, of which the command {:.2} ms; coordinator's CPU {:.2} ms each",
        wall / rounds,
        ran as f64 / rounds,
        cpu / rounds
    );
    let begin = Instant::now();
    scene.run();
    println!("resume of the finished cohort: {:?}", begin.elapsed());
}

/// Largest memory that this process had, in MiB.
fn peak_mib() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    let kib: f64 = line.split_whitespace().nth(1).unwrap().parse().unwrap();
    kib / 1024.0
}

/// A frozen cohort of one round of one pair for so many cases, or as many as `FIGURE_CASES` says; and the names of all
/// but the control.
fn many(usual: usize) -> (Scene, Vec<String>) {
    let count = std::env::var("FIGURE_CASES").map_or(usual, |text| text.parse::<usize>().unwrap());
    let mut scene = Scene::new();
    (scene.measure.rounds, scene.measure.pairs) = (1, 1);
    let names: Vec<String> = (1..count).map(|n| format!("case-{n:06}")).collect();
    let cases: Vec<_> = names.iter().map(|name| (name.as_str(), "VALUE=100")).collect();
    let begin = Instant::now();
    scene.freeze(&cases);
    println!(
        "freeze of {count} cases: {:?}, peak memory {:.0} MiB",
        begin.elapsed(),
        peak_mib()
    );
    (scene, names)
}

#[test]
#[ignore = "figures, not a check"]
fn ten_thousand_cases() {
    let (scene, names) = many(10_000);
    let count = names.len() + 1;
    let (begin, cpu) = (Instant::now(), cpu_seconds());
    let summary = scene.run();
    assert_eq!(usize::try_from(summary.counts.correct), Ok(count));
    let (wall, cpu) = (begin.elapsed().as_secs_f64() * 1e3, (cpu_seconds() - cpu) * 1e3);
    let cases = count as f64;
    println!(
        "run: wall {:.2} ms and coordinator's CPU {:.2} ms per case",
        wall / cases,
        cpu / cases
    );
    let [wall, cpu] = between_runs(&scene);
    println!(
        "from one case to the next: wall median {:.2} ms (95 %: {:.2}), coordinator's CPU median {:.2} ms (95 %: {:.2})",
        wall.0, wall.1, cpu.0, cpu.1
    );
    let begin = Instant::now();
    assert_eq!(scene.run().rounds_done, 0);
    println!("resume of the finished cohort: {:?}", begin.elapsed());
    let begin = Instant::now();
    let status = coordinator::status(&scene.cohort(), &[]).unwrap();
    assert_eq!(status.counts, summary.counts);
    println!("status: {:?}; peak memory {:.0} MiB", begin.elapsed(), peak_mib());
    assert_eq!(scene.target.total(), count);
    scene.assert_clean();
}

/// All cases but two have the records of the second one under their own names: what is asked for is what they cost to
/// read, not to run.
#[test]
#[ignore = "figures, not a check"]
fn memory_of_many_cases() {
    use std::io::Write as _;
    let (scene, names) = many(100_000);
    let count = names.len() + 1;
    let only = vec!["control".to_owned(), names[0].clone()];
    scene.run_with(|options| options.only.clone_from(&only)).unwrap();
    let text = std::fs::read_to_string(scene.record_file()).unwrap();
    let own = format!("\"case\":\"{}\"", names[0]);
    let templates: Vec<serde_json::Value> = text
        .lines()
        .filter(|line| line.contains(&own))
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(templates.len(), 3);
    let writer = "20990101T000000.000000000Z-1-figures";
    let mut out = std::io::BufWriter::new(std::fs::File::create(scene.dir().record_file(writer)).unwrap());
    let numbered = names[1..]
        .iter()
        .flat_map(|name| templates.iter().map(move |line| (name, line)));
    for (sequence, (name, line)) in numbered.enumerate() {
        let mut line = line.clone();
        (line["case"], line["writer"], line["sequence"]) = (name.as_str().into(), writer.into(), sequence.into());
        writeln!(out, "{line}").unwrap();
    }
    out.flush().unwrap();
    drop(out);
    let begin = Instant::now();
    let summary = scene.run();
    assert_eq!((summary.counts.correct, summary.rounds_done), (count as u64, 0));
    println!("resume: {:?}, peak memory {:.0} MiB", begin.elapsed(), peak_mib());
    let begin = Instant::now();
    coordinator::status(&scene.cohort(), &[]).unwrap();
    println!("status: {:?}, peak memory {:.0} MiB", begin.elapsed(), peak_mib());
}
