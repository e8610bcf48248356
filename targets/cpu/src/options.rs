//! The table `[cpu]` of a definition.

use std::collections::BTreeSet;

use planner::costs::CostTable as Families;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use target_api::OptionError;

use crate::costs::CostTable;
use crate::harness::MachineReport;
use crate::isa::Isa;
use crate::machine::runnable;

/// Keys of the table.
pub const KEYS: [&str; 4] = ["threads", "isa", "cores", "costs"];
/// Workers that the harness can hold.
pub const MOST_THREADS: u32 = 256;

/// An instruction set as a definition names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum IsaWord {
    /// x86-64 with AVX2 and FMA.
    Avx2,
    /// x86-64 with AVX-512F.
    Avx512,
    /// `AArch64`.
    Neon,
    /// Vectors of 4 floats, on every machine.
    Plain,
}

/// `[cpu]`: how the CPU is used.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CpuOptions {
    /// Worker threads, each pinned to one core. Default: one for each core in `cores`.
    #[schemars(range(min = 1, max = 256))]
    pub threads: Option<u32>,
    /// Instruction set that kernels are written for. Default: the widest one that the machine has.
    pub isa: Option<IsaWord>,
    /// Logical CPUs to pin workers to, the first worker first. Default: one of each distinct physical core.
    pub cores: Option<Vec<u32>>,
    /// Prices of the models: a cost table in place. Default: the one that ships.
    #[schemars(with = "Option<std::collections::BTreeMap<String, serde_json::Value>>")]
    pub costs: Option<Families>,
}

/// Options as they are in force on a machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// Worker threads.
    pub threads: u32,
    /// Instruction set.
    pub isa: Isa,
    /// Logical CPUs, one for each worker.
    pub cores: Vec<u32>,
}

fn error(key: &str, message: impl Into<String>) -> OptionError {
    OptionError {
        key: format!("cpu.{key}"),
        message: message.into(),
    }
}

impl CpuOptions {
    /// Reads the table; unknown keys, wrong types and values that no machine can have are refused.
    pub fn parse(table: &toml::Table) -> Result<Self, OptionError> {
        let mut options = Self::default();
        for (key, value) in table {
            let wrong = |expected: &str| error(key, format!("found {value}, expected {expected}"));
            match key.as_str() {
                "threads" => {
                    let expected = format!("a whole number from 1 to {MOST_THREADS}");
                    let threads = value.as_integer().and_then(|n| u32::try_from(n).ok());
                    let threads = threads.filter(|n| (1..=MOST_THREADS).contains(n));
                    options.threads = Some(threads.ok_or_else(|| wrong(&expected))?);
                }
                "isa" => {
                    let words = Isa::ALL.map(|isa| format!("\"{isa}\"")).join(", ");
                    let isa = IsaWord::deserialize(value.clone()).map_err(|_| wrong(&format!("one of {words}")))?;
                    options.isa = Some(isa);
                }
                "cores" => {
                    let expected = "a list of different CPU numbers, not empty";
                    let cores = Vec::<u32>::deserialize(value.clone()).map_err(|_| wrong(expected))?;
                    let different: BTreeSet<u32> = cores.iter().copied().collect();
                    if cores.is_empty() || different.len() != cores.len() {
                        return Err(wrong(expected));
                    }
                    options.cores = Some(cores);
                }
                "costs" => {
                    let toml::Value::Table(inner) = value else {
                        return Err(wrong("a cost table in place, as `calibrate` writes it"));
                    };
                    let table = Families::of_toml(inner).and_then(CostTable::try_from);
                    let table = table.map_err(|wrong| error(key, wrong.to_string()))?;
                    options.costs = Some(table.families().clone());
                }
                _ => {
                    let allowed = KEYS.map(|key| format!("`{key}`")).join(", ");
                    return Err(error(key, format!("unknown key; expected one of {allowed}")));
                }
            }
        }
        Ok(options)
    }

