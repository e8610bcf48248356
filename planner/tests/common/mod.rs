//! A made-up target: two products, a few choices for each, and a choice of the whole plan that joins them.

#![expect(clippy::unwrap_used, reason = "helpers of tests may end them")]

use std::sync::Arc;

use planner::{Assignment, Attributes, Constraint, Domain, Parameter, Refusal, Rules, Space, Value, Workload};

/// Whether it needs a control.
pub(crate) struct Toy(pub(crate) bool);

pub(crate) fn list<V: Into<Value> + Clone>(name: String, values: &[V]) -> Parameter {
    let values = values.iter().map(|value| value.clone().into()).collect();
    Parameter {
        name,
        domain: Domain::List(values),
        about: String::new(),
    }
}

fn number(plan: &Assignment, name: &str) -> i64 {
    plan.get(name).and_then(Value::as_integer).unwrap()
}

impl Rules for Toy {
    fn needs_control(&self) -> bool {
        self.0
    }

    fn space(&self, workload: &Workload) -> Result<Space, Refusal> {
        let mut space = Space::default();
        for (operation, extents) in workload.gemms() {
            if extents.rows < 8 {
                return Err(Refusal::new(
                    "small",
                    format!("`{operation}` has {} rows, at least 8 are needed", extents.rows),
                ));
            }
            let at = space.parameters.len();
            // Large extents can be split further.
            let stop = if extents.rows > 500 { 8 } else { 6 };
            let range = Domain::Range { start: 1, stop };
            space.parameters.push(Parameter {
                name: format!("{operation}.rows"),
                domain: range,
                about: String::new(),
            });
            space
                .parameters
                .push(list(format!("{operation}.inner"), &[1_i64, 2, 4]));
            space
                .parameters
                .push(list(format!("{operation}.orientation"), &["normal", "swapped"]));
            space
                .parameters
                .push(list(format!("{operation}.unroll"), &[1_i64, 2, 3]));
            // Wide ones have more geometries than anyone looks at one by one.
            if extents.columns > 1000 {
                for spare in ["first", "second", "third"] {
                    space.parameters.push(Parameter {
                        name: format!("{operation}.{spare}"),
                        domain: Domain::Range { start: 1, stop: 200 },
                        about: String::new(),
                    });
                }
            }
            space.constraints.push(Constraint {
                rule: "tiles",
                scope: vec![at, at + 1],
                check: Arc::new(|v| {
                    let tiles = v[0].as_integer().unwrap() * v[1].as_integer().unwrap();
                    let message = || format!("{} x {} = {tiles} tiles, at most 8 are possible", v[0], v[1]);
                    if tiles <= 8 {
                        Ok(())
                    } else {
                        Err(Refusal::new("tiles", message()))
                    }
                }),
            });
        }
        let carry = space.parameters.len();
        space.parameters.push(list("carry".to_owned(), &[false, true]));
        if carry == 8 {
            space.constraints.push(Constraint {
                rule: "carry",
                scope: vec![0, 4, carry],
                check: Arc::new(|v| {
                    if v[2] == &Value::Boolean(true) && v[0] != v[1] {
                        return Err(Refusal::new(
                            "carry",
                            format!("rows of both differ: {} and {}", v[0], v[1]),
                        ));
                    }
                    Ok(())
                }),
            });
        }
        Ok(space)
    }

    fn defaults(&self, workload: &Workload) -> Result<Assignment, Refusal> {
        let mut plan: Assignment = self
            .space(workload)?
            .parameters
            .iter()
            .filter_map(|parameter| Some((parameter.name.clone(), parameter.domain.at(0)?)))
            .collect();
        plan.set("carry", Value::Boolean(false));
        Ok(plan)
    }

    fn text(&self, workload: &Workload, plan: &Assignment) -> String {
        let mut parts: Vec<String> = workload
            .gemms()
            .map(|(operation, _)| self.operation_text(workload, operation, plan))
            .collect();
        parts.push(plan.get("carry").unwrap().to_string());
        parts.join(" ")
    }

    fn operation_text(&self, _: &Workload, operation: &str, plan: &Assignment) -> String {
        let values: Vec<String> = plan
            .iter()
            .filter(|(name, _)| name.starts_with(&format!("{operation}.")))
            .map(|(_, value)| value.to_string())
            .collect();
        format!("{operation}:{}", values.join(":"))
    }

    fn derived(&self, workload: &Workload, plan: &Assignment) -> Attributes {
        let tiles =
            |operation: &str| number(plan, &format!("{operation}.rows")) * number(plan, &format!("{operation}.inner"));
        workload
            .gemms()
            .map(|(operation, _)| (format!("{operation}.tiles"), Value::Integer(tiles(operation))))
            .collect()
    }

    fn proxy(&self, _: &Workload, operation: &str, plan: &Assignment) -> Option<f64> {
        // Four tiles are best, swapped costs half a tile, and unrolling changes nothing: texts break the ties.
        let tiles = number(plan, &format!("{operation}.rows")) * number(plan, &format!("{operation}.inner"));
        let swapped = plan.get(&format!("{operation}.orientation")) == Some(&Value::text("swapped"));
        Some((tiles - 4).abs() as f64 + if swapped { 0.5 } else { 0.0 })
    }
}
