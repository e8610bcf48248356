//! Files of other tuners become tables, and tables become files again.

#![expect(clippy::unwrap_used, reason = "a test that can't go on fails")]
#![expect(clippy::float_cmp, reason = "numbers must be read to the last bit")]

use std::collections::BTreeMap;

use formats::{Contents, Failed, Found, ImportError, Options, Part, Row, Source, Table};
use planner::{Attributes, Value};
use proptest::prelude::*;

const KERNEL_TUNER: &str = include_str!("../../../tests/fixtures/tuners/kernel-tuner.json");
const FAILED: &str = include_str!("../../../tests/fixtures/tuners/kernel-tuner-failed.json");
const T4: &str = include_str!("../../../tests/fixtures/tuners/t4.json");
const SCORE: &str = include_str!("../../../tests/fixtures/tuners/kernel-tuner-score.json");
const T1: &str = include_str!("../../../tests/fixtures/tuners/t1.json");

fn source(name: &str, text: &str) -> Source {
    let part = Part {
        path: name.to_owned(),
        text: text.to_owned(),
    };
    Source {
        name: name.to_owned(),
        parts: vec![part],
        folder: false,
    }
}

fn read_with(name: &str, text: &str, options: &Options) -> Result<(Contents, Vec<String>), ImportError> {
    let source = source(name, text);
    formats::read(formats::suiting(&source)?, &source, options)
}

fn table_with(name: &str, text: &str, options: &Options) -> (Table, Vec<String>) {
    match read_with(name, text, options).unwrap() {
        (Contents::Table(table), notes) => (table, notes),
        (other, _) => panic!("no table: {other:?}"),
    }
}

fn table(name: &str, text: &str) -> (Table, Vec<String>) {
    table_with(name, text, &Options::default())
}

fn refused(name: &str, text: &str, options: &Options) -> String {
    let error = read_with(name, text, options).unwrap_err();
    format!("{error} | {}", error.help().unwrap_or_default())
}

fn columns(words: &[&str]) -> Options {
    Options {
        columns: words.iter().map(|word| word.parse().unwrap()).collect(),
        ..Options::default()
    }
}

#[test]
fn kernel_tuner_keeps_order_types_and_repeats() {
    let (table, notes) = table("a.json", KERNEL_TUNER);
    assert_eq!(notes, Vec::<String>::new());
    assert_eq!(
        (table.workload.as_str(), table.objective.as_str(), table.unit.as_str()),
        ("vector_add", "time", "ms")
    );
    assert_eq!(table.facts["device"], "NVIDIA RTX A4000");
    let first = &table.rows[0];
    let values: Vec<(&str, &Value)> = first.configuration.iter().collect();
    assert_eq!(
        values,
        [
            ("block_size_x", &Value::Integer(128)),
            ("test_string", &Value::text("alg_2")),
            ("test_single", &Value::Integer(15)),
            ("test_bool", &Value::Boolean(true)),
            ("test_mixed", &Value::Float(2.45)),
        ]
    );
    let Found::Measured { samples } = &first.found else {
        panic!("{first:?}")
    };
    assert_eq!(samples.len(), 7);
    assert_eq!(samples[1], (0, 0.031_072_000_041_604_042));
    assert_eq!(first.extra["compilation_ms"], 440.954_558_551_311_5);
    assert_eq!(first.at.unwrap().to_string(), "2022-12-23T12:11:26.411558Z");
}

#[test]
fn both_formats_of_one_sweep_say_the_same() {
    let (cache, _) = table("convolution.json", FAILED);
    let (results, _) = table("convolution_T4.json", T4);
    let key = |table: &Table| -> Vec<(Attributes, Found)> {
        table
            .rows
            .iter()
            .map(|row| (row.configuration.clone(), row.found.clone()))
            .collect()
    };
    assert_eq!(key(&cache), key(&results));
    let failures: Vec<(Failed, &str)> = cache
        .rows
        .iter()
        .filter_map(|row| match &row.found {
            Found::Failed { how, reason } => Some((*how, reason.as_str())),
            Found::Measured { .. } => None,
        })
        .collect();
    assert_eq!(
        failures,
        [
            (Failed::RunFailed, "RuntimeFailedConfig"),
            (Failed::BuildFailed, "CompilationFailedConfig"),
        ]
    );
}

