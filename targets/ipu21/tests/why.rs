//! Questions about constraint texts: the rows of the published table of limits, and refusals with their numbers.

use planner::select::{Step, select, trace};
use planner::{Assignment, Definition};
use target_api::{Constraints, Mapping, Target, Why};
use target_ipu21::configured::Configuration;
use target_ipu21::options::IpuOptions;
use target_ipu21::{Ipu21, attributes, text, why};

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

/// A row of the published table of limits, asked as a geometry of the down product (or, with `0:`, of the up product).
struct Limit {
    row: &'static str,
    constraint: &'static str,
    /// Whether it can be described, and executed.
    answers: (bool, bool),
    /// What the published planner lacks for it.
    beyond: &'static str,
    /// How far it comes in the published sweep, and a word of the reason; nothing where no plan can say it.
    explored: Option<(Step, &'static str)>,
}

const LIMITS: &[Limit] = &[
    Limit {
        row: "balanced contiguous shards",
        constraint: DOWN,
        answers: (true, true),
        beyond: "",
        explored: Some((Step::Kept, "`historical`")),
    },
    Limit {
        row: "different local K and C extents",
        constraint: "2:4x24x14:14x1:48:interleaved:normal:complete:direct:k-grain-16",
        answers: (true, true),
        beyond: "K ownership",
        explored: Some((Step::Space, "`down.beyond` = k-grain-16")),
    },
    Limit {
        row: "different local K and C extents",
        constraint: "2:4x24x15:15x1:48:interleaved:normal:complete:direct:extents-inner-272+288",
        answers: (false, false),
        beyond: "",
        explored: None,
    },
    Limit {
        row: "mixed row/column reduce-scatter",
        constraint: "2:4x24x15:5x3:48:interleaved:normal:complete:direct",
        answers: (true, true),
        beyond: "result factors 5x3",
        explored: Some((Step::Screen, "`down.result_columns`")),
    },
    Limit {
        row: "axis-order changes",
        constraint: "2:4x24x15:15x1:48:interleaved:normal:complete:direct:order-rows-inner-columns",
        answers: (true, true),
        beyond: "grid order",
        explored: Some((Step::Space, "`down.beyond` = order-rows-inner-columns")),
    },
    Limit {
        row: "disjoint ownership",
        constraint: "2:4x24x15:15x1:48:interleaved:normal:complete:direct:disjoint-rows",
        answers: (false, false),
        beyond: "",
        explored: None,
    },
    Limit {
        row: "cyclic ownership",
        constraint: "2:4x24x15:15x1:48:interleaved:normal:complete:direct:cyclic-rows",
        answers: (false, false),
        beyond: "",
        explored: None,
    },
    Limit {
        row: "general local strides",
        constraint: "2:4x24x15:15x1:48:interleaved:normal:complete:direct:stride-40",
        answers: (false, false),
        beyond: "",
        explored: None,
    },
];

#[test]
fn the_published_table_of_limits() {
    let text = include_str!("../../../cohorts/siglip-mlp-ipu21.toml");
    let definition = Definition::parse("siglip-mlp-ipu21.toml", text).unwrap();
    let target = Ipu21
        .configure(&definition.options, &target_api::Machine::default())
        .unwrap();
    let selection = select(&definition, target.as_ref()).unwrap();
    let explored = |told: &Why| {
        let plan = told.assignment.as_ref()?;
        let trace = trace(
            &definition,
            target.as_ref(),
            &selection,
            "siglip-mlp",
            &told.operation,
            plan,
        );
        Some(trace.unwrap())
    };
    for limit in LIMITS {
        let row = limit.row;
        let told = ask(limit.constraint);
        let answers = (told.described.yes, told.executed.yes);
        assert_eq!(answers, limit.answers, "{row}: {told:?}");
        match limit.beyond {
            "" => assert!(told.beyond.is_empty(), "{row}: {:?}", told.beyond),
            words => assert!(
                told.beyond.iter().any(|form| form.contains(words)),
                "{row}: {:?}",
                told.beyond
            ),
        }
        let trace = explored(&told);
        let came = trace.as_ref().map(|trace| trace.step);
        assert_eq!(came, limit.explored.map(|(step, _)| step), "{row}: {trace:?}");
        if let (Some(trace), Some((_, word))) = (trace, limit.explored) {
            assert!(trace.why.contains(word), "{row}: {}", trace.why);
        }
    }
    assert_eq!(ask(LIMITS[2].constraint).described.rule.as_deref(), Some("ownership"));
    assert_eq!(ask(LIMITS[7].constraint).described.rule.as_deref(), Some("storage"));
    let uneven = ask(LIMITS[1].constraint).described.why;
    assert!(uneven.contains("inner 3x320 + 11x304"), "{uneven}");
    let balanced = ask(UP).described.why;
    assert!(
        balanced.contains("rows 1x184 + 3x182; columns 85x48 + 7x32; inner 4x288"),
        "{balanced}"
    );

    // What is screened and no case tells its rank, where it was dropped.
    for (constraint, step) in [
        ("0:5x92x3:3x1:48:interleaved:normal:complete:direct", Step::Rank),
        ("0:4x92x4:4x1:48:interleaved:normal:batch-2:direct", Step::Screen),
    ] {
        let trace = explored(&ask(constraint)).unwrap();
        assert_eq!(trace.step, step, "{constraint}: {trace:?}");
        assert_eq!(trace.screened.is_some(), step == Step::Rank, "{constraint}: {trace:?}");
    }
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
