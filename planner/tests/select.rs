//! Selection: which plans become cases, under which names, and what is said about bad definitions.

#![expect(clippy::unwrap_used, reason = "helpers of tests may end them")]

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use common::Toy;
use planner::select::{assignment_from_toml, crosses, plan_to_toml, prefix, select};
use planner::{Definition, Rules, SelectedWorkload, Selection, Value};

const HEAD: &str = r#"target = "toy"
control = "goto"
[[workload]]
name = "small"
kind = "mlp"
tokens = 65
features = 96
hidden = 200
[[case]]
name = "goto"
family = "control"
reason = "what an engineer writes first"
plan = { "*.rows" = 2, "up.inner" = 2 }
"#;

fn chosen(explore: &str) -> Selection {
    let definition = Definition::parse("toy.toml", &format!("{HEAD}{explore}")).unwrap_or_else(|e| panic!("{e}"));
    select(&definition, &Toy(true)).unwrap_or_else(|e| panic!("{e}"))
}

fn show(selection: &Selection) -> String {
    let mut all = String::new();
    for workload in &selection.workloads {
        writeln!(
            all,
            "{} control {:?} total {} screened {:?}",
            workload.name, workload.control, workload.total, workload.screened
        )
        .unwrap();
        for case in &workload.cases {
            writeln!(
                all,
                "{:<14} {:<9} {} | {}",
                case.name, case.family, case.text, case.reason
            )
            .unwrap();
        }
        for note in &workload.notes {
            writeln!(all, "note: {note}").unwrap();
        }
    }
    for refused in &selection.refused {
        writeln!(all, "{:<14} {}", refused.name, refused.reason).unwrap();
    }
    all
}

/// What holds of every selection: plans are legal, none comes twice, and names are unique.
fn sound(workload: &SelectedWorkload) {
    let mut names = BTreeSet::new();
    let mut texts = BTreeSet::new();
    for case in &workload.cases {
        assert!(workload.space.check(&case.assignment).is_ok(), "{}", case.name);
        assert!(names.insert(&case.name), "{} twice", case.name);
        assert!(
            case.repeat_of.is_some() || texts.insert(&case.text),
            "{} twice",
            case.text
        );
        assert!(!case.reason.is_empty() && !case.family.is_empty());
    }
}

const EVERYTHING: &str = r#"
[[case]]
name = "carried"
like = "goto"
plan = { "*.inner" = 1, "down.inner" = 2, carry = true }
[[case]]
name = "again"
repeat_of = "goto"
[[case]]
name = "too-many"
plan = { "up.rows" = 6, "up.inner" = 4 }

[explore]
screen = { "*.rows" = "1:6", "*.inner" = [1, 2, 4], "up.orientation" = ["normal", "swapped"] }
strata = [
  { attribute = "*.inner", values = [1, 2, 4] },
  { attribute = "*.rows", values = [4, 5, 6], where = { orientation = "swapped" } },
  { attribute = "up.tiles", values = [6, 8, 24], count = 2 },
]
vary = [
  "goto",
  { attribute = "*.unroll", values = [3] },
  { from = "carried", attribute = "carry", values = [true, false] },
  { from = "goto", attribute = "up.rows", values = [6, 7] },
  { set = { "*.orientation" = "swapped", "*.unroll" = 2 } },
  { set = { "up.unroll" = 2, "down.unroll" = 3 }, name = "unrolled" },
]
joint = [ { attribute = "*.rows", values = [3, 4] }, { attribute = "*.rows", values = [4], where = { inner = 2 } } ]
random = { count = 3, seed = 7 }

[[case]]
name = "last"
plan = { "down.unroll" = 2 }
"#;

#[test]
fn every_kind_of_choice_is_made_as_described() {
    let selection = chosen(EVERYTHING);
    sound(&selection.workloads[0]);
    insta::assert_snapshot!(show(&selection));
}

#[test]
fn the_same_input_gives_the_same_bytes() {
    let bytes = || serde_json::to_vec(&chosen(EVERYTHING).workloads[0].cases).unwrap();
    assert_eq!(bytes(), bytes());
}