#[test]
fn both_spellings_of_times_are_read() {
    let with = |key: &str| {
        let text = format!(
            r#"{{"results": [{{"configuration": {{"x": 1}}, "times": {{"{key}": 3.5, "runtimes": [2.0]}},
                "invalidity": "correct", "correctness": 1, "objectives": ["time"]}}]}}"#
        );
        table("t.json", &text).0.rows[0].extra["compilation_ms"]
    };
    assert_eq!((with("compilation"), with("compilation_time")), (3.5, 3.5));
}

#[test]
fn a_cut_off_file_says_what_was_dropped() {
    let whole = table("a.json", KERNEL_TUNER).0.rows.len();
    let end = KERNEL_TUNER.rfind("compile_time").unwrap();
    let (cut, notes) = table("a.json", &KERNEL_TUNER[..end]);
    assert_eq!(cut.rows.len(), whole - 1);
    assert!(notes[0].contains("its last record was dropped"), "{notes:?}");
    // As a tuner leaves it that was stopped: only the last braces are missing.
    let end = KERNEL_TUNER
        .trim_end()
        .trim_end_matches(|c: char| c == '}' || c.is_whitespace())
        .len();
    let (stopped, notes) = table("a.json", &format!("{}}},\n", &KERNEL_TUNER[..end]));
    assert_eq!(stopped.rows.len(), whole);
    assert!(notes[0].contains("no record was cut"), "{notes:?}");
    let message = refused("a.json", &KERNEL_TUNER[..120], &Options::default());
    assert!(message.contains("`a.json`"), "{message}");
}

