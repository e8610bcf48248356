//! From profiles to a database: what counts, and what is left out and why.

use std::collections::BTreeMap;

use planner::Value;
use target_api::{Clock, KernelProfile, KernelSample};

use crate::OBJECTIVE;
use crate::database::{Database, Key, SampleSource};
use crate::error::CalibrateError;

/// Samples that are merged without a certificate that all calls were alike.
const MERGED: &str = "merged without a certificate of identical symbols and arguments";
/// Merged samples whose arguments are not told.
const UNNAMED: &str = "merged without arguments";
/// Samples during a disturbance.
const DISTURBED: &str = "during a disturbance";
/// Values that are no time.
const NO_TIME: &str = "not a positive number";

/// What a source gave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gathered {
    /// Samples that count.
    pub counted: u64,
    /// Samples that were left out.
    pub excluded: u64,
}

impl Database {
    /// Records a source and its machine; it must not be there yet.
    pub fn begin(&mut self, source: SampleSource, machine: &BTreeMap<String, String>) -> Result<(), CalibrateError> {
        if self.has(&source.sha256) {
            return Err(CalibrateError::SourceTwice { path: source.path });
        }
        for (name, value) in machine {
            self.machine_fact(name, value);
        }
        self.sources.push(source);
        self.sources.sort();
        Ok(())
    }

    /// Adds the samples of one profile of `source`, which has begun.
    ///
    /// A sample of several calls counts only if metadata certifies that all had the same symbol and scalar arguments, and
    /// then as so many calls of equal length; one whose arguments are not told counts only alone. Samples during a
    /// disturbance never count. Each exclusion is counted under its name.
    pub fn gather(&mut self, source: &SampleSource, profile: &KernelProfile) -> Result<Gathered, CalibrateError> {
        self.same_clock(&source.path, &profile.clock)?;
        let mut gathered = Gathered {
            counted: 0,
            excluded: 0,
        };
        for sample in &profile.samples {
            if let Some(why) = exclusion(sample) {
                self.exclude(why, sample.times);
                gathered.excluded += sample.times;
                continue;
            }
            let key = Key {
                kernel: sample.kernel.clone(),
                arguments: sample.arguments.clone().unwrap_or_default(),
                logical: sample.logical.clone(),
                physical: sample.physical.clone(),
                build: source.build.clone(),
            };
            self.add(key, &[(sample.value / sample.calls as f64, sample.times)]);
            gathered.counted += sample.times;
        }
        Ok(gathered)
    }

    /// Adds whole plans of `source`, which has begun: for each its attributes (the workload's name among them, where there
    /// are several), its undisturbed values, and how many were disturbed.
    pub fn gather_objective(
        &mut self,
        source: &SampleSource,
        clock: &Clock,
        plans: impl IntoIterator<Item = (BTreeMap<String, Value>, Vec<f64>, u64)>,
    ) -> Result<(), CalibrateError> {
        self.same_clock(&source.path, clock)?;
        for (arguments, values, disturbed) in plans {
            if disturbed > 0 {
                self.exclude(DISTURBED, disturbed);
            }
            let key = Key {
                kernel: OBJECTIVE.to_owned(),
                arguments,
                logical: BTreeMap::new(),
                physical: BTreeMap::new(),
                build: source.build.clone(),
            };
            let (good, bad): (Vec<f64>, Vec<f64>) = values.iter().partition(|value| value.is_finite() && **value > 0.0);
            if !bad.is_empty() {
                self.exclude(NO_TIME, bad.len() as u64);
            }
            let good: Vec<(f64, u64)> = good.into_iter().map(|value| (value, 1)).collect();
            self.add(key, &good);
        }
        Ok(())
    }
}

fn exclusion(sample: &KernelSample) -> Option<&'static str> {
    if sample.disturbed {
        Some(DISTURBED)
    } else if !(sample.value.is_finite() && sample.value > 0.0) || sample.calls == 0 {
        Some(NO_TIME)
    } else if sample.calls > 1 && !sample.certified {
        Some(if sample.arguments.is_none() { UNNAMED } else { MERGED })
    } else if sample.calls > 1 && sample.arguments.is_none() {
        Some(UNNAMED)
    } else {
        None
    }
}
