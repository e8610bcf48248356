//! What a conversion costs, by the published formulas.

use super::plan::{Kind, Relayout};

/// Cycles and flits of one conversion.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Price {
    /// Cycles on one vector core.
    pub cycles: usize,
    /// Flits sent to it.
    pub flits: usize,
}

/// Cycles per run, and once: the image, descriptors, and their reset.
fn parts(plan: &Relayout) -> (usize, usize) {
    let w = plan.width;
    match plan.kind {
        Kind::Word => (14 + 2, 24),
        Kind::Granule if w.is_multiple_of(32) => (43 + 9 * w + 2, 63 + 36 * (w / 32)),
        Kind::Granule => (27 + 9 * w + 2, 63 + 36 * (w / 16)),
    }
}

/// Runs and cycles of the copy home of a conversion that is not done in place.
fn copy(plan: &Relayout) -> (usize, usize) {
    if plan.in_place {
        return (0, 0);
    }
    (plan.words / plan.copy_width() * plan.batch, 24)
}

/// Flits of the conversion itself: the constant ones, and three for each run.
pub(super) fn flits(plan: &Relayout) -> usize {
    let (_, once) = parts(plan);
    let once = match plan.kind {
        Kind::Word => once,
        Kind::Granule => 63 + 36 * plan.width.div_ceil(32),
    };
    once + 3 * plan.runs()
}

/// The price of a conversion, on one core: `24 + 16 R` for words, `R (43 + 9 w) + 63 + 36 w / 32 + 2 R` for granules
/// (`R (27 + 9 w) + 63 + 36 w / 16 + 2 R` for half-width registers), and `24 + 16 R` for a copy home.
#[must_use]
pub fn price(plan: &Relayout) -> Price {
    dealt(plan, 1)
}

/// The price where runs are dealt over so many cores: each gets the image and its share of the runs. Flits are those of
/// all cores.
#[must_use]
pub fn dealt(plan: &Relayout, cores: usize) -> Price {
    let (run, once) = parts(plan);
    let (copies, copy_once) = copy(plan);
    let share = |runs: usize| runs.div_ceil(cores.max(1));
    let used = |runs: usize| runs.min(cores.max(1));
    Price {
        cycles: once + share(plan.runs()) * run + copy_once + share(copies) * 16,
        flits: used(plan.runs()) * once + 3 * plan.runs() + used(copies) * copy_once + 3 * copies,
    }
}
