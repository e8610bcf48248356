//! Spaces: counting, walking, unranking, drawing and brute force agree.

#![allow(
    clippy::disallowed_methods,
    reason = "a test may read files, clocks and run programs"
)]
#![expect(clippy::unwrap_used, reason = "helpers of tests may end them")]

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Instant;

use planner::space::{Constraint, SpaceError, SplitMix64};
use planner::{Assignment, Domain, Parameter, Refusal, Space, Value};
use proptest::prelude::*;

fn parameter(name: &str, domain: Domain) -> Parameter {
    Parameter {
        name: name.to_owned(),
        domain,
        about: String::new(),
    }
}

fn range(name: &str, start: i64, stop: i64) -> Parameter {
    parameter(name, Domain::Range { start, stop })
}

fn list(name: &str, values: &[i64]) -> Parameter {
    parameter(name, Domain::List(values.iter().map(|&n| Value::Integer(n)).collect()))
}

fn rule(name: &'static str, scope: &[usize], holds: impl Fn(&[i64]) -> bool + Send + Sync + 'static) -> Constraint {
    Constraint {
        rule: name,
        scope: scope.to_vec(),
        check: Arc::new(move |values| {
            let numbers: Vec<i64> = values.iter().map(|value| value.as_integer().unwrap()).collect();
            if holds(&numbers) {
                Ok(())
            } else {
                Err(Refusal::new(name, format!("{numbers:?} can't be")))
            }
        }),
    }
}

fn assignment(values: &[(&str, i64)]) -> Assignment {
    values
        .iter()
        .map(|(name, n)| ((*name).to_owned(), Value::Integer(*n)))
        .collect()
}

/// Every combination of the domains, in order, that the check accepts.
fn brute_force(space: &Space) -> Vec<Assignment> {
    let mut all = vec![Assignment::new()];
    for parameter in &space.parameters {
        all = all
            .iter()
            .flat_map(|prefix| {
                (0..parameter.domain.size()).map(|at| {
                    let mut longer = prefix.clone();
                    longer.set(&parameter.name, parameter.domain.at(at).unwrap());
                    longer
                })
            })
            .collect();
    }
    all.retain(|plan| space.check(plan).is_ok());
    all
}

