//! Files of other tuners: read into cohorts, and written from them.
//!
//! Pure: text in, typed rows out. [`unpack`] makes text of what a file holds, [`read`] makes [`Contents`] of it with the
//! [`Format`] that suits, [`draft`] makes a [`cohort::Draft`] of a [`Table`], and [`table_of`] a table of a cohort again.
//! A further format is one file and one line in [`FORMATS`].

mod above;
mod csv_cells;
mod csv_columns;
mod csv_file;
mod csv_rows;
mod csv_write;
mod error;
mod from_cohort;
mod json;
mod kernel_tuner;
mod markdown;
mod published;
mod registry;
mod source;
mod t1;
mod t4;
mod t4_write;
mod table;
mod timestamp;
mod to_cohort;
mod values;
mod words;

pub use csv_columns::{Column, Role, measured_in};
pub use csv_rows::{Rows, rows};
pub use csv_write::to_csv;
pub use error::ImportError;
pub use from_cohort::{ExportError, table_of};
pub use markdown::to_markdown;
pub use registry::{FORMATS, Format, Ranks, find, read, suiting};
pub use source::{Options, Part, Source, unpack};
pub use t4_write::to_t4;
pub use table::{Contents, Failed, Found, Row, Table};
pub use to_cohort::{Origin, draft};
