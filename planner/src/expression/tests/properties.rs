use proptest::prelude::*;

use super::super::{Expression, ExpressionError};
use super::{declared, naive, names, values};
use crate::value::Value;

/// Texts of numbers that are well formed and well typed.
fn number() -> BoxedStrategy<String> {
    let leaf = prop_oneof![
        prop::sample::select(vec![
            "n", "m", "z", "k", "big", "low", "odd", "x", "y", "w", "huge", "wide"
        ])
        .prop_map(str::to_owned),
        (-20_i64..20).prop_map(|n| n.to_string()),
        (-i64::MAX..=i64::MAX).prop_map(|n| n.to_string()),
        (-40_i32..40).prop_map(|n| format!("{:?}", f64::from(n) / 8.0)),
    ];
    leaf.prop_recursive(5, 24, 3, |inner| {
        let operator = prop::sample::select(vec!["+", "-", "*", "/", "//", "%", "**"]);
        prop_oneof![
            4 => (inner.clone(), operator, inner.clone()).prop_map(|(a, op, b)| format!("{a} {op} {b}")),
            2 => inner.clone().prop_map(|a| format!("({a})")),
            1 => inner.clone().prop_map(|a| format!("-{a}")),
            1 => (prop::sample::select(vec!["min", "max"]), prop::collection::vec(inner, 2..4))
                .prop_map(|(f, all)| format!("{f}({})", all.join(", "))),
        ]
    })
    .boxed()
}

/// Texts of conditions that are well formed and well typed.
fn condition() -> BoxedStrategy<String> {
    let comparison = prop::sample::select(vec!["==", "!=", "<", "<=", ">", ">="]);
    let leaf = prop_oneof![
        prop::sample::select(vec!["t", "f", "s == 'rows'", "s < u"]).prop_map(str::to_owned),
        (number(), prop::collection::vec((comparison, number()), 1..3)).prop_map(|(first, rest)| {
            rest.iter()
                .fold(first, |text, (sign, next)| format!("{text} {sign} {next}"))
        }),
        (number(), any::<bool>(), prop::collection::vec(number(), 1..4)).prop_map(|(a, wanted, members)| {
            format!("{a} {} [{}]", if wanted { "in" } else { "not in" }, members.join(", "))
        }),
    ];
    leaf.prop_recursive(4, 12, 3, |inner| {
        prop_oneof![
            (inner.clone(), prop::sample::select(vec!["and", "or"]), inner.clone())
                .prop_map(|(a, op, b)| format!("{a} {op} {b}")),
            inner.clone().prop_map(|a| format!("({a})")),
            inner.prop_map(|a| format!("not {a}")),
        ]
    })
    .boxed()
}

/// Parses, checks and evaluates.
fn run(text: &str) -> Result<(), ExpressionError> {
    let expression = Expression::parse(text)?;
    let program = expression.check(&declared())?;
    let values = values(&expression.names());
    let values: Vec<&Value> = values.iter().collect();
    let _ = program.evaluate(&values).map_err(|error| error.to_string());
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_an_expression_or_an_error(text in any::<String>()) {
        if let Err(error) = run(&text) {
            prop_assert!(error.to_string().contains('^'));
        }
    }

    #[test]
    fn any_heap_of_tokens_is_an_expression_or_an_error(
        tokens in prop::collection::vec(prop::sample::select(vec![
            "n", "m", "x", "s", "t", "1", "2.5", "'a'", "(", ")", "[", "]", ",", "+", "-", "*", "/", "//", "%", "**",
            "==", "!=", "<", "<=", "in", "not", "and", "or", "min", "ceil_div", "\n", ".", "e", "0x", "\"", "\\", "ü",
        ]), 0..24),
        glue in prop::sample::select(vec!["", " "]),
    ) {
        if let Err(error) = run(&tokens.join(glue)) {
            prop_assert!(error.to_string().contains('^'));
        }
    }

    #[test]
    fn numbers_agree_with_the_naive_evaluator(text in number()) {
        agree(&text)?;
    }

    #[test]
    fn conditions_agree_with_the_naive_evaluator(text in condition()) {
        agree(&text)?;
    }
}

fn agree(text: &str) -> Result<(), TestCaseError> {
    let expression = Expression::parse(text).map_err(|error| TestCaseError::fail(error.to_string()))?;
    let program = expression
        .check(&declared())
        .map_err(|error| TestCaseError::fail(error.to_string()))?;
    let values = values(&expression.names());
    let values: Vec<&Value> = values.iter().collect();
    let fast = program.evaluate(&values).map_err(|error| error.fault);
    let slow = naive::evaluate(&expression.root, &names());
    prop_assert_eq!(fast, slow, "{}", text);
    Ok(())
}
