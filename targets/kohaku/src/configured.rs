//! Kohaku with its options.

use std::collections::BTreeMap;

use planner::network::Layer;
use planner::{Assignment, Attributes, Plan, Refusal, Rules, Space, Value, Workload};
use target_api::unit_model::Simulated;
use target_api::{
    BuildFailure, BuildInfo, BuildUnit, Captured, CommandSpec, Configured, Estimator, Exclusive, Facility, Input,
    InputSet, Level, Limit, Malformed, Measurement, Objective, Pairing, Phase, RunRequest, Support, unit_model,
};

use crate::compile::{Compiled, compile};
use crate::estimate::{Bound, Priced};
use crate::machine::{Machine, Prices};
use crate::options::KohakuOptions;
use crate::plan::{self, OperationPlan};
use crate::process::{BuildReport, REFERENCE_FILE, Request, RunReport, input_file, to_bits};
use crate::timing::timing;
use crate::{attention, data, express, space, traffic, work};

/// Kohaku with its options.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Configuration {
    options: KohakuOptions,
    /// Path of the binary that runs the unit model.
    binary: String,
    published: Priced,
    real_span: Priced,
    bound: Bound,
}

/// One plan for each operation that has one.
pub fn typed(workload: &Workload, attributes: &Assignment) -> Result<Vec<OperationPlan>, Refusal> {
    plan::planned(workload)
        .map(|name| plan::operation(workload, name, attributes))
        .collect()
}

impl Configuration {
    /// The configuration; `binary` is the program that runs the unit model.
    #[must_use]
    pub fn new(options: KohakuOptions, binary: &str) -> Self {
        let priced = |prices| Priced {
            machine: options.machine.clone(),
            prices,
        };
        Self {
            published: priced(Prices::Published),
            real_span: priced(Prices::RealSpan),
            bound: Bound {
                machine: options.machine.clone(),
            },
            binary: binary.to_owned(),
            options,
        }
    }

    /// The machine with its what-ifs.
    pub(crate) fn machine(&self) -> &Machine {
        &self.options.machine
    }

    /// The same on another machine.
    pub(crate) fn with_machine(&self, machine: Machine) -> Self {
        let options = KohakuOptions {
            machine,
            ..self.options.clone()
        };
        Self::new(options, &self.binary)
    }

    /// The price revision in force.
    pub(crate) fn prices(&self) -> Prices {
        self.options.prices
    }

    /// A plan's program, compiled.
    pub(crate) fn compiled_plan(&self, workload: &Workload, assignment: &Assignment) -> Result<Compiled, Refusal> {
        self.compiled(workload, assignment).map(|(_, compiled)| compiled)
    }

    fn compiled(
        &self,
        workload: &Workload,
        assignment: &Assignment,
    ) -> Result<(Vec<OperationPlan>, Compiled), Refusal> {
        let plans = typed(workload, assignment)?;
        let compiled = compile(work::program(workload, &plans)?, &self.options.machine)?;
        Ok((plans, compiled))
    }
}

fn integer(n: usize) -> Value {
    Value::Integer(i64::try_from(n).unwrap_or(i64::MAX))
}

impl Rules for Configuration {
    fn space(&self, workload: &Workload) -> Result<Space, Refusal> {
        space::space(workload, &self.options)
    }

    fn defaults(&self, workload: &Workload) -> Result<Assignment, Refusal> {
        space::defaults(workload, &self.options)
    }

    fn text(&self, workload: &Workload, assignment: &Assignment) -> String {
        let words: Vec<String> = plan::planned(workload)
            .map(|name| self.operation_text(workload, name, assignment))
            .collect();
        words.join(" ")
    }

    fn operation_text(&self, workload: &Workload, operation: &str, assignment: &Assignment) -> String {
        plan::operation(workload, operation, assignment)
            .map_or_else(|_| assignment.words(Some(operation)), |own| plan::text(operation, &own))
    }

    fn derived(&self, workload: &Workload, assignment: &Assignment) -> Attributes {
        let mut derived = Attributes::new();
        let compiled = self.compiled(workload, assignment);
        for operation in plan::planned(workload) {
            let Ok(OperationPlan::Attention(own)) = plan::operation(workload, operation, assignment) else {
                continue;
            };
            let Some((_, e)) = workload.attentions().find(|(name, _)| *name == operation) else {
                continue;
            };
            let call = work::call(&e, &own);
            let numbers = [
                ("head_groups", call.heads.checked_div(call.head_block).unwrap_or(0)),
                ("passes", call.queries.checked_div(call.query_block).unwrap_or(0)),
                ("key_blocks", call.padded_keys.checked_div(call.block).unwrap_or(0)),
                ("padded_keys", call.padded_keys),
            ];
            for (name, n) in numbers {
                derived.set(&format!("{operation}.{name}"), integer(n));
            }
        }
        // A plan that the compiler refuses moves nothing.
        let (dram, conversions) = compiled.map_or((0, 0), |(plans, compiled)| {
            let attention = plans.iter().find_map(|plan| match plan {
                OperationPlan::Attention(plan) => Some(plan),
                OperationPlan::Gemm(_) => None,
            });
            let converted = timing(&compiled, self.options.prices).conversion();
            (traffic::dram_words(&compiled, attention), converted)
        });
        derived.set("dram_words", integer(dram));
        derived.set("conversion_cycles", integer(conversions));
        derived
    }

