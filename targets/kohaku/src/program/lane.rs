//! Expressions as straight-line code: what is reached twice is computed once.

use std::collections::BTreeMap;

use super::expr::{Expr, Fold, Op, View};

/// Where a value comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Source {
    /// An operand, by its place in [`Lane::operands`].
    Operand(usize),
    /// A constant, by its place in [`Lane::constants`].
    Constant(usize),
    /// The result of an instruction.
    Result(usize),
}

/// One operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Instruction {
    /// On one value.
    One(Op, Source),
    /// On two.
    Two(Op, Source, Source),
    /// On a row.
    Fold(Fold, Source),
}

/// The code of one statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lane {
    /// Buffers that are read, in the order of reading.
    pub operands: Vec<View>,
    /// Bits of the constants.
    pub constants: Vec<u32>,
    /// Operations, each of which may use the results of those before it.
    pub instructions: Vec<Instruction>,
    /// The statement's value.
    pub value: Source,
}

impl Lane {
    /// The code of an expression.
    #[must_use]
    pub fn new(expr: &Expr) -> Self {
        let mut lane = Self {
            operands: Vec::new(),
            constants: Vec::new(),
            instructions: Vec::new(),
            value: Source::Constant(0),
        };
        lane.value = lane.lower(expr, &mut BTreeMap::new());
        lane
    }

    /// Operations; a mere copy costs one too.
    #[must_use]
    pub fn operations(&self) -> usize {
        self.instructions.len().max(1)
    }

    fn lower<'a>(&mut self, expr: &'a Expr, known: &mut BTreeMap<&'a Expr, Source>) -> Source {
        if let Some(source) = known.get(expr) {
            return *source;
        }
        let source = match expr {
            Expr::Read(view) => {
                self.operands.push(*view);
                Source::Operand(self.operands.len() - 1)
            }
            Expr::Constant(bits) => {
                self.constants.push(*bits);
                Source::Constant(self.constants.len() - 1)
            }
            Expr::Apply(op, inner) => {
                let sources: Vec<Source> = inner.iter().map(|expr| self.lower(expr, known)).collect();
                let instruction = match *sources.as_slice() {
                    [a] => Instruction::One(*op, a),
                    [a, b, ..] => Instruction::Two(*op, a, b),
                    [] => Instruction::One(*op, Source::Constant(0)),
                };
                self.push(instruction)
            }
            Expr::Folded(fold, inner) => {
                let source = self.lower(inner, known);
                self.push(Instruction::Fold(*fold, source))
            }
        };
        known.insert(expr, source);
        source
    }

    fn push(&mut self, instruction: Instruction) -> Source {
        self.instructions.push(instruction);
        Source::Result(self.instructions.len() - 1)
    }
}
