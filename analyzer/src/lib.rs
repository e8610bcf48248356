//! Evaluation of estimates against measurements, tables and plots.
