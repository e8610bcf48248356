//! Everything about one product that follows from its geometry: extents of the computed product, panels, boundaries,
//! where the operands lie, how the result is stored. The generator and the rules read this; nothing here is a choice.

use crate::blocks::{boundaries, grain_boundaries, panels};
use crate::geometry::{Activation, Activations, CpuPlan, GemmGeometry, Orientation, Output, Staging, Weights};
use crate::isa::Isa;
use crate::problem::{Extents, InputLayout, Product, token_extent};
use crate::schedule::{Schedule, column_owner, computed, row_owner, schedule};

/// What the source of one object is a function of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct GemmContext<'a> {
    /// Instruction set.
    pub isa: Isa,
    /// Workers.
    pub threads: u32,
    /// Extents of the product.
    pub extents: Extents,
    /// Its geometry.
    pub geometry: &'a GemmGeometry,
    /// Where the activations come from.
    pub input: InputLayout,
}

/// The contexts of a plan's products, in order: each finds its activations as the one before leaves them.
#[must_use]
pub fn contexts<'a>(isa: Isa, products: &[Product], plan: &'a CpuPlan) -> Vec<GemmContext<'a>> {
    let mut previous = None;
    let geometries = plan.gemms.iter().map(|(_, geometry)| geometry);
    products
        .iter()
        .zip(geometries)
        .map(|(product, geometry)| GemmContext {
            isa,
            threads: plan.threads,
            extents: product.extents,
            geometry,
            input: InputLayout::after(previous.replace(geometry)),
        })
        .collect()
}

/// Where a micro-kernel operand lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operand {
    /// Panels `[inner][size]` in the buffer of that name.
    Panels {
        /// Member of `struct ls_buffers`.
        buffer: &'static str,
    },
    /// Weights `[inner][features]` as given, with a padded copy of the last panel if it is a partial one.
    WeightsInPlace,
    /// Activations `[tokens][inner]` as given.
    Rows,
    /// Tiles that the product before left.
    Tiles {
        /// Inner steps of one tile.
        width: u32,
    },
}

/// How a tile of the result lies in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Store {
    /// Rows and columns change places when the tile is stored.
    pub transposed: bool,
    /// Floats between rows of the tile (between its columns when transposed).
    pub stride: u64,
    /// Floats from one row panel to the next.
    pub row_panel: u64,
    /// Floats from one column panel to the next.
    pub column_panel: u64,
    /// Rows beyond the last one must not be written.
    pub clip_rows: bool,
    /// Columns beyond the last one must not be written.
    pub clip_columns: bool,
    /// Floats of the whole result, padding included.
    pub floats: u64,
    /// Floats per token in a run of whole token panels.
    pub floats_per_token: u64,
}

/// The derived numbers of one product.
#[derive(Debug, Clone)]
pub struct Facts<'a> {
    /// What they derive from.
    pub context: GemmContext<'a>,
    /// Rows of the computed product.
    pub rows: u32,
    /// Columns of the computed product.
    pub columns: u32,
    /// Vectors in one row of the micro-kernel.
    pub vectors: u32,
    /// Inner steps per iteration: `unroll`, or the producer's width when the input lies in tiles.
    pub unroll: u32,
    /// Row panels.
    pub row_panels: u32,
    /// Column panels.
    pub column_panels: u32,
    /// Boundaries of the row blocks, in panels.
    pub row_at: Vec<u32>,
    /// Boundaries of the column blocks, in panels.
    pub column_at: Vec<u32>,
    /// Boundaries of the inner blocks, in elements.
    pub inner_at: Vec<u32>,
    /// The broadcast operand.
    pub broadcast: Operand,
    /// The vector operand.
    pub vector: Operand,
    /// Segments of the inner axis that the micro-kernel walks side by side (see [`segments`]).
    pub segments: u32,
    /// The result.
    pub store: Store,
    /// Partials that lie side by side: all inner blocks, or a batch; `None` when streamed.
    pub batch: Option<u32>,
    /// Who does what.
    pub schedule: Schedule,
}

