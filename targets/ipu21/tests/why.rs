//! Questions about constraint texts: the rows of the published table of limits, and refusals with their numbers.

use planner::Assignment;
use target_api::{Constraints, Mapping, Why};
use target_ipu21::configured::Configuration;
use target_ipu21::options::IpuOptions;
use target_ipu21::{attributes, text, why};

mod common;
use common::{DOWN, UP, siglip};

fn base() -> Assignment {
    let mut plan = Assignment::new();
    for (operation, constraint) in [("up", UP), ("down", DOWN)] {
        let (_, geometry) = text::parse(constraint).expect("a constraint text");
        for (name, value) in attributes::of_geometry(operation, &geometry) {
            plan.set(&name, value);
        }
    }
    plan.set("mapping", planner::Value::text("identity"));
    plan
}

fn ask(constraint: &str) -> Why {
    why::why(&siglip(), constraint, &base()).expect("a constraint text")
}

/// Row, constraint, described, executed, what the published planner lacks.
const ROWS: &[(&str, &str, bool, bool, &str)] = &[
    ("balanced contiguous shards", DOWN, true, true, ""),
    (
        "different local K and C extents",
        "2:4x24x14:14x1:48:interleaved:normal:complete:direct:k-grain-16",
        true,
        true,
        "K ownership",
    ),
    (
        "different local K and C extents",
        "2:4x24x15:15x1:48:interleaved:normal:complete:direct:extents-inner-272+288",
        false,
        false,
        "",
    ),
    (
        "mixed row/column reduce-scatter",
        "2:4x24x15:5x3:48:interleaved:normal:complete:direct",
        true,
        true,
        "result factors 5x3",
    ),
    (
        "axis-order changes",
        "2:4x24x15:15x1:48:interleaved:normal:complete:direct:order-rows-inner-columns",
        true,
        true,
        "grid order",
    ),
    (
        "disjoint ownership",
        "2:4x24x15:15x1:48:interleaved:normal:complete:direct:disjoint-rows",
        false,
        false,
        "",
    ),
    (
        "cyclic ownership",
        "2:4x24x15:15x1:48:interleaved:normal:complete:direct:cyclic-rows",
        false,
        false,
        "",
    ),
    (
        "general local strides",
        "2:4x24x15:15x1:48:interleaved:normal:complete:direct:stride-40",
        false,
        false,
        "",
    ),
];

#[test]
fn the_published_table_of_limits() {
    for (row, constraint, described, executed, beyond) in ROWS {
        let told = ask(constraint);
        assert_eq!(
            (told.described.yes, told.executed.yes),
            (*described, *executed),
            "{row}: {told:?}"
        );
        assert_eq!(told.assignment.is_some(), *described, "{row}");
        match *beyond {
            "" => assert!(told.beyond.is_empty(), "{row}: {:?}", told.beyond),
            words => assert!(
                told.beyond.iter().any(|form| form.contains(words)),
                "{row}: {:?}",
                told.beyond
            ),
        }
    }
    assert_eq!(ask(ROWS[2].1).described.rule.as_deref(), Some("ownership"));
    assert_eq!(ask(ROWS[7].1).described.rule.as_deref(), Some("storage"));
    let uneven = ask(ROWS[1].1).described.why;
    assert!(uneven.contains("inner 3x320 + 11x304"), "{uneven}");
    let balanced = ask(UP).described.why;
    assert!(
        balanced.contains("rows 1x184 + 3x182; columns 85x48 + 7x32; inner 4x288"),
        "{balanced}"
    );
}

#[test]
fn refusals_name_rule_and_numbers() {
    let cases = [
        (
            "0:4x92x4:1x4:48:interleaved:normal:complete:direct",
            "result-columns",
            "2",
        ),
        ("0:4x92x5:5x1:48:interleaved:normal:complete:direct", "tiles", "1840"),
        (
            "0:4x10x36:36x1:432:interleaved:normal:complete:direct",
            "partial-bytes",
            "632448",
        ),
        (
            "0:23x16x4:4x1:48:interleaved:swapped:complete:direct",
            "payload",
            "18 bytes",
        ),
        (
            "2:16x23x4:4x1:32:interleaved:swapped:complete:direct",
            "transposed-exchange",
            "swapped",
        ),
        (
            "2:1x72x20:20x1:16:interleaved:normal:complete:direct",
            "sram-contiguous",
            "bytes",
        ),
    ];
    for (constraint, rule, number) in cases {
        let told = ask(constraint);
        assert!(!told.executed.yes, "{constraint}");
        assert_eq!(told.executed.rule.as_deref(), Some(rule), "{constraint}");
        assert!(
            told.executed.why.contains(number),
            "{constraint}: {}",
            told.executed.why
        );
    }
    // It can't even be described: columns of 46 groups over 92 x 4 owners would leave some without any.
    let empty = ask("2:4x24x15:1x15:48:interleaved:normal:complete:direct");
    assert_eq!(empty.described.rule.as_deref(), Some("empty-partition"));
    let no_product = why::why(&siglip(), &UP.replace("0:", "1:"), &base()).unwrap_err();
    assert!(
        no_product.message.contains("expected 0 (`up`), 2 (`down`)"),
        "{no_product}"
    );
}

#[test]
fn constraints_become_a_plan() {
    let target = Configuration::new(IpuOptions::parse(&toml::Table::new()).unwrap(), "layout-sweep");
    let workload = siglip();
    let down = DOWN.replace("15x1", "5x3").replace("complete", "batch-7");
    let texts = [down.clone()];
    let plan = target
        .constrained(&workload, &texts, Some(Mapping::Named("block:92:2")), &base())
        .unwrap();
    let typed = attributes::plan(&workload, &plan).unwrap();
    assert_eq!(
        attributes::plan_text(&workload, &typed),
        format!("{UP} {down} mapping=block:92:2")
    );

    let mut swapped: Vec<usize> = (0..1472).collect();
    swapped.swap(0, 1);
    let file = format!("{swapped:?}");
    let plan = target
        .constrained(&workload, &[], Some(Mapping::Content(&file)), &base())
        .unwrap();
    assert_eq!(plan.get("mapping"), Some(&planner::Value::text("explicit:1,0,2-1471")));

    let twice = [UP.to_owned(), UP.to_owned()];
    let refusal = target.constrained(&workload, &twice, None, &base()).unwrap_err();
    assert!(refusal.message.contains("already"), "{refusal}");
    let none = target
        .constrained(&workload, &[], Some(Mapping::Named("turn")), &base())
        .unwrap_err();
    assert_eq!(none.rule, "tile-mapping");
}