/// Small spaces with random rules of one to three parameters, sometimes too strict to leave anything.
fn spaces() -> impl Strategy<Value = Space> {
    let parameters = prop::collection::vec((any::<bool>(), 0_i64..3, 1_i64..5), 1..7);
    let rules = prop::collection::vec(
        (
            prop::collection::vec(any::<prop::sample::Index>(), 0..4),
            2_i64..5,
            0_i64..4,
        ),
        0..6,
    );
    (parameters, rules).prop_map(|(parameters, rules)| {
        let parameters: Vec<Parameter> = parameters
            .into_iter()
            .enumerate()
            .map(|(at, (listed, start, size))| {
                let name = format!("p{at}");
                if listed {
                    let values: Vec<i64> = (0..size).map(|n| start + 2 * (size - n)).collect();
                    list(&name, &values)
                } else {
                    range(&name, start, start + size - 1)
                }
            })
            .collect();
        let constraints = rules
            .into_iter()
            .map(|(scope, modulus, residue)| {
                let mut scope: Vec<usize> = scope.iter().map(|index| index.index(parameters.len())).collect();
                scope.dedup();
                rule("sum", &scope, move |values| {
                    (values.iter().sum::<i64>() % modulus) != residue
                })
            })
            .collect();
        Space {
            parameters,
            constraints,
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn all_ways_to_list_a_space_agree(space in spaces(), seed in any::<u64>()) {
        let wanted = brute_force(&space);
        let walked: Vec<Assignment> = space.walk().unwrap().collect();
        prop_assert_eq!(&walked, &wanted);
        prop_assert_eq!(space.count().unwrap(), wanted.len() as u128);
        for (at, plan) in wanted.iter().enumerate() {
            let nth = space.nth(at as u128).unwrap();
            prop_assert_eq!(nth.as_ref(), Some(plan));
        }
        prop_assert_eq!(space.nth(wanted.len() as u128).unwrap(), None);

        let half = wanted.len() as u64 / 2;
        let sample = space.sample(seed, half).unwrap();
        let distinct: BTreeSet<String> = sample.assignments.iter().map(|plan| format!("{plan:?}")).collect();
        prop_assert_eq!(distinct.len() as u64, half);
        prop_assert!(sample.assignments.iter().all(|plan| space.check(plan).is_ok()));
        prop_assert_eq!(&space.sample(seed, half).unwrap(), &sample);
        let whole = space.sample(seed, wanted.len() as u64 + 3).unwrap();
        prop_assert!(whole.whole);
        prop_assert_eq!(whole.assignments, wanted);
    }

    #[test]
    fn the_nearest_legal_plan_is_legal_and_no_nearer_one_exists(space in spaces(), at in any::<prop::sample::Index>()) {
        let mut unruled = space.clone();
        unruled.constraints.clear();
        let every = brute_force(&unruled);
        let plan = &every[at.index(every.len())];
        let differs = |other: &Assignment| other.iter().filter(|(name, value)| plan.get(name) != Some(*value)).count();
        let fewest = brute_force(&space).iter().map(differs).min();
        match space.nearest_legal(plan) {
            Some(near) => {
                prop_assert!(space.check(&near).is_ok());
                prop_assert_eq!(Some(differs(&near)), fewest);
            }
            None => prop_assert!(fewest.is_none_or(|n| n > 2), "{fewest:?}"),
        }
    }
}

/// 20 parameters of 1 to 8, 14 constraints that tie neighbours and a few that stand apart.
fn twenty() -> Space {
    let parameters = (0..20).map(|at| range(&format!("p{at}"), 1, 8)).collect();
    let mut constraints: Vec<Constraint> = (0..8)
        .map(|at| rule("divides", &[at, at + 1], |v| v[0] % v[1] == 0 || v[1] % v[0] == 0))
        .collect();
    constraints.extend((10..14).map(|at| rule("bounded", &[at, at + 1, at + 2], |v| v[0] * v[1] * v[2] <= 64)));
    constraints.push(rule("apart", &[0, 9], |v| v[0] != v[1]));
    constraints.push(rule("even", &[17, 19], |v| (v[0] + v[1]) % 2 == 0));
    Space {
        parameters,
        constraints,
    }
}

#[test]
fn a_space_of_a_billion_plans_is_counted_and_drawn_from_at_once() {
    let space = twenty();
    assert_eq!(space.constraints.len(), 14);
    let began = Instant::now();
    let count = space.count().unwrap();
    assert!(count > 1_000_000_000, "{count}");
    let counted = began.elapsed();
    let sample = space.sample(7, 1_000).unwrap();
    println!(
        "count {count} in {counted:?}, with 1,000 draws in {:?}",
        began.elapsed()
    );
    assert!(counted.as_millis() < 900, "{counted:?}");
    assert!(sample.assignments.iter().all(|plan| space.check(plan).is_ok()));
    let (first, last) = (space.nth(0).unwrap().unwrap(), space.nth(count - 1).unwrap().unwrap());
    assert_eq!(space.walk().unwrap().next(), Some(first));
    assert_eq!(space.nth(count).unwrap(), None);
    assert_eq!(last.get("p19"), Some(&Value::Integer(8)));
    // The count of a slice is the sum of the counts of its parts.
    let parts: u128 = (1..=8)
        .map(|n| {
            space
                .restrict(&[("p4", &[Value::Integer(n)])])
                .unwrap()
                .count()
                .unwrap()
        })
        .sum();
    assert_eq!(parts, count);
}

#[test]
fn a_walk_starts_at_once_where_a_later_group_decides() {
    // `a` and `z` allow only a = 5, and 25 free parameters stand between them.
    let mut parameters = vec![range("a", 1, 5)];
    parameters.extend((0..25).map(|at| range(&format!("m{at}"), 1, 10)));
    parameters.push(range("z", 6, 10));
    let space = Space {
        constraints: vec![rule("close", &[0, 26], |v| v[1] - v[0] == 1)],
        parameters,
    };
    assert_eq!(space.count().unwrap(), 10_u128.pow(25));
    let first = space.walk().unwrap().next().unwrap();
    assert_eq!(
        (first.get("a"), first.get("z")),
        (Some(&Value::Integer(5)), Some(&Value::Integer(6)))
    );
    assert_eq!(space.sample(1, 3).unwrap().assignments.len(), 3);
    assert_eq!(space.nth(10).unwrap().unwrap().get("m23"), Some(&Value::Integer(2)));
}

#[test]
fn too_many_plans_are_an_error() {
    let parameters = (0..39).map(|at| range(&format!("m{at}"), 1, 10)).collect();
    let space = Space {
        parameters,
        constraints: Vec::new(),
    };
    assert_eq!(space.count(), Err(SpaceError::Overflow));
}

#[test]
fn a_larger_sample_begins_with_the_smaller() {
    let space = twenty();
    let (small, large) = (space.sample(3, 5).unwrap(), space.sample(3, 9).unwrap());
    assert_eq!(small.assignments[..], large.assignments[..5]);
    assert_ne!(small, space.sample(4, 5).unwrap());
}

#[test]
fn draws_are_those_of_the_published_generator() {
    // First outputs of SplitMix64 for seed 1234567, as given with the reference implementation.
    let mut random = SplitMix64::new(1_234_567);
    let drawn: Vec<u64> = (0..3).map(|_| random.next_u64()).collect();
    assert_eq!(
        drawn,
        [
            6_457_827_717_110_365_317,
            3_203_168_211_198_807_973,
            9_817_491_932_198_370_423
        ]
    );
}

#[test]
fn every_refusal_names_what_is_wrong() {
    let space = Space {
        parameters: vec![list("up.height", &[4, 5, 6, 8]), range("up.inner", 1, 12)],
        constraints: vec![rule("even", &[0, 1], |v| v[0] * v[1] % 2 == 0)],
    };
    let say = |plan: &Assignment| space.check(plan).unwrap_err().to_string();
    assert_eq!(
        say(&assignment(&[("up.height", 7), ("up.inner", 1)])),
        "refused by rule `domain`: `up.height` = 7 is not among 4, 5, 6, 8"
    );
    assert_eq!(
        say(&assignment(&[("up.height", 4), ("up.inner", 13)])),
        "refused by rule `domain`: `up.inner` = 13 is not among whole numbers from 1 to 12"
    );
    let mut texts = assignment(&[("up.height", 4)]);
    texts.set("up.inner", Value::text("1"));
    assert_eq!(
        say(&texts),
        "refused by rule `domain`: `up.inner` is the text `1`, expected an integer: whole numbers from 1 to 12"
    );
    assert_eq!(
        say(&assignment(&[("up.height", 4)])),
        "refused by rule `missing-attribute`: `up.inner` has no value"
    );
    assert_eq!(
        say(&assignment(&[("up.height", 4), ("up.inner", 1), ("up.rows", 1)])),
        "refused by rule `unknown-attribute`: no attribute is called `up.rows`: expected `up.height`, `up.inner`"
    );
    let odd = assignment(&[("up.height", 5), ("up.inner", 3)]);
    assert_eq!(say(&odd), "refused by rule `even`: [5, 3] can't be");
    let near = space.nearest_legal(&odd).unwrap();
    assert_eq!(space.changes(&odd, &near), "`up.height` = 4");
    let outside = assignment(&[("up.height", 7), ("up.inner", 3)]);
    assert_eq!(
        space.changes(&outside, &space.nearest_legal(&outside).unwrap()),
        "`up.height` = 6"
    );
}

#[test]
fn restrictions_keep_the_given_order_and_name_what_is_allowed() {
    let space = twenty();
    let narrow = space
        .restrict(&[("p0", &[Value::Integer(8), Value::Integer(2)])])
        .unwrap();
    assert_eq!(
        narrow.walk().unwrap().next().unwrap().get("p0"),
        Some(&Value::Integer(8))
    );
    let error = space.restrict(&[("p0", &[Value::Integer(9)])]).unwrap_err().to_string();
    assert_eq!(error, "`p0` can't be 9: expected whole numbers from 1 to 8");
    let error = space.restrict(&[("q", &[])]).unwrap_err().to_string();
    assert!(
        error.starts_with("no attribute is called `q`: expected `p0`, `p1`"),
        "{error}"
    );
    assert_eq!(space.restrict(&[("p3", &[])]).unwrap().count(), Ok(0));
}

#[test]
fn a_malformed_space_is_found() {
    let space = Space {
        parameters: vec![list("a", &[1, 2, 1])],
        constraints: Vec::new(),
    };
    assert_eq!(
        space.count().unwrap_err().to_string(),
        "the target's space is malformed: `a` lists 1 twice"
    );
    let space = Space {
        parameters: vec![list("a", &[1])],
        constraints: vec![rule("r", &[1], |_| true)],
    };
    assert!(matches!(space.count(), Err(SpaceError::Malformed(_))));
}
