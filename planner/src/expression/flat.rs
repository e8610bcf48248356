//! Integer expressions as straight-line code: what is evaluated millions of times.
//!
//! Several expressions share one [`Flat`], so that parts that are common to them are computed once. There are no
//! branches and no allocations while it runs; what has no result is told by a flag at the end.

use super::arithmetic as math;
use super::program::Program;
use super::tree::Arithmetic;
use super::typed::{Any, Extreme, Integer};

/// Registers of a run: arguments, then one for each step.
const REGISTERS: usize = 48;

/// Where a value is.
type Register = u8;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Constant(i64),
    Negate(Register),
    Add(Register, Register),
    Subtract(Register, Register),
    Multiply(Register, Register),
    Smaller(Register, Register),
    Larger(Register, Register),
    /// Divides by a power of two and rounds towards plus infinity.
    CeilShift(Register, u8),
    CeilDivide(Register, Register),
    FloorDivide(Register, Register),
    Remainder(Register, Register),
    Power(Register, Register),
}

/// Straight-line code over integers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Flat {
    arguments: usize,
    steps: Vec<Step>,
    results: Vec<Register>,
}

impl Flat {
    /// Code that takes this many arguments; `None` when they are too many.
    pub(crate) fn new(arguments: usize) -> Option<Self> {
        (arguments < REGISTERS).then_some(Self {
            arguments,
            steps: Vec::new(),
            results: Vec::new(),
        })
    }

    /// Adds a result: the value of `program`, whose slots are the arguments. `None` when it is no integer expression of
    /// integer arguments, or too long.
    pub(crate) fn add(&mut self, program: &Program) -> Option<()> {
        let Any::Integer(body) = &program.body else {
            return None;
        };
        let at = self.lower(body)?;
        self.results.push(at);
        Some(())
    }

    fn step(&mut self, step: Step) -> Option<Register> {
        let known = self.steps.iter().position(|other| *other == step);
        let at = known.unwrap_or_else(|| {
            self.steps.push(step);
            self.steps.len() - 1
        });
        let register = self.arguments + at;
        (register < REGISTERS).then(|| u8::try_from(register).ok()).flatten()
    }

    fn pair(&mut self, pair: &(Integer, Integer), step: fn(Register, Register) -> Step) -> Option<Register> {
        let (a, b) = (self.lower(&pair.0)?, self.lower(&pair.1)?);
        self.step(step(a, b))
    }

    fn lower(&mut self, node: &Integer) -> Option<Register> {
        match node {
            Integer::Constant(n) => self.step(Step::Constant(*n)),
            Integer::Slot(at, _) => (*at < self.arguments).then(|| u8::try_from(*at).ok()).flatten(),
            Integer::Negate(_, inner) => {
                let inner = self.lower(inner)?;
                self.step(Step::Negate(inner))
            }
            Integer::Arithmetic(operation, _, pair) => self.pair(
                pair,
                match operation {
                    Arithmetic::Add => Step::Add,
                    Arithmetic::Subtract => Step::Subtract,
                    Arithmetic::Multiply => Step::Multiply,
                    Arithmetic::Divide | Arithmetic::FloorDivide => Step::FloorDivide,
                    Arithmetic::Remainder => Step::Remainder,
                    Arithmetic::Power => Step::Power,
                },
            ),
            Integer::CeilDivide(_, pair) => match pair.1 {
                Integer::Constant(n) if n > 0 && n.count_ones() == 1 => {
                    let a = self.lower(&pair.0)?;
                    self.step(Step::CeilShift(a, u8::try_from(n.trailing_zeros()).ok()?))
                }
                _ => self.pair(pair, Step::CeilDivide),
            },
            Integer::Extreme(which, first, others) => {
                let mut best = self.lower(first)?;
                for other in others {
                    let other = self.lower(other)?;
                    best = self.step(match which {
                        Extreme::Smallest => Step::Smaller(best, other),
                        Extreme::Largest => Step::Larger(best, other),
                    })?;
                }
                Some(best)
            }
        }
    }

    /// Runs the code and gives its results, in the order of [`Flat::add`], to `sum`, one after another. `None` where
    /// some part has no result (a division by zero, a number beyond 64 bits), or for another number of arguments.
    #[inline]
    pub(crate) fn fold<T>(&self, arguments: &[i64], start: T, mut sum: impl FnMut(T, i64) -> Option<T>) -> Option<T> {
        let mut registers = [0_i64; REGISTERS];
        if arguments.len() != self.arguments {
            return None;
        }
        registers[..self.arguments].copy_from_slice(arguments);
        let mut failed = false;
        for (at, step) in self.steps.iter().enumerate() {
            let value = |register: &Register| registers[usize::from(*register) % REGISTERS];
            let mut checked = |(result, overflows): (i64, bool)| {
                failed |= overflows;
                result
            };
            let result = match step {
                Step::Constant(n) => *n,
                Step::Negate(a) => checked(value(a).overflowing_neg()),
                Step::Add(a, b) => checked(value(a).overflowing_add(value(b))),
                Step::Subtract(a, b) => checked(value(a).overflowing_sub(value(b))),
                Step::Multiply(a, b) => checked(value(a).overflowing_mul(value(b))),
                Step::Smaller(a, b) => value(a).min(value(b)),
                Step::Larger(a, b) => value(a).max(value(b)),
                Step::CeilShift(a, shift) => {
                    let a = value(a);
                    // The shift of a signed number rounds down; what is cut off rounds it up.
                    (a >> shift) + i64::from(a & ((1_i64 << shift) - 1) != 0)
                }
                Step::CeilDivide(a, b) => checked(or_failed(math::ceil_divide(value(a), value(b)))),
                Step::FloorDivide(a, b) => checked(or_failed(math::floor_divide(value(a), value(b)))),
                Step::Remainder(a, b) => checked(or_failed(math::remainder(value(a), value(b)))),
                Step::Power(a, b) => checked(or_failed(math::power(value(a), value(b)))),
            };
            registers[(self.arguments + at) % REGISTERS] = result;
        }
        if failed {
            return None;
        }
        let mut results = self.results.iter();
        results.try_fold(start, |so_far, register| {
            sum(so_far, registers[usize::from(*register) % REGISTERS])
        })
    }
}

fn or_failed<E>(result: Result<i64, E>) -> (i64, bool) {
    result.map_or((0, true), |value| (value, false))
}
