//! Plans: typed, and as named attributes.

use planner::{Assignment, Attributes, Refusal, Value, Workload};

use crate::kernels::{Mask, Restart, Tiling};

/// Which memory a buffer lies in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tier {
    /// The memory of the mesh.
    Dram,
    /// The staging memory beside it, where the machine can address it.
    Staging,
}

/// How one attention is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct AttentionPlan {
    /// Keys of one step.
    pub block: usize,
    /// Query rows of one pass.
    pub query_block: usize,
    /// Parts of the keys, which are merged at the end.
    pub key_splits: usize,
    /// Tiles of both products, and parts of the vector passes.
    pub tiling: Tiling,
    /// Where the running result is rescaled.
    pub rescale: Restart,
    /// Where keys and values lie.
    pub operands: Tier,
    /// Where scores, weights and partial results lie.
    pub temporaries: Tier,
    /// How keys are masked, where some are.
    pub mask: Mask,
}

/// How one operation is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum OperationPlan {
    /// A product.
    Gemm(Tiling),
    /// An attention.
    Attention(AttentionPlan),
}

const TIERS: [(&str, Tier); 2] = [("dram", Tier::Dram), ("staging", Tier::Staging)];
const RESCALES: [(&str, Restart); 3] = [
    ("accumulate", Restart::Accumulate),
    ("in-band", Restart::InBand),
    ("fixed-max", Restart::Fixed),
];

const MASKS: [(&str, Mask); 2] = [("ones", Mask::Ones), ("added", Mask::Added)];

/// Words of the masks.
pub(crate) fn mask_words() -> Vec<Value> {
    MASKS.iter().map(|(word, _)| Value::text(word)).collect()
}

/// Words of the tiers.
pub(crate) fn tier_words() -> Vec<Value> {
    TIERS.iter().map(|(word, _)| Value::text(word)).collect()
}

/// Words of the places where the running result may be rescaled.
pub(crate) fn rescale_words(fixed_max: bool) -> Vec<Value> {
    let offered = RESCALES
        .iter()
        .filter(|(_, rescale)| fixed_max || *rescale != Restart::Fixed);
    offered.map(|(word, _)| Value::text(word)).collect()
}

fn word<T: Copy + PartialEq>(words: &[(&'static str, T)], of: T) -> &'static str {
    words
        .iter()
        .find(|(_, known)| *known == of)
        .map_or("", |(word, _)| *word)
}

/// A tier by its word.
pub(crate) fn tier(name: &str) -> Option<Tier> {
    TIERS.iter().find(|(word, _)| *word == name).map(|(_, tier)| *tier)
}

struct Reader<'a> {
    operation: &'a str,
    attributes: &'a Attributes,
}

impl Reader<'_> {
    fn get(&self, own: &str) -> Result<&Value, Refusal> {
        let name = format!("{}.{own}", self.operation);
        let missing = || Refusal::new("attributes", format!("`{name}` is missing"));
        self.attributes.get(&name).ok_or_else(missing)
    }

    fn number(&self, own: &str) -> Result<usize, Refusal> {
        let value = self.get(own)?;
        let n = value
            .as_integer()
            .and_then(|n| usize::try_from(n).ok())
            .filter(|n| *n > 0);
        n.ok_or_else(|| {
            Refusal::new(
                "attributes",
                format!(
                    "`{}.{own}` is {value}: expected a whole number of at least 1",
                    self.operation
                ),
            )
        })
    }

    fn choice<T: Copy>(&self, own: &str, words: &[(&'static str, T)]) -> Result<T, Refusal> {
        let value = self.get(own)?;
        let found = words.iter().find(|(word, _)| value.as_text() == Some(*word));
        found.map(|(_, choice)| *choice).ok_or_else(|| {
            let expected: Vec<String> = words.iter().map(|(word, _)| format!("`{word}`")).collect();
            Refusal::new(
                "attributes",
                format!(
                    "`{}.{own}` is {value}: expected {}",
                    self.operation,
                    expected.join(", ")
                ),
            )
        })
    }

    fn tiling(&self, with_part: bool) -> Result<Tiling, Refusal> {
        Ok(Tiling {
            tile: (self.number("gm")?, self.number("gn")?),
            nk: self.number("nk")?,
            part: if with_part {
                self.number("part")?
            } else {
                Tiling::default().part
            },
        })
    }
}

/// The plan of one operation.
pub fn operation(workload: &Workload, name: &str, attributes: &Assignment) -> Result<OperationPlan, Refusal> {
    let reader = Reader {
        operation: name,
        attributes,
    };
    if workload.attentions().any(|(attention, _)| attention == name) {
        return Ok(OperationPlan::Attention(AttentionPlan {
            block: reader.number("block")?,
            query_block: reader.number("query_block")?,
            key_splits: reader.number("key_splits")?,
            tiling: reader.tiling(true)?,
            rescale: reader.choice("rescale", &RESCALES)?,
            operands: reader.choice("operands", &TIERS)?,
            temporaries: reader.choice("temporaries", &TIERS)?,
            // Only calls that mask keys have a choice.
            mask: match attributes.get(&format!("{name}.mask")) {
                Some(_) => reader.choice("mask", &MASKS)?,
                None => Mask::default(),
            },
        }));
    }
    Ok(OperationPlan::Gemm(reader.tiling(false)?))
}

/// Canonical text of one operation's plan.
#[must_use]
pub fn text(name: &str, plan: &OperationPlan) -> String {
    let tiling = |t: &Tiling| format!("{}x{}n{}", t.tile.0, t.tile.1, t.nk);
    match plan {
        OperationPlan::Gemm(t) => format!("{name}:{}", tiling(t)),
        OperationPlan::Attention(a) => format!(
            "{name}:q{}:k{}{}:{}:p{}:{}:{}.{}{}",
            a.query_block,
            a.block,
            if a.key_splits == 1 {
                String::new()
            } else {
                format!("s{}", a.key_splits)
            },
            tiling(&a.tiling),
            a.tiling.part,
            word(&RESCALES, a.rescale),
            word(&TIERS, a.operands),
            word(&TIERS, a.temporaries),
            if a.mask == Mask::default() {
                String::new()
            } else {
                format!(":{}", word(&MASKS, a.mask))
            }
        ),
    }
}

/// Names of the operations that have a plan, in order.
pub fn planned(workload: &Workload) -> impl Iterator<Item = &str> {
    use planner::OperationKind;
    let own = |kind: &OperationKind| matches!(kind, OperationKind::Gemm(_) | OperationKind::Attention(_));
    workload
        .operations
        .iter()
        .filter(move |o| own(&o.kind))
        .map(|o| o.name.as_str())
}
