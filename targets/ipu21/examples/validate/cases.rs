//! The published whole plans, run through the unit model.

use std::collections::BTreeMap;
use std::thread;

use planner::Workload;
use target_ipu21::exchange::{Policy, Release};
use target_ipu21::program::Program;
use target_ipu21::unit::{self, Compiled};
use target_ipu21::{costs, mapping, text};

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

/// Compiles, schedules and times a plan.
pub(crate) fn run(up: &str, down: &str, map: &str, kernels: &str, policy: Policy) -> Result<Ran, String> {
    let compiled = compile(up, down, map, policy)?;
    Ok(timed(&compiled, &costs::builtin(kernels).ok_or("no such prices")?))
}

pub(crate) fn timed(compiled: &Compiled, table: &costs::CostTable) -> Ran {
    Ran {
        cycles: unit::timing(compiled, table).cycles(),
        horizons: compiled.horizons(),
    }
}

pub(crate) fn compile(up: &str, down: &str, map: &str, policy: Policy) -> Result<Compiled, String> {
    let geometry = |constraint: &str| {
        text::parse(constraint)
            .map(|(_, g)| g)
            .map_err(|error| error.to_string())
    };
    let program = Program::new(&siglip()?, &[geometry(up)?, geometry(down)?], mapping::parse(map)?);
    program
        .and_then(|program| unit::compile(program, policy))
        .map_err(|refusal| refusal.to_string())
}

/// Results of all items in order, on two threads.
pub(crate) fn each<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let mut results: Vec<Option<R>> = items.iter().map(|_| None).collect();
    let half = items.len().div_ceil(2);
    let fill = |places: &mut [Option<R>], items: &[T]| {
        for (place, item) in places.iter_mut().zip(items) {
            *place = Some(work(item));
        }
    };
    let (left, right) = results.split_at_mut(half);
    thread::scope(|scope| {
        scope.spawn(|| fill(left, &items[..half]));
        fill(right, &items[half..]);
    });
    results.into_iter().flatten().collect()
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
