//! A machine as far as bounds need it.

use serde::{Deserialize, Serialize};

use super::inventory::{Inventory, STORAGE_FORMATS};
use crate::definition::{DefinitionError, Source};

/// A machine file (TOML).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MachineFile {
    /// Its name.
    pub name: String,
    /// What it is, and where its figures come from.
    pub about: String,
    /// Multiplications with an addition that the whole machine can do per cycle.
    pub macs_per_cycle: f64,
    /// Clocks, in Hz.
    pub clock_hz: Vec<f64>,
    /// Bytes per cycle to and from memory, of the whole machine.
    pub bytes_per_cycle: Option<f64>,
    /// Bytes per second to and from memory, where it has a clock of its own.
    pub bytes_per_second: Option<f64>,
    /// Bytes of memory that weights must fit into.
    pub memory_bytes: Option<f64>,
    /// Shares of the peak that are reached. Default: all of it.
    #[serde(default = "whole")]
    pub efficiency: Vec<f64>,
}

fn whole() -> Vec<f64> {
    vec![1.0]
}

/// No network takes less time than this, on that machine at that clock and share of its peak.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Bound {
    /// The model, or the network's name for all of them.
    pub of: String,
    /// In Hz.
    pub clock_hz: f64,
    /// Share of the peak.
    pub efficiency: f64,
    /// How weights are stored.
    pub format: &'static str,
    /// Seconds of multiplications: MAC / (MAC per cycle x clock x efficiency).
    pub arithmetic_s: f64,
    /// Seconds of reading all weights once in each pass, where the machine's file says how fast.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weights_s: Option<f64>,
    /// The larger of both.
    pub seconds: f64,
    /// `derived`.
    pub label: &'static str,
}

impl MachineFile {
    /// Reads a machine file. `path` is only shown in messages.
    ///
    /// # Errors
    /// What can't be read, and numbers that are not above zero.
    pub fn parse(path: &str, text: &str) -> Result<Self, DefinitionError> {
        let source = Source {
            path: path.to_owned(),
            text: text.to_owned(),
        };
        let machine: Self = toml::from_str(text).map_err(|error| {
            let message = error.message().replace("expected f64", "expected a number");
            source.error(&error.span().unwrap_or(0..0), message)
        })?;
        let rates = [
            Some(machine.macs_per_cycle),
            machine.bytes_per_cycle,
            machine.bytes_per_second,
        ];
        let positive = |x: &f64| x.is_finite() && *x > 0.0;
        let lists = [("clock_hz", &machine.clock_hz), ("efficiency", &machine.efficiency)];
        for (key, list) in lists {
            if list.is_empty() || !list.iter().all(positive) {
                return Err(source.error(&place(text, key), format!("`{key}`: expected numbers above zero")));
            }
        }
        if let Some(wrong) = rates.into_iter().flatten().find(|x| !positive(x)) {
            return Err(source.error(&(0..0), format!("expected rates above zero, found {wrong}")));
        }
        if machine.efficiency.iter().any(|share| *share > 1.0) {
            return Err(source.error(
                &place(text, "efficiency"),
                "`efficiency`: expected shares of the peak, at most 1",
            ));
        }
        Ok(machine)
    }

    /// Bounds of each model and of the whole network, for each clock, share and storage format.
    #[must_use]
    pub fn bounds(&self, inventory: &Inventory) -> Vec<Bound> {
        let models = inventory.models.iter().map(|model| {
            let read = model.weights_read.saturating_mul(u128::from(model.passes));
            (model.name.clone(), model.macs_all, read)
        });
        let (macs, read) = models
            .clone()
            .fold((0, 0), |(macs, read): (u128, u128), (_, own, bytes)| {
                (macs.saturating_add(own), read.saturating_add(bytes))
            });
        let mut bounds = Vec::new();
        for (of, macs, read) in models.chain([(inventory.network.clone(), macs, read)]) {
            for &clock_hz in &self.clock_hz {
                for &efficiency in &self.efficiency {
                    for format in STORAGE_FORMATS {
                        let arithmetic_s = macs as f64 / (self.macs_per_cycle * clock_hz * efficiency);
                        let rate = self
                            .bytes_per_second
                            .or(self.bytes_per_cycle.map(|bytes| bytes * clock_hz));
                        let weights_s = rate.map(|rate| read as f64 * format.bytes_per_element / rate);
                        bounds.push(Bound {
                            of: of.clone(),
                            clock_hz,
                            efficiency,
                            format: format.name,
                            arithmetic_s,
                            weights_s,
                            seconds: weights_s.map_or(arithmetic_s, |weights| weights.max(arithmetic_s)),
                            label: "derived",
                        });
                    }
                }
            }
        }
        bounds
    }
}

/// Where a key stands in the text.
fn place(text: &str, key: &str) -> std::ops::Range<usize> {
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        if line.trim_start().starts_with(key) {
            return at..at + line.trim_end().len();
        }
        at += line.len();
    }
    0..0
}