#[test]
fn exhaustive_takes_every_legal_plan_of_the_screen() {
    let screen = "[explore]\nscreen = { \"*.rows\" = \"1:6\", \"*.inner\" = [4, 1], carry = [true, false] }\n";
    let selection = chosen(&format!("{screen}exhaustive = {{ limit = 200 }}\n"));
    let workload = &selection.workloads[0];
    sound(workload);
    // Brute force: rows and inner of both, tiles at most 8, equal rows where carried.
    let mut wanted = 0;
    let one = |rows: i64| [1, 4].into_iter().filter(|inner| rows * inner <= 8).count();
    for a in 1..=6 {
        for b in 1..=6 {
            wanted += one(a) * one(b) * if a == b { 2 } else { 1 };
        }
    }
    // The control has inner = 2 and is no part of it.
    assert_eq!(workload.cases.len(), wanted + 1);
    assert_eq!(workload.cases[1].name, "all-00000");
    assert_eq!(
        workload.cases[1].assignment.get("up.inner"),
        Some(&Value::Integer(4)),
        "the order of the screen"
    );
    assert_eq!(workload.screened["up"], BTreeMap::from([("normal".to_owned(), 8)]));
    let space_total = workload.space.walk().unwrap().count();
    assert_eq!(workload.total, space_total as u128);
}

#[test]
fn a_larger_random_count_keeps_the_plans_of_a_smaller_one() {
    let of = |count: u32| {
        let screen = "[explore]\nscreen = { \"*.rows\" = \"1:6\", \"*.inner\" = [1, 2, 4], \"*.unroll\" = [1, 2] }\n";
        chosen(&format!("{screen}random = {{ count = {count}, seed = 3 }}\n")).workloads[0]
            .cases
            .clone()
    };
    let (small, large) = (of(20), of(40));
    assert_eq!((small.len(), large.len()), (21, 41));
    assert_eq!(small[..], large[..21]);
}

#[test]
fn what_nothing_ranks_is_counted_and_not_walked() {
    let screen = "[explore]\nscreen = { \"*.rows\" = \"1:6\", \"*.orientation\" = [\"normal\", \"swapped\"] }\n";
    let counted = chosen(&format!("{screen}random = {{ count = 2 }}\n"));
    let ranked = chosen(&format!(
        "{screen}strata = [{{ attribute = \"*.rows\", values = [1] }}]\n"
    ));
    assert_eq!(counted.workloads[0].screened, ranked.workloads[0].screened);

    // Two orientations of 8 million geometries: no walk looks at so many.
    let wide = "target = \"toy\"\ncontrol = \"one\"\n[[workload]]\nname = \"gemm\"\nrows = 9\ninner = 8\ncolumns = 2000\n\
                [[case]]\nname = \"one\"\n\
                [explore]\nscreen = { \"*.first\" = \"1:200\", \"*.second\" = \"1:200\", \"*.third\" = \"1:200\", \
                \"*.orientation\" = [\"normal\", \"swapped\"] }\n";
    let of_wide = |text: &str| select(&Definition::parse("toy.toml", text).unwrap(), &Toy(true));
    let selection = of_wide(&format!("{wide}random = {{ count = 5, seed = 2 }}\n")).unwrap();
    let workload = &selection.workloads[0];
    assert_eq!(workload.cases.len(), 6);
    let of = |orientation: &str| (orientation.to_owned(), 8_000_000);
    assert_eq!(
        workload.screened.values().next(),
        Some(&BTreeMap::from([of("normal"), of("swapped")]))
    );
    // To say which is best, it would have to.
    let strata = format!("{wide}strata = [{{ attribute = \"*.first\", values = [1] }}]\n");
    let refused = of_wide(&strata).unwrap_err().to_string();
    assert!(
        refused.contains("16,000,000") && refused.contains("at most 2,000,000"),
        "{refused}"
    );
}

