//! A vector core that runs the programs of conversions.

use super::lower::{MASK_COUNT, lower};
use super::plan::Relayout;
use super::program::{CoreProgram, Instruction};
use super::walk::steps;
use crate::machine::{CORE_WORDS, GRANULE, VECTOR, WORD};

/// Registers of a vector core.
const REGISTERS: usize = 16;

/// What was counted while a conversion ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counted {
    /// Cycles.
    pub cycles: usize,
    /// Flits.
    pub flits: usize,
    /// Most words of the core's memory that were in use.
    pub footprint: usize,
}

struct Core {
    memory: Vec<f32>,
    registers: Vec<[f32; VECTOR]>,
    footprint: usize,
}

/// Converts `memory`, batch elements `stride` elements apart, by running the conversion's programs.
pub fn execute(plan: &Relayout, memory: &mut [f32], stride: usize) -> Counted {
    let mut counted = Counted::default();
    let mut core = Core {
        memory: vec![0.0; CORE_WORDS * WORD],
        registers: vec![[0.0; VECTOR]; REGISTERS],
        footprint: 0,
    };
    let elements = plan.words * WORD;
    let mut staging = if plan.in_place {
        Vec::new()
    } else {
        vec![0.0; elements * plan.batch]
    };
    for (at, program) in lower(plan).iter().enumerate() {
        counted.cycles += program.image() + program.descriptor_flits;
        counted.flits += program.image() + program.descriptor_flits;
        let (fill, drain) = (steps(&program.fill), steps(&program.drain));
        for batch in 0..plan.batch {
            let home = batch * stride;
            for &(from, to) in &program.runs {
                // Two descriptors get their base, then the run itself.
                counted.flits += 3;
                counted.cycles += 2;
                counted.cycles += match (plan.in_place, at) {
                    (true, _) => core.run(program, memory, (home, from, &fill), (home, to, &drain), None),
                    (false, 0) => {
                        let there = (batch * elements, to, drain.as_slice());
                        core.run(program, memory, (home, from, &fill), there, Some(&mut staging))
                    }
                    (false, _) => {
                        let here = (batch * elements, from, fill.as_slice());
                        core.copy(program, &staging, here, memory, (home, to, &drain))
                    }
                };
            }
        }
    }
    counted.footprint = core.footprint;
    counted
}

/// A batch element's first element, a run's first word there, and its walk.
type Place<'a> = (usize, usize, &'a [i64]);

fn word(place: Place<'_>, step: usize) -> usize {
    let (base, first, walk) = place;
    let word = i64::try_from(first).unwrap_or(i64::MAX) + walk[step];
    base + usize::try_from(word).unwrap_or(0) * WORD
}

impl Core {
    /// Runs a program that fills from `memory` and drains there, or into `apart`. Gives its cycles.
    fn run(
        &mut self,
        program: &CoreProgram,
        memory: &mut [f32],
        from: Place<'_>,
        to: Place<'_>,
        apart: Option<&mut [f32]>,
    ) -> usize {
        self.fill(program.width, memory, from);
        let cycles = self.code(program);
        self.drain(program.width, apart.unwrap_or(memory), to);
        cycles
    }

    fn copy(
        &mut self,
        program: &CoreProgram,
        source: &[f32],
        from: Place<'_>,
        memory: &mut [f32],
        to: Place<'_>,
    ) -> usize {
        self.fill(program.width, source, from);
        let cycles = self.code(program);
        self.drain(program.width, memory, to);
        cycles
    }

    fn fill(&mut self, width: usize, memory: &[f32], from: Place<'_>) {
        for step in 0..width {
            let at = word(from, step);
            self.memory[step * WORD..(step + 1) * WORD].copy_from_slice(&memory[at..at + WORD]);
        }
        self.footprint = self.footprint.max(width);
    }

    fn drain(&mut self, width: usize, memory: &mut [f32], to: Place<'_>) {
        for step in 0..width {
            let at = word(to, step);
            memory[at..at + WORD].copy_from_slice(&self.memory[step * WORD..(step + 1) * WORD]);
        }
    }

    /// Everything between fill and drain, and the cycles of all.
    fn code(&mut self, program: &CoreProgram) -> usize {
        let words = program.vl / WORD;
        let mut cycles = 0;
        for &instruction in &program.instructions {
            cycles += instruction.cycles(program.vl);
            match instruction {
                Instruction::FillMasks { to } => self.masks(to, words),
                Instruction::Load { to, word, stride } => {
                    for i in 0..words {
                        let from = (word + i * stride) * WORD;
                        self.registers[to][i * WORD..(i + 1) * WORD].copy_from_slice(&self.memory[from..from + WORD]);
                    }
                }
                Instruction::Rotate { to, from, lanes } => {
                    let source = self.registers[from];
                    for i in 0..words {
                        for lane in 0..WORD {
                            self.registers[to][i * WORD + (lane + lanes) % WORD] = source[i * WORD + lane];
                        }
                    }
                }
                Instruction::Select { to, from, mask } => {
                    for i in 0..program.vl {
                        if self.registers[mask][i] > 0.0 {
                            self.registers[to][i] = self.registers[from][i];
                        }
                    }
                }
                Instruction::Store { from, word, stride } => {
                    for i in 0..words {
                        let to = (word + i * stride) * WORD;
                        self.memory[to..to + WORD].copy_from_slice(&self.registers[from][i * WORD..(i + 1) * WORD]);
                    }
                }
                // Fill and drain are done by the caller, who has the memory.
                Instruction::Constant(_)
                | Instruction::Mode(_)
                | Instruction::Fill { .. }
                | Instruction::Barrier
                | Instruction::Drain
                | Instruction::Halt => {}
            }
        }
        cycles
    }

    /// The masks of granules 1, 2 and 3, each as long as a register.
    fn masks(&mut self, to: usize, words: usize) {
        for mask in 0..MASK_COUNT {
            for lane in 0..words * WORD {
                let set = lane % WORD / GRANULE == mask + 1;
                self.memory[(to + mask * words) * WORD + lane] = if set { 1.0 } else { 0.0 };
            }
        }
        self.footprint = self.footprint.max(to + MASK_COUNT * words);
    }
}
