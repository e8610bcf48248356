//! An evaluator that walks the tree, knows no types beforehand, and shares nothing with the real one but the tree and
//! the rounding of floats.

use std::cmp::Ordering;

use super::super::arithmetic as math;
use super::super::fault::Fault;
use super::super::tree::{Arithmetic, Comparison, Function, Node, Shape};
use crate::value::Value;

type Outcome = Result<Value, Fault>;

pub(super) fn evaluate(node: &Node, names: &[(&str, Value)]) -> Outcome {
    let go = |node: &Node| evaluate(node, names);
    match &node.shape {
        Shape::Integer(n) => Ok(Value::Integer(*n)),
        Shape::Float(x) => Ok(Value::Float(*x)),
        Shape::Text(text) => Ok(Value::text(text)),
        Shape::Boolean(b) => Ok(Value::Boolean(*b)),
        Shape::Name(name) => Ok(names.iter().find(|(known, _)| known == name).unwrap().1.clone()),
        Shape::Plus(inner) => go(inner),
        Shape::Negate(inner) => match go(inner)? {
            Value::Integer(n) => integer(-i128::from(n)),
            other => finite(-other.as_float().unwrap()),
        },
        Shape::Not(inner) => Ok(Value::Boolean(!go(inner)?.as_boolean().unwrap())),
        Shape::Arithmetic(operation, pair) => arithmetic(*operation, &go(&pair.0)?, &go(&pair.1)?),
        Shape::Chain(first, rest) => {
            let mut left = go(first)?;
            for (comparison, _, right) in rest {
                let holds = if let Shape::List(members) = &right.shape {
                    let mut found = false;
                    for member in members {
                        found = found || order(&left, &go(member)?).is_eq();
                    }
                    found == (*comparison == Comparison::In)
                } else {
                    let right = go(right)?;
                    let order = order(&left, &right);
                    left = right;
                    match comparison {
                        Comparison::Equal => order == Ordering::Equal,
                        Comparison::Unequal => order != Ordering::Equal,
                        Comparison::Less => order == Ordering::Less,
                        Comparison::LessOrEqual => order != Ordering::Greater,
                        Comparison::Greater => order == Ordering::Greater,
                        Comparison::GreaterOrEqual => order != Ordering::Less,
                        Comparison::In | Comparison::NotIn => unreachable!("right side is no list"),
                    }
                };
                if !holds {
                    return Ok(Value::Boolean(false));
                }
            }
            Ok(Value::Boolean(true))
        }
        Shape::And(parts) => {
            for part in parts {
                if go(part)? == Value::Boolean(false) {
                    return Ok(Value::Boolean(false));
                }
            }
            Ok(Value::Boolean(true))
        }
        Shape::Or(parts) => {
            for part in parts {
                if go(part)? == Value::Boolean(true) {
                    return Ok(Value::Boolean(true));
                }
            }
            Ok(Value::Boolean(false))
        }
        Shape::List(_) => unreachable!("a list alone"),
        Shape::Call(function, arguments) => {
            let values: Vec<Value> = arguments.iter().map(go).collect::<Result<_, _>>()?;
            let floats = values.iter().any(|value| value.kind() == "float");
            match function {
                Function::CeilDiv => {
                    let (a, b) = (values[0].as_integer().unwrap(), values[1].as_integer().unwrap());
                    let (a, b) = (i128::from(a), i128::from(b));
                    if b == 0 {
                        Err(Fault::DivisionByZero)
                    } else {
                        integer(-floor(-a, b))
                    }
                }
                _ if floats => {
                    let all = values.iter().map(|value| value.as_float().unwrap());
                    let pick = |a: f64, b: f64| {
                        let better = if *function == Function::Min { b < a } else { b > a };
                        if better { b } else { a }
                    };
                    finite(all.reduce(pick).unwrap())
                }
                Function::Min => Ok(values.into_iter().min().unwrap()),
                Function::Max => Ok(values.into_iter().max().unwrap()),
            }
        }
    }
}

fn integer(n: i128) -> Outcome {
    i64::try_from(n).map(Value::Integer).map_err(|_| Fault::IntegerOverflow)
}

fn finite(x: f64) -> Outcome {
    if x.is_finite() {
        Ok(Value::Float(x))
    } else {
        Err(Fault::FloatOverflow)
    }
}

fn floor(a: i128, b: i128) -> i128 {
    let remainder = a.rem_euclid(b.abs());
    let quotient = (a - remainder) / b;
    // `rem_euclid` left something in 0..|b|, so that for a negative divisor the quotient is rounded up.
    if b < 0 && remainder != 0 {
        quotient - 1
    } else {
        quotient
    }
}

fn order(a: &Value, b: &Value) -> Ordering {
    match (a, b) {
        (Value::Integer(a), Value::Float(b)) => integer_and_float(*a, *b),
        (Value::Float(a), Value::Integer(b)) => integer_and_float(*b, *a).reverse(),
        (Value::Float(a), Value::Float(b)) => a.partial_cmp(b).unwrap(),
        (a, b) => a.cmp(b),
    }
}

/// Whole parts first, then what is left of the float.
fn integer_and_float(a: i64, b: f64) -> Ordering {
    if b.abs() > 1e30 {
        return 0.0_f64.partial_cmp(&b).unwrap();
    }
    // Far below 2^127.
    #[allow(clippy::cast_possible_truncation)]
    let whole = b.trunc() as i128;
    i128::from(a).cmp(&whole).then(0.0_f64.partial_cmp(&b.fract()).unwrap())
}

fn arithmetic(operation: Arithmetic, a: &Value, b: &Value) -> Outcome {
    if let (Value::Integer(n), Value::Integer(d)) = (a, b) {
        let (a, b) = (i128::from(*n), i128::from(*d));
        let zero = b == 0;
        return match operation {
            Arithmetic::Add => integer(a + b),
            Arithmetic::Subtract => integer(a - b),
            Arithmetic::Multiply => integer(a * b),
            Arithmetic::Divide | Arithmetic::FloorDivide | Arithmetic::Remainder if zero => Err(Fault::DivisionByZero),
            Arithmetic::Divide => math::divide_integers(*n, *d).map(Value::Float),
            Arithmetic::FloorDivide => integer(floor(a, b)),
            Arithmetic::Remainder => integer(a - floor(a, b) * b),
            Arithmetic::Power if b < 0 => Err(Fault::NegativeExponent),
            Arithmetic::Power => {
                let mut result = 1_i128;
                // From here on the result repeats, or is beyond 64 bits.
                let rounds = if b > 70 { 70 + b % 2 } else { b };
                for _ in 0..rounds {
                    result = result.saturating_mul(a);
                }
                integer(result)
            }
        };
    }
    let (a, b) = (a.as_float().unwrap(), b.as_float().unwrap());
    match operation {
        Arithmetic::Add => finite(a + b),
        Arithmetic::Subtract => finite(a - b),
        Arithmetic::Multiply => finite(a * b),
        Arithmetic::Divide if b == 0.0 => Err(Fault::DivisionByZero),
        Arithmetic::Divide => finite(a / b),
        Arithmetic::FloorDivide => math::floor_divide_floats(a, b).map(Value::Float),
        Arithmetic::Remainder => math::remainder_floats(a, b).map(Value::Float),
        Arithmetic::Power => math::power_floats(a, b).map(Value::Float),
    }
}
