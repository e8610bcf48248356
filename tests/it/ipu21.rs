//! The tile array from the command line: swept, tried by constraint texts, asked about, profiled.

use crate::support::Bench;

/// A product chain that the unit model runs in a moment.
const SMALL: &str = r#"
target = "ipu21"
control = "plain"

[measure]
rounds = 1
finalists = 0

[[workload]]
name = "small"
kind = "mlp"
tokens = 61
features = 96
hidden = 200

[[case]]
name = "plain"
plan = { "up.rows" = 4, "up.columns" = 5, "up.inner" = 3, "up.width" = 48, "up.result_rows" = 3, "up.result_columns" = 1, "up.memory" = "interleaved", "up.orientation" = "normal", "up.reduction" = "complete", "up.local" = "direct", "down.rows" = 3, "down.columns" = 3, "down.inner" = 4, "down.width" = 32, "down.result_rows" = 4, "down.result_columns" = 1, "down.memory" = "interleaved", "down.orientation" = "normal", "down.reduction" = "complete", "down.local" = "direct", "mapping" = "identity" }

[[case]]
name = "streamed"
like = "plain"
plan = { "down.reduction" = "streamed" }

[[case]]
name = "swapped"
like = "plain"
plan = { "up.orientation" = "swapped", "up.columns" = 1, "up.width" = 64 }
"#;

const UP: &str = "0:4x5x3:3x1:48:interleaved:normal:complete:direct";
const DOWN: &str = "2:3x3x4:4x1:32:interleaved:normal:complete:direct";

#[test]
fn a_sweep_of_the_unit_model_leaves_profiles_and_a_report() {
    let bench = Bench::new();
    bench.define("small", SMALL);
    let (stdout, _) = bench.expect(0, &["sweep", "cohorts/small.toml"]);
    for word in ["plain", "rejected", "payload", "placed"] {
        assert!(stdout.contains(word), "`{word}` is not in\n{stdout}");
    }
    let profile = bench.json(&["profile", "cohorts/small", "plain", "--format", "json"]);
    let tried = bench.json(&["try", "cohorts/small.toml", "--case", "plain", "--format", "json"]);
    assert_eq!(profile["cycles"].as_f64(), tried["value"].as_f64());
    assert!(tried["value"].as_f64() > Some(1_000.0), "{tried}");
    assert_eq!(profile["summary"]["barriers"].as_array().unwrap().len(), 4);
    let (table, _) = bench.expect(0, &["profile", "cohorts/small", "streamed"]);
    for word in [
        "down.reduction-2",
        "arrival spread",
        "bound ordinary / paired",
        "interleaved",
        "gelu",
    ] {
        assert!(table.contains(word), "`{word}` is not in\n{table}");
    }
    bench.expect(0, &["profile", "cohorts/small", "streamed", "--html", "streamed.html"]);
    let page = fs_err::read_to_string(bench.path("streamed.html")).unwrap();
    let report = fs_err::read_to_string(bench.path("reports/small/report.html")).unwrap();
    for page in [page, report] {
        assert!(
            page.contains("lanes are ") && page.contains(" to 1471"),
            "tiles in time"
        );
    }
    let (_, stderr) = bench.expect(2, &["profile", "cohorts/small", "swapped"]);
    assert!(stderr.contains("no profile of `swapped`"), "{stderr}");

    // One run after another gives the same cycles and the same bytes as several side by side.
    let alone = Bench::new();
    alone.define("small", SMALL);
    alone.expect(0, &["sweep", "cohorts/small.toml", "--jobs", "1"]);
    for case in ["plain", "streamed"] {
        let profile = |bench: &Bench| {
            bench
                .expect(0, &["profile", "cohorts/small", case, "--format", "json"])
                .0
        };
        assert_eq!(profile(&bench), profile(&alone), "{case}");
    }
}

/// Extents that no screened geometry suits have a plan all the same, or a refusal with its numbers.
#[test]
fn other_extents_are_counted_by_the_same_rules() {
    let bench = Bench::new();
    let count = |name: &str, [tokens, features, hidden]: [u32; 3]| {
        let text = format!(
            "target = \"ipu21\"\ncontrol = \"all\"\n[[workload]]\nname = \"{name}\"\nkind = \"mlp\"\ntokens = {tokens}\n\
             features = {features}\nhidden = {hidden}\n[[case]]\nname = \"all\"\nplan = {{}}\n[explore]\nscreen = {{ \
             \"*.inner\" = \"2:64\", \"*.columns\" = \"1:736\", \"*.rows\" = \"derived\", \"*.width\" = \"derived\", \
             \"*.result_rows\" = \"derived\" }}\n"
        );
        bench.define(name, &text);
        bench.json(&["plan", &format!("cohorts/{name}.toml"), "--count", "--format", "json"])
    };
    let half = count("half", [365, 576, 2152]);
    assert!(half["total"].as_u64() > Some(1_000), "{half}");
    // Every screened geometry fills the array: one with few rows has none, ten times the extents fit into no memory.
    for (name, extents) in [("few", [61, 96, 200]), ("tenfold", [7_290, 11_520, 43_040])] {
        let counted = count(name, extents);
        assert_eq!(counted["total"], 0, "{counted}");
        let plans = counted["legal_plans"][name].as_str().unwrap();
        assert!(plans.len() > 12, "{counted}");
    }
    // Its input and reference would take minutes: what can't be built is refused before they are made.
    let tried = bench.json(&["try", "cohorts/tenfold.toml", "--case", "all", "--format", "json"]);
    assert_eq!(tried["outcome"], "rejected");
    let reason = tried["reason"].as_str().unwrap();
    assert!(reason.contains("operand-bytes") && reason.contains("586960"), "{tried}");
}

