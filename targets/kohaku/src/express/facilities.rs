//! What the machine has besides clusters and cores, and what a network could do with it.

use planner::network::Layer;
use planner::{Assignment, Refusal, Rules, Value};
use target_api::network_default::by_workload_kinds;
use target_api::{Facility, Level, Price, Runs, Status, Support};

use super::level;
use crate::configured::Configuration;
use crate::machine::{ADAPTER_BYTES, ADAPTERS, Machine};
use crate::relayout::Kind;
use crate::tiers::GROUPS;
use crate::timing::timing;

/// Meshes of the shipped device.
const MESHES: u64 = 4;

/// An attention that runs by its default plan, and how often it does.
struct Call {
    runs: Runs,
    times: f64,
}

/// Words to and from memory, and cycles, of all calls that a memory has room for.
#[derive(Default)]
struct Staged {
    words: f64,
    of: f64,
    cycles: f64,
    refusal: Option<Refusal>,
    too_large: usize,
}

impl Configuration {
    /// Facilities that layers of a network, each with how often it occurs, could use.
    pub(crate) fn facilities_for(&self, layers: &[(Layer, u128)]) -> Vec<Facility> {
        let calls: Vec<Call> = layers
            .iter()
            .filter(|(layer, _)| matches!(layer, Layer::Attention { .. }))
            .filter_map(|(layer, times)| {
                let runs = by_workload_kinds(self, layer).runs?;
                Some(Call {
                    runs,
                    times: *times as f64,
                })
            })
            .collect();
        let named = |name: &str, support: Option<Support>| {
            support.map(|support| Facility {
                name: name.to_owned(),
                support,
            })
        };
        let all = [
            named("several meshes", self.meshes(layers)),
            named("staging memory of the mesh", self.staging(&calls)),
            named("staging memory of each unit", units(&calls)),
            named("transpose by the mover", self.mover(&calls)),
        ];
        all.into_iter().flatten().collect()
    }

    fn facility_price(&self, value: f64, of: &str) -> Price {
        Price {
            value,
            unit: "cycles".to_owned(),
            estimate: self.prices().word().to_owned(),
            of: of.to_owned(),
            label: "modelled",
        }
    }

    /// A quarter of the rows of every layer on each of four meshes.
    fn meshes(&self, layers: &[(Layer, u128)]) -> Option<Support> {
        let (mut one, mut four) = (0.0, 0.0);
        for (layer, times) in layers {
            let cost = |layer: &Layer| self.layer(layer).cost.map(|price| price.value);
            let quarter = part(layer).and_then(|part| cost(&part));
            if let Some((whole, quarter)) = cost(layer).zip(quarter) {
                one += whole * *times as f64;
                four += quarter * *times as f64;
            }
        }
        if one <= 0.0 {
            return None;
        }
        Some(Support {
            rule: Some("one-mesh".to_owned()),
            unlocks: Some(self.facility_price(
                one - four,
                "all products, convolutions and attentions that fall into quarters",
            )),
            ..Support::new(
                Status::Refused,
                Some(Level::Driver),
                format!(
                    "a plan is of one mesh; with a quarter of the rows on each of {MESHES} the layers that fall into \
                     quarters would take {:.2} times fewer cycles, what crosses between meshes not counted",
                    one / four
                ),
            )
        })
    }

    /// Keys and values in the memory beside the mesh: asked of this machine, and of one on which it has addresses.
    fn staging(&self, calls: &[Call]) -> Option<Support> {
        let addressed = self.with_machine(Machine {
            staging: true,
            ..self.machine().clone()
        });
        let mut all = Staged::default();
        for call in calls {
            addressed.stage(self, call, &mut all);
        }
        if calls.is_empty() {
            return None;
        }
        let words = if all.of > 0.0 {
            format!(
                "of {} words to and from memory, keys and values in staging would spare {} in the calls whose heads have room \
                 together ({} have none); it is as wide as the memory",
                short(all.of),
                short(all.words),
                all.too_large
            )
        } else {
            "no call's keys and values have room".to_owned()
        };
        // Where it has addresses, a call without room says nothing of the others.
        let addressed = self.machine().staging;
        let own = all.refusal.as_ref().filter(|_| !addressed || all.of <= 0.0);
        let status = match own {
            Some(_) if addressed => Status::Refused,
            Some(_) => Status::Unreachable,
            None => Status::Supported,
        };
        let lead = own.map_or_else(String::new, |refusal| format!("{}; ", refusal.message));
        Some(Support {
            rule: own.map(|refusal| refusal.rule.clone()),
            unlocks: Some(self.facility_price(all.cycles, "all calls whose keys and values have room")),
            ..Support::new(
                status,
                own.map(|refusal| level(&refusal.rule)),
                format!("{lead}{words}"),
            )
        })
    }

