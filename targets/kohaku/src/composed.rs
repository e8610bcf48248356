//! Blocks of a network: calls one after another, and what the host moves between them.
//!
//! Each call is compiled by itself. Where one leaves its result in another byte order than the next one wants, or where the
//! elements have to be picked, spread or padded, the host lays them anew: such moves and their bytes are counted beside the
//! cycles, never inside.

pub mod blocks;

use std::collections::BTreeMap;

use planner::Refusal;

use crate::compile::{Compiled, compile};
use crate::machine::{Machine, Prices};
use crate::program::{Buffer, Program, Role};
use crate::timing::timing;
use crate::unit::run;

/// Where each element of an input comes from in a result, both in logical row-major order; `None` is zero.
pub type Picked = Vec<Option<usize>>;

/// Where an input comes from.
#[derive(Debug, Clone, PartialEq)]
pub enum Source {
    /// From outside, as logical row-major values: weights, tables, the block's own inputs. Loaded before the block runs.
    Given(Vec<f32>),
    /// Elements of an input of the block, which the host holds row by row and lays anew at every call.
    Laid(Vec<f32>, Picked),
    /// The result of the call of this name, whole and in its own shape or a reshape of it.
    Whole(String),
    /// Elements of that result.
    Picked(String, Picked),
}

/// One call of a block.
#[derive(Debug, Clone)]
pub struct Call {
    /// Its name, and that of its result.
    pub name: String,
    /// What it runs; its result is its only output.
    pub program: Program,
    /// Its inputs by the name of their buffer.
    pub inputs: Vec<(String, Source)>,
}

/// What the host moves before one call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostMove {
    /// The call whose input it is.
    pub call: String,
    /// The input.
    pub input: String,
    /// Bytes that are read and written, padding of both orders included.
    pub bytes: usize,
}

/// What a block gives.
#[derive(Debug, Clone)]
pub struct Composed {
    /// The last call's result.
    pub result: Vec<f32>,
    /// Cycles of every call, in order.
    pub cycles: Vec<(String, usize)>,
    /// What the host moved, in order.
    pub moves: Vec<HostMove>,
    /// Bytes that are loaded from outside.
    pub given_bytes: usize,
}

impl Composed {
    /// Cycles of all calls. What the host does is not in it.
    #[must_use]
    pub fn total(&self) -> usize {
        self.cycles.iter().map(|(_, cycles)| cycles).sum()
    }

    /// Bytes that the host moves.
    #[must_use]
    pub fn moved_bytes(&self) -> usize {
        self.moves.iter().map(|one| one.bytes).sum()
    }
}

/// Elements are 16 bits wide.
const ELEMENT_BYTES: usize = 2;

fn wrong(call: &Call, message: &str) -> Refusal {
    Refusal::new("block", format!("`{}`: {message}", call.name))
}

/// Bytes of a buffer as it lies in memory.
fn bytes(compiled: &Compiled, (at, buffer): (usize, &Buffer)) -> usize {
    ELEMENT_BYTES * compiled.strides[at] * buffer.batch
}

/// Values as they are picked; `None` where one is picked that there is not.
fn pick(values: &[f32], picked: &Picked) -> Option<Vec<f32>> {
    let each = picked
        .iter()
        .map(|at| at.map_or(Some(0.0), |at| values.get(at).copied()));
    each.collect()
}

/// A result with how it lies.
struct Held {
    values: Vec<f32>,
    compiled: Compiled,
    output: usize,
}

impl Held {
    fn buffer(&self) -> &Buffer {
        &self.compiled.program.buffers[self.output]
    }

    /// Whether the next call can read it where it is.
    fn lies_as(&self, wanted: &Compiled, (at, buffer): (usize, &Buffer)) -> bool {
        use crate::program::BufferId;
        let own = self.compiled.last_layout(BufferId(self.output));
        own.is_some()
            && own == wanted.first_layout(BufferId(at))
            && (self.buffer().shape, self.buffer().batch) == (buffer.shape, buffer.batch)
    }
}

/// Computes a block call by call on the unit model, and prices it.
///
/// Errors: a call that the machine refuses, an input that nothing gives, or one of another size.
pub fn compose(calls: &[Call], machine: &Machine, prices: Prices) -> Result<Composed, Refusal> {
    let mut held: BTreeMap<&str, Held> = BTreeMap::new();
    let mut done = Composed {
        result: Vec::new(),
        cycles: Vec::new(),
        moves: Vec::new(),
        given_bytes: 0,
    };
    for call in calls {
        let compiled = compile(call.program.clone(), machine)?;
        let buffers = || compiled.program.buffers.iter().enumerate();
        let mut inputs: Vec<(&str, Vec<f32>)> = Vec::new();
        for (name, source) in &call.inputs {
            let buffer = buffers().find(|(_, buffer)| buffer.role == Role::Input && buffer.name == *name);
            let buffer = buffer.ok_or_else(|| wrong(call, &format!("there is no input `{name}`")))?;
            let values = match source {
                Source::Given(values) => {
                    done.given_bytes += bytes(&compiled, buffer);
                    values.clone()
                }
                Source::Laid(values, picked) => {
                    done.moves.push(HostMove {
                        call: call.name.clone(),
                        input: name.clone(),
                        bytes: ELEMENT_BYTES * values.len() + bytes(&compiled, buffer),
                    });
                    pick(values, picked).ok_or_else(|| wrong(call, &format!("`{name}` picks behind the end")))?
                }
                Source::Whole(from) | Source::Picked(from, _) => {
                    let missing = || wrong(call, &format!("nothing before it is called `{from}`"));
                    let from = held.get(from.as_str()).ok_or_else(missing)?;
                    let picked = match source {
                        Source::Picked(_, picked) => Some(picked),
                        _ => None,
                    };
                    if picked.is_some() || !from.lies_as(&compiled, buffer) {
                        done.moves.push(HostMove {
                            call: call.name.clone(),
                            input: name.clone(),
                            bytes: bytes(&from.compiled, (from.output, from.buffer())) + bytes(&compiled, buffer),
                        });
                    }
                    let laid = match picked {
                        None => Some(from.values.clone()),
                        Some(picked) => pick(&from.values, picked),
                    };
                    laid.ok_or_else(|| wrong(call, &format!("`{name}` picks behind the end")))?
                }
            };
            inputs.push((name, values));
        }
        let views: Vec<(&str, &[f32])> = inputs.iter().map(|(name, values)| (*name, values.as_slice())).collect();
        let mut ran = run(&compiled, &views)?;
        done.cycles.push((call.name.clone(), timing(&compiled, prices).total()));
        let output = buffers()
            .find(|(_, buffer)| buffer.role == Role::Output)
            .map(|(at, _)| at);
        let output = output.ok_or_else(|| wrong(call, "it has no output"))?;
        let values = ran.outputs.remove(&compiled.program.buffers[output].name);
        let values = values.ok_or_else(|| wrong(call, "its output was not written"))?;
        done.result.clone_from(&values);
        let result = Held {
            values,
            compiled,
            output,
        };
        held.insert(&call.name, result);
    }
    Ok(done)
}
