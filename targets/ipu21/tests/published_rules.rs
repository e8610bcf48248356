//! The rules on the published cases: what they refuse, and what the texts say.

use planner::GemmExtents;
use target_ipu21::{legal, text};

const UP: GemmExtents = GemmExtents {
    rows: 729,
    inner: 1152,
    columns: 4304,
};
const DOWN: GemmExtents = GemmExtents {
    rows: 729,
    inner: 4304,
    columns: 1152,
};

fn verdict(up: &str, down: &str) -> Result<(), planner::Refusal> {
    let (index, g) = text::parse(up).expect("a constraint text");
    assert_eq!((index, text::print(index, &g).as_str()), (0, up));
    legal::gemm("up", UP, &g)?;
    legal::payload("up", UP, &g)?;
    let (index, g) = text::parse(down).expect("a constraint text");
    assert_eq!((index, text::print(index, &g).as_str()), (2, down));
    legal::gemm("down", DOWN, &g)
}

#[test]
fn of_the_initial_cases_the_rules_refuse_three() {
    let mut refused = Vec::new();
    for line in include_str!("fixtures/cases.csv").lines().skip(1) {
        let [name, up, down, _] = line.split(',').collect::<Vec<_>>()[..] else {
            panic!("{line}")
        };
        if let Err(refusal) = verdict(up, down) {
            refused.push((name, refusal.rule));
        }
    }
    let expected = [("up-09", "partial-bytes"), ("up-17", "payload"), ("up-18", "payload")];
    assert_eq!(refused, expected.map(|(name, rule)| (name, rule.to_owned())));
}

#[test]
fn refusals_have_numbers() {
    let (_, g) = text::parse("0:4x10x36:36x1:432:interleaved:normal:complete:direct").unwrap();
    let message = legal::gemm("up", UP, &g).unwrap_err().message;
    assert!(message.contains("632448") && message.contains("586960"), "{message}");
    let (_, g) = text::parse("0:23x16x4:4x1:48:interleaved:swapped:complete:direct").unwrap();
    let message = legal::payload("up", UP, &g).unwrap_err().message;
    assert!(message.contains("9 = 18 bytes"), "{message}");
}

#[test]
fn the_alternatives_refuse_by_the_column_factor() {
    let factors = [
        (0, UP, "4x92x4", ["1x2", "2x1", "2x2", "1x4"].as_slice()),
        (
            2,
            DOWN,
            "4x24x15",
            &[
                "1x3", "3x1", "5x1", "5x3", "3x5", "1x15", "2x3", "3x3", "4x3", "6x2", "7x2",
            ],
        ),
    ];
    let mut refused = Vec::new();
    for (index, extents, grid, factors) in factors {
        for factors in factors {
            let (_, g) = text::parse(&format!("{index}:{grid}:{factors}:48:standard:normal:complete:direct")).unwrap();
            if let Err(refusal) = legal::gemm("gemm", extents, &g) {
                refused.push((*factors, refusal.rule));
            }
        }
    }
    assert_eq!(
        refused,
        ["1x4", "3x5", "1x15"].map(|factors| (factors, "result-columns".to_owned()))
    );
}

#[test]
fn every_rule_can_refuse() {
    let small = GemmExtents {
        rows: 729,
        inner: 64,
        columns: 64,
    };
    let cases = [
        (
            UP,
            "0:4x92x1:1x1:48:interleaved:normal:complete:direct",
            "inner-partitions",
        ),
        (
            UP,
            "0:1x270x2:2x1:16:interleaved:normal:complete:direct",
            "column-partitions",
        ),
        (
            UP,
            "0:730x1x2:1x1:4304:interleaved:normal:complete:direct",
            "row-partitions",
        ),
        (UP, "0:5x92x4:4x1:48:interleaved:normal:complete:direct", "tiles"),
        (
            UP,
            "0:1x20x50:50x1:224:interleaved:normal:complete:direct",
            "empty-inner",
        ),
        (
            UP,
            "0:1x4x2:2x1:1088:interleaved:normal:complete:direct",
            "operand-bytes",
        ),
        (
            UP,
            "0:6x8x4:4x1:544:interleaved:normal:complete:direct",
            "interleaved-bytes",
        ),
        (UP, "0:4x92x4:4x1:32:interleaved:normal:complete:direct", "width"),
        (UP, "0:4x92x4:5x1:48:interleaved:normal:complete:direct", "result-rows"),
        (
            UP,
            "0:4x92x4:3x2:48:interleaved:normal:complete:direct",
            "result-factors",
        ),
        (
            small,
            "0:180x1x4:4x1:64:interleaved:normal:complete:direct",
            "exchange-rows",
        ),
        (UP, "0:4x92x4:4x1:48:interleaved:normal:complete:match-remote", "local"),
    ];
    for (extents, text, rule) in cases {
        let (_, g) = text::parse(text).unwrap();
        let refusal = legal::gemm("up", extents, &g).unwrap_err();
        assert_eq!(refusal.rule, rule, "{text}: {refusal}");
    }
}
