//! `explain` and `compare` on a real cohort.

use crate::support::Bench;

/// The record of the round that wrote a profile holds its digest.
#[test]
fn a_profile_that_was_edited_is_told() {
    let bench = Bench::quick();
    bench.expect(0, &["sweep", "cohorts/quick.toml"]);
    let verify = ["verify", "cohorts/quick"];
    let (_, stderr) = bench.expect(0, &verify);
    assert!(!stderr.contains("can't be checked"), "{stderr}");
    let records = bench.records("cohorts/quick");
    let ended = records.iter().rfind(|record| record["record"] == "run").unwrap();
    let case = ended["case"].as_str().unwrap();
    let written = ended["profile_sha256"].as_str().unwrap();
    let name = format!("cases/{}/profile.json", cohort::case_folder(case));
    let path = bench.path("cohorts/quick").join(&name);
    let before = fs_err::read(&path).unwrap();
    assert_eq!(written, cohort::sha256_hex(&before));

    let edited = [&before[..], b" "].concat();
    fs_err::write(&path, &edited).unwrap();
    let (stdout, stderr) = bench.expect(4, &[&verify[..], &["--format", "json"]].concat());
    let found: serde_json::Value = serde_json::from_str(&stdout).unwrap();
    let difference = serde_json::json!([{ "name": name, "expected": written, "found": cohort::sha256_hex(&edited) }]);
    assert_eq!(found["differences"], difference);
    assert!(
        stderr.contains("help: a profile was changed after its round"),
        "{stderr}"
    );
    for arguments in [
        &["profile", "cohorts/quick", case][..],
        &["analyze", "cohorts/quick"],
        &["compare", "cohorts/quick", "cohorts/quick"],
    ] {
        let (_, stderr) = bench.expect(0, arguments);
        assert!(
            stderr.contains("warning: ") && stderr.contains(&name),
            "{arguments:?}: {stderr}"
        );
    }
    let (_, stderr) = bench.expect(4, &["check", "cohorts/quick", "--max-regret", "9"]);
    assert!(stderr.contains(&name), "{stderr}");
    fs_err::write(&path, &before).unwrap();
    bench.expect(0, &verify);
    // Profiles come and go as logs do.
    fs_err::remove_file(&path).unwrap();
    bench.expect(0, &verify);
}

#[test]
fn a_measured_cohort_is_explained_and_compared() {
    let bench = Bench::quick();
    bench.expect(0, &["sweep", "cohorts/quick.toml"]);
    let status = bench.json(&["analyze", "cohorts/quick", "--format", "json"]);
    let workload = &status["workloads"][0];
    let control = workload["control"].as_str().unwrap();
    let mut names = workload["cases"]
        .as_array()
        .unwrap()
        .iter()
        .map(|case| case["name"].as_str().unwrap());
    let other = names.find(|name| *name != control).unwrap();

    // The control is what a case is compared with unless another is named; every form says the same.
    let shown = bench.expect(0, &["explain", "cohorts/quick", other]).0;
    assert!(shown.contains(&format!("of the time of {control}")), "{shown}");
    assert!(shown.contains("outside all phases"), "{shown}");
    let json = bench.json(&["explain", "cohorts/quick", other, control, "--format", "json"]);
    assert_eq!(json["b"]["case"].as_str(), Some(control));
    let parts: f64 = json["phases"]
        .as_array()
        .unwrap()
        .iter()
        .map(|phase| phase["difference"].as_f64().unwrap())
        .sum();
    let whole = json["difference"].as_f64().unwrap();
    let outside = json["outside_phases"].as_f64().unwrap();
    assert!(
        (parts + outside - whole).abs() <= 1e-6 * whole.abs().max(1.0),
        "{parts} + {outside} is not {whole}"
    );
    // Each phase has its rates: operations of the plan over measured times, beside what the machine gives.
    assert!(
        shown.contains("Where the time goes") && shown.contains("cycles/call"),
        "{shown}"
    );
    for side in ["work_a", "work_b"] {
        rates_follow(&product(&json[side]));
    }
    let csv = bench
        .expect(0, &["explain", "cohorts/quick", other, "--format", "csv"])
        .0;
    assert!(
        csv.starts_with("what,name,kind,a,b,difference,share,label\nwhole,"),
        "{csv}"
    );

    // Where its time went, worker by worker; the report draws the same.
    let (shown, _) = bench.expect(0, &["profile", "cohorts/quick", other, "--html", "profile.html"]);
    assert!(
        shown.contains("worker 0 (core ") && shown.contains("waiting"),
        "{shown}"
    );
    let profile = bench.json(&["profile", "cohorts/quick", other, "--format", "json"]);
    assert_eq!(
        (profile["unit"].as_str(), profile["origin"].as_str()),
        (Some("ns"), Some("measured"))
    );
    assert!(product(&profile["work"])["gflops"].as_f64().unwrap() > 0.0, "{profile}");
    assert!(shown.contains("of peak") && shown.contains("L1 from L2"), "{shown}");
    assert_eq!(profile["meetings"], serde_json::json!([]), "one worker meets nobody");
    let page = fs_err::read_to_string(bench.path("profile.html")).unwrap();
    let report = fs_err::read_to_string(bench.path("reports/quick/report.html")).unwrap();
    for (what, page) in [("profile.html", page), ("report.html", report)] {
        assert!(page.contains("\"lanes\":[[\"worker 0 (core "), "{what}");
    }
    let (_, error) = bench.expect(2, &["profile", "cohorts/quick", "no-such-case"]);
    assert!(error.contains("the cohort has no case `no-such-case`"), "{error}");

    let (_, error) = bench.expect(2, &["explain", "cohorts/quick", other, other]);
    assert!(
        error.contains("there is nothing to explain") && error.contains("help: name another case"),
        "{error}"
    );
    let (_, error) = bench.expect(2, &["explain", "cohorts/quick", "no-such-case"]);
    assert!(error.contains("the cohort has no case `no-such-case`"), "{error}");

    // A cohort against itself passes every gate; with its cases made slower in a copy it does not.
    let same = ["compare", "cohorts/quick", "cohorts/quick", "--max-regression", "1.0"];
    let shown = bench.expect(0, &same).0;
    assert!(
        shown.contains("Workloads, machine class, tools and options are the same."),
        "{shown}"
    );
    copy_slower(&bench);
    let slower = ["compare", "cohorts/quick", "cohorts/slower", "--max-regression", "1.03"];
    let (shown, error) = bench.expect(7, &slower);
    assert!(
        shown.contains("Broken, or slower by more than 1.03 beyond noise:"),
        "{shown}"
    );
    assert!(error.contains("do not pass the gate"), "{error}");
    bench.expect(
        0,
        &["compare", "cohorts/quick", "cohorts/slower", "--max-regression", "1000"],
    );
    bench.expect(
        0,
        &["compare", "cohorts/slower", "cohorts/quick", "--max-regression", "1.03"],
    );
    bench.expect(0, &["compare", "cohorts/quick", "cohorts/slower"]);
    bench.expect(
        2,
        &["compare", "cohorts/quick", "cohorts/slower", "--max-regression", "0.9"],
    );
    let csv = bench
        .expect(0, &["compare", "cohorts/quick", "cohorts/slower", "--format", "csv"])
        .0;
    assert!(csv.lines().skip(1).all(|line| line.contains(",slower,")), "{csv}");
}