#[test]
fn more_random_plans_than_there_are_is_noted() {
    let selection = chosen("[explore]\nscreen = { \"up.unroll\" = [2, 3] }\nrandom = { count = 5 }\n");
    let workload = &selection.workloads[0];
    assert_eq!(workload.cases.len(), 3);
    assert_eq!(
        workload.notes,
        ["random: 5 plans wanted, the screened space holds 2 that are no case yet: all are taken"]
    );
}

#[test]
fn several_workloads_have_their_own_cases_and_controls() {
    let text = format!(
        "{}{}",
        HEAD.replace(
            "name = \"small\"",
            "name = \"gemm\"\nrows = 9\ninner = 8\ncolumns = 7\ncontrol = \"one\"\n[[workload]]\nname = \"small\""
        ),
        r#"workload = "small"
[[case]]
name = "one"
workload = "gemm"
[explore]
screen = { "*.rows" = [1, 2, 4], "up.unroll" = [1, 2] }
strata = [ { attribute = "up.rows", values = [4] }, { attribute = "*.rows", values = [2] } ]
vary = [ "goto", { attribute = "gemm.unroll", values = [2] } ]
"#
    );
    let definition = Definition::parse("toy.toml", &text).unwrap();
    let selection = select(&definition, &Toy(true)).unwrap();
    selection.workloads.iter().for_each(sound);
    assert_eq!(prefix(&definition, "gemm"), "gemm/");
    insta::assert_snapshot!(show(&selection));
}

#[test]
fn a_target_that_needs_no_control_starts_from_its_defaults() {
    let bare = HEAD
        .replace("control = \"goto\"\n", "")
        .split("[[case]]")
        .next()
        .unwrap()
        .to_owned();
    let text = format!("{bare}[explore]\nvary = [{{ attribute = \"up.unroll\", values = [2] }}]\n");
    let selection = select(&Definition::parse("toy.toml", &text).unwrap(), &Toy(false)).unwrap();
    let workload = &selection.workloads[0];
    assert_eq!((workload.control.as_ref(), workload.cases.len()), (None, 1));
    assert_eq!(workload.cases[0].reason, "the default plan with up.unroll = 2");
    let error = select(&Definition::parse("toy.toml", &bare).unwrap(), &Toy(false))
        .unwrap_err()
        .to_string();
    let wanted = "`toy.toml:3:8`: workload `small` has no case: expected `[[case]]` tables or `[explore]`";
    assert!(error.starts_with(wanted), "{error}");
}

#[test]
fn crosses_combine_what_is_legal_and_new() {
    let selection = chosen(EVERYTHING);
    let selected = &selection.workloads[0];
    let workload = Definition::parse("toy.toml", HEAD).unwrap().workloads[0]
        .workload
        .clone();
    let pick = |name: &str| {
        let case = selected.cases.iter().find(|case| case.name == name).unwrap();
        (case.name.clone(), case.assignment.clone())
    };
    let fastest = BTreeMap::from([
        ("down".to_owned(), vec![pick("goto"), pick("down-01")]),
        ("up".to_owned(), vec![pick("goto"), pick("up-00"), pick("up-02")]),
    ]);
    let existing: BTreeSet<String> = selected.cases.iter().map(|case| case.text.clone()).collect();
    let made = crosses(
        &workload,
        &selected.space,
        &Toy(true),
        &selected.base,
        "",
        &fastest,
        &existing,
    );
    let shown: Vec<String> = made
        .iter()
        .map(|case| format!("{} {} | {}", case.name, case.text, case.reason))
        .collect();
    insta::assert_snapshot!(shown.join("\n"));
    assert!(
        made.iter()
            .all(|case| selected.space.check(&case.assignment).is_ok() && !existing.contains(&case.text))
    );
    // With a base that carries rows through both, only equal rows are legal.
    let mut carried = selected.base.clone();
    carried.set("carry", Value::Boolean(true));
    let made = crosses(
        &workload,
        &selected.space,
        &Toy(true),
        &carried,
        "small/",
        &fastest,
        &existing,
    );
    assert!(
        made.iter()
            .all(|case| case.assignment.get("up.rows") == case.assignment.get("down.rows"))
    );
    assert!(
        crosses(
            &workload,
            &selected.space,
            &Toy(true),
            &carried,
            "",
            &BTreeMap::new(),
            &existing
        )
        .is_empty()
    );
}

