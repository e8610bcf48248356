//! The statements of a stage as one list of steps, in which a value that is needed twice is computed once.
//!
//! The device computes it again in every statement; the value is the same, since nothing that it depends on was written
//! in between.

use std::collections::BTreeMap;

use crate::program::{BufferId, Fold, Instruction, Lane, Op, Source, Statement, View};

/// A register of the model: one value for every element of a chunk.
pub(super) type Register = usize;

/// One step over a chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// Reads a buffer.
    Load(Register, View),
    /// An operation on one register.
    One(Register, Op, Register),
    /// On two.
    Two(Register, Op, Register, Register),
    /// Folds rows.
    Fold(Register, Fold, Register),
    /// Writes a buffer, by the number of its statement.
    Store(usize, Register),
}

/// Steps, and the registers that hold constants.
#[derive(Debug, Default)]
pub(super) struct Steps {
    pub(super) list: Vec<Step>,
    pub(super) constants: Vec<(Register, u32)>,
    pub(super) registers: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    /// A view of a buffer after so many writes to it.
    View(View, usize),
    Constant(u32),
    One(Op, Register),
    Two(Op, Register, Register),
    Fold(Fold, Register),
}

#[derive(Default)]
struct Builder {
    out: Steps,
    known: BTreeMap<Key, Register>,
    writes: BTreeMap<BufferId, usize>,
}

impl Steps {
    pub(super) fn new(statements: &[Statement]) -> Self {
        let mut builder = Builder::default();
        for (number, statement) in statements.iter().enumerate() {
            let value = builder.lane(&Lane::new(&statement.value));
            builder.out.list.push(Step::Store(number, value));
            *builder.writes.entry(statement.target).or_default() += 1;
        }
        builder.out
    }
}

impl Builder {
    fn of(&mut self, key: Key, step: impl FnOnce(Register) -> Option<Step>) -> Register {
        if let Some(register) = self.known.get(&key) {
            return *register;
        }
        let register = self.out.registers;
        self.out.registers += 1;
        match (step(register), key) {
            (Some(step), _) => self.out.list.push(step),
            (None, Key::Constant(bits)) => self.out.constants.push((register, bits)),
            (None, _) => {}
        }
        self.known.insert(key, register);
        register
    }

    fn lane(&mut self, lane: &Lane) -> Register {
        let mut results: Vec<Register> = Vec::new();
        for instruction in &lane.instructions {
            let register = match *instruction {
                Instruction::One(op, a) => {
                    let a = self.source(lane, &results, a);
                    self.of(Key::One(op, a), |to| Some(Step::One(to, op, a)))
                }
                Instruction::Two(op, a, b) => {
                    let a = self.source(lane, &results, a);
                    let b = self.source(lane, &results, b);
                    self.of(Key::Two(op, a, b), |to| Some(Step::Two(to, op, a, b)))
                }
                Instruction::Fold(kind, a) => {
                    let a = self.source(lane, &results, a);
                    self.of(Key::Fold(kind, a), |to| Some(Step::Fold(to, kind, a)))
                }
            };
            results.push(register);
        }
        self.source(lane, &results, lane.value)
    }

    fn source(&mut self, lane: &Lane, results: &[Register], source: Source) -> Register {
        match source {
            Source::Operand(at) => {
                let view = lane.operands[at];
                let written = self.writes.get(&view.buffer).copied().unwrap_or(0);
                self.of(Key::View(view, written), |to| Some(Step::Load(to, view)))
            }
            Source::Constant(at) => self.of(Key::Constant(lane.constants[at]), |_| None),
            Source::Result(at) => results[at],
        }
    }
}
