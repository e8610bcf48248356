//! The tile array with its options.

use std::collections::BTreeMap;

use planner::costs::CostTable as Families;
use planner::{Assignment, Attributes, Plan, Refusal, Rules, Space, Value, Workload};
use target_api::unit_model::Simulated;
use target_api::{
    BuildFailure, BuildInfo, BuildUnit, Captured, CommandSpec, Configured, Constraints, Estimate, Estimator, Exclusive,
    Input, InputSet, KernelProfile, Level, Limit, Malformed, Measurement, NoEstimate, Objective, Pairing, Phase,
    Quantity, RunRequest, unit_model,
};

use crate::buildable::buildable;
use crate::costs::CostTable;
use crate::device::{TILE_FLOPS, TILES};
use crate::estimate::{CompactModel, ExpandedModel, placed, placed_again};
use crate::legal::{OperandBytes, derived_width};
use crate::options::IpuOptions;
use crate::process::{BuildReport, INPUT_FILE, PROFILE_FILE, REFERENCE_FILE, Request, RunReport, weights_file};
use crate::profile::{self, Profile};
use crate::shards::oriented;
use crate::unit::{Data, reference};
use crate::{attributes, defaults, half, screen, space};

/// The fact that is the placed estimate.
const PLACED: &str = "placed_cycles";
/// The fact that holds the scheduled cycles of each phase.
const HORIZONS: &str = "horizons_cycles";
/// Memory of one run: what all tiles of the array can hold, as float32, and the schedule.
const RUN_BYTES: u64 = 1 << 30;

/// The tile array with its options.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Configuration {
    options: IpuOptions,
    /// Path of the binary that runs the unit model.
    binary: String,
    compact: CompactModel,
    expanded: ExpandedModel,
    shared: ExpandedModel,
}

impl Configuration {
    /// The configuration; `binary` is the program that runs the unit model.
    #[must_use]
    pub fn new(options: IpuOptions, binary: &str) -> Self {
        let costs = options.costs.clone();
        Self {
            compact: CompactModel { costs: costs.clone() },
            expanded: ExpandedModel {
                costs: costs.clone(),
                shared: false,
            },
            shared: ExpandedModel { costs, shared: true },
            binary: binary.to_owned(),
            options,
        }
    }

    /// Prices in force.
    #[must_use]
    pub fn costs(&self) -> &CostTable {
        &self.options.costs
    }
}

fn extents(workload: &Workload, operation: &str) -> Result<planner::GemmExtents, Refusal> {
    let found = workload.gemms().find(|(name, _)| *name == operation);
    found.map(|(_, extents)| extents).ok_or_else(|| {
        Refusal::new(
            "operation",
            format!("`{operation}` is no product of `{}`", workload.name),
        )
    })
}

impl Rules for Configuration {
    fn space(&self, workload: &Workload) -> Result<Space, Refusal> {
        space::space(workload)
    }

    fn defaults(&self, workload: &Workload) -> Result<Assignment, Refusal> {
        let mut plan = Assignment::new();
        for (operation, extents, _) in crate::program::chain(workload)? {
            let best = defaults::best(operation, extents, &self.options.costs)?;
            for (name, value) in attributes::of_geometry(operation, &best) {
                plan.set(&name, value);
            }
        }
        plan.set(attributes::MAPPING, Value::text("identity"));
        Ok(plan)
    }

    fn text(&self, workload: &Workload, assignment: &Assignment) -> String {
        attributes::plan(workload, assignment).map_or_else(
            |_| assignment.words(None),
            |plan| attributes::plan_text(workload, &plan),
        )
    }

    fn operation_text(&self, workload: &Workload, operation: &str, assignment: &Assignment) -> String {
        attributes::geometry(operation, assignment).map_or_else(
            |_| assignment.words(Some(operation)),
            |g| attributes::operation_text(workload, operation, &g),
        )
    }

    fn derived(&self, workload: &Workload, assignment: &Assignment) -> Attributes {
        let mut derived = Attributes::new();
        for (operation, extents) in workload.gemms() {
            let Ok(g) = attributes::geometry(operation, assignment) else {
                continue;
            };
            let bytes = OperandBytes::new(extents, &g);
            for (own, n) in [
                ("tiles", g.tiles()),
                ("left_bytes", bytes.left),
                ("right_bytes", bytes.right),
                ("partial_bytes", bytes.partial),
            ] {
                derived.set(
                    &format!("{operation}.{own}"),
                    Value::Integer(i64::try_from(n).unwrap_or(i64::MAX)),
                );
            }
        }
        derived
    }

