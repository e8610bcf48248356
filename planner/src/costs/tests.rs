//! Tables are read, checked, written and priced.

use proptest::prelude::*;

use super::{CostError, CostTable, Number, Priced};
use crate::expression::Kind;
use crate::value::Value;

const TABLE: &str = r#"
name = "test"
[gemm]
arguments = ["rows", "inner", "columns"]
[gemm.terms]
launch = { of = "1", cycles = 294 }
rows   = { of = "ceil_div(inner,16) * ceil_div(columns,16) * rows", cycles = 4 }
panel  = { of = "ceil_div(inner,16) * ceil_div(columns,16)", cycles = 160 }
[model]
kernel = "objective"
arguments = { tile = "integer", alpha = "float" }
non_negative = false
[model.terms]
blocks = { of = "(256 / tile) ** 2", ns = 2.5 }
alpha = { of = "max(alpha, 0.5)", ns = -1, known = true }
"#;

#[test]
fn a_table_is_priced_exactly_and_written_back() {
    let table = CostTable::parse(TABLE).unwrap();
    let gemm = table.family("gemm").unwrap().compile("gemm").unwrap();
    // Published: 184 x 288 x 48 at 294 + 54 (4 * 184 + 160).
    assert_eq!(
        gemm.price(&[184, 288, 48]),
        Some(Priced::Whole(294 + 54 * (4 * 184 + 160)))
    );
    assert_eq!(gemm.price(&[184, 288]), None, "an argument is missing");
    assert_eq!(gemm.price(&[i64::MAX, 288, 48]), None, "beyond 64 bits");
    let model = table.family("model").unwrap();
    assert_eq!((model.unit(), model.kernel("model")), ("ns", "objective"));
    let compiled = model.compile("model").unwrap();
    assert!(compiled.may_fail());
    let at = |alpha, tile| compiled.number(&[&Value::Float(alpha), &Value::Integer(tile)]);
    assert!((at(2.0, 8).unwrap() - (2.5 * 1024.0 - 2.0)).abs() < 1e-9);
    assert!(at(2.0, 0).is_err());
    assert_eq!(CostTable::parse(&table.text()), Ok(table.clone()));
    assert_eq!(CostTable::of_toml(&table.to_toml().unwrap()), Ok(table.clone()));
    let json = serde_json::to_string(&table).unwrap();
    assert_eq!(serde_json::from_str::<CostTable>(&json).unwrap(), table);
}

#[test]
fn the_order_of_terms_and_arguments_does_not_matter() {
    let table = CostTable::parse(TABLE).unwrap();
    let family = table.family("gemm").unwrap();
    let own = family.compile("gemm").unwrap();
    let order = [
        ("columns", Kind::Integer),
        ("rows", Kind::Integer),
        ("inner", Kind::Integer),
    ];
    let other = family.compile_with("gemm", &order).unwrap();
    assert_eq!(own.price(&[7, 100, 50]), other.price(&[50, 7, 100]));
}

#[test]
fn slips_are_shown_where_they_stand() {
    let slips = [
        ("* rows\"", "* rwos\"", "rwos"),
        ("cycles = 4", "cycels = 4", "expected one"),
        ("cycles = 4", "cycles = 4, ns = 3", "one coefficient"),
        ("cycles = 160", "cycles = inf", "finite"),
        ("\"columns\"]", "\"rows\"]", "twice"),
        ("non_negative", "positive", "positive"),
        (
            "ceil_div(inner,16) * ceil_div(columns,16)\"",
            "ceil_div(inner)\"",
            "takes two",
        ),
    ];
    for (from, to, word) in slips {
        let text = TABLE.replacen(from, to, 1);
        assert_ne!(text, TABLE, "{from}");
        let shown = CostTable::parse_file("costs.toml", &text).unwrap_err().to_string();
        assert!(shown.contains(word) && shown.starts_with("`costs.toml:"), "{shown}");
        assert!(CostTable::parse(&text).is_err());
    }
    let shown = CostTable::parse_file("costs.toml", &TABLE.replace("* rows\"", "* rwos\"")).unwrap_err();
    assert_eq!((shown.line, shown.width), (7, 4), "{shown}");
    assert!(matches!(CostTable::parse("name = \"empty\""), Err(CostError::Form(_))));
}

#[test]
fn whole_numbers_stay_whole() {
    assert_eq!(Number::new(294.0).unwrap().to_string(), "294");
    assert_eq!(Number::new(-0.0).unwrap().to_string(), "0");
    assert_eq!(Number::new(0.1).unwrap().to_string(), "0.1");
    assert_eq!(Number::new(f64::NAN), None);
    assert_eq!(Number::new(1e300).unwrap().whole(), None);
}

proptest! {
    /// Straight-line code and the walk over the tree are two ways to the same number, or to none.
    #[test]
    fn straight_line_code_agrees_with_the_tree(a in -2000_i64..2000, b in -40_i64..40, c in 0_i64..9) {
        let text = r#"
            name = "x"
            [x]
            arguments = ["a", "b", "c"]
            non_negative = false
            [x.terms]
            p = { of = "ceil_div(a, 16) + ceil_div(a, 48) * b - a // 7", cycles = 3 }
            q = { of = "max(a, b, c) - min(-a, b * b) + a % 5", cycles = -2 }
            r = { of = "ceil_div(a, b) + c ** 2 + ceil_div(a, 16)", cycles = 1 }
        "#;
        let compiled = CostTable::parse(text).unwrap().family("x").unwrap().compile("x").unwrap();
        let values = [a, b, c].map(Value::Integer);
        let tree = compiled.number(&[&values[0], &values[1], &values[2]]).ok();
        let flat = compiled.price(&[a, b, c]);
        prop_assert!(matches!(flat, None | Some(Priced::Whole(_))));
        prop_assert_eq!(flat.map(Priced::value), tree);
        prop_assert_eq!(tree.is_none(), b == 0);
    }
}
