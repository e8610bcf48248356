//! Fixed sizes of the IPU21 tile array, as published.

/// Tiles of the array.
pub const TILES: usize = 1472;
/// Operations of a tile's matrix unit in one cycle, in F16: 64 multiply-adds.
pub const TILE_FLOPS: usize = 128;
/// Columns of one coefficient panel, and its depth: one pass of the matrix unit takes a 16 x 16 panel.
pub const PANEL: usize = 16;
/// Rows of one block in which rows are dealt out: two F16 elements are one exchange word.
pub const ROW_BLOCK: usize = 2;
/// Bytes of one F16 element.
pub const ELEMENT_BYTES: usize = 2;
/// Bytes of one exchange word.
pub const WORD_BYTES: usize = 4;
/// Most words of one transfer; longer ones are split.
pub const TRANSFER_WORDS: usize = 4148;

/// First byte of the interleaved region, and end of the standard one.
pub const INTERLEAVED_BASE: usize = 0x8_0000;
/// Bytes that planned data may take in the interleaved region.
pub const INTERLEAVED_BYTES: usize = 424_880;
/// Bytes that planned data may take in the standard region.
pub const STANDARD_BYTES: usize = 162_080;
/// Bytes that planned data may take in all.
pub const DATA_BYTES: usize = STANDARD_BYTES + INTERLEAVED_BYTES;
/// Bytes that tables, code, host and profile are expected to need.
pub const SUPPORT_BYTES: usize = 49_152;
/// One memory element of the standard region: it serves one access at a time.
pub const STANDARD_ELEMENT: usize = 16 * 1024;
/// One memory element of the interleaved region (two standard ones that work as a pair).
pub const INTERLEAVED_ELEMENT: usize = 32 * 1024;
/// Bytes past its end that the matrix unit reads of a left operand.
pub const LEFT_TAIL_BYTES: usize = 16;