    fn proxy(&self, workload: &Workload, operation: &str, assignment: &Assignment) -> Option<f64> {
        let extents = extents(workload, operation).ok()?;
        let g = attributes::geometry(operation, assignment).ok()?;
        let grid = [g.rows, g.columns, g.inner];
        let cycles = screen::proxy(&self.options.costs, extents, g.orientation, grid).ok()?;
        Some(cycles as f64)
    }

    fn complete(
        &self,
        workload: &Workload,
        operation: &str,
        derived: &[String],
        assignment: &Assignment,
    ) -> Result<Option<Assignment>, Refusal> {
        let extents = extents(workload, operation)?;
        let known = ["rows", "width", "result_rows"].map(|own| format!("{operation}.{own}"));
        if let Some(name) = derived.iter().find(|name| !known.contains(name)) {
            return Err(Refusal::new(
                "derived",
                format!("`{name}` can't be derived, only listed"),
            ));
        }
        let g = attributes::geometry(operation, assignment)?;
        let given = |name: &String| !derived.contains(name);
        let rows = if given(&known[0]) {
            g.rows
        } else {
            TILES / (g.inner * g.columns)
        };
        if !screen::keeps(extents, g.orientation, [rows, g.columns, g.inner]) {
            return Ok(None);
        }
        let [_, _, n] = oriented(extents, g.orientation);
        let values = [rows, derived_width(n, g.columns), g.inner];
        let mut plan = assignment.clone();
        for (name, value) in known.iter().zip(values).filter(|(name, _)| !given(name)) {
            plan.set(name, Value::Integer(i64::try_from(value).unwrap_or(i64::MAX)));
        }
        Ok(Some(plan))
    }
}