/// The row of the one product.
fn product(rows: &serde_json::Value) -> serde_json::Value {
    let rows = rows.as_array().unwrap().iter();
    let own: Vec<_> = rows.filter(|row| row["phase"] == "gemm").cloned().collect();
    assert_eq!(own.len(), 1, "{own:?}");
    own[0].clone()
}

/// Rates of the product of the quick definition are its operations over what was measured.
fn rates_follow(row: &serde_json::Value) {
    let number = |key: &str| row[key].as_f64().unwrap();
    let flops = 2.0 * 145.0 * 192.0 * 208.0;
    assert!((number("gflops") * number("ns") - flops).abs() < 1e-6 * flops, "{row}");
    assert!(number("share_of_peak") > 0.0 && number("share_of_peak") < 1.5, "{row}");
    // A call of a micro-kernel does some work and no more than all of it.
    assert!(number("calls") >= 1.0 && number("cycles_per_call") > 10.0, "{row}");
    let level = &row["traffic"][0];
    assert_eq!(level["level"], "L1 from L2", "{row}");
    assert!(level["bytes"].as_f64().unwrap() > 4.0 * 192.0 * 208.0, "{row}");
    assert!(level["measured_gb_per_s"].as_f64().unwrap() > 1.0, "{row}");
}

/// `cohorts/slower`: the same cohort, in which every call took a hundred times as long.
fn copy_slower(bench: &Bench) {
    let (from, to) = (bench.path("cohorts/quick"), bench.path("cohorts/slower"));
    for (path, bytes) in crate::support::tree(&from) {
        let inner = path.strip_prefix(&from).unwrap();
        fs_err::create_dir_all(to.join(inner).parent().unwrap()).unwrap();
        let bytes = if inner.starts_with("records") {
            slower(&bytes)
        } else {
            bytes
        };
        fs_err::write(to.join(inner), bytes).unwrap();
    }
}

fn slower(records: &[u8]) -> Vec<u8> {
    let mut lines = Vec::new();
    for line in String::from_utf8(records.to_vec()).unwrap().lines() {
        let mut record: serde_json::Value = serde_json::from_str(line).unwrap();
        // The measurement's fields stand in the record or below it; samples are named the same.
        let samples = if record["samples"].is_array() {
            &mut record["samples"]
        } else {
            &mut record["measurement"]["samples"]
        };
        for sample in samples.as_array_mut().into_iter().flatten() {
            let value = sample["value"].as_f64().unwrap();
            sample["value"] = (100.0 * value).into();
        }
        lines.extend(serde_json::to_vec(&record).unwrap());
        lines.push(b'\n');
    }
    lines
}

#[test]
fn a_report_in_use_is_said() {
    let bench = Bench::quick();
    bench.expect(0, &["freeze", "cohorts/quick.toml"]);
    fs_err::create_dir_all(bench.path("reports/quick")).unwrap();
    let lock = bench.path("reports/quick/.lock");
    let mut holder = std::process::Command::new("flock")
        .args(["--exclusive", "--no-fork"])
        .arg(&lock)
        .args(["sleep", "60"])
        .spawn()
        .unwrap();
    // Until it holds the lock, the command would not see it.
    let held = || {
        !std::process::Command::new("flock")
            .args(["--nonblock"])
            .arg(&lock)
            .arg("true")
            .status()
            .unwrap()
            .success()
    };
    while !held() {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let (_, error) = bench.expect(5, &["analyze", "cohorts/quick"]);
    assert!(error.contains("is in use by another `analyze`"), "{error}");
    holder.kill().unwrap();
    holder.wait().unwrap();
}

#[test]
fn the_schema_of_statistics_needs_no_cohort() {
    let bench = Bench::new();
    let schema = bench.json(&["analyze", "--schema"]);
    assert!(schema["properties"]["workloads"]["description"].is_string(), "{schema}");
    bench.expect(2, &["analyze"]);
}
