//! What a linear model is fitted on.

/// Rows of a linear model: for each observation the values of the terms, and what was measured. All finite.
#[derive(Debug, Clone, PartialEq)]
pub struct Design {
    terms: usize,
    /// Row by row.
    values: Vec<f64>,
    measured: Vec<f64>,
    /// What a difference is divided by, to weigh rows alike.
    scale: Vec<f64>,
}

/// Rows that are no design.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum DesignError {
    /// A row has another number of values than there are terms.
    #[error("row {row} has {found} values, expected {expected}")]
    Length {
        /// Position of the row.
        row: usize,
        /// Its values.
        found: usize,
        /// The terms.
        expected: usize,
    },
    /// A number is NaN or infinite, or a scale is zero.
    #[error("row {row} has a value that is not finite, or no scale")]
    NotFinite {
        /// Position of the row.
        row: usize,
    },
}

impl Design {
    /// A design without rows.
    #[must_use]
    pub fn new(terms: usize) -> Self {
        Self {
            terms,
            values: Vec::new(),
            measured: Vec::new(),
            scale: Vec::new(),
        }
    }

    /// Adds an observation that is weighed relative to what was measured, which is not zero.
    pub fn push(&mut self, values: &[f64], measured: f64) -> Result<(), DesignError> {
        self.push_scaled(values, measured, measured)
    }

    /// Adds an observation whose differences are divided by `scale`.
    pub fn push_scaled(&mut self, values: &[f64], measured: f64, scale: f64) -> Result<(), DesignError> {
        let row = self.measured.len();
        if values.len() != self.terms {
            return Err(DesignError::Length {
                row,
                found: values.len(),
                expected: self.terms,
            });
        }
        if !measured.is_finite() || !scale.is_finite() || scale == 0.0 || values.iter().any(|value| !value.is_finite())
        {
            return Err(DesignError::NotFinite { row });
        }
        self.values.extend_from_slice(values);
        self.measured.push(measured);
        self.scale.push(scale.abs());
        Ok(())
    }

    /// Number of terms.
    #[must_use]
    pub fn terms(&self) -> usize {
        self.terms
    }

    /// Number of observations.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.measured.len()
    }

    /// Values of the terms of one observation; empty beyond the last.
    #[must_use]
    pub fn row(&self, row: usize) -> &[f64] {
        self.values
            .get(row * self.terms..(row + 1) * self.terms)
            .unwrap_or_default()
    }

    /// What was measured, in order.
    #[must_use]
    pub fn measured(&self) -> &[f64] {
        &self.measured
    }

    /// What differences are divided by, in order.
    #[must_use]
    pub fn scale(&self) -> &[f64] {
        &self.scale
    }

    /// The model's value for one observation.
    #[must_use]
    pub fn predict(&self, row: usize, coefficients: &[f64]) -> f64 {
        self.row(row).iter().zip(coefficients).map(|(value, c)| value * c).sum()
    }

    /// The observations at these positions, in this order; one may stand there several times.
    #[must_use]
    pub fn select(&self, rows: &[usize]) -> Self {
        let mut selected = Self::new(self.terms);
        for row in rows.iter().filter(|row| **row < self.rows()) {
            selected.values.extend_from_slice(self.row(*row));
            selected.measured.push(self.measured[*row]);
            selected.scale.push(self.scale[*row]);
        }
        selected
    }
}