impl Configured for Configuration {
    fn target(&self) -> &'static str {
        "ipu21"
    }

    fn constraints(&self) -> Option<&dyn Constraints> {
        Some(self)
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
        vec![&self.compact, &self.expanded, &self.shared]
    }

    fn limits(&self, workload: &Workload) -> Vec<Limit> {
        vec![Limit {
            resource: "operations".to_owned(),
            quantity: Quantity::Operations,
            amount: workload.least_flops() as f64,
            rate: (TILES * TILE_FLOPS) as f64,
            label: "published",
            about: format!("{TILES} tiles, each {TILE_FLOPS} FLOP in a cycle"),
        }]
    }

    fn costs(&self) -> Option<Families> {
        Some(self.options.costs.families().clone())
    }

    fn kernels(&self, text: &str) -> Result<KernelProfile, Malformed> {
        let read: Profile = serde_json::from_str(text).map_err(|error| Malformed(error.to_string()))?;
        Ok(profile::kernels(&read))
    }

    fn beyond_lanes(&self, text: &str) -> Option<f64> {
        let read: Profile = serde_json::from_str(text).ok()?;
        let beyond = read.steps.iter().map(|step| {
            let bound = step.endpoint_bounds.into_iter().min().unwrap_or(0);
            step.scheduled.saturating_sub(bound)
        });
        Some(beyond.sum::<usize>() as f64)
    }

    fn inputs(&self, workload: &Workload, seed: u64) -> Result<InputSet, Refusal> {
        crate::program::chain(workload)?;
        let data = Data::new(workload, seed);
        let f16 = |values: &[f32]| values.iter().flat_map(|x| half::to_bits(*x).to_le_bytes()).collect();
        let expected = reference(workload, &data);
        let mut files = vec![
            Input {
                name: INPUT_FILE.to_owned(),
                bytes: f16(&data.input),
            },
            Input {
                name: REFERENCE_FILE.to_owned(),
                bytes: expected.iter().flat_map(|y| y.to_le_bytes()).collect(),
            },
        ];
        let weights = workload.gemms().zip(&data.weights);
        files.extend(weights.map(|((name, _), w)| Input {
            name: weights_file(name),
            bytes: f16(w),
        }));
        files.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(InputSet { files })
    }

    fn harness(&self) -> Option<BuildUnit> {
        None
    }

    fn build(&self, workload: &Workload, plan: &Plan) -> Result<Vec<BuildUnit>, Refusal> {
        let typed = attributes::plan(workload, &plan.attributes)?;
        let named = workload.gemms().zip(&typed.geometries);
        let request = Request {
            workload: workload.clone(),
            constraints: named
                .map(|((name, _), g)| attributes::operation_text(workload, name, g))
                .collect(),
            mapping: typed.mapping,
            costs: self.options.costs.clone(),
        };
        Ok(vec![unit_model::build(&self.binary, self.target(), &request)?])
    }

    fn parse_build(&self, _: &BuildUnit, captured: &Captured) -> Result<BuildInfo, BuildFailure> {
        match unit_model::built(captured)? {
            BuildReport::Refused { refusal } => Err(BuildFailure::Rejected {
                reason: refusal.to_string(),
            }),
            BuildReport::Built { horizons, placed, .. } => {
                let horizons: Vec<String> = horizons.iter().map(ToString::to_string).collect();
                Ok(BuildInfo {
                    facts: BTreeMap::from([
                        (HORIZONS.to_owned(), horizons.join(", ")),
                        (PLACED.to_owned(), placed.to_string()),
                    ]),
                })
            }
        }
    }

    fn build_estimates(&self, _: &Plan, facts: &BTreeMap<String, BTreeMap<String, String>>) -> Vec<Estimate> {
        let cycles = facts
            .get(unit_model::PROGRAM)
            .and_then(|facts| facts.get(PLACED))
            .and_then(|cycles| cycles.parse().ok());
        cycles.map(placed).into_iter().collect()
    }

    fn rebuilt_estimates(
        &self,
        workload: &Workload,
        plan: &Plan,
        facts: &BTreeMap<String, BTreeMap<String, String>>,
    ) -> Option<Result<Vec<Estimate>, NoEstimate>> {
        let horizons = facts.get(unit_model::PROGRAM)?.get(HORIZONS)?;
        let horizons = horizons.split(", ").map(str::parse);
        let horizons: Vec<usize> = horizons.collect::<Result<_, _>>().ok()?;
        Some(placed_again(workload, plan, &horizons, &self.options.costs).map(|placed| vec![placed]))
    }

    fn run(&self, request: &RunRequest<'_>) -> CommandSpec {
        let profile = request.case_dir.join(PROFILE_FILE).display().to_string();
        unit_model::run(&self.binary, self.target(), request, &[&profile])
    }

    fn parse_run(&self, _: &Workload, captured: &Captured) -> Result<Measurement, Malformed> {
        let report: RunReport = unit_model::ran(captured)?;
        let phases = report.phases.into_iter().map(|phase| Phase {
            name: phase.name,
            kind: phase.kind,
            value: phase.cycles as f64,
        });
        Ok(Simulated {
            cycles: report.cycles,
            phases: phases.collect(),
            extra: BTreeMap::from([
                ("maximum_tile_cycles".to_owned(), report.maximum_tile_cycles as f64),
                ("minimum_tile_cycles".to_owned(), report.minimum_tile_cycles as f64),
            ]),
            max_absolute: report.max_absolute,
            reference_rms: report.reference_rms,
            tolerance: report.tolerance,
            elements: report.elements,
            facts: BTreeMap::new(),
        }
        .into())
    }

    fn sample_unit(&self, column: &str) -> Option<String> {
        column.ends_with("_cycles").then(|| "cycles".to_owned())
    }

    fn legal(&self, workload: &Workload, assignment: &Assignment) -> Result<(), Refusal> {
        buildable(workload, assignment).map(drop)
    }

    fn refusal_level(&self, rule: &str) -> Level {
        match rule {
            "tiles" | "operand-bytes" | "partial-bytes" | "interleaved-bytes" => Level::Hardware,
            _ => Level::Compiler,
        }
    }

    fn pairing(&self) -> Pairing {
        Pairing::None
    }

    fn exclusive(&self) -> Exclusive {
        Exclusive::Nothing
    }

    fn run_bytes(&self) -> Option<u64> {
        Some(RUN_BYTES)
    }
}