#[test]
fn what_a_file_lacks_is_named() {
    let nothing = Options::default();
    for (text, words) in [
        (r#"{"tune_params_keys": ["x"]}"#, "the file lacks `cache`"),
        (
            r#"{"tune_params_keys": ["x"], "cache": {"1": {"time": 1}}}"#,
            "configuration `1` lacks `x`",
        ),
        (
            r#"{"tune_params_keys": ["x"], "cache": {"1": {"x": 1}}}"#,
            "configuration `1` lacks `time`",
        ),
        (
            r#"{"results": [{"times": {}}]}"#,
            "result 1 lacks `configuration`, `invalidity`",
        ),
        (
            r#"{"results": [{"configuration": {"x": 1}, "invalidity": "correct"}]}"#,
            "result 1 lacks `measurements[name = time]`, `times.runtimes`",
        ),
        (r#"{"results": []}"#, "holds no configuration"),
        (r#"{"ConfigurationSpace": {}}"#, "lacks `TuningParameters`"),
        (
            r#"{"ConfigurationSpace": {"TuningParameters": [{"Name": "x"}]}}"#,
            "parameter 1 lacks `Values`",
        ),
        (r#"{"results": 5}"#, "is no JSON"),
        ("nothing", "has no known form"),
    ] {
        let message = refused("f.json", text, &nothing);
        assert!(message.contains(words), "{text}: {message}");
    }
}

#[test]
fn more_is_better_needs_numbers_above_zero() {
    let message = refused("score.json", SCORE, &Options::default());
    assert!(
        message.contains("of `score` more is better")
            && message.contains("-0.234")
            && message.contains("benchmark_time"),
        "{message}"
    );
    let options = Options {
        objective: Some("benchmark_time".to_owned()),
        ..Options::default()
    };
    let (table, _) = table_with("score.json", SCORE, &options);
    assert_eq!((table.rows.len(), table.unit.as_str()), (8, "ms"));
    assert_eq!(table.rows[0].extra["score"], -0.234);
}

#[test]
fn scores_below_zero_are_ranked_by_their_distance_above_a_number() {
    let above = |above: f64| Options {
        above: Some(above),
        ..Options::default()
    };
    // Those at or below the number itself can't be ranked either.
    let message = refused("score.json", SCORE, &above(-0.2));
    assert!(
        message.contains("does not lie above that of `--above -0.2`"),
        "{message}"
    );
    let (table, _) = table_with("score.json", SCORE, &above(-2.0));
    assert_eq!(
        (table.objective.as_str(), table.larger_is_better),
        ("score above -2", true)
    );
    let Found::Measured { samples } = &table.rows[0].found else {
        panic!("{:?}", table.rows[0].found)
    };
    assert_eq!(samples[0], (0, -0.234 + 2.0));
    // What the file says stays beside it.
    assert_eq!(table.rows[0].extra["reported_score"], -0.234);
    let text = "x,loss\n1,0\n2,-1.5\n3,2\n";
    let options = Options {
        unit: Some("1".to_owned()),
        columns: columns(&["value=loss"]).columns,
        ..above(-3.0)
    };
    let (table, _) = table_with("loss.csv", text, &options);
    let values = table.rows.iter().map(|row| match &row.found {
        Found::Measured { samples } => samples[0].1,
        Found::Failed { .. } => f64::NAN,
    });
    assert_eq!(values.collect::<Vec<f64>>(), [3.0, 1.5, 5.0]);
    assert_eq!(
        (table.objective.as_str(), table.larger_is_better),
        ("loss above -3", false)
    );
    for (source, above) in [(T1, -1.0), (SCORE, f64::INFINITY)] {
        let options = Options {
            above: Some(above),
            ..Options::default()
        };
        assert!(refused("it.json", source, &options).contains("--above"));
    }
}

#[test]
fn a_number_that_is_not_below_all_is_refused_with_the_least() {
    let loss = "x,loss (points)\n1,0\n2,-1.5\n3,-1.75\n4,2\n";
    let above = |above: f64, larger: bool| Options {
        above: Some(above),
        larger_is_better: Some(larger),
        columns: columns(&["value=loss (points)"]).columns,
        ..Options::default()
    };
    // Whichever way is better, whether X lies among the numbers or is the least of them.
    for larger in [false, true] {
        for x in [-1.75, 0.0, 100.0] {
            let message = refused("loss.csv", loss, &above(x, larger));
            assert!(
                message.contains("line 4 has -1.75, the least") && message.contains(&format!("`--above {x}`")),
                "{message}"
            );
            assert!(
                message.contains("take a number below it, such as `--above -5.5`"),
                "{message}"
            );
        }
        let (table, _) = table_with("loss.csv", loss, &above(-2.0, larger));
        assert_eq!(
            (table.unit.as_str(), table.objective.as_str()),
            ("points above -2", "loss above -2")
        );
    }
}

#[test]
fn a_number_far_below_all_others_is_refused_or_told() {
    let text = "x,score (1)\n1,-0.25\n2,0.5\n3,1.75\n";
    let above = |above: f64| Options {
        above: Some(above),
        larger_is_better: Some(true),
        columns: columns(&["value=score (1)"]).columns,
        ..Options::default()
    };
    for far in [-1e30, -1e9] {
        let message = refused("score.csv", text, &above(far));
        assert!(
            message.contains("from -0.25 to 1.75") && message.contains("are all the same"),
            "{message}"
        );
        assert!(
            message.contains("| take a number of their magnitude, such as `--above -2.3`"),
            "{message}"
        );
    }
    let (table, notes) = table_with("score.csv", text, &above(-1000.0));
    assert_eq!(table.rows.len(), 3);
    assert!(
        notes.len() == 1 && notes[0].contains("no ratio of their distances is above 1.0020"),
        "{notes:?}"
    );
    for near in [-2.3, -1.75, -100.0] {
        assert_eq!(table_with("score.csv", text, &above(near)).1, [] as [&str; 0], "{near}");
    }
    // Numbers far from zero that differ by little, above a number of their magnitude.
    let text = "x,score (1)\n1,99.9999\n2,100\n";
    let (table, notes) = table_with("score.csv", text, &above(0.0));
    assert_eq!((table.rows.len(), notes.len()), (2, 0));
}

#[test]
fn a_decimal_sign_is_never_guessed() {
    let options = Options {
        unit: Some("ms".to_owned()),
        ..Options::default()
    };
    let mixed = "tile;time\n1;1.500\n2;7\n3;2,5\n";
    let message = refused("mixed.csv", mixed, &options);
    assert!(
        message.contains("line 2: `time` is `1.500`, and line 4: `time` is `2,5`") && message.contains("| write all"),
        "{message}"
    );
    // In different columns as well, but not where what holds the sign is no number.
    let message = refused("mixed.csv", "share;time\n0.5;1,5\n0.25;2\n", &options);
    assert!(
        message.contains("line 2: `share` is `0.5`, and line 2: `time` is `1,5`"),
        "{message}"
    );
    let (table, _) = table_with("names.csv", "version;time\nv1.2;1,5\nv1.3;2\n", &options);
    assert_eq!(table.rows.len(), 2);
    // A comma between columns leaves the point alone.
    let (table, _) = table_with("points.csv", "tile,time\n1,1.500\n2,2.5\n", &options);
    assert_eq!(table.rows.len(), 2);
}

#[test]
fn a_rate_is_read_as_it_is_and_turned_over_in_the_cohort() {
    let text = "x,throughput (GB/s)\n1,3.7\n2,49\n";
    let options = Options {
        objective: Some("throughput".to_owned()),
        ..Options::default()
    };
    let (table, _) = table_with("rates.csv", text, &options);
    assert!(table.larger_is_better);
    assert_eq!((table.objective.as_str(), table.unit.as_str()), ("throughput", "GB/s"));
    let measured = |value| Found::Measured {
        samples: vec![(0, value)],
    };
    assert_eq!(table.rows[0].found, measured(3.7));
    let best = formats::to_markdown(&table, "others");
    let place = |name: &str| best.find(name).unwrap();
    assert!(place("| 2 | 49 | 1.000") < place("| 1 | 3.7 | 13.243"), "{best}");
    let t4: serde_json::Value = serde_json::from_str(&formats::to_t4(&table).unwrap()).unwrap();
    assert_eq!(
        (
            &t4["metadata"]["direction"],
            &t4["results"][1]["measurements"][0]["value"]
        ),
        (&serde_json::json!("higher"), &serde_json::json!(49.0))
    );
    let message = refused("rates.csv", "x,throughput (GB/s)\n1,0\n", &options);
    assert!(message.contains("line 2 has 0 of it"), "{message}");
}

#[test]
fn tables_as_the_world_writes_them() {
    let comma = "tile,fast,layout,time_ms\n8,true,rows,1.5\n16,false,columns,2.5\n8,true,rows,1.25\n";
    let (plain, _) = table("t.csv", comma);
    assert_eq!(plain.rows.len(), 2, "lines of one configuration are samples");
    assert_eq!(
        plain.rows[0].found,
        Found::Measured {
            samples: vec![(0, 1.5), (0, 1.25)]
        }
    );
    let types: Vec<&str> = plain.rows[0]
        .configuration
        .iter()
        .map(|(_, value)| value.kind())
        .collect();
    assert_eq!(types, ["integer", "boolean", "text"]);
    // Excel in half of Europe: byte-order mark, semicolons, commas in numbers, CRLF.
    let european = "tile;fast;layout;time_ms\r\n8;true;rows;1,5\r\n16;false;columns;2,5\r\n8;true;rows;1,25\r\n";
    let mut bytes = b"\xef\xbb\xbf".to_vec();
    bytes.extend(european.as_bytes());
    let (text, _) = formats::unpack("t.csv", bytes).unwrap();
    assert_eq!(table("t.csv", &text).0, plain);
}

#[test]
fn a_table_says_what_is_wrong_where() {
    let nothing = Options::default();
    for (text, options, words) in [
        (
            "a,b\n1,2\n",
            nothing.clone(),
            "lacks `a column with what is to be minimised",
        ),
        ("a,time\n1,2\n", nothing.clone(), "in which unit `time` is"),
        (
            "a,time_ms\n1,fast\n",
            nothing.clone(),
            "line 2: `time_ms` is `fast`: expected a number",
        ),
        ("a,time_ms\n1,\n", nothing.clone(), "line 2: no `time_ms`"),
        (
            "a,time_ms\n1,2\n3\n4,5\n",
            nothing.clone(),
            "line 3: 1 columns, the header has 2",
        ),
        ("a,a,time_ms\n1,2,3\n", nothing.clone(), "two columns are called `a`"),
        (
            "a,time_ms\n1,2\n",
            columns(&["value=cost"]),
            "no column `cost`: it has `a`, `time_ms`",
        ),
        ("a,outcome,time_ms\n1,odd,2\n", nothing.clone(), "the outcome is `odd`"),
    ] {
        let message = refused("t.csv", text, &options);
        assert!(message.contains(words), "{text}: {message}");
    }
    let (torn, notes) = table("t.csv", "a,time_ms\n1,2\n3");
    assert_eq!((torn.rows.len(), notes.len()), (1, 1));
    assert!(notes[0].contains("line 3 was dropped"), "{notes:?}");
}

#[test]
fn zero_and_negative_times_are_failures_with_a_reason() {
    let (table, _) = table("t.csv", "a,time_ms\n1,0\n2,-1\n3,2\n4,RuntimeFailedConfig\n");
    let found: Vec<String> = table
        .rows
        .iter()
        .map(|row| match &row.found {
            Found::Measured { .. } => "measured".to_owned(),
            Found::Failed { how, reason } => format!("{}: {reason}", how.word()),
        })
        .collect();
    assert_eq!(
        found,
        [
            "run-failed: time of 0 ms: no positive finite number",
            "run-failed: time of -1 ms: no positive finite number",
            "measured",
            "run-failed: RuntimeFailedConfig",
        ]
    );
}

#[test]
fn a_rate_is_never_ranked_as_a_time() {
    let asked = |objective: &str, larger_is_better| Options {
        objective: Some(objective.to_owned()),
        larger_is_better,
        ..Options::default()
    };
    for (header, higher) in [
        ("x,fps (1)\n", true),
        ("x,speed (frames/s)\n", true),
        ("x,pace (s/frame)\n", false),
        ("x,power (W)\n", false),
    ] {
        let name = header.trim_start_matches("x,").split(' ').next().unwrap();
        let (table, _) = table_with("t.csv", &format!("{header}1,2\n"), &asked(name, None));
        assert_eq!(table.larger_is_better, higher, "{header}");
    }
    // Nothing says it, or name and unit disagree: nobody guesses.
    for text in ["x,quality (1)\n1,2\n", "x,quality (points)\n1,2\n", "x,fps (ms)\n1,2\n"] {
        let name = text.trim_start_matches("x,").split(' ').next().unwrap();
        let message = refused("t.csv", text, &asked(name, None));
        assert!(
            message.contains("whether more or less of") && message.contains("--direction higher"),
            "{message}"
        );
        for higher in [true, false] {
            let (table, _) = table_with("t.csv", text, &asked(name, Some(higher)));
            assert_eq!(table.larger_is_better, higher);
        }
    }
}

#[test]
fn a_last_line_that_may_be_cut_is_dropped_and_nan_is_a_failure() {
    for (end, word) in [
        ("c,4,", "line 4 was dropped"),
        ("c,4,1", "line 4 was dropped"),
        ("c,1", "it has 2 of 3 columns"),
    ] {
        let (table, notes) = table("t.csv", &format!("name,x,time_ms\na,1,10\nb,2,20\n{end}"));
        assert_eq!((table.rows.len(), notes.len()), (2, 1), "{end}");
        assert!(notes[0].contains(word), "{notes:?}");
    }
    let (table, notes) = table("t.csv", "x,time_ms\n1,nan\n2,inf\n3,5\n");
    assert!(notes.is_empty());
    let reasons = table.rows.iter().filter_map(|row| match &row.found {
        Found::Failed { how, reason } => Some((how.word(), reason.as_str())),
        Found::Measured { .. } => None,
    });
    assert_eq!(
        reasons.collect::<Vec<_>>(),
        [
            ("run-failed", "time of NaN ms: no positive finite number"),
            ("run-failed", "time of inf ms: no positive finite number")
        ]
    );
}

#[test]
fn an_export_comes_back_with_names_times_units_and_direction() {
    let at = |second: i64| jiff::Timestamp::from_second(second).unwrap();
    let mut configuration = Attributes::new();
    configuration.set("tile", 4_u32.into());
    let row = Row {
        workload: None,
        name: Some("the best".to_owned()),
        family: None,
        configuration,
        found: Found::Measured {
            samples: vec![(0, 125.5), (1, 124.0)],
        },
        extra: BTreeMap::from([("energy (J)".to_owned(), 3.5)]),
        estimates: Vec::new(),
        at: Some(at(20)),
        times: BTreeMap::from([(0, at(10)), (1, at(20))]),
    };
    let before = Table {
        workload: "w".to_owned(),
        objective: "quality".to_owned(),
        larger_is_better: true,
        unit: "points".to_owned(),
        facts: BTreeMap::new(),
        rows: vec![row],
    };
    let csv = formats::to_csv(&before).unwrap();
    assert!(
        csv.contains("1970-01-01T00:00:10Z") && csv.contains("1970-01-01T00:00:20Z"),
        "{csv}"
    );
    let (after, notes) = table("w.csv", &csv);
    let own = |table: &Table| {
        (
            table.objective.clone(),
            table.unit.clone(),
            table.larger_is_better,
            table.rows[0].times.clone(),
        )
    };
    assert_eq!((own(&after), notes.len()), (own(&before), 0));
    let t4 = formats::to_t4(&before).unwrap();
    assert!(
        !t4.contains("runtimes") && !t4.contains("timeunit"),
        "what is no time is no runtime: {t4}"
    );
    for after in [after, table("w.json", &t4).0] {
        assert_eq!(
            (told(&after), after.larger_is_better),
            (told_once(&before, &after), true),
            "{t4}"
        );
        assert_eq!(after.rows[0].name.as_deref(), Some("the best"));
        assert_eq!(after.rows[0].extra.get("energy (J)"), Some(&3.5), "{t4}");
    }
}

/// What T4 keeps of rounds: all samples are of the first.
fn told_once(before: &Table, after: &Table) -> Vec<(Attributes, Found)> {
    let is_flat =
        matches!(&after.rows[0].found, Found::Measured { samples } if samples.iter().all(|(round, _)| *round == 0));
    let flat = |found: &Found| match found {
        Found::Measured { samples } if is_flat => Found::Measured {
            samples: samples.iter().map(|(_, value)| (0, *value)).collect(),
        },
        other => other.clone(),
    };
    told(before)
        .into_iter()
        .map(|(configuration, found)| (configuration, flat(&found)))
        .collect()
}

#[test]
fn gzip_is_unpacked_whole_or_cut() {
    use std::io::Write as _;
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    packer.write_all(FAILED.as_bytes()).unwrap();
    let packed = packer.finish().unwrap();
    let (text, notes) = formats::unpack("a.json.gz", packed.clone()).unwrap();
    assert_eq!((text.as_str(), notes.len()), (FAILED, 0));
    let (text, notes) = formats::unpack("a.json.gz", packed[..packed.len() / 2].to_vec()).unwrap();
    assert!(
        FAILED.starts_with(&text) && notes[0].contains("in the middle"),
        "{notes:?}"
    );
    assert!(formats::unpack("a.json.gz", vec![0x1f, 0x8b, 8]).is_err());
}

#[test]
fn a_search_space_becomes_a_definition() {
    let (Contents::Definition(text), notes) = read_with("T1_hotspot.json", T1, &Options::default()).unwrap() else {
        panic!("no definition");
    };
    assert!(text.contains("\nblock_size_x = [1, 2, 4, 8, 16, 32, 64"), "{text}");
    assert!(
        text.contains("target = \"command\"") && text.contains("constraints = ["),
        "{text}"
    );
    assert!(notes.is_empty() == text.contains("control = \"default\""), "{notes:?}");
}

#[test]
fn the_published_form_is_read() {
    let result = |name: &str, rest: &str| Part {
        path: format!("{name}/result.json"),
        text: format!(r#"{{"name": "{name}", "up": {{"k": 4, "memory": "standard"}}, "down": {{"k": 15}}, {rest}}}"#),
    };
    let source = Source {
        name: "sweep".to_owned(),
        folder: true,
        parts: vec![
            Part {
                path: "manifest.json".to_owned(),
                text: r#"{"revision": "abc", "cases": [{"name": "default"}, {"name": "gone"}]}"#.to_owned(),
            },
            result(
                "default",
                r#""status": 0, "hardware_pass": true, "cycles": 110, "renderer_cycles": 100, "expanded_cycles": 90"#,
            ),
            result(
                "cross-0-0",
                r#""status": 0, "hardware_pass": true, "cycles": 99, "renderer_cycles": 95, "expanded_cycles": 80"#,
            ),
            result("up-01", r#""status": 1, "hardware_pass": false"#),
            result("up-02", r#""status": "timeout", "hardware_pass": false"#),
            result("up-03", r#""status": 1, "hardware_pass": false, "cycles": 7"#),
        ],
    };
    let format = formats::suiting(&source).unwrap();
    let (Contents::Table(table), notes) = formats::read(format, &source, &Options::default()).unwrap() else {
        panic!("no table");
    };
    assert_eq!(
        (table.objective.as_str(), table.unit.as_str()),
        ("renderer_cycles", "cycles")
    );
    assert_eq!(
        table.rows[0].found,
        Found::Measured {
            samples: vec![(0, 100.0)]
        }
    );
    assert_eq!(table.rows[0].estimates[0].name, "expanded");
    assert!(table.rows[1].estimates.is_empty(), "crosses judge nothing");
    let how: Vec<Option<Failed>> = table
        .rows
        .iter()
        .map(|row| match &row.found {
            Found::Measured { .. } => None,
            Found::Failed { how, .. } => Some(*how),
        })
        .collect();
    let expected = [
        None,
        None,
        Some(Failed::Rejected),
        Some(Failed::TimedOut),
        Some(Failed::Incorrect),
    ];
    assert_eq!(how, expected);
    assert!(notes.iter().any(|note| note.contains("`gone`")), "{notes:?}");
}

/// The folder as the published driver leaves it, file by file.
fn published_folder() -> Vec<Part> {
    macro_rules! files {
        ($($path:literal),*) => {
            vec![$(Part {
                path: $path.to_owned(),
                text: include_str!(concat!("../../../tests/fixtures/published-sweep/", $path)).to_owned(),
            }),*]
        };
    }
    files![
        "cross-cropped-0-1/result.json",
        "down-04/result.json",
        "down-22/result.json",
        "historical/result.json",
        "joint-rows-3/result.json",
        "manifest.json",
        "up-00/result.json",
        "up-03/result.json",
        "up-05/result.json"
    ]
}

fn read_folder(parts: Vec<Part>, options: &Options) -> Result<(Table, Vec<String>), ImportError> {
    let source = Source {
        name: "sweep".to_owned(),
        folder: true,
        parts,
    };
    match formats::read(formats::suiting(&source)?, &source, options)? {
        (Contents::Table(table), notes) => Ok((table, notes)),
        (other, _) => panic!("no table: {other:?}"),
    }
}

#[test]
fn every_field_of_the_published_driver_is_kept() {
    let (table, notes) = read_folder(published_folder(), &Options::default()).unwrap();
    assert_eq!((table.objective.as_str(), table.rows.len()), ("renderer_cycles", 7));
    let row = |name: &str| table.rows.iter().find(|row| row.name.as_deref() == Some(name)).unwrap();
    let historical = row("historical");
    assert_eq!(
        historical.found,
        Found::Measured {
            samples: vec![(0, 188_196.0)]
        }
    );
    // Nine fields of each plan.
    assert_eq!(historical.configuration.iter().count(), 18);
    assert_eq!(historical.configuration.get("down.k"), Some(&Value::Integer(15)));
    assert_eq!(
        historical.configuration.get("up.distributed"),
        Some(&Value::Boolean(true))
    );
    let estimates: Vec<(&str, f64)> = historical
        .estimates
        .iter()
        .map(|one| (one.name.as_str(), one.value))
        .collect();
    // The published rule: refined = expanded - its exchange + the scheduled exchange.
    let refined = 248_066.0 - 70_152.0 + 51_757.0;
    assert_eq!(
        estimates,
        [("compact", 310_377.0), ("expanded", 248_066.0), ("refined", refined)]
    );
    let others: Vec<&str> = historical.extra.keys().map(String::as_str).collect();
    assert_eq!(
        others,
        [
            "compact_exchange_cycles",
            "cycles",
            "exchange_after_arrival",
            "expanded_exchange_cycles",
            "maximumAbsoluteError",
            "minimumTileCycles",
            "scheduled_exchange"
        ]
    );
    // Recovered after a crash: no seconds, and a result all the same.
    assert!(matches!(row("down-22").found, Found::Measured { .. }));
    let how = |name: &str| match &row(name).found {
        Found::Failed { how, .. } => Some(*how),
        Found::Measured { .. } => None,
    };
    assert_eq!(
        (how("up-03"), how("up-05")),
        (Some(Failed::Rejected), Some(Failed::TimedOut))
    );
    let cross = row("cross-cropped-0-1");
    assert!(cross.estimates.is_empty() && cross.family.as_deref() == Some("cross"));
    assert_eq!(table.facts.keys().collect::<Vec<_>>(), ["binary_sha256", "revision"]);
    let said = notes.join("\n");
    assert!(
        said.contains("cut off, so that their cases count as not measured: `joint-rows-3/result.json`"),
        "{said}"
    );
    assert!(
        said.contains("without a result: `joint-rows-3`, `joint-rows-6`"),
        "{said}"
    );
    assert!(said.contains("1 crosses were chosen by results"), "{said}");
}

#[test]
fn a_published_folder_that_does_not_fit_together_says_where() {
    let change = |path: &str, from: &str, to: &str| {
        let mut parts = published_folder();
        let part = parts.iter_mut().find(|part| part.path == path).unwrap();
        assert!(part.text.contains(from), "{path}: {from}");
        part.text = part.text.replacen(from, to, 1);
        read_folder(parts, &Options::default())
    };
    // Before the driver asked for cropped cycles a case may lack them: then one number ranks all.
    let (table, notes) = change("down-04/result.json", "\"renderer_cycles\"", "\"no_cycles\"").unwrap();
    assert_eq!(table.objective, "cycles");
    assert!(
        notes
            .iter()
            .any(|note| note.contains("1 passing cases lack `renderer_cycles`")),
        "{notes:?}"
    );
    for (path, from, to, words) in [
        (
            "up-00/result.json",
            "\"k\": 2",
            "\"k\": 3",
            "up-00/result.json: its `up` is not that of the manifest",
        ),
        (
            "up-03/result.json",
            "\"hardware_pass\"",
            "\"passed\"",
            "up-03/result.json lacks `hardware_pass`",
        ),
        (
            "up-03/result.json",
            "\"status\"",
            "\"state\"",
            "up-03/result.json lacks `status`",
        ),
        ("up-03/result.json", "{", "[", "`sweep/up-03/result.json` is no JSON"),
    ] {
        let message = change(path, from, to).unwrap_err().to_string();
        assert!(message.contains(words), "{message}");
    }
}

fn value() -> impl Strategy<Value = Value> {
    prop_oneof![
        any::<bool>().prop_map(Value::Boolean),
        any::<i64>().prop_map(Value::Integer),
        (-1e12_f64..1e12).prop_map(Value::Float),
        "[a-z][a-z ,;\"'\\\\|\n]{0,8}[a-z]".prop_map(Value::Text),
    ]
}

fn found() -> impl Strategy<Value = Found> {
    let how = prop_oneof![
        Just(Failed::Rejected),
        Just(Failed::BuildFailed),
        Just(Failed::RunFailed),
        Just(Failed::TimedOut),
        Just(Failed::Incorrect),
    ];
    prop_oneof![
        proptest::collection::vec(1e-9_f64..1e9, 1..5).prop_map(|values| Found::Measured {
            samples: values.into_iter().map(|x| (0, x)).collect(),
        }),
        (how, "[a-z][a-z,\" ]{0,9}[a-z]").prop_map(|(how, reason)| Found::Failed { how, reason }),
    ]
}

/// Distinct configurations of the same parameters.
fn tables(kinds: impl Strategy<Value = Vec<Vec<Value>>>) -> impl Strategy<Value = Table> {
    kinds.prop_flat_map(|configurations| {
        let founds = proptest::collection::vec(found(), configurations.len());
        founds.prop_map(move |founds| {
            let rows = configurations
                .iter()
                .enumerate()
                .zip(founds)
                .map(|((at, values), found)| {
                    let own = values
                        .iter()
                        .enumerate()
                        .map(|(k, value)| (format!("p{k}"), value.clone()));
                    let mut configuration: Attributes = own.collect();
                    configuration.set("number", Value::Integer(i64::try_from(at).unwrap()));
                    Row {
                        workload: None,
                        name: None,
                        family: None,
                        configuration,
                        found,
                        extra: BTreeMap::new(),
                        estimates: Vec::new(),
                        at: None,
                        times: BTreeMap::new(),
                    }
                });
            Table {
                larger_is_better: false,
                workload: "w".to_owned(),
                objective: "time".to_owned(),
                unit: "ms".to_owned(),
                facts: BTreeMap::new(),
                rows: rows.collect(),
            }
        })
    })
}

fn told(table: &Table) -> Vec<(Attributes, Found)> {
    table
        .rows
        .iter()
        .map(|row| (row.configuration.clone(), row.found.clone()))
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn t4_keeps_every_configuration_and_value(
        before in tables(proptest::collection::vec(proptest::collection::vec(value(), 1..4), 1..8))
    ) {
        let text = formats::to_t4(&before).unwrap();
        let (after, notes) = table("w.json", &text);
        prop_assert_eq!(told(&before), told(&after), "{}", text);
        prop_assert!(notes.is_empty() && after.unit == "ms" && after.workload == "w");
    }

    #[test]
    fn csv_keeps_every_configuration_and_value(
        before in tables(proptest::collection::vec(proptest::collection::vec((-1e9_f64..1e9).prop_map(|x| Value::Float(x + 0.5e-3)), 2..3), 1..8))
    ) {
        let text = formats::to_csv(&before).unwrap();
        let (after, notes) = table("w.csv", &text);
        prop_assert_eq!(told(&before), told(&after), "{}", text);
        prop_assert!(notes.is_empty() && after.unit == "ms");
    }

    #[test]
    fn no_text_ends_the_program(text in "\\PC{0,200}", cut in 0..1000_usize) {
        let end = (0..=cut.min(T4.len())).rev().find(|end| T4.is_char_boundary(*end)).unwrap();
        for format in formats::FORMATS {
            for text in [&text, &format!("{}{text}", &T4[..end])] {
                _ = formats::read(format, &source("x", text), &Options::default());
            }
        }
    }
}
