//! Workloads: small graphs of operations with fixed extents.

use serde::{Deserialize, Serialize};

/// Extents of one matrix product `C[rows][columns] = A[rows][inner] B[inner][columns]`, in elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct GemmExtents {
    /// Rows of the activations and of the result (tokens).
    pub rows: u64,
    /// The axis that is summed over.
    pub inner: u64,
    /// Columns of the weights and of the result.
    pub columns: u64,
}

/// Extents of one attention: `O[h] = softmax(Q[h] K[g]^T / sqrt(width)) V[g]` with `g = h kv_heads / heads`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct AttentionExtents {
    /// Query heads.
    pub heads: u64,
    /// Heads with keys and values of their own; they divide `heads` (fewer: grouped queries).
    pub kv_heads: u64,
    /// Query rows of each head.
    pub queries: u64,
    /// Keys of each head, without padding.
    pub keys: u64,
    /// Elements of a query and of a key.
    pub width: u64,
    /// Elements of a value.
    pub value_width: u64,
    /// Whether query `i` sees only keys `0..=i`.
    pub causal: bool,
}

impl AttentionExtents {
    /// Multiplications of both products, `Q K^T` and the weighted values. A causal mask saves none of them here: how many
    /// a plan leaves out is the plan's affair.
    #[must_use]
    pub fn multiplications(&self) -> u128 {
        self.of_keys(u128::from(self.queries) * u128::from(self.keys))
    }

    /// Those that no plan can leave out: of a causal mask the keys that a query sees.
    #[must_use]
    pub fn least_multiplications(&self) -> u128 {
        self.of_keys(seen(self.queries, self.keys, self.causal))
    }

    /// Multiplications where all queries of one head see so many keys together.
    fn of_keys(&self, keys: u128) -> u128 {
        u128::from(self.heads) * keys * (u128::from(self.width) + u128::from(self.value_width))
    }
}

/// Keys that so many queries see, summed over these: all of them, or of query `i` the keys `0..=i`.
#[must_use]
pub fn seen(queries: u64, keys: u64, causal: bool) -> u128 {
    let (all, keys) = (u128::from(queries), u128::from(keys));
    if !causal {
        return all * keys;
    }
    // 1, 2, ... up to all keys, then all of them.
    let rising = all.min(keys);
    rising * (rising + 1) / 2 + (all - rising) * keys
}

/// An element-wise function.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Elementwise {
    /// `0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))`.
    GeluTanh,
}

/// What an operation computes. Each takes the result of the one before it; the first takes the workload's input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum OperationKind {
    /// A matrix product with weights of its own.
    Gemm(GemmExtents),
    /// An element-wise function over `rows x columns`.
    Elementwise {
        /// Which function.
        function: Elementwise,
        /// Rows of the operand.
        rows: u64,
        /// Columns of the operand.
        columns: u64,
    },
    /// Attention over queries, keys and values that are given.
    Attention(AttentionExtents),
}

/// A named operation of a workload.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Operation {
    /// Its name, unique in the workload: `up`, `gelu`, `down`.
    pub name: String,
    /// What it computes.
    #[serde(flatten)]
    pub kind: OperationKind,
}

/// A chain of operations with fixed extents.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Workload {
    /// Its name, unique in the definition.
    pub name: String,
    /// Its operations, in order of execution.
    pub operations: Vec<Operation>,
}

impl Workload {
    /// The matrix products with their names, in order.
    pub fn gemms(&self) -> impl Iterator<Item = (&str, GemmExtents)> {
        self.operations.iter().filter_map(|operation| match operation.kind {
            OperationKind::Gemm(extents) => Some((operation.name.as_str(), extents)),
            OperationKind::Elementwise { .. } | OperationKind::Attention(_) => None,
        })
    }

    /// The attentions with their names, in order.
    pub fn attentions(&self) -> impl Iterator<Item = (&str, AttentionExtents)> {
        self.operations.iter().filter_map(|operation| match operation.kind {
            OperationKind::Attention(extents) => Some((operation.name.as_str(), extents)),
            OperationKind::Gemm(_) | OperationKind::Elementwise { .. } => None,
        })
    }

    /// The element-wise function that directly follows the operation `name`, with its own name.
    #[must_use]
    pub fn elementwise_after(&self, name: &str) -> Option<(&str, Elementwise)> {
        let at = self.operations.iter().position(|operation| operation.name == name)?;
        let next = self.operations.get(at + 1)?;
        match next.kind {
            OperationKind::Elementwise { function, .. } => Some((next.name.as_str(), function)),
            OperationKind::Gemm(_) | OperationKind::Attention(_) => None,
        }
    }

    /// Floating-point operations of all matrix products, those inside attentions included (a multiplication and an
    /// addition count as two). Element-wise steps are not counted, as in every figure that this project compares with.
    #[must_use]
    pub fn flops(&self) -> u128 {
        self.flops_with(|attention| attention.multiplications())
    }

    /// Those of them that no plan can leave out: products with keys that a causal mask hides are none.
    #[must_use]
    pub fn least_flops(&self) -> u128 {
        self.flops_with(|attention| attention.least_multiplications())
    }

    fn flops_with(&self, of_attention: impl Fn(AttentionExtents) -> u128) -> u128 {
        let products = self
            .gemms()
            .map(|(_, e)| u128::from(e.rows) * u128::from(e.inner) * u128::from(e.columns));
        let attentions = self.attentions().map(|(_, e)| of_attention(e));
        2 * products.chain(attentions).sum::<u128>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_see_keys_up_to_their_own() {
        assert_eq!((seen(4, 3, false), seen(4, 3, true), seen(3, 4, true)), (12, 9, 6));
        let by_hand = |queries: u64, keys: u64| (0..queries).map(|row| u128::from((row + 1).min(keys))).sum::<u128>();
        for (queries, keys) in [(1, 1), (1, 9), (9, 1), (7, 7), (12, 5), (5, 12)] {
            assert_eq!(seen(queries, keys, true), by_hand(queries, keys), "{queries} {keys}");
        }
    }

    #[test]
    fn a_mask_takes_only_products_that_plans_may_leave_out() {
        let of = |causal| {
            let extents = AttentionExtents {
                heads: 2,
                kv_heads: 1,
                queries: 3,
                keys: 3,
                width: 4,
                value_width: 5,
                causal,
            };
            let operation = Operation {
                name: "attention".to_owned(),
                kind: OperationKind::Attention(extents),
            };
            let workload = Workload {
                name: "it".to_owned(),
                operations: vec![operation],
            };
            (workload.flops(), workload.least_flops())
        };
        assert_eq!((of(false), of(true)), ((324, 324), (324, 216)));
    }
}
