//! Running a compiled program on data.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use super::compile::Compiled;
use super::data::Data;
use super::machine::Machine;
use super::{kernels, replay};
use crate::beyond::Sum;
use crate::device::{ELEMENT_BYTES, PANEL, WORD_BYTES};
use crate::geometry::Memory;
use crate::half;
use crate::program::Program;
use crate::traffic::{Buffer, Intersection, PhaseKind, Place, deliveries, intersections, pieces};

/// The result, row-major `rows x columns` of the last product. Words move only by the schedule.
#[must_use]
pub fn run(compiled: &Compiled, data: &Data) -> Vec<f32> {
    let program = &compiled.program;
    let mut machine = Machine::new();
    load(program, data, &mut machine);
    for (phase, schedule) in compiled.phases.iter().zip(&compiled.schedules) {
        for d in replay::replay(&phase.transfers, schedule) {
            let words = machine.run(d.source, d.from, d.words * WORD_BYTES / ELEMENT_BYTES);
            machine.write(d.destination, d.to, &words);
        }
        let at = phase.product;
        match phase.kind {
            PhaseKind::Weights | PhaseKind::Gather => {
                gemm(program, at, &mut machine);
                machine.discard(Buffer::Weights(at));
                machine.discard(Buffer::Resident(at));
                if let Some(before) = at.checked_sub(1) {
                    machine.discard(Buffer::Result(before));
                }
            }
            PhaseKind::Reduction(stage) => {
                let all = intersections(program, at);
                reduce(program, at, &all, stage, &mut machine);
                let last = all.first().is_none_or(|x| stage + 1 == x.stages.len());
                if last {
                    finish(program, at, &all, &mut machine);
                    machine.discard(Buffer::Partial(at));
                    machine.discard(Buffer::Scratch(at));
                }
            }
        }
    }
    unload(program, &machine)
}

/// Columns `columns` of rows `rows` of a row-major matrix as `[panel][row][16]`; zero outside `extents`.
fn panels(matrix: &[f32], extents: [usize; 2], rows: &Range<usize>, columns: &Range<usize>) -> Vec<f32> {
    let mut block = Vec::with_capacity(rows.len() * columns.len());
    for start in columns.clone().step_by(PANEL) {
        for row in rows.clone() {
            block.extend((start..start + PANEL).map(|column| element(matrix, extents, row, column)));
        }
    }
    block
}

fn element(matrix: &[f32], [rows, columns]: [usize; 2], row: usize, column: usize) -> f32 {
    if row < rows && column < columns {
        matrix[row * columns + column]
    } else {
        0.0
    }
}

/// The host delivers activations to every tile that computes with them, and weights to their owners.
fn load(program: &Program, data: &Data, machine: &mut Machine) {
    let Some(first) = program.products.first() else { return };
    let s = &first.shards;
    let extents = [s.rows.extent(), s.inner.extent()];
    let mut blocks = BTreeMap::new();
    for cell in s.cells() {
        let block = blocks.entry((cell.row, cell.inner)).or_insert_with(|| {
            let (rows, columns) = (s.rows.range(cell.row), s.inner.range(cell.inner));
            Arc::new(panels(&data.input, extents, &rows, &columns))
        });
        machine.share(program.mapping[s.compute_tile(cell)], Buffer::Left(0), block);
    }
    for (at, (product, weights)) in program.products.iter().zip(&data.weights).enumerate() {
        let s = &product.shards;
        let extents = [s.inner.extent(), s.columns.extent()];
        for delivery in deliveries(program, at) {
            let columns = s.columns.range(delivery.column);
            let rows = s.inner.range(delivery.inner);
            let shard = rows.flat_map(|row| columns.clone().map(move |column| (row, column)));
            let shard = shard
                .map(|(row, column)| element(weights, extents, row, column))
                .collect();
            machine.put(delivery.owner, Buffer::Resident(at), shard);
        }
    }
}

fn gemm(program: &Program, at: usize, machine: &mut Machine) {
    let product = &program.products[at];
    let s = &product.shards;
    for delivery in deliveries(program, at)
        .into_iter()
        .filter(|delivery| delivery.local_copy)
    {
        let shard = machine.read(delivery.owner, Buffer::Resident(at)).to_vec();
        machine.put(delivery.owner, Buffer::Weights(at), shard);
    }
    for cell in s.cells() {
        let tile = program.mapping[s.compute_tile(cell)];
        let in_place = product.geometry.memory == Memory::Interleaved
            && program.weight_owner(product, cell.inner, cell.column) == tile;
        let weights = if in_place {
            Buffer::Resident(at)
        } else {
            Buffer::Weights(at)
        };
        let (rows, columns) = (s.rows.range(cell.row).len(), s.columns.range(cell.column).len());
        // Read to their full extents: words that never arrived are not numbers.
        let inner = s.inner.range(cell.inner).len();
        let left = machine.run(tile, place(Buffer::Left(at), 0), rows * inner);
        let weights = machine.run(tile, place(weights, 0), inner * columns);
        let partial = kernels::gemm(&left, &weights, rows, columns);
        machine.forget(tile, Buffer::Left(at));
        machine.put(tile, Buffer::Partial(at), partial);
    }
}