    /// Adds what a call would spare; `here` is the machine as it is.
    fn stage(&self, here: &Self, Call { runs, times }: &Call, all: &mut Staged) {
        let Some((operation, _)) = runs.workload.attentions().next() else {
            return;
        };
        let mut staged = runs.plan.clone();
        staged.set(&format!("{operation}.operands"), Value::text("staging"));
        let asked = |configuration: &Self| configuration.space(&runs.workload)?.check(&staged);
        let words = |plan: &Assignment| {
            let derived = self.derived(&runs.workload, plan);
            derived.get("dram_words").and_then(Value::as_integer).unwrap_or(0) as f64 * times
        };
        let cycles = |plan: &Assignment| {
            let compiled = self.compiled_plan(&runs.workload, plan);
            compiled.map_or(0.0, |compiled| timing(&compiled, self.prices()).total() as f64 * times)
        };
        all.refusal = asked(here).err().or(all.refusal.take());
        if asked(self).is_err() {
            all.too_large += 1;
            return;
        }
        all.of += words(&runs.plan);
        all.words += words(&runs.plan) - words(&staged);
        all.cycles += cycles(&runs.plan) - cycles(&staged);
    }

    /// What a mover of whole words could take over of the conversions.
    fn mover(&self, calls: &[Call]) -> Option<Support> {
        let (mut words, mut granules) = (0.0, 0.0);
        for Call { runs, times } in calls {
            let compiled = self.compiled_plan(&runs.workload, &runs.plan).ok()?;
            for priced in timing(&compiled, self.prices()).conversions {
                let own = compiled
                    .run()
                    .find(|own| (own.stage, own.buffer) == (priced.stage, priced.buffer));
                let cycles = priced.price.cycles as f64 * times;
                match own.and_then(|own| own.plan.as_ref()).map(|plan| plan.kind) {
                    Some(Kind::Word) => words += cycles,
                    _ => granules += cycles,
                }
            }
        }
        let all = words + granules;
        (all > 0.0).then(|| Support {
            unlocks: Some(self.facility_price(words, "conversions that move whole words")),
            ..Support::new(
                Status::Deleted,
                Some(Level::Hardware),
                format!(
                    "index permutations of whole words are walks of fills and drains, {:.1} % of the cycles of conversions; \
                     the others transpose granules inside words, which a mover of words can't, and no unit commands it",
                    100.0 * words / all
                ),
            )
        })
    }
}

/// The memory at each unit: no plan names it.
fn units(calls: &[Call]) -> Option<Support> {
    let known: Vec<String> = GROUPS[2].words().iter().map(|word| format!("`{word}`")).collect();
    (!calls.is_empty()).then(|| {
        Support::new(
            Status::Unreachable,
            Some(Level::Hardware),
            format!(
                "{} KiB at each of {ADAPTERS} units, off at reset: memories that a plan can name are {}; it serves only the \
                 unit behind it, so that nothing that clusters hand to cores could stay there",
                ADAPTER_BYTES >> 10,
                known.join(" and ")
            ),
        )
    })
}

/// The part of a layer that one of four meshes would get.
fn part(layer: &Layer) -> Option<Layer> {
    let mut part = layer.clone();
    let rows = match &mut part {
        Layer::Linear { rows, .. } => rows,
        Layer::Conv { height, .. } => height,
        Layer::Attention { queries, .. } => queries,
        _ => return None,
    };
    if !rows.is_multiple_of(MESHES) {
        return None;
    }
    *rows /= MESHES;
    Some(part)
}

fn short(x: f64) -> String {
    format!("{x:.2e}")
}
