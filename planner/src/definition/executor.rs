//! `[executor]`: where the cases of a cohort are measured.

use schemars::JsonSchema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

use super::located::Located;
use super::measure::TimeLimit;
use super::values::maybe_at_least_one;

/// What works on a cohort.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ExecutorKind {
    /// This machine.
    #[default]
    Local,
    /// Job arrays of Slurm, one element for each shard.
    Slurm,
}

/// `[executor]`: where the cases of a cohort are measured, and what each shard needs there. It decides nothing about which
/// cases there are.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Executor {
    /// `local` or `slurm`; `--executor` says otherwise. Default "local".
    pub kind: ExecutorKind,
    /// Partition of Slurm. Default: Slurm's, as for all that follows.
    pub partition: Option<String>,
    /// Account that is charged.
    pub account: Option<String>,
    /// Features that nodes must have. Cases are only compared on nodes of one class: name one kind of them.
    pub constraint: Option<String>,
    /// Generic resources of a shard, such as "gpu:1".
    pub gres: Option<String>,
    /// Longest time for one shard; a worker begins no round that could not end before.
    pub time: Option<TimeLimit>,
    /// Shards that run at once, at most.
    #[serde(deserialize_with = "maybe_at_least_one")]
    #[schemars(with = "Option<u32>", range(min = 1))]
    pub array_limit: Option<u32>,
    /// Cases of one shard. Default: so many that a shard takes some minutes, by what was measured; 16 before anything was.
    #[serde(deserialize_with = "maybe_at_least_one")]
    #[schemars(with = "Option<u32>", range(min = 1))]
    pub shard_size: Option<u32>,
    /// Folder on each node, on a file system of its own, for kept builds and what was measured of the node; words of a
    /// shell, so that variables of the node count. Default: a folder below `$SLURM_TMPDIR`, `$TMPDIR` or `/tmp`.
    pub scratch: Option<String>,
    /// Partition of an array of its own that builds what the shards need, before they run: nodes without devices, say. They
    /// need the tools and probes of the definition. Default: each shard builds what it runs.
    pub build_partition: Option<String>,
    /// Further arguments of `sbatch` for that array; given alone, they ask for one in the usual partition.
    pub build_arguments: Vec<String>,
    /// Lines of a shell that come before the worker, such as "module load gcc/12".
    pub setup: Vec<String>,
    /// What the worker is started by, such as "srun --cpu-bind=cores".
    pub launcher: Option<String>,
    /// Further arguments of `sbatch`, after all others.
    pub arguments: Vec<String>,
    /// In what machines may be unlike the frozen one: names of differences as messages have them, or patterns with `*`, such
    /// as `machine.cpu_model`, `machine.cache.*` or `tool.gpu.output`. Machines that differ in these are measured apart, each
    /// class with the control beside its cases, and have reports of their own; nothing compares cases of two classes.
    /// Default: none, any other machine is refused.
    #[serde(deserialize_with = "some_names")]
    pub unlike: Vec<Located<String>>,
}

/// A list that is there to name something.
fn some_names<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Located<String>>, D::Error> {
    let names = Vec::<Located<String>>::deserialize(deserializer)?;
    if names.is_empty() {
        return Err(D::Error::custom(
            "expected names of differences, such as \"machine.cpu_model\"; without the key any other machine is refused",
        ));
    }
    Ok(names)
}

/// Whether machines may be told apart by what this name or pattern means. Of programs only what they say of themselves: two
/// programs would make two artifacts of one case.
pub(super) fn tells_machines_apart(name: &str) -> bool {
    let entry = name.strip_prefix("machine.");
    let said = name.strip_prefix("tool.").and_then(|rest| rest.strip_suffix(".output"));
    entry.or(said).is_some_and(|rest| !rest.is_empty())
}
