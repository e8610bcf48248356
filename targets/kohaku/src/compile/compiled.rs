//! A program that is ready to be priced and run.

use planner::Refusal;

use super::conversions::{self, Conversion};
use super::fuse::{Fused, fuse};
use super::pins::{Pin, pins};
use crate::layout::{Layout, batch_stride};
use crate::legal;
use crate::machine::Machine;
use crate::program::{BufferId, Program, Work};

/// A program with its byte orders, conversions and vector programs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Compiled {
    /// What was compiled.
    pub program: Program,
    /// For which machine.
    pub machine: Machine,
    /// Orders of every buffer.
    pub pins: Vec<Vec<Pin>>,
    /// All conversions, dead ones included.
    pub conversions: Vec<Conversion>,
    /// Vector programs of every stage; none for stages on clusters.
    pub vectors: Vec<Vec<Fused>>,
    /// Elements from one batch element of a buffer to the next.
    pub strides: Vec<usize>,
}

/// Compiles a program; a refusal is the machine's or the compiler's no.
pub fn compile(program: Program, machine: &Machine) -> Result<Compiled, Refusal> {
    for stage in &program.stages {
        legal::stage(&program, stage, machine)?;
    }
    let pins = pins(&program, machine)?;
    let conversions = conversions::conversions(&program, &pins);
    conversions::check(&program, &conversions)?;
    let vectors = program.stages.iter().map(|stage| match &stage.work {
        Work::Vector(vector) => fuse(&stage.name, vector),
        Work::Gemm(_) | Work::Conv(_) => Ok(Vec::new()),
    });
    let vectors = vectors.collect::<Result<_, _>>()?;
    let mut strides = Vec::with_capacity(program.buffers.len());
    for (buffer, pins) in program.buffers.iter().zip(&pins) {
        let sizes: Result<Vec<usize>, Refusal> = pins.iter().map(|pin| pin.layout.size(buffer.shape)).collect();
        strides.push(batch_stride(sizes?.into_iter().chain([buffer.shape.elements()])));
    }
    Ok(Compiled {
        program,
        machine: machine.clone(),
        pins,
        conversions,
        vectors,
        strides,
    })
}

impl Compiled {
    /// The order of a buffer while a stage runs; none if nothing touched it yet.
    #[must_use]
    pub fn layout(&self, buffer: BufferId, stage: usize) -> Option<Layout> {
        let pins = self.pins.get(buffer.0)?;
        pins.iter().rev().find(|pin| pin.stage <= stage).map(|pin| pin.layout)
    }

    /// The order in which the caller hands a buffer over.
    #[must_use]
    pub fn first_layout(&self, buffer: BufferId) -> Option<Layout> {
        self.pins.get(buffer.0)?.first().map(|pin| pin.layout)
    }

    /// The order in which the program leaves a buffer.
    #[must_use]
    pub fn last_layout(&self, buffer: BufferId) -> Option<Layout> {
        self.pins.get(buffer.0)?.last().map(|pin| pin.layout)
    }

    /// Conversions that run, in order.
    pub fn run(&self) -> impl Iterator<Item = &Conversion> {
        self.conversions.iter().filter(|conversion| !conversion.dead)
    }

    /// Conversions that are due before a stage.
    pub fn before(&self, stage: usize) -> impl Iterator<Item = &Conversion> {
        self.run().filter(move |conversion| conversion.stage == stage)
    }
}
