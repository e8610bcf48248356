//! Networks: module trees as TOML, and what follows from them.
//!
//! A network is a few models that run a number of times each. A model is a tree: groups (uses of templates) and layers.
//! Templates have parameters; extents are expressions over them. From a tree follow counts, shapes with multiplicity,
//! multiplications, parameters and sizes ([`Inventory`]), each of them derived, and set beside what was published.
//!
//! ```toml
//! name = "tiny"
//! about = "two blocks"
//! parameters = { tokens = 64, width = 128 }
//!
//! [template.block]
//! parameters = ["hidden"]
//! body = [
//!   { op = "layer-norm", rows = "tokens", columns = "width" },
//!   { name = "up", op = "linear", rows = "tokens", inner = "width", columns = "hidden" },
//!   { op = "activation", function = "gelu-tanh", rows = "tokens", columns = "hidden" },
//!   { name = "down", op = "linear", rows = "tokens", inner = "hidden", columns = "width" },
//! ]
//!
//! [[model]]
//! name = "tower"
//! body = [{ use = "block", repeat = 2, hidden = "4 * width" }]
//! ```

mod builtin;
mod chains;
mod document;
mod expand;
mod fields;
mod figures;
mod inventory;
mod layer;
mod layer_text;
mod machine;
mod parameters;
mod published;
mod read;
mod scope;
mod select;
mod tree;

pub use builtin::{BUILT_IN, BuiltIn, MACHINES};
pub use chains::chains;
pub use fields::{FieldAbout, OPERATIONS, OperationAbout};
pub use figures::{Figure, FigureValue, Published};
pub use inventory::{
    ActivationSize, AttentionBytes, ClassCount, Footprint, Inventory, ModelInventory, STORAGE_FORMATS, Shape,
    StorageFormat,
};
pub use layer::{Form, Function, GatingHalf, Layer, ParameterCount};
pub use machine::{Bound, MachineFile};
pub use published::Agreement;
pub use read::parse;
pub use tree::{Found, Model, Network, Node, NodeKind};
