//! Plans: typed, and as named attributes.

use planner::{Assignment, Attributes, Refusal, Value, Workload};

use crate::kernels::{Mask, Restart, Tiling, ValueOrder};
use crate::tiers::{GROUPS, Staged};
use crate::work::extent;

/// How the instances of a stage are dealt to units.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Deal {
    /// In contiguous runs, heads slowest: instance `i` of `n` to unit `i live / n`.
    #[default]
    Contiguous,
    /// In turn: no plan can ask for it.
    RoundRobin,
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
    /// What lies in staging memory.
    pub staged: Staged,
    /// How keys are masked, where some are.
    pub mask: Mask,
    /// Heads of one group; all where none is said.
    pub head_block: Option<usize>,
    /// The order in which the caller hands the values over.
    pub values: ValueOrder,
    /// How the instances of a stage are dealt to units.
    pub deal: Deal,
}

/// How one operation is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum OperationPlan {
    /// A product.
    Gemm(Tiling),
    /// An attention.
    Attention(AttentionPlan),
}

const RESCALES: [(&str, Restart); 3] = [
    ("accumulate", Restart::Accumulate),
    ("in-band", Restart::InBand),
    ("fixed-max", Restart::Fixed),
];

const MASKS: [(&str, Mask); 2] = [("ones", Mask::Ones), ("added", Mask::Added)];

const VALUE_ORDERS: [(&str, ValueOrder); 4] = [
    ("transposed", ValueOrder::Transposed),
    ("transposed-rows", ValueOrder::Rows),
    ("transposed-tiles", ValueOrder::Tiles),
    ("row-major", ValueOrder::ByKey),
];

const DEALS: [(&str, Deal); 2] = [("contiguous", Deal::Contiguous), ("round-robin", Deal::RoundRobin)];

fn words<T>(choices: &[(&str, T)]) -> Vec<Value> {
    choices.iter().map(|(word, _)| Value::text(word)).collect()
}

/// Words of the masks.
pub(crate) fn mask_words() -> Vec<Value> {
    words(&MASKS)
}

/// Words of the orders of values.
pub(crate) fn value_words() -> Vec<Value> {
    words(&VALUE_ORDERS)
}

/// Words of the ways to deal.
pub(crate) fn deal_words() -> Vec<Value> {
    words(&DEALS)
}

/// An order of values by its word.
pub(crate) fn value_order(name: &str) -> Option<ValueOrder> {
    named(&VALUE_ORDERS, name)
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

fn named<T: Copy>(words: &[(&str, T)], name: &str) -> Option<T> {
    words.iter().find(|(word, _)| *word == name).map(|(_, choice)| *choice)
}

/// Whether a way to deal is the machine's. Fails with the reason.
pub(crate) fn check_deal(deal: Deal) -> Result<(), String> {
    match deal {
        Deal::Contiguous => Ok(()),
        Deal::RoundRobin => Err(
            "the machine's model deals the instances of a stage in contiguous runs, heads slowest, instance i of n to \
             unit i live / n: no program says which unit an instance gets"
                .to_owned(),
        ),
    }
}

/// A way to deal by its word.
pub(crate) fn deal(name: &str) -> Option<Deal> {
    named(&DEALS, name)
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

    fn staged(&self) -> Result<Staged, Refusal> {
        let mut words = ["dram"; GROUPS.len()];
        for (group, word) in GROUPS.iter().zip(&mut words) {
            // Older plans do not name the state.
            let name = format!("{}.{}", self.operation, group.attribute);
            if group.attribute != "state" || self.attributes.get(&name).is_some() {
                *word = self.get(group.attribute)?.as_text().unwrap_or_default();
            }
        }
        Staged::parse(words).map_err(|group| {
            let value = self.attributes.get(&format!("{}.{}", self.operation, group.attribute));
            let found = value.map_or_else(String::new, ToString::to_string);
            let expected: Vec<String> = group.words().iter().map(|word| format!("`{word}`")).collect();
            Refusal::new(
                "attributes",
                format!(
                    "`{}.{}` is {found}: expected {}",
                    self.operation,
                    group.attribute,
                    expected.join(", ")
                ),
            )
        })
    }

    /// A choice that older plans do not name: the default.
    fn optional<T: Copy + Default>(&self, own: &str, words: &[(&'static str, T)]) -> Result<T, Refusal> {
        match self.attributes.get(&format!("{}.{own}", self.operation)) {
            Some(_) => self.choice(own, words),
            None => Ok(T::default()),
        }
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
    if let Some((_, e)) = workload.attentions().find(|(attention, _)| *attention == name) {
        let all_heads = extent(e.kv_heads);
        return Ok(OperationPlan::Attention(AttentionPlan {
            block: reader.number("block")?,
            query_block: reader.number("query_block")?,
            key_splits: reader.number("key_splits")?,
            tiling: reader.tiling(true)?,
            rescale: reader.choice("rescale", &RESCALES)?,
            staged: reader.staged()?,
            // Only calls that mask keys have a choice.
            mask: reader.optional("mask", &MASKS)?,
            head_block: match attributes.get(&format!("{name}.head_block")) {
                Some(_) => Some(reader.number("head_block")?).filter(|heads| *heads != all_heads),
                None => None,
            },
            values: reader.optional("values", &VALUE_ORDERS)?,
            deal: reader.optional("deal", &DEALS)?,
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
        OperationPlan::Attention(a) => {
            // What is as usual is left out.
            let unless = |usual: bool, text: String| if usual { String::new() } else { text };
            let own = |word: &str| format!(":{word}");
            let [operands, temporaries, state] = a.staged.words();
            [
                format!("{name}:"),
                a.head_block.map_or_else(String::new, |heads| format!("h{heads}")),
                format!("q{}:k{}", a.query_block, a.block),
                unless(a.key_splits == 1, format!("s{}", a.key_splits)),
                format!(":{}:p{}", tiling(&a.tiling), a.tiling.part),
                own(word(&RESCALES, a.rescale)),
                format!(":{operands}.{temporaries}"),
                unless(state == "dram", format!(":state.{state}")),
                unless(a.mask == Mask::default(), own(word(&MASKS, a.mask))),
                unless(a.values == ValueOrder::default(), own(word(&VALUE_ORDERS, a.values))),
                unless(a.deal == Deal::default(), own(word(&DEALS, a.deal))),
            ]
            .concat()
        }
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
