//! Networks and machines that ship.

/// A file that is inside the binary.
#[derive(Debug, Clone, Copy)]
pub struct BuiltIn {
    /// What it is called.
    pub name: &'static str,
    /// The path shown in messages.
    pub path: &'static str,
    /// Its content.
    pub text: &'static str,
}

macro_rules! file {
    ($name:literal, $path:literal) => {
        BuiltIn {
            name: $name,
            path: concat!("planner/networks/", $path),
            text: include_str!(concat!("../../networks/", $path)),
        }
    };
}

/// Networks, in the order in which they are listed.
pub static BUILT_IN: &[BuiltIn] = &[
    file!("sdxl", "sdxl.toml"),
    file!("siglip-so400m", "siglip-so400m.toml"),
    file!("llama-8b", "llama-8b.toml"),
];

/// Machines that bounds can be asked for.
pub static MACHINES: &[BuiltIn] = &[file!("kohaku-30", "machines/kohaku-30.toml")];
