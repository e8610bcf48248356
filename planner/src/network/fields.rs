//! The operations that a network file can name, with their fields.

/// What a field holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FieldKind {
    /// A whole number of at least 1, or an expression for one.
    Extent,
    /// True or false, or a condition.
    Flag,
    /// One of these words.
    Word(&'static [&'static str]),
    /// Any words.
    Text,
}

/// What is taken where a field is not given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FieldDefault {
    /// It must be given.
    Required,
    /// This number.
    Extent(i64),
    /// This flag.
    Flag(bool),
    /// This word.
    Word(&'static str),
    /// The same as another field, which stands before it.
    SameAs(&'static str),
}

/// One field of an operation.
#[derive(Debug, Clone, Copy)]
pub struct FieldAbout {
    /// Its key.
    pub name: &'static str,
    pub(super) kind: FieldKind,
    pub(super) default: FieldDefault,
}

/// One operation.
#[derive(Debug, Clone, Copy)]
pub struct OperationAbout {
    /// Value of `op`.
    pub name: &'static str,
    /// One line for people.
    pub about: &'static str,
    /// Its fields.
    pub fields: &'static [FieldAbout],
}

impl FieldAbout {
    /// The field in words: `stride = 1`, `rows`.
    #[must_use]
    pub fn words(&self) -> String {
        let name = self.name;
        let kind = match self.kind {
            FieldKind::Word(words) => format!(" ({})", words.join(", ")),
            _ => String::new(),
        };
        match self.default {
            FieldDefault::Required => format!("{name}{kind}"),
            FieldDefault::Extent(n) => format!("{name} = {n}{kind}"),
            FieldDefault::Flag(flag) => format!("{name} = {flag}{kind}"),
            FieldDefault::Word(word) => format!("{name} = {word}{kind}"),
            FieldDefault::SameAs(other) => format!("{name} = {other}{kind}"),
        }
    }
}

const fn extent(name: &'static str) -> FieldAbout {
    FieldAbout {
        name,
        kind: FieldKind::Extent,
        default: FieldDefault::Required,
    }
}

const fn extent_or(name: &'static str, n: i64) -> FieldAbout {
    FieldAbout {
        name,
        kind: FieldKind::Extent,
        default: FieldDefault::Extent(n),
    }
}

const fn same(name: &'static str, other: &'static str) -> FieldAbout {
    FieldAbout {
        name,
        kind: FieldKind::Extent,
        default: FieldDefault::SameAs(other),
    }
}

const fn flag(name: &'static str, default: bool) -> FieldAbout {
    FieldAbout {
        name,
        kind: FieldKind::Flag,
        default: FieldDefault::Flag(default),
    }
}

const FUNCTION: FieldAbout = FieldAbout {
    name: "function",
    kind: FieldKind::Word(&["silu", "gelu-erf", "gelu-tanh", "quick-gelu", "relu"]),
    default: FieldDefault::Required,
};

/// All operations, in the order in which they are listed. `Layer` has one variant for each.
pub static OPERATIONS: &[OperationAbout] = &[
    OperationAbout {
        name: "conv",
        about: "convolution of a plane height x width, padded so that stride 1 keeps the plane; square kernel",
        fields: &[
            extent("height"),
            same("width", "height"),
            extent("inputs"),
            extent("outputs"),
            extent_or("kernel", 3),
            extent_or("stride", 1),
            flag("bias", true),
        ],
    },
    OperationAbout {
        name: "linear",
        about: "matrix product with weights: rows x inner times inner x columns",
        fields: &[extent("rows"), extent("inner"), extent("columns"), flag("bias", true)],
    },
    OperationAbout {
        name: "attention",
        about: "scores, softmax and weighted values of all heads, without projections",
        fields: &[
            extent("heads"),
            extent("queries"),
            same("keys", "queries"),
            extent("width"),
            same("value_width", "width"),
            same("key_heads", "heads"),
            flag("causal", false),
        ],
    },
    OperationAbout {
        name: "softmax",
        about: "softmax of each row",
        fields: &[extent("rows"), extent("columns")],
    },
    OperationAbout {
        name: "layer-norm",
        about: "mean and variance of each row; gain and shift",
        fields: &[extent("rows"), extent("columns")],
    },
    OperationAbout {
        name: "rms-norm",
        about: "root mean square of each row; gain",
        fields: &[extent("rows"), extent("columns")],
    },
    OperationAbout {
        name: "group-norm",
        about: "mean and variance of groups of channels over the plane; gain and shift",
        fields: &[
            extent("height"),
            same("width", "height"),
            extent("channels"),
            extent_or("groups", 32),
        ],
    },
    OperationAbout {
        name: "activation",
        about: "element-wise function",
        fields: &[FUNCTION, extent("rows"), extent("columns")],
    },
    OperationAbout {
        name: "gate",
        about: "one half of the operand times a function of the other; columns of the result",
        fields: &[
            FUNCTION,
            FieldAbout {
                name: "half",
                kind: FieldKind::Word(&["first", "second"]),
                default: FieldDefault::Word("second"),
            },
            extent("rows"),
            extent("columns"),
        ],
    },
    OperationAbout {
        name: "add",
        about: "sum of two operands; `broadcast`: the second is one row",
        fields: &[extent("rows"), extent("columns"), flag("broadcast", false)],
    },
    OperationAbout {
        name: "concat",
        about: "columns (channels) of two operands side by side",
        fields: &[extent("rows"), extent("first"), extent("second")],
    },
    OperationAbout {
        name: "upsample",
        about: "each pixel becomes factor x factor pixels",
        fields: &[
            extent("height"),
            same("width", "height"),
            extent("channels"),
            extent_or("factor", 2),
        ],
    },
    OperationAbout {
        name: "rotary",
        about: "rotary position embedding",
        fields: &[extent("rows"), extent("columns")],
    },
    OperationAbout {
        name: "rearrange",
        about: "elements change places; `parts`: heads that are split or joined, or slices in a whole row",
        fields: &[
            FieldAbout {
                name: "form",
                kind: FieldKind::Word(&[
                    "split-heads",
                    "join-heads",
                    "plane-to-tokens",
                    "tokens-to-plane",
                    "transpose",
                    "slice",
                    "reshape",
                ]),
                default: FieldDefault::Required,
            },
            extent("rows"),
            extent("columns"),
            extent_or("parts", 1),
        ],
    },
    OperationAbout {
        name: "embedding",
        about: "rows of a table of entries x columns, looked up",
        fields: &[extent("entries"), extent("columns"), extent("rows")],
    },
    OperationAbout {
        name: "host",
        about: "what stays on the host, and the bytes that cross",
        fields: &[
            FieldAbout {
                name: "task",
                kind: FieldKind::Text,
                default: FieldDefault::Required,
            },
            extent("bytes"),
        ],
    },
];
