//! A definition as TOML has it, and its JSON schema.

use schemars::{JsonSchema, Schema};
use serde::Deserialize;

use super::cases::CaseEntry;
use super::command::{Command, Derived, EstimateTable, Ordered};
use super::drawn::Drawn;
use super::executor::Executor;
use super::explore::Explore;
use super::located::Located;
use super::measure::Measure;
use super::values::above_zero;
use crate::parameters::ParameterTable;

/// A sweep definition. The options of the target stand in a table that is named like the target.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Document {
    /// The machine that plans are built for: `layout-sweep targets` lists them.
    pub target: Located<String>,
    /// Name of the case that others are compared with: what an engineer would write first. A workload may have its own.
    pub control: Option<Located<String>>,
    /// What is computed, one or many. A command may go without: what it computes is its own affair.
    #[serde(default)]
    pub workload: Vec<Located<WorkloadEntry>>,
    /// Plans that are wanted in any event.
    #[serde(default)]
    pub case: Vec<Located<CaseEntry>>,
    /// Which of the enumerated plans become cases.
    pub explore: Option<Located<Explore>>,
    /// How often each case is measured, and how long anything may take.
    #[serde(default)]
    pub measure: Measure,
    /// Where the cases are measured.
    #[serde(default)]
    pub executor: Executor,
    /// How one case is built and run (target "command" only, as all that follows).
    pub command: Option<Command>,
    /// What varies, over which values, and what must hold between them.
    pub parameters: Option<ParameterTable>,
    /// Numbers that follow from numbers in the result.
    pub derived: Option<Ordered<Derived>>,
    /// Models that predict from the parameters, by name.
    pub estimates: Option<Ordered<EstimateTable>>,
}

/// `[[workload]]`: a named workload, or a kind with extents in place. `layout-sweep workloads` lists the kinds.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WorkloadEntry {
    /// Unique in the definition; the kind too, where `kind` is not given.
    pub name: Located<String>,
    /// What is computed: `siglip-mlp`, `mlp`, `gemm`, `attention`, `causal-attention`. Default: the name.
    pub kind: Option<Located<String>>,
    /// The case that others of this workload are compared with. Default: the definition's.
    pub control: Option<Located<String>>,
    /// How much it counts where one plan is wanted for all workloads. Default 1.
    #[serde(default, deserialize_with = "above_zero")]
    #[schemars(with = "Option<f64>", extend("exclusiveMinimum" = 0))]
    pub weight: Option<f64>,
    /// Rows of the activations (`siglip-mlp`, `mlp`).
    pub tokens: Option<Located<i64>>,
    /// Columns of the input (`mlp`).
    pub features: Option<Located<i64>>,
    /// Columns of the hidden activations (`mlp`).
    pub hidden: Option<Located<i64>>,
    /// Columns of the result (`mlp`). Default: `features`.
    pub outputs: Option<Located<i64>>,
    /// The function between the two products (`mlp`). Default "gelu-tanh".
    pub activation: Option<Located<String>>,
    /// Rows of A and C (`gemm`).
    pub rows: Option<Located<i64>>,
    /// The axis that is summed over (`gemm`).
    pub inner: Option<Located<i64>>,
    /// Columns of B and C (`gemm`).
    pub columns: Option<Located<i64>>,
    /// Query heads (`attention`, `causal-attention`).
    pub heads: Option<Located<i64>>,
    /// Heads with keys and values of their own (`attention`, `causal-attention`). Default: `heads`.
    pub kv_heads: Option<Located<i64>>,
    /// Query rows of each head (`attention`, `causal-attention`).
    pub queries: Option<Located<i64>>,
    /// Keys of each head, without padding (`attention`, `causal-attention`). Default: `queries`.
    pub keys: Option<Located<i64>>,
    /// Elements of a query and of a key (`attention`, `causal-attention`).
    pub width: Option<Located<i64>>,
    /// Elements of a value (`attention`, `causal-attention`). Default: `width`.
    pub value_width: Option<Located<i64>>,
    /// So many workloads of this kind, with extents that are drawn.
    pub drawn: Option<Located<Drawn>>,
}

impl WorkloadEntry {
    /// The extents that are given.
    pub(super) fn extents(&self) -> impl Iterator<Item = (&'static str, &Located<i64>)> {
        [
            ("tokens", &self.tokens),
            ("features", &self.features),
            ("hidden", &self.hidden),
            ("outputs", &self.outputs),
            ("rows", &self.rows),
            ("inner", &self.inner),
            ("columns", &self.columns),
            ("heads", &self.heads),
            ("kv_heads", &self.kv_heads),
            ("queries", &self.queries),
            ("keys", &self.keys),
            ("width", &self.width),
            ("value_width", &self.value_width),
        ]
        .into_iter()
        .filter_map(|(name, value)| value.as_ref().map(|value| (name, value)))
    }
}

impl WorkloadEntry {
    /// The place of an extent; none where nothing is called so.
    pub(super) fn extent_mut(&mut self, name: &str) -> Option<&mut Option<Located<i64>>> {
        Some(match name {
            "tokens" => &mut self.tokens,
            "features" => &mut self.features,
            "hidden" => &mut self.hidden,
            "outputs" => &mut self.outputs,
            "rows" => &mut self.rows,
            "inner" => &mut self.inner,
            "columns" => &mut self.columns,
            "heads" => &mut self.heads,
            "kv_heads" => &mut self.kv_heads,
            "queries" => &mut self.queries,
            "keys" => &mut self.keys,
            "width" => &mut self.width,
            "value_width" => &mut self.value_width,
            _ => return None,
        })
    }
}

/// The JSON schema of a definition, for editors. Tables of target options are open: each target checks its own.
#[must_use]
pub fn schema() -> Schema {
    let mut schema = schemars::schema_for!(Document);
    schema.insert(
        "additionalProperties".to_owned(),
        serde_json::json!({ "type": "object" }),
    );
    schema
}