#[test]
fn a_plan_is_written_and_read_back() {
    let workload = Definition::parse("toy.toml", HEAD).unwrap().workloads[0]
        .workload
        .clone();
    let (space, defaults) = (
        Toy(true).space(&workload).unwrap(),
        Toy(true).defaults(&workload).unwrap(),
    );
    for plan in space.sample(5, 20).unwrap().assignments {
        let text = plan_to_toml(&plan);
        assert_eq!(
            assignment_from_toml("plan.toml", &text, &space, &defaults, false).unwrap(),
            plan,
            "{text}"
        );
    }
    let text = "carry = true\n\"up.inner\" = 2\n[down]\norientation = \"swapped\"\n";
    let plan = assignment_from_toml("plan.toml", text, &space, &defaults, false).unwrap();
    assert_eq!(plan.get("down.orientation"), Some(&Value::text("swapped")));
    assert_eq!(plan.get("down.rows"), defaults.get("down.rows"));
    let mut all = plan_to_toml(&plan);
    for bad in [
        "up.rows = [1]\n",
        "[up]\nrow = 1\n",
        "cary = true\n",
        "carry = \n",
        "[up]\nrows = [1]\n",
    ] {
        let error = assignment_from_toml("plan.toml", bad, &space, &defaults, false).unwrap_err();
        writeln!(all, "\n{error}").unwrap();
    }
    insta::assert_snapshot!(all);
}