impl<'a> Facts<'a> {
    /// Derives the facts of a legal geometry.
    #[must_use]
    pub fn new(context: GemmContext<'a>) -> Self {
        let GemmContext {
            isa,
            threads,
            extents,
            geometry,
            input,
        } = context;
        let (rows, columns) = computed(extents, geometry.orientation);
        let row_panels = panels(rows, geometry.height);
        let column_panels = panels(columns, geometry.width);
        let unroll = grain(geometry, input);
        let (broadcast, vector) = operands(geometry, input);
        let segments = segments(isa, geometry, input);
        Self {
            context,
            segments,
            rows,
            columns,
            vectors: geometry.width / isa.lanes(),
            unroll,
            row_panels,
            column_panels,
            row_at: boundaries(row_panels, geometry.rows),
            column_at: boundaries(column_panels, geometry.columns),
            inner_at: grain_boundaries(extents.inner, unroll, geometry.inner),
            broadcast,
            vector,
            store: store(geometry, extents),
            batch: match geometry.staging {
                Staging::Streamed => None,
                Staging::Complete => Some(geometry.inner),
                Staging::Batch(n) => Some(n),
            },
            schedule: schedule(geometry, extents, threads),
        }
    }

    /// Whether the transposed product is computed.
    #[must_use]
    pub fn swapped(&self) -> bool {
        self.context.geometry.orientation == Orientation::Swapped
    }

    /// Whether the element-wise step is applied to the stored tile.
    #[must_use]
    pub fn fused(&self) -> bool {
        self.context.geometry.activation == Some(Activation::Fused)
    }

    /// Whether activations are packed inside the timed span.
    #[must_use]
    pub fn packs(&self) -> bool {
        self.context.geometry.activations == Activations::Packed
    }

    /// Features that one micro-kernel covers, hence the size of a weight panel.
    #[must_use]
    pub fn feature_extent(&self) -> u32 {
        if self.swapped() {
            self.context.geometry.height
        } else {
            self.context.geometry.width
        }
    }

    /// Tokens that one micro-kernel covers.
    #[must_use]
    pub fn token_extent(&self) -> u32 {
        token_extent(self.context.geometry)
    }

    /// Token panels.
    #[must_use]
    pub fn token_panels(&self) -> u32 {
        panels(self.context.extents.tokens, self.token_extent())
    }

    /// Batches of partials: 0 when streamed.
    #[must_use]
    pub fn batches(&self) -> u32 {
        self.batch.map_or(0, |n| self.context.geometry.inner.div_ceil(n))
    }

    /// Floats of `panels`: all weights in panels, or only a padded last panel.
    #[must_use]
    pub fn panel_floats(&self) -> u64 {
        let Extents { inner, features, .. } = self.context.extents;
        let size = self.feature_extent();
        let count = match self.context.geometry.weights {
            Weights::Panels => panels(features, size),
            Weights::RowMajor => u32::from(features % size != 0),
        };
        u64::from(count) * u64::from(size) * u64::from(inner)
    }

    /// Floats of `packed`.
    #[must_use]
    pub fn packed_floats(&self) -> u64 {
        let floats = u64::from(self.token_panels()) * u64::from(self.token_extent());
        if self.packs() {
            floats * u64::from(self.context.extents.inner)
        } else {
            0
        }
    }

    /// Floats of `scratch`: one tile per row panel, column panel and partial of a batch.
    #[must_use]
    pub fn scratch_floats(&self) -> u64 {
        let tile = u64::from(self.context.geometry.height) * u64::from(self.context.geometry.width);
        let tiles = u64::from(self.row_panels) * u64::from(self.column_panels);
        u64::from(self.batch.unwrap_or(0)) * tiles * tile
    }

    /// Floats of the input that may be read, padding included.
    #[must_use]
    pub fn input_floats(&self) -> u64 {
        let Extents { tokens, inner, .. } = self.context.extents;
        let padded = |tokens: u32, size: u32| u64::from(panels(tokens, size)) * u64::from(size);
        match self.context.input {
            InputLayout::RowMajor if self.packs() => u64::from(tokens) * u64::from(inner),
            InputLayout::RowMajor => padded(tokens, self.token_extent()) * u64::from(inner),
            InputLayout::Panels { tokens: size } => padded(tokens, size) * u64::from(inner),
            InputLayout::Tiles { height, width } => padded(tokens, height) * padded(inner, width),
        }
    }

    /// Boundaries of the token axis' blocks in tokens, with the worker that owns each block alone.
    #[must_use]
    pub fn token_blocks(&self) -> (Vec<u32>, Vec<Option<u32>>) {
        let GemmContext {
            threads,
            geometry,
            extents,
            ..
        } = self.context;
        let at = if self.swapped() { &self.column_at } else { &self.row_at };
        let starts = at
            .iter()
            .map(|panel| (panel * self.token_extent()).min(extents.tokens))
            .collect();
        let owners = if self.swapped() {
            (0..geometry.columns)
                .map(|block| column_owner(geometry, threads, block))
                .collect()
        } else {
            (0..geometry.rows)
                .map(|block| row_owner(geometry, threads, block))
                .collect()
        };
        (starts, owners)
    }

