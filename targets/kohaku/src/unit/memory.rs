//! The buffers of a program, each in the byte order that it has at the moment.

use planner::Refusal;

use crate::compile::Compiled;
use crate::layout::{Layout, Shape};
use crate::numerics::half;
use crate::program::{BufferId, Role};

/// Images of all buffers; every value is a float16.
#[derive(Debug, Clone)]
pub struct Memory {
    pub(super) images: Vec<Vec<f32>>,
}

impl Memory {
    /// Memory with the caller's buffers filled in: `inputs` holds logical row-major values of every input, batch element
    /// after batch element, by name.
    pub fn new(compiled: &Compiled, inputs: &[(&str, &[f32])]) -> Result<Self, Refusal> {
        let mut images = Vec::with_capacity(compiled.program.buffers.len());
        for (at, (buffer, stride)) in compiled.program.buffers.iter().zip(&compiled.strides).enumerate() {
            let mut image = vec![0.0; stride * buffer.batch];
            if buffer.role == Role::Input {
                let given = inputs.iter().find(|(name, _)| *name == buffer.name);
                let elements = buffer.shape.elements();
                let Some((_, values)) = given.filter(|(_, values)| values.len() == elements * buffer.batch) else {
                    let message = format!("`{}` needs {} values", buffer.name, elements * buffer.batch);
                    return Err(Refusal::new("input", message));
                };
                if let Some(layout) = compiled.first_layout(BufferId(at)) {
                    let order = layout.over(buffer.shape)?;
                    for (own, values) in image.chunks_mut(*stride).zip(values.chunks(elements)) {
                        let packed = order.pack(values, 0.0);
                        for (slot, value) in own.iter_mut().zip(&packed) {
                            *slot = half(f64::from(*value));
                        }
                    }
                }
            }
            images.push(image);
        }
        Ok(Self { images })
    }

    /// Logical row-major values of a buffer that lies in `layout`.
    pub(super) fn logical(
        &self,
        id: BufferId,
        layout: Layout,
        shape: Shape,
        stride: usize,
    ) -> Result<Vec<f32>, Refusal> {
        let order = layout.over(shape)?;
        let elements = self.images[id.0].chunks(stride);
        Ok(elements
            .flat_map(|image| order.unpack(&image[..order.size()]))
            .collect())
    }
}
