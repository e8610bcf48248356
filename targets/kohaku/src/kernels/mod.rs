//! Kernels: functions that put programs together.

mod conv;
mod flash;
mod linear;
mod norm;
mod pointwise;
mod softmax;

pub use conv::{Padded, convolution, upsampled};
pub use flash::{Flash, LOWEST, Mask, Restart, ValueOrder, flash};
pub use linear::{Extents, Tiling, fused_linear, geglu, join, linear, matmul, mlp, per_head, residual};
pub use norm::{Norm, norm};
pub use pointwise::{Gelu, SILU_SCALE, gelu, silu};
pub use softmax::{softmax, wide_softmax};
