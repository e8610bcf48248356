use std::fmt::Write;

use proptest::prelude::*;

use super::*;

fn table(text: &str) -> ParameterTable {
    toml::from_str(text).unwrap()
}

fn parameters(text: &str) -> Parameters {
    Parameters::new(&table(text)).unwrap_or_else(|error| panic!("{error}"))
}

fn values(domain: &Domain) -> Vec<Value> {
    match domain {
        Domain::List(values) => values.clone(),
        Domain::Range { start, stop } => (*start..=*stop).map(Value::Integer).collect(),
    }
}

/// Every assignment, the last parameter fastest, with the refusal of the first constraint that says no.
fn walk(space: &Space) -> Vec<(Vec<Value>, Result<(), Refusal>)> {
    let mut all = vec![Vec::new()];
    for parameter in &space.parameters {
        let domain = values(&parameter.domain);
        all = all
            .iter()
            .flat_map(|head: &Vec<Value>| domain.iter().map(|v| [&head[..], std::slice::from_ref(v)].concat()))
            .collect();
    }
    let judge = |assignment: &Vec<Value>| {
        space.constraints.iter().try_for_each(|constraint| {
            let scope: Vec<&Value> = constraint.scope.iter().map(|at| &assignment[*at]).collect();
            (constraint.check)(&scope)
        })
    };
    all.into_iter()
        .map(|assignment| (assignment.clone(), judge(&assignment)))
        .collect()
}

#[test]
fn parameters_keep_their_order_kinds_and_values() {
    let parameters = parameters(
        r#"
        tile = [8, 16, 32, 64]
        unroll = "1:8:1"
        layout = ["rows", "columns"]
        prefetch = [true, false]
        scale = [0.5, 1.0]
        "up.inner" = "8:1:-3"
        "#,
    );
    let kinds = [
        Kind::Integer,
        Kind::Integer,
        Kind::Text,
        Kind::Boolean,
        Kind::Float,
        Kind::Integer,
    ];
    let names = ["tile", "unroll", "layout", "prefetch", "scale", "up.inner"];
    assert_eq!(parameters.declared(), names.into_iter().zip(kinds).collect::<Vec<_>>());
    let (space, _) = parameters.space();
    assert_eq!(space.parameters[1].domain, Domain::Range { start: 1, stop: 8 });
    assert_eq!(values(&space.parameters[5].domain), [8, 5, 2].map(Value::Integer));
    assert_eq!(
        space.parameters[2].about,
        "free parameter, text: 2 values from rows to columns"
    );
    assert!(space.constraints.is_empty());
}

#[test]
fn ranges_have_the_values_that_were_meant() {
    let expand = |text: &str| {
        values(&range::parse(text).unwrap())
            .iter()
            .map(crate::expression::literal)
            .collect::<Vec<_>>()
    };
    for (text, expected) in [
        ("1:4", "1 2 3 4"),
        ("1:8:2", "1 3 5 7"),
        ("-2:2", "-2 -1 0 1 2"),
        ("8:2:-2", "8 6 4 2"),
        ("8:1:-3", "8 5 2"),
        ("5:5", "5"),
        ("5:5:-1", "5"),
        (" 16 : 64 : 16 ", "16 32 48 64"),
        ("0:1:0.1", "0.0 0.1 0.2 0.3 0.4 0.5 0.6 0.7 0.8 0.9 1.0"),
        ("1:0:-0.25", "1.0 0.75 0.5 0.25 0.0"),
        ("1.0:3", "1.0 2.0 3.0"),
        ("1e-3:5e-3:2e-3", "0.001 0.003 0.005"),
        (
            "9223372036854775805:9223372036854775807",
            "9223372036854775805 9223372036854775806 9223372036854775807",
        ),
        (
            "-9223372036854775808:9223372036854775807:9223372036854775807",
            "-9223372036854775808 -1 9223372036854775806",
        ),
    ] {
        assert_eq!(expand(text), expected.split(' ').collect::<Vec<_>>(), "{text}");
    }
    assert_eq!(values(&range::parse("1:1000000").unwrap()).len(), MAX_VALUES);
}

#[test]
fn tables_that_make_no_space_say_why() {
    let mut shown = String::new();
    for text in [
        "\"2x\" = [1]",
        "min = [1]",
        "and = [1]",
        "\"\" = [1]",
        "\"a-b\" = [1]",
        "tile = 8",
        "fast = true",
        "tile = []",
        "tile = [1, 2.5]",
        "tile = [0.5, 1]",
        "tile = [1, 'two']",
        "tile = [1, 2, 1]",
        "tile = 'rows'",
        "tile = '1:2:3:4'",
        "tile = '1:x'",
        "tile = '1:'",
        "tile = '1:8:0'",
        "tile = '1:8:0.0'",
        "tile = '8:1'",
        "tile = '1:8:-1'",
        "tile = '1:1000001'",
        "tile = '0:1:1e-9'",
        "tile = '-9223372036854775808:9223372036854775807'",
        "tile = '1:9223372036854775808:9223372036854775807'",
        "tile = '0:1e308:1e-308'",
        "tile = '1e999:1e1000'",
        "tile = '0.0000000000000000000000000000001:1'",
        "tile = [8]\nunroll = [2]\nconstraints = ['tile % unroll == 0', 'tile * unrol <= 256']",
        "tile = [8]\nconstraints = ['tile % 2']",
        "tile = [8]\nconstraints = ['tile > 2 and 3 > 2']",
        "constraints = ['tile > 2']",
    ] {
        let error = Parameters::new(&table(text)).expect_err(text);
        writeln!(shown, "{error}\n").unwrap();
    }
    let listed = |values: Vec<Value>| ("tile".to_owned(), Choices::List(values));
    for parameters in [
        vec![listed(vec![Value::Integer(1)]), listed(vec![Value::Integer(2)])],
        vec![listed((0..=1_000_000).map(Value::Integer).collect())],
        vec![listed(vec![Value::Float(f64::NAN)])],
    ] {
        let error = Parameters::new(&ParameterTable {
            parameters,
            constraints: Vec::new(),
        })
        .unwrap_err();
        writeln!(shown, "{error}\n").unwrap();
    }
    insta::assert_snapshot!(shown);
}