    /// Panels of the smallest row block and of the smallest column block.
    #[must_use]
    pub fn smallest_block(&self) -> (u32, u32) {
        (
            self.row_panels / self.context.geometry.rows,
            self.column_panels / self.context.geometry.columns,
        )
    }
}

/// Inner steps that block boundaries and the unrolled loop are counted in.
#[must_use]
pub fn grain(geometry: &GemmGeometry, input: InputLayout) -> u32 {
    match input {
        InputLayout::Tiles { width, .. } => width,
        InputLayout::RowMajor | InputLayout::Panels { .. } => geometry.unroll,
    }
}

/// The broadcast and the vector operand of the micro-kernel.
fn operands(geometry: &GemmGeometry, input: InputLayout) -> (Operand, Operand) {
    let (activations, weights) = (activations_operand(geometry, input), weights_operand(geometry));
    match geometry.orientation {
        Orientation::Normal => (activations, weights),
        Orientation::Swapped => (weights, activations),
    }
}

/// Segments of the inner axis that the micro-kernel walks side by side (see [`Isa::segments`]): one, unless weights or
/// activations in panels are the vector operand, and panels or rows the other.
#[must_use]
pub fn segments(isa: Isa, geometry: &GemmGeometry, input: InputLayout) -> u32 {
    let (broadcast, vector) = operands(geometry, input);
    if matches!(vector, Operand::Panels { .. }) && matches!(broadcast, Operand::Panels { .. } | Operand::Rows) {
        isa.segments(geometry.height, geometry.width, grain(geometry, input))
    } else {
        1
    }
}

fn activations_operand(geometry: &GemmGeometry, input: InputLayout) -> Operand {
    match (geometry.activations, input) {
        (Activations::Packed, _) => Operand::Panels { buffer: "packed" },
        (Activations::InPlace, InputLayout::RowMajor) => Operand::Rows,
        (Activations::InPlace, InputLayout::Panels { .. }) => Operand::Panels { buffer: "input" },
        (Activations::InPlace, InputLayout::Tiles { width, .. }) => Operand::Tiles { width },
    }
}

fn weights_operand(geometry: &GemmGeometry) -> Operand {
    match geometry.weights {
        Weights::Panels => Operand::Panels { buffer: "panels" },
        Weights::RowMajor => Operand::WeightsInPlace,
    }
}

fn store(geometry: &GemmGeometry, extents: Extents) -> Store {
    let (height, width) = (u64::from(geometry.height), u64::from(geometry.width));
    let (tokens, features) = (u64::from(extents.tokens), u64::from(extents.features));
    let swapped = geometry.orientation == Orientation::Swapped;
    let (rows, columns) = if swapped {
        (features, tokens)
    } else {
        (tokens, features)
    };
    let (odd_rows, odd_columns) = (rows % height != 0, columns % width != 0);
    let padded_tokens = tokens.next_multiple_of(u64::from(token_extent(geometry)));
    match (geometry.output, swapped) {
        (Output::RowMajor, false) => Store {
            transposed: false,
            stride: features,
            row_panel: height * features,
            column_panel: width,
            clip_rows: odd_rows,
            clip_columns: odd_columns,
            floats: tokens * features,
            floats_per_token: features,
        },
        (Output::RowMajor, true) => Store {
            transposed: true,
            stride: features,
            row_panel: height,
            column_panel: width * features,
            clip_rows: odd_rows,
            clip_columns: odd_columns,
            floats: tokens * features,
            floats_per_token: features,
        },
        // Panels of tokens: the computed rows are tokens, so a tile turns on its way out.
        (Output::Panels, false) => Store {
            transposed: true,
            stride: height,
            row_panel: height * features,
            column_panel: width * height,
            clip_rows: false,
            clip_columns: odd_columns,
            floats: padded_tokens * features,
            floats_per_token: features,
        },
        (Output::Panels, true) => Store {
            transposed: false,
            stride: width,
            row_panel: height * width,
            column_panel: width * features,
            clip_rows: odd_rows,
            clip_columns: false,
            floats: padded_tokens * features,
            floats_per_token: features,
        },
        (Output::Tiles, _) => {
            let padded_features = features.next_multiple_of(width);
            Store {
                transposed: false,
                stride: width,
                row_panel: height * padded_features,
                column_panel: height * width,
                clip_rows: false,
                clip_columns: false,
                floats: padded_tokens * padded_features,
                floats_per_token: padded_features,
            }
        }
    }
}
