//! The published whole plans, run through the unit model.

use std::collections::BTreeMap;
use std::num::NonZero;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use planner::Workload;
use target_ipu21::exchange::{Addresses, Policy, Release, schedule};
use target_ipu21::program::Program;
use target_ipu21::traffic::{Phase, PhaseKind, phases};
use target_ipu21::work::{Segment, segments};
use target_ipu21::{costs, mapping, text, unit};

/// The workload of all published plans.
pub(crate) fn siglip() -> Result<Workload, String> {
    let kind = planner::workloads::kind("siglip-mlp").ok_or("no such workload")?;
    Ok(Workload {
        name: "siglip-mlp".to_owned(),
        operations: kind
            .operations(&BTreeMap::new(), None)
            .map_err(|error| error.to_string())?,
    })
}

/// What one plan came to.
#[derive(Debug, Clone)]
pub(crate) struct Ran {
    pub(crate) cycles: usize,
    pub(crate) horizons: Vec<usize>,
}

/// A plan that fits, expanded.
pub(crate) struct Prepared {
    pub(crate) program: Program,
    pub(crate) phases: Vec<Phase>,
    pub(crate) segments: Vec<Segment>,
}

/// Expands a plan; fails with the rule that refuses it.
pub(crate) fn prepare(up: &str, down: &str, map: &str) -> Result<Prepared, String> {
    let geometry = |constraint: &str| {
        text::parse(constraint)
            .map(|(_, g)| g)
            .map_err(|error| error.to_string())
    };
    let program = Program::new(&siglip()?, &[geometry(up)?, geometry(down)?], mapping::parse(map)?)
        .map_err(|refusal| refusal.to_string())?;
    let phases = phases(&program);
    unit::check(&program, &phases).map_err(|refusal| refusal.to_string())?;
    Ok(Prepared {
        segments: segments(&program),
        program,
        phases,
    })
}

/// A phase that was scheduled already: what decides its schedule, and its horizon.
struct Known {
    phase: Phase,
    addresses: Addresses,
    policy: Policy,
    horizon: usize,
}

/// Phases by place, kind and number of transfers: plans that differ in one product share those of the other.
static KNOWN: Mutex<BTreeMap<(usize, PhaseKind, usize), Vec<Known>>> = Mutex::new(BTreeMap::new());

/// Scheduled cycles of one phase.
pub(crate) fn horizon(program: &Program, phase: &Phase, policy: Policy) -> Result<usize, String> {
    let addresses = Addresses::new(program, phase.product, policy.overflow);
    let place = (phase.product, phase.kind, phase.transfers.len());
    let poisoned = "a thread panicked";
    let same = |known: &&Known| known.policy == policy && known.addresses == addresses && known.phase == *phase;
    if let Some(known) = KNOWN
        .lock()
        .map_err(|_| poisoned)?
        .entry(place)
        .or_default()
        .iter()
        .find(same)
    {
        return Ok(known.horizon);
    }
    let horizon = usize::try_from(schedule(program, phase, policy).horizon).map_err(|error| error.to_string())?;
    KNOWN
        .lock()
        .map_err(|_| poisoned)?
        .entry(place)
        .or_default()
        .push(Known {
            phase: phase.clone(),
            addresses,
            policy,
            horizon,
        });
    Ok(horizon)
}

impl Prepared {
    /// Scheduled cycles of all phases.
    pub(crate) fn horizons(&self, policy: Policy) -> Result<Vec<usize>, String> {
        self.phases
            .iter()
            .map(|phase| horizon(&self.program, phase, policy))
            .collect()
    }

    /// Simulated cycles with these horizons.
    pub(crate) fn cycles(&self, horizons: &[usize], kernels: &str) -> Result<usize, String> {
        let table = costs::builtin(kernels).ok_or("no such prices")?;
        unit::time(&self.phases, &self.segments, horizons, &table)
            .map(|timing| timing.cycles())
            .map_err(|unpriced| unpriced.to_string())
    }
}

/// Compiles, schedules and times a plan.
pub(crate) fn run(up: &str, down: &str, map: &str, kernels: &str, policy: Policy) -> Result<Ran, String> {
    let prepared = prepare(up, down, map)?;
    let horizons = prepared.horizons(policy)?;
    Ok(Ran {
        cycles: prepared.cycles(&horizons, kernels)?,
        horizons,
    })
}

/// Results of all items in order, side by side.
pub(crate) fn each<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let threads = thread::available_parallelism().map_or(1, NonZero::get).min(items.len());
    let worker = || {
        let mut own = Vec::new();
        while let Some((at, item)) = {
            let at = next.fetch_add(1, Ordering::Relaxed);
            items.get(at).map(|item| (at, item))
        } {
            own.push((at, work(item)));
        }
        own
    };
    let mut results: Vec<(usize, R)> = thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(worker)).collect();
        let mut all = worker();
        for other in others {
            match other.join() {
                Ok(own) => all.extend(own),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        all
    });
    results.sort_by_key(|(at, _)| *at);
    results.into_iter().map(|(_, result)| result).collect()
}

/// One published plan with its measurement.
#[derive(Debug, Clone)]
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) role: String,
    pub(crate) kernels: String,
    pub(crate) published: usize,
    pub(crate) ours: Ran,
}

impl Case {
    /// Ours over theirs, less one, in percent.
    pub(crate) fn error(&self) -> f64 {
        crate::error(self.ours.cycles, self.published)
    }
}

/// Up geometry of all of them, with these result factors and staging.
pub(crate) fn up(words: &str) -> Result<String, String> {
    let (factors, staging) = words.split_once(' ').ok_or("two words")?;
    Ok(format!("0:4x92x4:{factors}:48:interleaved:normal:{staging}:direct"))
}

/// Down geometry of all of them, with these result factors, memory and staging.
pub(crate) fn down(words: &str) -> Result<String, String> {
    let [factors, memory, staging] = words.split(' ').collect::<Vec<_>>()[..] else {
        return Err("three words".to_owned());
    };
    Ok(format!("2:4x24x15:{factors}:48:{memory}:normal:{staging}:direct"))
}

/// All published plans.
pub(crate) fn published() -> Result<Vec<Case>, String> {
    let lines: Vec<&str> = include_str!("../../tests/fixtures/mlp.csv").lines().skip(1).collect();
    each(&lines, |line| {
        let [name, role, up_words, down_words, map, kernels, release, cycles] = line.split(',').collect::<Vec<_>>()[..]
        else {
            return Err(format!("`{line}`: expected eight fields"));
        };
        let policy = match release {
            "pipelined" => Policy::default(),
            "guarded-words" => Policy {
                release: Release::Guarded,
                pairs: false,
                ..Policy::default()
            },
            "guarded-pairs" => Policy {
                release: Release::Guarded,
                ..Policy::default()
            },
            other => return Err(format!("release `{other}`")),
        };
        let (up, down) = (up(up_words)?, down(down_words)?);
        Ok(Case {
            ours: run(&up, &down, map, kernels, policy)?,
            name: name.to_owned(),
            role: role.to_owned(),
            kernels: kernels.to_owned(),
            published: cycles.parse().map_err(|_| format!("cycles `{cycles}`"))?,
        })
    })
    .into_iter()
    .collect()
}
