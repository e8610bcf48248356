//! What is said about expressions that can't be used.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::super::{Expression, ExpressionError, ExpressionErrorKind as E};
use super::declared;

const WRONG: &[&str] = &[
    "",
    "   ",
    "n +",
    "n + * k",
    "n k",
    "(n + k",
    "n + k)",
    "(1, 2",
    "[1, 2)",
    "n = 7",
    "n is 7",
    "n if t else k",
    "n == None",
    "t && f",
    "!t",
    "n ^ 2",
    "n & 1 == 0",
    "n @ k",
    "{n}",
    "s[0] == 1",
    "n == not t",
    "n + not t",
    "010",
    "2x",
    "1__0",
    "1.5.2",
    "1e999",
    "0x",
    "9223372036854775808",
    "-9223372036854775808 ** 2",
    "99999999999999999999",
    "s == 'rows",
    "s == 'a\\qb'",
    "nn + 1",
    "bgi > 3",
    "tile_size",
    "sum(n, k)",
    "mim(n, k)",
    "min",
    "min + 1",
    "min(n)",
    "max()",
    "ceil_div(n)",
    "ceil_div(n, k, z)",
    "ceil_div(x, 2)",
    "n and t",
    "t or k == 12 or n",
    "not n",
    "t + 1",
    "s + 'x'",
    "-t",
    "min(n, s)",
    "n == t",
    "n == 'rows'",
    "s < 3",
    "t < f",
    "n in 7",
    "n in (7)",
    "s in 'rows and columns'",
    "n in ()",
    "n in (1, 'two')",
    "(1, 2) == n",
    "n in (1, 2) == t",
    "n <= k and\n  kk == 3",
    "n == 7 and 'größe' != s and größe > 1",
    "\tn\t+\tt",
];

fn check(text: &str) -> Result<(), ExpressionError> {
    Expression::parse(text)?.check(&declared()).map(|_| ())
}

/// One word for each kind; a new kind doesn't compile until it is here, and fails until a line above shows it.
fn word(kind: &E) -> &'static str {
    match kind {
        E::TooLong { .. } => "too long",
        E::TooDeep { .. } => "too deep",
        E::UnknownSign { .. } => "unknown sign",
        E::BadNumber { .. } => "bad number",
        E::UnknownEscape { .. } => "unknown escape",
        E::UnclosedText { .. } => "unclosed text",
        E::Unexpected { .. } => "unexpected",
        E::UnknownFunction { .. } => "unknown function",
        E::Arity { .. } => "arity",
        E::UnknownName { .. } => "unknown name",
        E::Type { .. } => "type",
        E::Comparison { .. } => "comparison",
        E::EmptyList => "empty list",
    }
}

#[test]
fn every_kind_of_error_says_what_and_where() {
    let long = format!("n + {}", "1".repeat(20_000));
    let brackets = format!("{}n{}", "(".repeat(300), ")".repeat(300));
    let mut shown = String::new();
    let mut kinds = BTreeSet::new();
    for text in WRONG.iter().copied().chain([long.as_str(), brackets.as_str()]) {
        let error = check(text).expect_err(text);
        kinds.insert(word(error.kind()));
        writeln!(shown, "{error}\n").unwrap();
    }
    assert_eq!(kinds.len(), 13, "{kinds:?}");
    insta::assert_snapshot!(shown);
}

#[test]
fn deep_nesting_of_any_sort_is_an_error_and_not_a_crash() {
    let many = 5_000;
    for text in [
        "-".repeat(many) + "n",
        "not ".repeat(many / 2) + "t",
        format!("{}n", "2 ** ".repeat(many / 3)),
        format!("n{}", " + n".repeat(many / 3)),
        format!("{}n", "min(n, ".repeat(many / 3)),
        "[".repeat(many),
    ] {
        let error = check(&text).unwrap_err();
        assert!(matches!(error.kind(), E::TooDeep { .. }), "{error}");
    }
}

#[test]
fn wide_conditions_are_not_deep() {
    let wide = format!("t{}", " and n > 1".repeat(1_500));
    let expression = Expression::parse(&wide).unwrap();
    expression.check(&declared()).unwrap();
    assert_eq!(expression.conjuncts().len(), 1_501);
    let members = format!("n in ({})", "1, ".repeat(4_000));
    check(&members).unwrap();
}

#[test]
fn a_result_of_the_wrong_kind_is_refused_where_it_is_used() {
    let condition = Expression::parse("n % k").unwrap();
    let error = condition.condition(&declared(), &["n", "k"]).unwrap_err();
    let formula = Expression::parse("s == 'rows'").unwrap();
    let other = formula.formula(&declared(), &["s"]).unwrap_err();
    insta::assert_snapshot!(format!("{error}\n\n{other}"));
}
