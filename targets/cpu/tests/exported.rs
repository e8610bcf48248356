//! Exported kernels: compiled without a flag by every compiler at hand, checked against the float64 reference under the
//! sanitizers, called from two threads at once, and refusing what they must refuse.

#![allow(
    clippy::disallowed_methods,
    reason = "a test may read files, clocks and run programs"
)]
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "these are tests, outside a test function"
)]

mod support;

use std::path::{Path, PathBuf};

use support::plans::covering;
use support::{Problem, SANITIZE, compiler, compilers, execute, native_isa, problem, words};
use target_cpu::export::exported;
use target_cpu::geometry::CpuPlan;
use target_cpu::isa::Isa;

/// Writes, compiles and runs one exported plan; panics with what went wrong.
fn check(folder: &Path, cc: &str, isa: Isa, problem: &Problem, plan: &CpuPlan, flags: &[&str]) {
    let about = [
        "case \"up-01\" of cohort a/b */ c".to_owned(),
        "what?? a \\ line".to_owned(),
    ];
    let kernel = exported(isa, &problem.products, plan, "mlp", &about);
    std::fs::write(folder.join("mlp.c"), &kernel.source).unwrap();
    std::fs::write(folder.join("mlp.h"), &kernel.header).unwrap();
    std::fs::write(folder.join("main.c"), include_str!("data/use_kernel.c")).unwrap();
    std::fs::write(folder.join("user.h"), include_str!("data/user.h")).unwrap();
    let mut compile = words(&[cc, "-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror"]);
    compile.extend(words(flags));
    compile.extend(words(&["-o", "main", "main.c", "mlp.c", "-lm", "-lpthread"]));
    let failed = |problem: String| panic!("{problem}\n{plan:#?}");
    execute(&compile, folder).unwrap_or_else(failed);
    let path = |path: &PathBuf| path.display().to_string();
    let mut run = vec![
        "./main".to_owned(),
        path(&problem.x),
        path(&problem.reference),
        "2e-5".to_owned(),
    ];
    run.extend(problem.weights.iter().map(path));
    let said = execute(&run, folder).unwrap_or_else(failed);
    assert!(
        said.contains("case \"up-01\" of cohort a/b */ c\nwhat?? a \\ line\n"),
        "{said}"
    );
    assert!(said.contains("right\n"), "{said}\n{plan:#?}");
}

#[test]
fn exported_plans_compile_without_warnings_and_are_right() {
    let folder = tempfile::tempdir().unwrap();
    let problem = problem(folder.path(), 53, &[(37, 85, true), (85, 43, false)]);
    let plans = covering(&problem.products, native_isa(), 11, 6);
    for (of, cc) in compilers().iter().enumerate() {
        for (n, plan) in plans.iter().enumerate().filter(|(n, _)| of == 0 || *n < 3) {
            // The sanitizers' runtime of clang is a package of its own.
            let flags = if of == 0 && n < 3 { SANITIZE } else { &["-O3"] };
            check(folder.path(), cc, native_isa(), &problem, plan, flags);
        }
    }
}

#[test]
fn one_product_and_three_and_plain_instructions_export_too() {
    let folder = tempfile::tempdir().unwrap();
    let one = problem(folder.path(), 41, &[(51, 67, false)]);
    let three = problem(folder.path(), 29, &[(19, 33, true), (33, 47, true), (47, 21, false)]);
    let Some(cc) = compiler() else { return };
    for plan in covering(&one.products, native_isa(), 12, 2) {
        check(folder.path(), &cc, native_isa(), &one, &plan, &[]);
    }
    for plan in covering(&three.products, Isa::Plain, 13, 3) {
        check(folder.path(), &cc, Isa::Plain, &three, &plan, &[]);
    }
    // Names that are the same in C, and that C has not.
    let mut named = three;
    for (product, name) in named.products.iter_mut().zip(["2-up", "2_up", "double"]) {
        name.clone_into(&mut product.name);
    }
    for mut plan in covering(&named.products, native_isa(), 15, 1) {
        for ((name, _), product) in plan.gemms.iter_mut().zip(&named.products) {
            name.clone_from(&product.name);
        }
        check(folder.path(), &cc, native_isa(), &named, &plan, &[]);
    }
}

/// Two kernels in one program, and the header in C++.
#[test]
fn kernels_live_side_by_side_and_their_headers_are_cpp() {
    let Some(cc) = compiler() else { return };
    let folder = tempfile::tempdir().unwrap();
    let problem = problem(folder.path(), 29, &[(19, 33, true), (33, 21, false)]);
    let mut objects = Vec::new();
    for (name, plan) in ["first", "second"]
        .into_iter()
        .zip(covering(&problem.products, native_isa(), 14, 2))
    {
        let kernel = exported(native_isa(), &problem.products, &plan, name, &[]);
        std::fs::write(folder.path().join(format!("{name}.c")), &kernel.source).unwrap();
        std::fs::write(folder.path().join(format!("{name}.h")), &kernel.header).unwrap();
        execute(
            &words(&[&cc, "-O1", "-c", "-o", &format!("{name}.o"), &format!("{name}.c")]),
            folder.path(),
        )
        .unwrap();
        objects.push(format!("{name}.o"));
    }
    let main = "#include \"first.h\"\n#include \"second.h\"\nint main(void) { return first_describe() == (const void *)second_describe(); }\n";
    std::fs::write(folder.path().join("main.c"), main).unwrap();
    let mut link = words(&[&cc, "-o", "main", "main.c"]);
    link.extend(objects);
    link.push("-lpthread".to_owned());
    execute(&link, folder.path()).unwrap();
    execute(&words(&["./main"]), folder.path()).unwrap();
    if execute(&words(&["c++", "--version"]), Path::new("/")).is_ok() {
        let cpp = "#include \"first.h\"\nint main() { return first_describe()->threads < 1; }\n";
        std::fs::write(folder.path().join("main.cpp"), cpp).unwrap();
        execute(
            &words(&["c++", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "main.cpp"]),
            folder.path(),
        )
        .unwrap();
    }
}