#[test]
fn constraint_texts_mappings_and_prices_are_tried() {
    let bench = Bench::new();
    bench.define("small", SMALL);
    let with = |more: &[&str]| {
        let start = ["try", "cohorts/small.toml", "--format", "json", "--constraint", DOWN];
        bench.json(&[&start[..], more].concat())
    };
    let plain = with(&[]);
    assert_eq!(plain["outcome"], "correct");
    assert_eq!(plain["origin"], "simulated");
    assert_eq!(plain["plan"], format!("{UP} {DOWN}"));
    let turned = with(&["--constraint", UP, "--mapping", "block:92:2"]);
    assert_eq!(turned["plan"], format!("{UP} {DOWN} mapping=block:92:2"));
    let before = with(&["--costs", "before"]);
    assert!(
        before["value"].as_f64() > plain["value"].as_f64(),
        "older kernels are slower"
    );

    let mut tiles: Vec<usize> = (0..1472).rev().collect();
    fs_err::write(bench.path("mapping.json"), format!("{tiles:?}")).unwrap();
    let reversed = with(&["--mapping", "mapping.json"]);
    assert_eq!(reversed["outcome"], "correct");
    tiles[0] = 3;
    fs_err::write(bench.path("mapping.json"), format!("{tiles:?}")).unwrap();
    let wrong = [
        "try",
        "cohorts/small.toml",
        "--constraint",
        DOWN,
        "--mapping",
        "mapping.json",
    ];
    let (_, stderr) = bench.expect(2, &wrong);
    assert!(stderr.contains("no bijection"), "{stderr}");

    let refused = DOWN.replace("4x1", "5x1");
    let refused = bench.json(&[
        "try",
        "cohorts/small.toml",
        "--format",
        "json",
        "--constraint",
        &refused,
    ]);
    assert_eq!(refused["outcome"], "rejected");
    assert!(refused["reason"].as_str().unwrap().contains("result-rows"), "{refused}");
}

#[test]
fn questions_have_three_answers() {
    let bench = Bench::new();
    bench.define("small", SMALL);
    let beyond = format!("{DOWN}:k-grain-16");
    let cyclic = format!("{DOWN}:cyclic-rows");
    let told = bench.json(&[
        "plan",
        "cohorts/small.toml",
        "--format",
        "json",
        "--why",
        DOWN,
        &beyond,
        &cyclic,
    ]);
    let answers = |at: usize| {
        let told = &told[at];
        (
            told["described"]["yes"].clone(),
            told["executed"]["yes"].clone(),
            told["explored"]["step"].clone(),
        )
    };
    let (yes, no) = (serde_json::json!(true), serde_json::json!(false));
    assert_eq!(answers(0), (yes.clone(), yes.clone(), "kept".into()));
    assert_eq!(answers(1), (yes.clone(), yes, "space".into()));
    assert_eq!(told[1]["beyond"].as_array().unwrap().len(), 1);
    assert_eq!(answers(2), (no.clone(), no, serde_json::Value::Null));
    let (table, _) = bench.expect(0, &["plan", "cohorts/small.toml", "--why", &beyond]);
    assert!(table.contains("beyond the published planner: K ownership"), "{table}");
}

#[test]
fn a_plan_is_chosen_without_running_any() {
    let bench = Bench::new();
    bench.define("small", SMALL);
    let narrow = ["--shortlist", "8", "--beam", "8", "--expanded", "4", "--finalists", "2"];
    let start = ["plan", "cohorts/small.toml", "--select"];
    let (stdout, _) = bench.expect(0, &[&start[..], &narrow[..]].concat());
    for word in [
        "shortlist of up",
        "placed finalists",
        "plain: ",
        "run it: layout-sweep try",
    ] {
        assert!(stdout.contains(word), "`{word}` is not in\n{stdout}");
    }
    let line = stdout.lines().find(|line| line.starts_with("run it: ")).unwrap();
    let words: Vec<&str> = line.split(' ').skip(3).collect();
    let (stdout, _) = bench.expect(0, &words);
    assert!(
        stdout.contains("correct: ") && stdout.contains("simulated: "),
        "{stdout}"
    );
}