    /// The options in force where `best` is the widest instruction set of the machine.
    pub fn settle(&self, best: Isa, report: &MachineReport) -> Result<Settings, OptionError> {
        let mut cores = self.cores.clone().unwrap_or_else(|| report.physical_cores.clone());
        let wanted = self
            .threads
            .map_or(cores.len(), |threads| threads as usize)
            .min(MOST_THREADS as usize);
        if wanted > cores.len() {
            let whose = if self.cores.is_some() {
                "`cpu.cores` has"
            } else {
                "this machine has distinct cores:"
            };
            let message = format!("{wanted} workers need as many cores, {whose} {}", cores.len());
            return Err(error("threads", message));
        }
        cores.truncate(wanted);
        let isa = match self.isa {
            None => best,
            Some(IsaWord::Avx2) => Isa::Avx2,
            Some(IsaWord::Avx512) => Isa::Avx512,
            Some(IsaWord::Neon) => Isa::Neon,
            Some(IsaWord::Plain) => Isa::Plain,
        };
        if !runnable(best).contains(&isa) {
            let has = runnable(best)
                .iter()
                .map(|isa| format!("\"{isa}\""))
                .collect::<Vec<_>>()
                .join(", ");
            return Err(error("isa", format!("this machine has no {isa}; it has {has}")));
        }
        let threads = u32::try_from(cores.len()).unwrap_or(MOST_THREADS);
        if threads == 0 {
            return Err(error("cores", "no core of this machine may be used"));
        }
        Ok(Settings { threads, isa, cores })
    }
}

/// The JSON schema of the table, for editors.
#[must_use]
pub fn schema() -> schemars::Schema {
    schemars::schema_for!(CpuOptions)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report() -> MachineReport {
        serde_json::from_str(include_str!("../tests/data/zen3-guest.json")).unwrap()
    }

    fn settle(text: &str) -> Result<Settings, OptionError> {
        CpuOptions::parse(&text.parse().unwrap())?.settle(Isa::Avx2, &report())
    }

    #[test]
    fn defaults_are_all_distinct_cores_and_the_widest_instructions() {
        assert_eq!(
            settle("").unwrap(),
            Settings {
                threads: 2,
                isa: Isa::Avx2,
                cores: vec![0, 1]
            }
        );
    }

    #[test]
    fn options_are_taken() {
        let settings = settle("threads = 1\nisa = \"plain\"\ncores = [3, 1]").unwrap();
        assert_eq!(
            settings,
            Settings {
                threads: 1,
                isa: Isa::Plain,
                cores: vec![3]
            }
        );
    }

    #[test]
    fn wrong_options_are_named() {
        for (text, key, part) in [
            ("thread = 1", "cpu.thread", "`threads`, `isa`, `cores`, `costs`"),
            ("threads = 0", "cpu.threads", "from 1 to 256"),
            ("threads = -2", "cpu.threads", "-2"),
            ("threads = 2.0", "cpu.threads", "whole number"),
            ("threads = 3", "cpu.threads", "distinct cores: 2"),
            ("threads = 2\ncores = [1]", "cpu.threads", "`cpu.cores` has 1"),
            ("cores = []", "cpu.cores", "not empty"),
            ("cores = [1, 1]", "cpu.cores", "different"),
            ("cores = [-1]", "cpu.cores", "CPU numbers"),
            ("costs = \"own\"", "cpu.costs", "a cost table in place"),
            ("[costs]\nname = \"own\"", "cpu.costs", "no family"),
            ("isa = \"sse\"", "cpu.isa", "\"avx2\", \"avx512\", \"neon\", \"plain\""),
            ("isa = \"avx512\"", "cpu.isa", "it has \"avx2\", \"plain\""),
        ] {
            let error = settle(text).unwrap_err();
            assert_eq!(error.key, key, "{text}");
            assert!(error.message.contains(part), "{text}: {error}");
        }
    }

    #[test]
    fn the_schema_knows_every_key_and_no_other() {
        let schema = serde_json::to_value(schema()).unwrap();
        let keys: BTreeSet<&str> = schema["properties"]
            .as_object()
            .unwrap()
            .keys()
            .map(String::as_str)
            .collect();
        assert_eq!(keys, BTreeSet::from(KEYS));
        assert_eq!(schema["additionalProperties"], false);
    }
}
