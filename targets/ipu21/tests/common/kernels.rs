//! The formula of each family of published kernel measurements.

use target_ipu21::costs;
use target_ipu21::geometry::Memory;
use target_ipu21::kernels::{self, GeluVersion, MergePart, NormVersion};

/// Predicted cycles of a kernel of this family with these local extents.
pub(crate) fn formula(family: &str, a: &[usize]) -> Option<usize> {
    let table = |name: &str| costs::builtin(name).expect("a built-in table");
    let part = |initial| MergePart { initial, last: false };
    Some(match family {
        "gemm" | "gemm-later" => table("before").gemm(a[0], a[1], a[2]).ok()?,
        "gemm-packed" => kernels::gemm_packed(a[0], a[1], a[2], Memory::Interleaved),
        "gemm-packed-standard" => kernels::gemm_packed(a[0], a[1], a[2], Memory::Standard),
        "reduction-before" => table("before").reduction(a[0], a[1]).ok()?,
        "reduction-after" | "reduction-full-model" => table("after").reduction(a[0], a[1]).ok()?,
        "gelu-before" => table("before").gelu(a[0]).ok()?,
        "gelu-after" => table("after").gelu(a[0]).ok()?,
        "gelu-clamped" => kernels::gelu(a[0], GeluVersion::Clamped),
        "gelu-paired" => kernels::gelu(a[0], GeluVersion::PairedBounds),
        "softmax-47" => kernels::softmax(a[0], a[1], a[2], 47),
        "softmax-43" => kernels::softmax(a[0], a[1], a[2], 43),
        "merge-initial" => kernels::merge(a[0], a[1], part(true)),
        "merge-next" => kernels::merge(a[0], a[1], part(false)),
        "add" => kernels::add(a[0], a[1]),
        "layernorm-first" => kernels::norm(a[0], a[1], NormVersion::First).layernorm,
        "add-layernorm-first" => kernels::norm(a[0], a[1], NormVersion::First).add_layernorm,
        "moments-first" => kernels::norm(a[0], a[1], NormVersion::First).moments,
        "apply-first" => kernels::norm(a[0], a[1], NormVersion::First).apply,
        "layernorm-pipelined" => kernels::norm(a[0], a[1], NormVersion::Pipelined).layernorm,
        "add-layernorm-pipelined" => kernels::norm(a[0], a[1], NormVersion::Pipelined).add_layernorm,
        "apply-pipelined" => kernels::norm(a[0], a[1], NormVersion::Pipelined).apply,
        "fused-reduction-gelu" => kernels::fused_reduction_gelu(a[0], a[1], a[2]),
        _ => return None,
    })
}