/// Moves `panels` runs of `rows` rows: from every `from_rows` rows to every `to_rows` rows.
fn copy(machine: &mut Machine, tile: usize, from: Place, to: Place, shape: [usize; 4]) {
    let [panels, rows, from_rows, to_rows] = shape;
    let line = PANEL * ELEMENT_BYTES;
    for panel in 0..panels {
        let at = |place: Place, rows: usize| Place {
            offset: place.offset + panel * rows * line,
            ..place
        };
        let run = machine.run(tile, at(from, from_rows), rows * PANEL);
        machine.write(tile, at(to, to_rows), &run);
    }
}

fn place(buffer: Buffer, elements: usize) -> Place {
    Place {
        buffer,
        offset: elements * ELEMENT_BYTES,
    }
}

/// Element of a `[panel][row][16]` block.
fn offset(row: usize, column: usize, rows: usize) -> usize {
    column * rows + row * PANEL
}

fn reduce(program: &Program, at: usize, all: &[Intersection], stage: usize, machine: &mut Machine) {
    let s = &program.products[at].shards;
    for x in all {
        let (panels, rows) = (x.panels(), x.rows.len());
        let seed = Place {
            buffer: Buffer::Scratch(at),
            offset: x.scratch,
        };
        if stage == 0 && x.seed_is_local {
            let compute = s.rows.range(x.row);
            let first = s.columns.range(x.column).start;
            let from = offset(x.rows.start - compute.start, x.columns.start - first, compute.len());
            copy(
                machine,
                x.owner,
                place(Buffer::Partial(at), from),
                seed,
                [panels, rows, compute.len(), rows],
            );
        }
        let partials = x.stages[stage].len() + 1;
        let mut slots = machine.run(x.owner, seed, partials * x.elements());
        match program.products[at].geometry.beyond.sum {
            Sum::Chain => kernels::reduce(&mut slots, x.elements(), partials),
            Sum::Tree => kernels::reduce_tree(&mut slots, x.elements(), partials),
        }
        machine.write(x.owner, seed, &slots[..x.elements()]);
    }
}

fn finish(program: &Program, at: usize, all: &[Intersection], machine: &mut Machine) {
    let product = &program.products[at];
    for x in all {
        let to = offset(
            x.rows.start - x.owned_row,
            x.columns.start - x.owned_column,
            x.owned_rows,
        );
        let from = Place {
            buffer: Buffer::Scratch(at),
            offset: x.scratch,
        };
        let shape = [x.panels(), x.rows.len(), x.rows.len(), x.owned_rows];
        copy(machine, x.owner, from, place(Buffer::Result(at), to), shape);
    }
    if product.gelu {
        let owners: BTreeSet<usize> = all.iter().map(|x| x.owner).collect();
        for tile in owners {
            let mut shard = machine.take(tile, Buffer::Result(at));
            for x in &mut shard {
                *x = half::gelu(*x);
            }
            machine.put(tile, Buffer::Result(at), shard);
        }
    }
    if at + 1 < program.products.len() {
        clear(program, at + 1, machine);
        for piece in pieces(program, at).into_iter().filter(|piece| piece.local) {
            copy(machine, piece.source, piece.from, piece.to, [1, piece.rows, 0, 0]);
        }
    }
}

/// Clears what no piece of the gather covers: padding rows, and panels past the end of the inner axis.
fn clear(program: &Program, next: usize, machine: &mut Machine) {
    let s = &program.products[next].shards;
    for cell in s.cells() {
        let tile = program.mapping[s.compute_tile(cell)];
        let rows = s.rows.range(cell.row).len();
        machine.reserve(tile, Buffer::Left(next), rows * s.inner.range(cell.inner).len());
        let covered = s.rows.logical(cell.row).len();
        let filled = s.inner.logical(cell.inner).len().next_multiple_of(PANEL);
        for column in (0..s.inner.range(cell.inner).len()).step_by(PANEL) {
            let from = if column < filled { covered } else { 0 };
            let zeros = vec![0.0; (rows - from) * PANEL];
            machine.write(tile, place(Buffer::Left(next), offset(from, column, rows)), &zeros);
        }
    }
}

fn unload(program: &Program, machine: &Machine) -> Vec<f32> {
    let Some((at, product)) = program.products.iter().enumerate().next_back() else {
        return Vec::new();
    };
    let s = &product.shards;
    let (height, width) = (s.rows.extent(), s.columns.extent());
    let mut result = vec![f32::NAN; height * width];
    for a in 0..s.result_rows.parts() {
        for b in 0..s.result_columns.parts() {
            let shard = machine.read(program.mapping[s.owner_tile(a, b)], Buffer::Result(at));
            let (rows, first) = (s.result_rows.range(a).len(), s.result_columns.range(b).start);
            for row in s.result_rows.logical(a) {
                for column in s.result_columns.logical(b) {
                    let panel = (column - first) / PANEL * PANEL;
                    let at = offset(row - s.result_rows.range(a).start, panel, rows) + (column - first) % PANEL;
                    result[row * width + column] = shard.get(at).copied().unwrap_or(f32::NAN);
                }
            }
        }
    }
    result
}
