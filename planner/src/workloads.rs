//! The kinds of workloads there are, and how extents become operations.

use std::collections::BTreeMap;

use crate::workload::{AttentionExtents, Elementwise, GemmExtents, Operation, OperationKind};

/// More multiplications than this in one product are an error: beyond it whole numbers and floats part.
const PRODUCT_LIMIT: u128 = 1 << 53;

/// One extent of a workload, as a definition gives it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExtentKey {
    /// The key in the definition.
    pub name: &'static str,
    /// What it means.
    pub about: &'static str,
    /// What is taken where it is not given.
    pub default: ExtentDefault,
}

/// What is taken for an extent that is not given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExtentDefault {
    /// It must be given.
    Required,
    /// This number.
    Value(u64),
    /// The same as another key, which stands before it.
    SameAs(&'static str),
}

/// A kind of workload.
#[derive(Debug, Clone, Copy)]
pub struct WorkloadKind {
    /// What a definition calls it.
    pub name: &'static str,
    /// One line for people.
    pub about: &'static str,
    /// The extents that a definition may or must give.
    pub extents: &'static [ExtentKey],
    /// The activations it accepts; the first is the default. Empty: there is no choice.
    pub activations: &'static [(&'static str, Elementwise)],
    build: fn(&Extents) -> Vec<Operation>,
}

/// What is wrong with the extents of a workload.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ExtentError {
    /// The key it is about.
    pub key: &'static str,
    /// What is wrong and what was expected.
    pub message: String,
}

struct Extents {
    values: BTreeMap<&'static str, u64>,
    activation: Elementwise,
}

impl Extents {
    fn get(&self, key: &str) -> u64 {
        self.values.get(key).copied().unwrap_or_default()
    }
}

const fn required(name: &'static str, about: &'static str) -> ExtentKey {
    ExtentKey {
        name,
        about,
        default: ExtentDefault::Required,
    }
}

const fn same_as(name: &'static str, about: &'static str, other: &'static str) -> ExtentKey {
    ExtentKey {
        name,
        about,
        default: ExtentDefault::SameAs(other),
    }
}

const ATTENTION: &[ExtentKey] = &[
    required("heads", "query heads"),
    same_as(
        "kv_heads",
        "heads with keys and values of their own; they divide the heads",
        "heads",
    ),
    required("queries", "query rows of each head"),
    same_as("keys", "keys of each head, without padding", "queries"),
    required("width", "elements of a query and of a key"),
    same_as("value_width", "elements of a value", "width"),
];

/// All kinds.
pub static KINDS: &[WorkloadKind] = &[
    WorkloadKind {
        name: "siglip-mlp",
        about: "the MLP of SigLIP so400m at 27 x 27 patches: 729 tokens, 1152 -> 4304 -> tanh GELU -> 1152, no biases",
        extents: &[ExtentKey {
            name: "tokens",
            about: "rows of the activations",
            default: ExtentDefault::Value(729),
        }],
        activations: &[],
        build: |e| mlp(e.get("tokens"), 1152, 4304, 1152, Elementwise::GeluTanh),
    },
    WorkloadKind {
        name: "mlp",
        about: "two matrix products with an activation between them, no biases: features -> hidden -> outputs",
        extents: &[
            required("tokens", "rows of the activations"),
            required("features", "columns of the input"),
            required("hidden", "columns of the hidden activations"),
            ExtentKey {
                name: "outputs",
                about: "columns of the result",
                default: ExtentDefault::SameAs("features"),
            },
        ],
        activations: &[("gelu-tanh", Elementwise::GeluTanh)],
        build: |e| {
            mlp(
                e.get("tokens"),
                e.get("features"),
                e.get("hidden"),
                e.get("outputs"),
                e.activation,
            )
        },
    },
    WorkloadKind {
        name: "gemm",
        about: "one matrix product: C[rows][columns] = A[rows][inner] B[inner][columns]",
        extents: &[
            required("rows", "rows of A and C"),
            required("inner", "the axis that is summed over"),
            required("columns", "columns of B and C"),
        ],
        activations: &[],
        build: |e| {
            vec![gemm(
                "gemm",
                GemmExtents {
                    rows: e.get("rows"),
                    inner: e.get("inner"),
                    columns: e.get("columns"),
                },
            )]
        },
    },
    WorkloadKind {
        name: "attention",
        about: "attention over given queries, keys and values: O = softmax(Q K^T / sqrt(width)) V for every head",
        extents: ATTENTION,
        activations: &[],
        build: |e| attention(e, false),
    },
    WorkloadKind {
        name: "causal-attention",
        about: "attention in which a query sees only the keys up to its own place",
        extents: ATTENTION,
        activations: &[],
        build: |e| attention(e, true),
    },
];

