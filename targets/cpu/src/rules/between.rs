//! Rules between a product and the layout in which it finds its activations.

use crate::geometry::{GemmGeometry, Orientation, Output};
use crate::problem::{InputLayout, token_extent};
use crate::rules::{Verdict, refuse_if};

/// `swapped-in-place`: swapped products read tokens as vectors, so rows must be packed first.
#[must_use]
pub fn in_place(orientation: Orientation, in_place: bool, input: InputLayout) -> Verdict {
    let wrong = orientation == Orientation::Swapped && in_place && input == InputLayout::RowMajor;
    refuse_if(wrong, "swapped-in-place", || {
        "a swapped product reads vectors of tokens: row-major activations can't be read in place, pack them".to_owned()
    })
}

/// `input-packed`: what already lies in panels or tiles is read in place.
#[must_use]
pub fn packed(packed: bool, input: InputLayout) -> Verdict {
    refuse_if(packed && input != InputLayout::RowMajor, "input-packed", || {
        format!(
            "the input lies in {}: it is read in place, not packed again",
            input.words()
        )
    })
}

/// `panels-extent`: panels that the product before leaves are those that this one reads.
#[must_use]
pub fn panels_extent(geometry: &GemmGeometry, input: InputLayout) -> Verdict {
    let InputLayout::Panels { tokens } = input else {
        return None;
    };
    let own = token_extent(geometry);
    refuse_if(tokens != own, "panels-extent", || {
        format!("the input lies in panels of {tokens} tokens, this product reads panels of {own}")
    })
}

/// `tiles-output`: only a normal product leaves tiles of tokens by features.
#[must_use]
pub fn tiles_output(orientation: Orientation, output: Output) -> Verdict {
    refuse_if(
        orientation == Orientation::Swapped && output == Output::Tiles,
        "tiles-output",
        || "a swapped product can't leave tiles: they hold tokens as rows".to_owned(),
    )
}

/// `tiles-input`: tiles are read by a normal product of the same height.
#[must_use]
pub fn tiles_input(geometry: &GemmGeometry, input: InputLayout) -> Verdict {
    let InputLayout::Tiles { height, .. } = input else {
        return None;
    };
    let wrong = geometry.orientation == Orientation::Swapped || geometry.height != height;
    refuse_if(wrong, "tiles-input", || {
        format!(
            "the input lies in tiles of {height} rows: the product that reads them must be normal with height {height}, \
             not {} with {}",
            geometry.orientation, geometry.height
        )
    })
}
