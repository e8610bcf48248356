//! Cycles of a whole call.

use super::stage::{StageTime, Unit, stage_time};
use crate::compile::{Compiled, Conversion};
use crate::machine::{Converting, Prices};
use crate::program::BufferId;
use crate::relayout::{Price, dealt, plan, price};

/// A conversion with its price: who it is stands beside what it costs, so that lists are never paired by position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Priced {
    /// The stage before which it runs.
    pub stage: usize,
    /// The buffer.
    pub buffer: BufferId,
    /// Its price.
    pub price: Price,
}

/// The time of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Timing {
    /// Each stage.
    pub stages: Vec<StageTime>,
    /// Each conversion that runs.
    pub conversions: Vec<Priced>,
}

/// Prices a compiled program.
#[must_use]
pub fn timing(compiled: &Compiled, prices: Prices) -> Timing {
    let cores = match compiled.machine.converting {
        Converting::OneCore => 1,
        Converting::AllCores => compiled.machine.cores,
    };
    let priced = |conversion: &Conversion| {
        conversion.plan.as_ref().map(|plan| Priced {
            stage: conversion.stage,
            buffer: conversion.buffer,
            price: dealt(plan, cores),
        })
    };
    Timing {
        stages: (0..compiled.program.stages.len())
            .map(|at| stage_time(compiled, at, prices))
            .collect(),
        conversions: compiled.conversions.iter().filter_map(priced).collect(),
    }
}

/// Cycles of all listed conversions, dead ones included: what they cost before dead ones were dropped. `None` if one of
/// them could not be done on the machine.
#[must_use]
pub fn listed_cycles(compiled: &Compiled) -> Option<usize> {
    let cycles = |conversion: &Conversion| {
        let buffer = compiled.program.of(conversion.buffer);
        let plan = plan(conversion.from, conversion.to, buffer.shape, buffer.batch)?;
        Some(price(&plan).cycles)
    };
    compiled.conversions.iter().map(cycles).sum()
}

impl Timing {
    fn on(&self, unit: Unit) -> usize {
        self.stages
            .iter()
            .filter(|stage| stage.unit == unit)
            .map(|stage| stage.cycles)
            .sum()
    }

    /// Cycles of stages on clusters.
    #[must_use]
    pub fn matrix(&self) -> usize {
        self.on(Unit::Cluster)
    }

    /// Cycles of stages on vector cores, without conversions.
    #[must_use]
    pub fn vector(&self) -> usize {
        self.on(Unit::Core)
    }

    /// Cycles of the conversions that run.
    #[must_use]
    pub fn conversion(&self) -> usize {
        self.conversions.iter().map(|priced| priced.price.cycles).sum()
    }

    /// Cycles of the call: nothing overlaps.
    #[must_use]
    pub fn total(&self) -> usize {
        self.matrix() + self.vector() + self.conversion()
    }

    /// The call if every fill ran beside products: the lower end of the published bracket.
    #[must_use]
    pub fn overlapped(&self) -> usize {
        self.total() - self.stages.iter().map(|stage| stage.fills).sum::<usize>()
    }

    /// Flits to clusters.
    #[must_use]
    pub fn flits(&self) -> usize {
        self.stages.iter().map(|stage| stage.flits).sum()
    }
}
