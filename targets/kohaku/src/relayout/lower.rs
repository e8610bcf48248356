//! Conversions as programs of a vector core.

use super::plan::{Kind, Mode, Relayout};
use super::program::{CoreProgram, Instruction};
use super::walk::Dimension;
use crate::machine::{VECTOR, WORD};

/// Flits of descriptors: 8 dimensions and 8 resets for words, 43 with the table of masks and its fill.
const WORD_DESCRIPTORS: usize = 16;
const GRANULE_DESCRIPTORS: usize = 43;
/// First register of the results, register for a rotated word, first register of the masks.
const RESULTS: usize = 4;
const ROTATED: usize = 8;
const MASKS: usize = 12;
/// Masks: one for each granule but the first.
pub(super) const MASK_COUNT: usize = 3;

/// The programs of a conversion, in order: one, and a copy home where it is not done in place.
///
/// Runs count words of one batch element; the caller repeats them for every batch element.
#[must_use]
pub fn lower(plan: &Relayout) -> Vec<CoreProgram> {
    let contiguous = |width: usize| {
        vec![Dimension {
            stride: 1,
            bound: width,
        }]
    };
    let walked = plan.starts.iter().map(|&start| start as usize);
    let straight = (0..plan.starts.len()).map(|run| run * plan.width);
    let (fill, drain, runs) = match plan.mode {
        Mode::Drain => (
            contiguous(plan.width),
            plan.walk.clone(),
            straight.zip(walked).collect(),
        ),
        Mode::Fill => (
            plan.walk.clone(),
            contiguous(plan.width),
            walked.zip(straight).collect(),
        ),
    };
    let mut programs = vec![match plan.kind {
        Kind::Word => words(plan.width, fill, drain, runs),
        Kind::Granule => granules(plan.width, fill, drain, runs),
    }];
    if !plan.in_place {
        let width = plan.copy_width();
        let runs = (0..plan.words / width).map(|run| (run * width, run * width)).collect();
        programs.push(words(width, contiguous(width), contiguous(width), runs));
    }
    programs
}

fn words(width: usize, fill: Vec<Dimension>, drain: Vec<Dimension>, runs: Vec<(usize, usize)>) -> CoreProgram {
    CoreProgram {
        vl: VECTOR,
        width,
        instructions: vec![
            Instruction::Constant(0),
            Instruction::Mode(0),
            Instruction::Mode(1),
            Instruction::Fill { to: 0 },
            Instruction::Barrier,
            Instruction::Drain,
            Instruction::Halt,
        ],
        descriptor_flits: WORD_DESCRIPTORS,
        fill,
        drain,
        runs,
    }
}

/// The lane pass: registers take every fourth word of 8 groups (4 at half width), 16 rotations bring each granule to
/// its lanes, 12 selections put the words together.
fn granules(width: usize, fill: Vec<Dimension>, drain: Vec<Dimension>, runs: Vec<(usize, usize)>) -> CoreProgram {
    let vl = if width.is_multiple_of(32) { VECTOR } else { VECTOR / 2 };
    let per_register = vl / WORD;
    let mut code: Vec<Instruction> = (0..5).map(Instruction::Constant).collect();
    code.extend([
        Instruction::Mode(0),
        Instruction::Mode(1),
        Instruction::FillMasks { to: width },
        Instruction::Fill { to: 0 },
        Instruction::Barrier,
    ]);
    code.extend((0..MASK_COUNT).map(|mask| Instruction::Load {
        to: MASKS + mask,
        word: width + mask * per_register,
        stride: 1,
    }));
    for base in (0..width).step_by(4 * per_register) {
        code.extend((0..4).map(|word| Instruction::Load {
            to: word,
            word: base + word,
            stride: 4,
        }));
        for out in 0..4 {
            for from in 0..4 {
                let to = if from == 0 { RESULTS + out } else { ROTATED };
                let lanes = (4 + from - out) % 4 * 4;
                code.push(Instruction::Rotate { to, from, lanes });
                if from > 0 {
                    code.push(Instruction::Select {
                        to: RESULTS + out,
                        from: ROTATED,
                        mask: MASKS + from - 1,
                    });
                }
            }
        }
        code.extend((0..4).map(|word| Instruction::Store {
            from: RESULTS + word,
            word: base + word,
            stride: 4,
        }));
    }
    code.extend([Instruction::Drain, Instruction::Halt]);
    CoreProgram {
        vl,
        width,
        instructions: code,
        descriptor_flits: GRANULE_DESCRIPTORS,
        fill,
        drain,
        runs,
    }
}