#[test]
fn what_no_table_can_hold_is_refused_while_it_is_read() {
    let mut shown = String::new();
    for text in [
        "tile = [1.0, nan]",
        "tile = [[1]]",
        "tile = [1979-05-27]",
        "tile = 1979-05-27",
        "tile = { a = 1 }",
        "up.inner = [1]",
        "constraints = 'tile > 2'",
    ] {
        writeln!(shown, "{}", toml::from_str::<ParameterTable>(text).unwrap_err()).unwrap();
    }
    insta::assert_snapshot!(shown);
}

#[test]
fn a_table_survives_json_in_its_order() {
    let table = table("z = [1]\na = '1:3'\nm = ['x']\nconstraints = ['z < a']");
    let json = serde_json::to_string(&table).unwrap();
    assert_eq!(json, r#"{"z":[1],"a":"1:3","m":["x"],"constraints":["z < a"]}"#);
    assert_eq!(serde_json::from_str::<ParameterTable>(&json).unwrap(), table);
}

#[test]
fn constraints_come_apart_and_refuse_with_their_values() {
    let parameters = parameters(
        "tile = [8, 16, 32, 64]\nunroll = '1:8'\nlayout = ['rows', 'columns']\n\
         constraints = ['tile % unroll == 0 and (tile > 8 and layout != \"columns\")', 'tile * unroll <= 256']",
    );
    let (space, faults) = parameters.space();
    let scopes: Vec<&[usize]> = space
        .constraints
        .iter()
        .map(|constraint| &constraint.scope[..])
        .collect();
    assert_eq!(scopes, [&[0, 1][..], &[0], &[2], &[0, 1]]);
    let all = walk(&space);
    let legal: Vec<_> = all.iter().filter(|(_, verdict)| verdict.is_ok()).collect();
    let expected = |tile: i64, unroll: i64| tile % unroll == 0 && tile > 8 && tile * unroll <= 256;
    let count = [8, 16, 32, 64]
        .into_iter()
        .flat_map(|t| (1..=8).map(move |u| (t, u)))
        .filter(|(t, u)| expected(*t, *u));
    assert_eq!(legal.len(), count.count());
    assert!(faults.first().is_none());
    let mut texts: Vec<String> = all
        .iter()
        .filter_map(|(_, verdict)| verdict.as_ref().err())
        .map(ToString::to_string)
        .collect();
    texts.sort();
    texts.dedup();
    insta::assert_snapshot!(texts.join("\n"));
}

#[test]
fn an_evaluation_without_result_refuses_and_is_remembered() {
    let parameters = parameters("tile = [8, 16]\nunroll = '0:2'\nconstraints = ['tile % unroll == 0']");
    let (space, faults) = parameters.space();
    let refusals: Vec<Refusal> = walk(&space)
        .into_iter()
        .filter_map(|(_, verdict)| verdict.err())
        .collect();
    assert_eq!(refusals.len(), 2);
    assert!(
        refusals.iter().all(|refusal| refusal.rule == RULE_EVALUATION),
        "{refusals:?}"
    );
    let first = faults.first().unwrap();
    assert_eq!(
        first.message,
        "division by zero in `tile % unroll` of `tile % unroll == 0` with tile = 8, unroll = 0"
    );
    assert_eq!(first.key, "parameters.constraints[0]");
    let (_, others) = parameters.space();
    assert!(others.first().is_none(), "each space has its own");
}

#[test]
fn an_earlier_constraint_protects_a_later_one() {
    for constraints in [
        "'unroll != 0', 'tile % unroll == 0'",
        "'unroll != 0 and tile % unroll == 0'",
    ] {
        let parameters = parameters(&format!(
            "tile = [8, 16]\nunroll = '0:2'\nconstraints = [{constraints}]"
        ));
        let (space, faults) = parameters.space();
        // Whoever walks the space may look at the second one first.
        for (assignment, _) in walk(&space) {
            let scope: Vec<&Value> = space.constraints[1].scope.iter().map(|at| &assignment[*at]).collect();
            assert_eq!(
                (space.constraints[1].check)(&scope).is_ok(),
                assignment[1] != Value::Integer(0)
            );
        }
        assert!(faults.first().is_none(), "{constraints}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_a_range_or_an_error(text in any::<String>()) {
        let _ = range::parse(&text);
    }

    #[test]
    fn any_three_numbers_are_a_range_or_an_error(text in "-?[0-9]{1,31}(\\.[0-9]{0,9})?(e-?[0-9]{1,3})?(:-?[0-9]{1,4}(\\.[0-9]{0,3})?(e-?[0-9])?){1,2}") {
        if let Ok(domain) = range::parse(&text) {
            let all = values(&domain);
            prop_assert!(!all.is_empty() && all.len() <= MAX_VALUES);
            prop_assert!(all.iter().all(|value| value.kind() == all[0].kind()));
        }
    }
}
