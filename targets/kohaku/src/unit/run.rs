//! A call from its inputs to its outputs.

use std::collections::BTreeMap;

use planner::Refusal;

use super::clusters;
use super::memory::Memory;
use super::vector::vector;
use crate::compile::Compiled;
use crate::program::{BufferId, Role, Work};
use crate::relayout::{Counted, execute};

/// What a call gives.
#[derive(Debug, Clone)]
pub struct Ran {
    /// Logical row-major values of every output, by name.
    pub outputs: BTreeMap<String, Vec<f32>>,
    /// What each conversion that ran took, with its stage and buffer, counted while its program was executed.
    pub conversions: Vec<(usize, BufferId, Counted)>,
}

/// Runs a compiled program on logical row-major inputs, by name.
pub fn run(compiled: &Compiled, inputs: &[(&str, &[f32])]) -> Result<Ran, Refusal> {
    let mut memory = Memory::new(compiled, inputs)?;
    let mut conversions = Vec::new();
    let mut due = compiled.run().peekable();
    for (at, stage) in compiled.program.stages.iter().enumerate() {
        while let Some(conversion) = due.next_if(|conversion| conversion.stage <= at) {
            if let Some(plan) = &conversion.plan {
                let id = conversion.buffer;
                let counted = execute(plan, &mut memory.images[id.0], compiled.strides[id.0]);
                conversions.push((at, id, counted));
            }
        }
        match &stage.work {
            Work::Gemm(gemm) => {
                clusters::gemm(compiled, at, gemm, &mut memory)?;
                if let Some(epilogue) = &gemm.epilogue {
                    super::vector::epilogue(compiled, gemm, epilogue, &mut memory)?;
                }
            }
            Work::Conv(conv) => clusters::conv(compiled, at, conv, &mut memory)?,
            Work::Vector(work) => vector(compiled, at, work, &mut memory)?,
        }
    }
    let mut outputs = BTreeMap::new();
    for (id, buffer) in compiled.program.buffers.iter().enumerate() {
        if let (Role::Output, Some(layout)) = (buffer.role, compiled.last_layout(BufferId(id))) {
            let values = memory.logical(BufferId(id), layout, buffer.shape, compiled.strides[id])?;
            outputs.insert(buffer.name.clone(), values);
        }
    }
    Ok(Ran { outputs, conversions })
}
