//! The guard alone, as a program. `layout-sweep` contains it too; tests of this crate use this one.

fn main() {
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    std::process::exit(coordinator::guard::hidden_subcommand(&arguments).unwrap_or(2));
}
