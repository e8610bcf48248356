//! The targets that this binary knows.

use target_api::Target;

/// Every target, in the order in which `layout-sweep targets` shows them. A new one is one line here.
pub(crate) static TARGETS: &[&dyn Target] = &[
    &target_cpu::Cpu,
    &target_ipu21::Ipu21,
    &target_kohaku::Kohaku,
    &target_command::Command,
];

/// The target called `id`.
pub(crate) fn target(id: &str) -> Option<&'static dyn Target> {
    TARGETS.iter().copied().find(|target| target.id() == id)
}
