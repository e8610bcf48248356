//! Byte orders: where each element of a tensor lies.
//!
//! An order maps a logical tensor onto a run of elements in memory, with padding and, for some, repetition. Everything
//! that is said about orders (which words of one stand whole in another, how long a run is, whether buffers may lie
//! back to back) is derived from that map.

mod compare;
mod conv_entry;
mod digits;
mod repeated;
#[cfg(test)]
mod tests;
mod traits;

pub use compare::{concatenated, differing, is_prefix, longest_run, stacked, whole_words};
pub use conv_entry::ConvEntry;
pub use digits::{Digits, Level};
pub use repeated::ChannelBias;
pub use traits::{ByteOrder, PADDING};
