//! Prints every published figure beside what this crate computes: `cargo run --release --example published`.

#![expect(clippy::print_stdout, reason = "it is there to print")]
#![allow(missing_docs, clippy::missing_panics_doc, reason = "an example")]

mod accuracy;
mod all;
mod blocks;
mod conversions;
mod figure;
mod inventory;
mod layouts;
mod network;
#[path = "../../tests/reference/mod.rs"]
mod reference;
mod timings;
mod whatif;

fn main() {
    print!("{}", all::table(&all::rows()));
}
