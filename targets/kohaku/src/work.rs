//! Workloads as programs.

use planner::{AttentionExtents, GemmExtents, OperationKind, Refusal, Workload};

use crate::kernels::{Flash, Gelu, Tiling, flash, gelu};
use crate::layout::Shape;
use crate::plan::{AttentionPlan, OperationPlan, check_deal};
use crate::program::{BufferId, Program, Role};

/// Whether a workload is one attention, or a chain of products with activations between them.
pub fn check(workload: &Workload) -> Result<(), Refusal> {
    let refuse = |message: String| Err(Refusal::new("workload", message));
    let attentions = workload.attentions().count();
    if attentions > 0 && workload.operations.len() > 1 {
        return refuse(format!(
            "`{}` mixes an attention with other operations: tensors between them would go through the host",
            workload.name
        ));
    }
    let mut before: Option<(u64, u64)> = None;
    let mut activated = true;
    for operation in &workload.operations {
        match operation.kind {
            OperationKind::Attention(_) => {}
            OperationKind::Gemm(e) => {
                if before.is_some_and(|given| given != (e.rows, e.inner)) {
                    return refuse(format!(
                        "`{}` does not take the result of the product before it",
                        operation.name
                    ));
                }
                before = Some((e.rows, e.columns));
                activated = false;
            }
            OperationKind::Elementwise { .. } if activated => {
                return refuse(format!("`{}` does not directly follow a product", operation.name));
            }
            OperationKind::Elementwise { .. } => activated = true,
        }
    }
    if attentions == 0 && before.is_none() {
        return refuse(format!("`{}` has neither a product nor an attention", workload.name));
    }
    Ok(())
}

/// An extent as this machine counts; what no memory holds saturates and fails every rule.
pub(crate) fn extent(n: u64) -> usize {
    usize::try_from(n).unwrap_or(usize::MAX)
}

/// Rows of one head with keys of its own: all query heads that share it, one behind the other.
#[must_use]
pub fn stacked(e: &AttentionExtents) -> usize {
    extent(e.heads / e.kv_heads.max(1) * e.queries)
}

/// The call of an attention under a plan. Keys are padded to whole key blocks.
#[must_use]
pub fn call(e: &AttentionExtents, plan: &AttentionPlan) -> Flash {
    let keys = extent(e.keys);
    Flash {
        heads: extent(e.kv_heads),
        queries: stacked(e),
        padded_keys: keys.next_multiple_of(plan.block.max(1)),
        keys,
        width: extent(e.width),
        value_width: extent(e.value_width),
        causal: e.causal,
        block: plan.block,
        query_block: plan.query_block,
        key_splits: plan.key_splits,
        tile: plan.tiling.tile,
        nk: plan.tiling.nk,
        part: plan.tiling.part,
        restart: plan.rescale,
        mask: plan.mask,
        head_block: plan.head_block.unwrap_or(extent(e.kv_heads)),
        values: plan.values,
    }
}

/// Input of a chain.
pub const INPUT: &str = "x";
/// Result of a chain.
pub const RESULT: &str = "y";

/// Name of a product's weights.
#[must_use]
pub fn weights(operation: &str) -> String {
    format!("w-{operation}")
}

/// The program of a workload, with one plan for each operation that has one.
pub fn program(workload: &Workload, plans: &[OperationPlan]) -> Result<Program, Refusal> {
    check(workload)?;
    if let (Some((_, e)), Some(OperationPlan::Attention(plan))) = (workload.attentions().next(), plans.first()) {
        let groups = e.heads / e.kv_heads.max(1);
        if e.causal && groups > 1 {
            return Err(Refusal::new(
                "causal-groups",
                format!("{groups} query heads share one head of keys: a causal call has one"),
            ));
        }
        check_deal(plan.deal).map_err(|message| Refusal::new("dealing", message))?;
        return flash(&call(&e, plan));
    }
    chain(workload, plans)
}

fn chain(workload: &Workload, plans: &[OperationPlan]) -> Result<Program, Refusal> {
    let mut program = Program::default();
    let last = workload.operations.len().saturating_sub(1);
    let mut value: Option<BufferId> = None;
    let mut tilings = plans.iter().map(|plan| match plan {
        OperationPlan::Gemm(tiling) => *tiling,
        OperationPlan::Attention(plan) => plan.tiling,
    });
    let mut tiling = Tiling::default();
    for (at, operation) in workload.operations.iter().enumerate() {
        match (operation.kind, value) {
            (OperationKind::Gemm(e), _) => {
                let missing = || Refusal::new("plan", format!("`{}` has no plan", operation.name));
                tiling = tilings.next().ok_or_else(missing)?;
                value = Some(product(&mut program, &operation.name, e, tiling, value, at == last));
            }
            (OperationKind::Elementwise { .. }, Some(x)) => {
                let result = gelu(&mut program, x, Gelu::Tanh, tiling.part);
                if at == last {
                    program.buffers[result.0].role = Role::Output;
                    RESULT.clone_into(&mut program.buffers[result.0].name);
                }
                value = Some(result);
            }
            (OperationKind::Elementwise { .. } | OperationKind::Attention(_), _) => {}
        }
    }
    Ok(program)
}

fn product(
    program: &mut Program,
    name: &str,
    e: GemmExtents,
    tiling: Tiling,
    value: Option<BufferId>,
    last: bool,
) -> BufferId {
    let [m, k, n] = [e.rows, e.inner, e.columns].map(extent);
    let x = value.unwrap_or_else(|| program.buffer(INPUT, Role::Input, 1, Shape::matrix(m, k)));
    let w = program.buffer(&weights(name), Role::Input, 1, Shape::matrix(n, k));
    let (result, role) = if last {
        (RESULT, Role::Output)
    } else {
        (name, Role::Temporary)
    };
    let y = program.buffer(result, role, 1, Shape::matrix(m, n));
    program.product(name, [x, w, y], tiling.tile, tiling.nk);
    y
}