/// The kind with this name.
#[must_use]
pub fn kind(name: &str) -> Option<&'static WorkloadKind> {
    KINDS.iter().find(|kind| kind.name == name)
}

fn gemm(name: &str, extents: GemmExtents) -> Operation {
    Operation {
        name: name.to_owned(),
        kind: OperationKind::Gemm(extents),
    }
}

fn attention(e: &Extents, causal: bool) -> Vec<Operation> {
    vec![Operation {
        name: "attention".to_owned(),
        kind: OperationKind::Attention(AttentionExtents {
            heads: e.get("heads"),
            kv_heads: e.get("kv_heads"),
            queries: e.get("queries"),
            keys: e.get("keys"),
            width: e.get("width"),
            value_width: e.get("value_width"),
            causal,
        }),
    }]
}

fn mlp(tokens: u64, features: u64, hidden: u64, outputs: u64, function: Elementwise) -> Vec<Operation> {
    let activation = match function {
        Elementwise::GeluTanh => "gelu",
    };
    vec![
        gemm(
            "up",
            GemmExtents {
                rows: tokens,
                inner: features,
                columns: hidden,
            },
        ),
        Operation {
            name: activation.to_owned(),
            kind: OperationKind::Elementwise {
                function,
                rows: tokens,
                columns: hidden,
            },
        },
        gemm(
            "down",
            GemmExtents {
                rows: tokens,
                inner: hidden,
                columns: outputs,
            },
        ),
    ]
}

impl WorkloadKind {
    /// The operations for these extents; `given` holds only keys that stand in [`WorkloadKind::extents`].
    pub fn operations(
        &self,
        given: &BTreeMap<&str, i64>,
        activation: Option<Elementwise>,
    ) -> Result<Vec<Operation>, ExtentError> {
        let mut values = BTreeMap::new();
        for key in self.extents {
            let value = match (given.get(key.name), key.default) {
                (Some(&n), _) => u64::try_from(n).ok().filter(|n| *n > 0).ok_or_else(|| ExtentError {
                    key: key.name,
                    message: format!(
                        "`{}` is {n}: expected a whole number of at least 1 ({})",
                        key.name, key.about
                    ),
                })?,
                (None, ExtentDefault::Value(n)) => n,
                (None, ExtentDefault::SameAs(other)) => values.get(other).copied().unwrap_or_default(),
                (None, ExtentDefault::Required) => {
                    return Err(ExtentError {
                        key: key.name,
                        message: format!("`{}` is missing: expected a whole number ({})", key.name, key.about),
                    });
                }
            };
            values.insert(key.name, value);
        }
        let default = self
            .activations
            .first()
            .map_or(Elementwise::GeluTanh, |(_, function)| *function);
        let activation = activation.unwrap_or(default);
        let operations = (self.build)(&Extents {
            values: values.clone(),
            activation,
        });
        for operation in &operations {
            match operation.kind {
                OperationKind::Gemm(e) => {
                    self.bounded(&operation.name, &[e.rows, e.inner, e.columns], &values)?;
                }
                OperationKind::Attention(e) => {
                    let widest = e.width.max(e.value_width);
                    self.bounded(&operation.name, &[e.heads, e.queries, e.keys, widest], &values)?;
                    shared(&e)?;
                }
                OperationKind::Elementwise { .. } => {}
            }
        }
        Ok(operations)
    }

