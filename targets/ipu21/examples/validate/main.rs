//! Regenerates the validation of the unit model against published hardware measurements: a page in Markdown and plots.
//!
//! `cargo run --release -p layout-sweep-target-ipu21 --example validate -- FOLDER` writes `ipu21-validation.md` and SVGs;
//! with `search` behind the folder also `ipu21-search.md`, which takes as long again.

#![allow(clippy::disallowed_methods, reason = "an example may write files and read arguments")]

#[path = "../../tests/common/kernels.rs"]
mod formulas;

mod alternatives;
mod cases;
mod choice;
mod findings;
mod gather;
mod horizons;
mod kernels;
mod plot;
mod sweep;
mod whole;

use std::fmt::Write as _;
use std::path::Path;

/// What a section gives.
type Section = Result<String, Box<dyn std::error::Error>>;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::args().nth(1).ok_or("expected the folder to write to")?;
    let folder = Path::new(&folder);
    std::fs::create_dir_all(folder)?;
    let cases = cases::published()?;
    let mut page = String::from(HEAD);
    page += &kernels::section()?;
    page += &horizons::section(&cases)?;
    page += &gather::section()?;
    page += &whole::section(&cases, folder)?;
    page += &findings::section(&cases)?;
    page += &alternatives::section()?;
    page += &sweep::section(&cases, folder)?;
    std::fs::write(folder.join("ipu21-validation.md"), page)?;
    if std::env::args().nth(2).as_deref() == Some("search") {
        std::fs::write(folder.join("ipu21-search.md"), choice::section(&cases)?)?;
    }
    Ok(())
}

const HEAD: &str = "# The IPU21 unit model against published hardware

Written by `scripts/validate-ipu21`; every number is made anew from the code and from the fixtures in \
`targets/ipu21/tests/fixtures`.

* *published*: measured on hardware by others, or printed by their compiler (documents of the public repository \
`osmarks/ipu-stack`, August and September 2026);
* *simulated*: cycles that our unit model counts;
* *modelled*: an estimate of ours, made without running anything.

Errors are ours over theirs, less one. No hardware of this kind is at hand: nothing here was measured by us.
";

/// A table in Markdown.
pub(crate) fn table(header: &[&str], rows: &[Vec<String>]) -> String {
    let mut text = format!("\n| {} |\n|{}\n", header.join(" | "), "---|".repeat(header.len()));
    for row in rows {
        // Writing to a string can't fail.
        _ = writeln!(text, "| {} |", row.join(" | "));
    }
    text
}

/// 1234567 -> `1,234,567`.
pub(crate) fn number(n: usize) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Percent by which `ours` lies above `theirs`.
pub(crate) fn error(ours: usize, theirs: usize) -> f64 {
    100.0 * (ours as f64 / theirs as f64 - 1.0)
}
