//! Which byte order each statement pins on the buffers that it touches.

use planner::Refusal;

use crate::layout::Layout;
use crate::machine::{Drain, GROUP, Machine};
use crate::program::{BufferId, Conv, Gemm, Program, Reading, Statement, Work};

/// From this stage on a buffer lies in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pin {
    /// The stage.
    pub stage: usize,
    /// The order.
    pub layout: Layout,
}

/// Instances of a product along rows and columns.
#[must_use]
pub fn grid(rows: usize, columns: usize, tile: (usize, usize)) -> (usize, usize) {
    (
        rows.div_ceil(GROUP).div_ceil(tile.0),
        columns.div_ceil(GROUP).div_ceil(tile.1),
    )
}

struct Pins<'a> {
    program: &'a Program,
    machine: &'a Machine,
    of: Vec<Vec<Pin>>,
    /// The stage that touched each buffer last, and in which order.
    touched: Vec<Option<Pin>>,
}

/// The orders of every buffer, one entry for each change.
///
/// A cluster is filled from Entry (or from a padded plane) and drains Tile. A vector statement that folds rows wants
/// all its operands and its result Flat; one that does not takes the last order of the first operand that has one,
/// else Flat; a repeated operand is Flat. Fails where one stage wants one buffer in two orders, or where a buffer of the
/// caller would be wanted in two.
pub fn pins(program: &Program, machine: &Machine) -> Result<Vec<Vec<Pin>>, Refusal> {
    let mut pins = Pins {
        program,
        machine,
        of: vec![Vec::new(); program.buffers.len()],
        touched: vec![None; program.buffers.len()],
    };
    for (at, stage) in program.stages.iter().enumerate() {
        match &stage.work {
            Work::Gemm(gemm) => pins.gemm(at, gemm)?,
            Work::Conv(conv) => pins.conv(at, conv)?,
            Work::Vector(vector) => {
                for statement in &vector.statements {
                    pins.statement(at, statement)?;
                }
            }
        }
    }
    Ok(pins.of)
}

impl Pins<'_> {
    fn pin(&mut self, stage: usize, buffer: BufferId, layout: Layout) -> Result<(), Refusal> {
        use crate::program::Role;
        let of = self.program.of(buffer);
        layout.over(of.shape)?;
        let now = Pin { stage, layout };
        if let Some(other) = self.touched[buffer.0].replace(now)
            && other.stage == stage
            && other.layout != layout
        {
            return Err(Refusal::new(
                "two-orders",
                format!(
                    "stage `{}` wants `{}` as {} and as {layout}",
                    self.program.stages[stage].name, of.name, other.layout
                ),
            ));
        }
        let pins = &mut self.of[buffer.0];
        match pins.last() {
            Some(last) if last.layout == layout => return Ok(()),
            Some(last) if of.role != Role::Temporary => {
                return Err(Refusal::new(
                    "port-order",
                    format!(
                        "`{}` belongs to the caller and would be needed as {} and as {layout}: the caller hands it over \
                         in one order",
                        of.name, last.layout
                    ),
                ));
            }
            _ => pins.push(now),
        }
        Ok(())
    }

    fn gemm(&mut self, at: usize, gemm: &Gemm) -> Result<(), Refusal> {
        for term in &gemm.terms {
            let entry = |groups| Layout::Entry {
                groups,
                blocks: gemm.nk,
            };
            self.pin(at, term.a.buffer, entry(gemm.tile.0))?;
            self.pin(at, term.b.buffer, entry(gemm.tile.1))?;
        }
        let drained = self.drained(gemm.rows, gemm.columns, gemm.tile);
        self.pin(at, gemm.out, drained)?;
        if let Some(epilogue) = &gemm.epilogue {
            if let Some(bias) = epilogue.bias {
                self.pin(at, bias, Layout::ChannelBias { gn: gemm.tile.1 })?;
            }
            for full in &epilogue.full {
                self.pin(at, *full, drained)?;
            }
        }
        Ok(())
    }

    fn drained(&self, rows: usize, columns: usize, tile: (usize, usize)) -> Layout {
        match self.machine.drain {
            Drain::Rows => Layout::Flat,
            Drain::Tiles => Layout::Tile {
                grid: grid(rows, columns, tile),
                tile,
            },
        }
    }

    fn conv(&mut self, at: usize, conv: &Conv) -> Result<(), Refusal> {
        let (gm, step) = (conv.tile.0, conv.step);
        self.pin(at, conv.input, Layout::Conv { gm, step })?;
        let entry = Layout::Entry {
            groups: conv.tile.1,
            blocks: 1,
        };
        self.pin(at, conv.weights, entry)?;
        let (rows, columns) = self.program.of(conv.out).shape.rows_and_columns();
        let drained = self.drained(rows, columns, conv.tile);
        self.pin(at, conv.out, drained)
    }

    fn statement(&mut self, at: usize, statement: &Statement) -> Result<(), Refusal> {
        let views = statement.value.views();
        // A window of rows is only one where rows follow each other.
        let by_rows = |reading: Reading| matches!(reading, Reading::From(_) | Reading::First(_));
        let flat = statement.value.folds() || statement.first_row > 0 || views.iter().any(|view| by_rows(view.reading));
        let taken = views
            .iter()
            .filter(|view| view.reading == Reading::Whole)
            .find_map(|view| self.of[view.buffer.0].last());
        let layout = taken.filter(|_| !flat).map_or(Layout::Flat, |pin| pin.layout);
        for view in &views {
            let own = match view.reading {
                Reading::Whole => layout,
                _ => Layout::Flat,
            };
            self.pin(at, view.buffer, own)?;
        }
        self.pin(at, statement.target, layout)
    }
}
