//! What an order is.

/// An offset of an image that holds no element.
pub const PADDING: u32 = u32::MAX;

/// A byte order over a logical tensor, in elements; the byte offset is the element's size times the offset.
pub trait ByteOrder {
    /// Canonical text: `flat`, `entry:8x2`, `tile:2x8:8x8`.
    fn name(&self) -> String;

    /// Extents of the logical tensor, slowest axis first.
    fn extents(&self) -> &[usize];

    /// Elements that the image occupies, padding and repetitions included.
    fn size(&self) -> usize;

    /// Elements that always lie next to each other in logical order along the last axis.
    fn granule(&self) -> usize;

    /// Offset of the first copy of the element at these coordinates (one for each extent, each below it).
    fn offset(&self, at: &[usize]) -> usize;

    /// How often each element is stored, and the distance of its copies.
    fn copies(&self) -> (usize, usize) {
        (1, 0)
    }

    /// Number of logical elements.
    fn elements(&self) -> usize {
        self.extents().iter().product()
    }

    /// Calls `each` with the number of every element in logical row-major order and the offset of its first copy.
    fn walk(&self, each: &mut dyn FnMut(usize, usize)) {
        let extents = self.extents();
        let mut at = vec![0; extents.len()];
        for element in 0..self.elements() {
            each(element, self.offset(&at));
            for (digit, extent) in at.iter_mut().zip(extents).rev() {
                *digit += 1;
                if *digit < *extent {
                    break;
                }
                *digit = 0;
            }
        }
    }

    /// Which element each offset holds: its number in logical row-major order, or [`PADDING`].
    ///
    /// Tensors of 2^32 elements and more have no image: their numbers saturate into padding.
    fn image(&self) -> Vec<u32> {
        let mut image = vec![PADDING; self.size()];
        let (copies, stride) = self.copies();
        self.walk(&mut |element, offset| {
            for copy in 0..copies {
                image[offset + copy * stride] = u32::try_from(element).unwrap_or(PADDING);
            }
        });
        image
    }

    /// Puts `values` (logical row-major) into this order; `nothing` fills the padding.
    fn pack(&self, values: &[f32], nothing: f32) -> Vec<f32> {
        let mut packed = vec![nothing; self.size()];
        let (copies, stride) = self.copies();
        self.walk(&mut |element, offset| {
            for copy in 0..copies {
                packed[offset + copy * stride] = values[element];
            }
        });
        packed
    }

    /// Takes the logical values, row-major, out of an image in this order.
    fn unpack(&self, packed: &[f32]) -> Vec<f32> {
        let mut values = vec![0.0; self.elements()];
        self.walk(&mut |element, offset| values[element] = packed[offset]);
        values
    }
}