#[test]
fn every_bad_definition_is_explained() {
    let case = |plan: &str| format!("{HEAD}[[case]]\nname = \"a\"\n{plan}\n");
    let explore = |text: &str| format!("{HEAD}[explore]\nscreen = {{ \"*.rows\" = [1, 2] }}\n{text}\n");
    let bad: &[(&str, String)] = &[
        ("too small", HEAD.replace("tokens = 65", "tokens = 7")),
        (
            "control missing",
            HEAD.replace("control = \"goto\"", "control = \"gotoo\""),
        ),
        ("no control", HEAD.replace("control = \"goto\"\n", "")),
        ("no cases", HEAD.split("[[case]]").next().unwrap().to_owned()),
        (
            "refused control",
            HEAD.replace("\"up.inner\" = 2", "\"up.inner\" = 4, \"up.rows\" = 3"),
        ),
        (
            "control outside a domain",
            HEAD.replace("\"up.inner\" = 2", "\"up.inner\" = 3"),
        ),
        ("unknown attribute", case("plan = { \"up.height\" = 6 }")),
        ("unknown attribute of all", case("plan = { \"*.height\" = 6 }")),
        ("unknown operation", case("plan = { \"side.rows\" = 6 }")),
        ("unknown attribute of the plan", case("plan = { rows = 6 }")),
        ("derived attribute", case("plan = { \"up.tiles\" = 6 }")),
        ("same plan twice", case("like = \"goto\"")),
        (
            "same plan twice by chance",
            case("plan = { \"up.rows\" = 2, \"down.rows\" = 2, \"up.inner\" = 2 }"),
        ),
        ("like nothing", case("like = \"b\"")),
        (
            "like itself",
            case("like = \"b\"\n[[case]]\nname = \"b\"\nlike = \"a\""),
        ),
        ("repetition of nothing", case("repeat_of = \"b\"")),
        (
            "no repetition",
            case("repeat_of = \"goto\"\nplan = { \"up.rows\" = 1 }"),
        ),
        ("unknown base", explore("base = \"b\"")),
        ("screened outside a domain", explore("").replace("[1, 2]", "[1, 9]")),
        (
            "unknown screened attribute",
            explore("").replace("\"*.rows\" = [1, 2]", "\"*.row\" = [1, 2]"),
        ),
        (
            "derived whole-plan attribute",
            explore("").replace("\"*.rows\" = [1, 2]", "carry = \"derived\""),
        ),
        (
            "attribute that the target does not derive",
            explore("").replace("[1, 2]", "\"derived\", \"up.inner\" = [1]"),
        ),
        (
            "nothing screened",
            format!("{HEAD}[explore]\nstrata = [{{ attribute = \"*.rows\", values = [1] }}]\n"),
        ),
        (
            "unknown attribute of a stratum",
            explore("strata = [{ attribute = \"up.row\", values = [1] }]"),
        ),
        (
            "stratum of the whole plan",
            explore("strata = [{ attribute = \"carry\", values = [true] }]"),
        ),
        (
            "unknown condition",
            explore("strata = [{ attribute = \"up.rows\", values = [1], where = { color = 1 } }]"),
        ),
        ("change of nothing", explore("vary = [\"b\"]")),
        (
            "change without a name",
            explore("vary = [{ set = { \"up.rows\" = 1, \"down.rows\" = 1 } }]"),
        ),
        ("empty change", explore("vary = [{ set = {} }]")),
        (
            "name taken by a change",
            explore("vary = [{ set = { \"up.rows\" = 1 }, name = \"goto\" }]"),
        ),
        (
            "change of a refused case",
            format!("{HEAD}[[case]]\nname = \"a\"\nplan = {{ \"up.rows\" = 7 }}\n[explore]\nvary = [\"a\"]\n"),
        ),
        (
            "name that exploration makes",
            explore(
                "strata = [{ attribute = \"up.rows\", values = [1] }]\n[[case]]\nname = \"up-00\"\nplan = { \"up.rows\" = 3 }",
            ),
        ),
        ("limit too small", explore("exhaustive = { limit = 3 }")),
    ];
    let mut all = String::new();
    for (what, text) in bad {
        let definition = Definition::parse("bad.toml", text).unwrap_or_else(|error| panic!("{what}: {error}"));
        let error = select(&definition, &Toy(true))
            .err()
            .unwrap_or_else(|| panic!("{what} is accepted"));
        writeln!(all, "## {what}\n{error}\n").unwrap();
    }
    insta::assert_snapshot!(all);
}

#[test]
fn each_workload_is_screened_over_the_values_that_it_has() {
    let large = "[[workload]]\nname = \"large\"\nkind = \"mlp\"\ntokens = 600\nfeatures = 96\nhidden = 200\n";
    let screened = |values: &str| {
        let text = format!(
            "{HEAD}{large}[explore]\nscreen = {{ \"up.rows\" = {values}, \"up.inner\" = [1] }}\nexhaustive = true\n"
        );
        let definition = Definition::parse("toy.toml", &text).unwrap();
        select(&definition, &Toy(true))
    };
    let selection = screened("[2, 8]").unwrap();
    let rows = |workload: &SelectedWorkload| -> BTreeSet<i64> {
        let cases = workload.cases.iter();
        cases
            .filter_map(|case| case.assignment.get("up.rows").and_then(Value::as_integer))
            .collect()
    };
    let [small, large] = &selection.workloads[..] else {
        panic!("two workloads")
    };
    assert_eq!(
        (rows(small), rows(large)),
        (BTreeSet::from([2]), BTreeSet::from([2, 8]))
    );
    assert!(
        small.notes.iter().any(|note| note.contains("`up.rows` can't be 8")),
        "{:?}",
        small.notes
    );
    assert!(large.notes.is_empty(), "{:?}", large.notes);

    // A value that no workload has is a mistake, and so is a workload that has none of the values.
    for (values, wrong) in [
        ("[2, 9]", "`up.rows` can't be 9"),
        ("[8]", "`up.rows` can't be 8 for workload `small`"),
    ] {
        let error = screened(values).unwrap_err().to_string();
        assert!(error.contains(wrong), "{error}");
    }
}
