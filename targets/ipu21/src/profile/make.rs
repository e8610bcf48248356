//! From a compiled program to its profile.

use std::collections::BTreeMap;

use super::types::{CallProfile, LaneProfile, MemoryProfile, Profile, SegmentProfile, StepProfile};
use crate::costs::{CostTable, Unpriced};
use crate::device::TILES;
use crate::exchange::Schedule;
use crate::traffic::{PhaseKind, Stats};
use crate::unit::{self, Compiled};
use crate::work::{Call, Pricing, Segment};

/// The profile of a program under these prices; `plan` is its canonical text.
///
/// # Errors
/// Where the table has no price for one of its calls.
pub fn profile(compiled: &Compiled, costs: &CostTable, plan: &str) -> Result<Profile, Unpriced> {
    let timing = unit::timing(compiled, costs)?;
    let mut calls = Calls::default();
    let mut steps = Vec::with_capacity(timing.phases.len());
    let mut start = 0;
    for (at, times) in timing.phases.iter().enumerate() {
        let phase = &compiled.phases[at];
        let schedule = &compiled.schedules[at];
        let operation = compiled.program.products[phase.product].name.clone();
        let (exchange, work) = names(phase.kind);
        let stats = Stats::new(&phase.transfers);
        steps.push(StepProfile {
            name: format!("{operation}.{exchange}"),
            start,
            scheduled: times.scheduled,
            after_arrival: times.after_arrival,
            arrival_spread: times.arrival_spread,
            transfers: stats.transfers,
            endpoints: stats.endpoints,
            source_words: stats.source_words,
            delivered_words: stats.delivered_words,
            paired: schedule.jobs.iter().filter(|job| job.paired).count(),
            endpoint_bounds: [stats.max_send_words.max(stats.max_receive_words), stats.paired_bound],
            lanes: lanes(schedule),
            segment: segment(
                &compiled.segments[at],
                &format!("{operation}.{work}"),
                costs,
                &mut calls,
            )?,
            operation,
        });
        start += times.after_arrival + times.work;
    }
    let peaks = unit::peaks(&compiled.program);
    Ok(Profile {
        target: "ipu21".to_owned(),
        unit: "cycles".to_owned(),
        plan: plan.to_owned(),
        costs: costs.name().to_owned(),
        cycles: timing.cycles(),
        full_counters: [timing.counters.most, timing.counters.least],
        steps,
        calls: calls.list,
        memory: MemoryProfile {
            interleaved: peaks.iter().map(|peak| peak.interleaved).collect(),
            standard: peaks.iter().map(|peak| peak.standard).collect(),
            tables: unit::table_bytes(&compiled.phases),
        },
    })
}

/// Names of a phase and of the work after it.
#[must_use]
pub(crate) fn names(kind: PhaseKind) -> (String, String) {
    match kind {
        PhaseKind::Weights => ("weights".to_owned(), "gemm".to_owned()),
        PhaseKind::Gather => ("gather".to_owned(), "gemm".to_owned()),
        PhaseKind::Reduction(stage) => (format!("reduction-{stage}"), format!("sum-{stage}")),
    }
}

fn lanes(schedule: &Schedule) -> LaneProfile {
    let (mut send, mut receive) = (vec![0usize; TILES], vec![0usize; TILES]);
    for job in &schedule.jobs {
        let items = usize::try_from(job.items).unwrap_or(0);
        send[job.source] += items;
        if let Some(partner) = job.partner() {
            send[partner] += items;
        }
        for &tile in job.destinations.iter() {
            receive[tile] += items;
        }
    }
    LaneProfile { send, receive }
}

/// Distinct calls in the order in which they first appear.
#[derive(Default)]
struct Calls {
    list: Vec<CallProfile>,
    known: BTreeMap<CallProfile, usize>,
}

impl Calls {
    fn place(&mut self, call: CallProfile) -> usize {
        let next = self.list.len();
        *self.known.entry(call).or_insert_with_key(|call| {
            self.list.push(call.clone());
            next
        })
    }
}

fn segment(segment: &Segment, name: &str, costs: &CostTable, all: &mut Calls) -> Result<SegmentProfile, Unpriced> {
    let mut of_tile = |calls: &Vec<Call>| -> Result<Vec<usize>, Unpriced> {
        calls
            .iter()
            .map(|call| Ok(all.place(described(call, costs)?)))
            .collect()
    };
    Ok(SegmentProfile {
        name: name.to_owned(),
        calls: segment.calls.iter().map(&mut of_tile).collect::<Result<_, _>>()?,
        cycles: segment.cycles(costs, Pricing::Executed).collect::<Result<_, _>>()?,
    })
}

fn described(call: &Call, costs: &CostTable) -> Result<CallProfile, Unpriced> {
    let (kernel, arguments): (&str, Vec<(&str, usize)>) = match *call {
        Call::Gemm { rows, inner, columns } => ("gemm", vec![("rows", rows), ("inner", inner), ("columns", columns)]),
        Call::Copy(copy) => ("copy", vec![("panels", copy.panels), ("panel_bytes", copy.panel_bytes)]),
        Call::Reduce { elements, partials } => ("reduce", vec![("elements", elements), ("partials", partials)]),
        Call::Gelu { elements } => ("gelu", vec![("elements", elements)]),
        Call::Fill { bytes } => ("fill", vec![("bytes", bytes)]),
    };
    Ok(CallProfile {
        kernel: kernel.to_owned(),
        arguments: arguments
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value))
            .collect(),
        cycles: call.cycles(costs, Pricing::Executed)?,
    })
}
