//! Which workloads are attentions, and their extents.

use planner::{AttentionExtents, OperationKind, Refusal, Workload};

/// Extents of one attention, in elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Extents {
    /// Heads of queries.
    pub heads: u32,
    /// Heads with keys and values of their own; they divide `heads`.
    pub kv_heads: u32,
    /// Queries of a head.
    pub queries: u32,
    /// Keys of a head.
    pub keys: u32,
    /// Elements of a query and of a key.
    pub width: u32,
    /// Elements of a value.
    pub value_width: u32,
    /// Whether query `i` sees only keys `0..=i`.
    pub causal: bool,
}

/// An attention with its name: phases carry it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attention {
    /// Name of the operation.
    pub name: String,
    /// Its extents.
    pub extents: Extents,
}

impl Extents {
    /// Keys that the queries of one head see, summed over these.
    #[must_use]
    pub fn visible(&self) -> f64 {
        planner::seen(u64::from(self.queries), u64::from(self.keys), self.causal) as f64
    }
}

/// Whether `workload` begins with an attention: then it is read by [`attention`], not as a chain of products.
#[must_use]
pub fn attends(workload: &Workload) -> bool {
    matches!(
        workload.operations.first().map(|o| o.kind),
        Some(OperationKind::Attention(_))
    )
}

/// The attention of `workload`. Refused: a workload in which anything else follows, names that the harness's command line
/// can't hold, and extents beyond 2^30.
pub fn attention(workload: &Workload) -> Result<Attention, Refusal> {
    let refuse = |message: String| Err(Refusal::new("attention", message));
    let [operation] = workload.operations.as_slice() else {
        return refuse(format!(
            "`{}` has {} operations: an attention stands alone here, chains are of products",
            workload.name,
            workload.operations.len()
        ));
    };
    let OperationKind::Attention(e) = operation.kind else {
        return refuse(format!("`{}` is no attention", operation.name));
    };
    crate::chain::check_name(&operation.name)?;
    Ok(Attention {
        name: operation.name.clone(),
        extents: extents(&operation.name, &e)?,
    })
}

fn extents(name: &str, e: &AttentionExtents) -> Result<Extents, Refusal> {
    let fit = |what: &str, extent: u64| {
        let narrow = u32::try_from(extent).ok().filter(|n| (1..=1 << 30).contains(n));
        narrow.ok_or_else(|| {
            let message = format!("`{name}` has {extent} {what}: each extent must lie between 1 and 2^30");
            Refusal::new("extents", message)
        })
    };
    let own = Extents {
        heads: fit("heads", e.heads)?,
        kv_heads: fit("heads of keys and values", e.kv_heads)?,
        queries: fit("queries", e.queries)?,
        keys: fit("keys", e.keys)?,
        width: fit("elements of a key", e.width)?,
        value_width: fit("elements of a value", e.value_width)?,
        causal: e.causal,
    };
    if own.heads.is_multiple_of(own.kv_heads) {
        return Ok(own);
    }
    let message = format!(
        "`{name}`: {} heads can't share {} heads of keys and values",
        own.heads, own.kv_heads
    );
    Err(Refusal::new("extents", message))
}