    fn bounded(&self, name: &str, extents: &[u64], values: &BTreeMap<&'static str, u64>) -> Result<(), ExtentError> {
        let product = extents
            .iter()
            .try_fold(1_u128, |product, extent| product.checked_mul(u128::from(*extent)));
        if product.is_some_and(|p| p <= PRODUCT_LIMIT) {
            return Ok(());
        }
        // The largest extent is the likeliest slip of the finger.
        let key = self
            .extents
            .iter()
            .map(|key| key.name)
            .max_by_key(|key| values.get(key))
            .unwrap_or_default();
        Err(ExtentError {
            key,
            message: format!(
                "`{key}` is {}: operation `{name}` would take {} multiplications, expected at most 2^53",
                values.get(key).copied().unwrap_or_default(),
                extents.iter().map(u64::to_string).collect::<Vec<_>>().join(" x ")
            ),
        })
    }
}

/// Groups of query heads share the keys of one head.
fn shared(e: &AttentionExtents) -> Result<(), ExtentError> {
    if e.heads.is_multiple_of(e.kv_heads) {
        return Ok(());
    }
    Err(ExtentError {
        key: "kv_heads",
        message: format!(
            "`kv_heads` is {}: expected a divisor of the {} heads",
            e.kv_heads, e.heads
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn siglip_has_the_published_extents() {
        let operations = kind("siglip-mlp").unwrap().operations(&BTreeMap::new(), None).unwrap();
        let names: Vec<&str> = operations.iter().map(|o| o.name.as_str()).collect();
        assert_eq!(names, ["up", "gelu", "down"]);
        assert_eq!(
            operations[0].kind,
            OperationKind::Gemm(GemmExtents {
                rows: 729,
                inner: 1152,
                columns: 4304
            })
        );
        assert_eq!(
            operations[2].kind,
            OperationKind::Gemm(GemmExtents {
                rows: 729,
                inner: 4304,
                columns: 1152
            })
        );
    }

    #[test]
    fn outputs_default_to_features() {
        let given = BTreeMap::from([("tokens", 65), ("features", 96), ("hidden", 200)]);
        let operations = kind("mlp").unwrap().operations(&given, None).unwrap();
        assert_eq!(
            operations[2].kind,
            OperationKind::Gemm(GemmExtents {
                rows: 65,
                inner: 200,
                columns: 96
            })
        );
    }

    #[test]
    fn attention_takes_grouped_heads_and_defaults_to_self_attention() {
        let with = |kv_heads: i64| {
            let given = BTreeMap::from([("heads", 20), ("kv_heads", kv_heads), ("queries", 1024), ("width", 64)]);
            kind("causal-attention").unwrap().operations(&given, None)
        };
        let OperationKind::Attention(e) = with(5).unwrap()[0].kind else {
            panic!("no attention")
        };
        assert_eq!((e.keys, e.value_width, e.causal), (1024, 64, true));
        assert_eq!(e.multiplications(), 20 * 1024 * 1024 * 128);
        let error = with(3).unwrap_err();
        assert_eq!(error.key, "kv_heads");
        assert!(error.message.contains("divisor of the 20 heads"), "{error}");
    }

    #[test]
    fn the_product_limit_is_inclusive() {
        let at = |rows: i64| {
            let given = BTreeMap::from([("rows", rows), ("inner", 1 << 20), ("columns", 1 << 20)]);
            kind("gemm").unwrap().operations(&given, None)
        };
        assert!(at(1 << 13).is_ok());
        assert!(at((1 << 13) + 1).unwrap_err().message.contains("expected at most 2^53"));
    }
}