    fn proxy(&self, workload: &Workload, _: &str, assignment: &Assignment) -> Option<f64> {
        let (_, compiled) = self.compiled(workload, assignment).ok()?;
        Some(timing(&compiled, self.options.prices).total() as f64)
    }
}

/// Whether no plan at all suits a workload: then it needs no inputs.
fn hopeless(workload: &Workload) -> bool {
    workload.attentions().any(|(_, e)| {
        let blocks = (16..=128).step_by(16);
        let mut fits = blocks.filter(|block| *block == work::extent(e.value_width));
        fits.next().is_none() && !attention::RULES.is_empty()
    })
}

impl Configured for Configuration {
    fn target(&self) -> &'static str {
        "kohaku"
    }

    fn objective(&self) -> Objective {
        Objective {
            name: "time",
            unit: "cycles",
        }
    }

    fn options(&self) -> BTreeMap<String, String> {
        self.options.words()
    }

    fn estimators(&self) -> Vec<&dyn Estimator> {
        vec![&self.published, &self.real_span, &self.bound]
    }

    fn limits(&self, workload: &Workload) -> Vec<Limit> {
        vec![self.bound.limit(workload)]
    }

    fn inputs(&self, workload: &Workload, seed: u64) -> Result<InputSet, Refusal> {
        work::check(workload)?;
        if hopeless(workload) {
            return Ok(InputSet::default());
        }
        let values = data::inputs(workload, seed);
        let expected = data::reference(workload, &values);
        let mut files = vec![Input {
            name: REFERENCE_FILE.to_owned(),
            bytes: expected.iter().flat_map(|y| y.to_le_bytes()).collect(),
        }];
        files.extend(values.iter().map(|(name, values)| Input {
            name: input_file(name),
            bytes: values.iter().flat_map(|x| to_bits(*x).to_le_bytes()).collect(),
        }));
        files.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(InputSet { files })
    }

    fn harness(&self) -> Option<BuildUnit> {
        None
    }

    fn build(&self, workload: &Workload, plan: &Plan) -> Result<Vec<BuildUnit>, Refusal> {
        let own = space::space(workload, &self.options)?;
        let of_space = |(name, _): &(&str, &Value)| own.position(name).is_some();
        let request = Request {
            workload: workload.clone(),
            plan: plan
                .attributes
                .iter()
                .filter(of_space)
                .map(|(name, value)| (name.to_owned(), value.clone()))
                .collect(),
            options: self.options.clone(),
        };
        Ok(vec![unit_model::build(&self.binary, self.target(), &request)?])
    }

    fn parse_build(&self, _: &BuildUnit, captured: &Captured) -> Result<BuildInfo, BuildFailure> {
        match unit_model::built(captured)? {
            BuildReport::Refused { refusal } => Err(BuildFailure::Rejected {
                reason: refusal.to_string(),
            }),
            BuildReport::Built {
                stages, conversions, ..
            } => Ok(BuildInfo {
                facts: BTreeMap::from([
                    ("dispatches".to_owned(), stages.to_string()),
                    ("conversions_listed".to_owned(), conversions.0.to_string()),
                    ("conversions_run".to_owned(), conversions.1.to_string()),
                ]),
            }),
        }
    }

    fn run(&self, request: &RunRequest<'_>) -> CommandSpec {
        unit_model::run(&self.binary, self.target(), request, &[])
    }

    fn parse_run(&self, _: &Workload, captured: &Captured) -> Result<Measurement, Malformed> {
        let report: RunReport = unit_model::ran(captured)?;
        let grades = report.grade.map(|g| {
            [
                ("error_p50", g.p50),
                ("error_p99", g.p99),
                ("error_max", g.max),
                ("share_past_1_percent", g.past_1),
                ("share_past_10_percent", g.past_10),
            ]
        });
        let facts = grades
            .into_iter()
            .flatten()
            .map(|(name, x)| (name.to_owned(), format!("{x:.3e}")));
        let phases = report.phases.into_iter().map(|phase| Phase {
            name: phase.name,
            kind: phase.kind,
            value: phase.cycles as f64,
        });
        Ok(Simulated {
            cycles: report.cycles,
            phases: phases.collect(),
            extra: BTreeMap::from([
                ("published_cycles".to_owned(), report.published_cycles as f64),
                ("real_span_cycles".to_owned(), report.real_span_cycles as f64),
                ("dram_words".to_owned(), report.dram_words as f64),
                ("cluster_flits".to_owned(), report.cluster_flits as f64),
            ]),
            max_absolute: report.max_absolute,
            reference_rms: report.reference_rms,
            tolerance: report.tolerance,
            elements: report.elements,
            facts: facts.collect(),
        }
        .into())
    }

    fn sample_unit(&self, column: &str) -> Option<String> {
        let units = [("_cycles", "cycles"), ("_words", "words"), ("_flits", "flits")];
        units
            .iter()
            .find(|(end, _)| column.ends_with(end))
            .map(|(_, unit)| (*unit).to_owned())
    }

    fn legal(&self, workload: &Workload, assignment: &Assignment) -> Result<(), Refusal> {
        self.compiled(workload, assignment).map(drop)
    }

    fn express(&self, layer: &Layer) -> Support {
        self.layer(layer)
    }

    fn facilities(&self, layers: &[(Layer, u128)]) -> Vec<Facility> {
        self.facilities_for(layers)
    }

    fn refusal_level(&self, rule: &str) -> Level {
        express::level(rule)
    }

    fn pairing(&self) -> Pairing {
        Pairing::None
    }

    fn exclusive(&self) -> Exclusive {
        Exclusive::Nothing
    }
}
