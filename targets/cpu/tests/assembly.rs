//! Spills are found: in texts, and in kernels that ask for more registers than there are.

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

use support::{compiler, execute, native_isa, plain_geometry, sources};
use target_cpu::assembly::{self, Spill};
use target_cpu::compile::compile_steps;
use target_cpu::geometry::{Activation, Activations, CpuPlan, GemmGeometry, Orientation, Staging, Weights};
use target_cpu::harness::harness_sources;
use target_cpu::isa::Isa;
use target_cpu::problem::{Extents, Product};
use target_cpu::rules;

const CLEAN: &str = "\
kernel_store:
\tpushq\t%rbp
.L3:
\tvmovups\t(%rsi), %ymm0
#APP
\t# layout-sweep k-loop kernel_store
#NO_APP
\taddq\t$64, %rsi
\tcmpq\t%rax, %rbp
\tjne\t.L3
\tvmovaps\t-32(%rsp), %ymm1
\tret
";

#[test]
fn only_the_loop_is_looked_at() {
    let loops = assembly::check(CLEAN).unwrap();
    assert_eq!(
        (loops.len(), loops[0].kernel.as_str(), loops[0].instructions),
        (1, "kernel_store", 4)
    );
}

#[test]
fn stack_traffic_in_the_loop_is_found() {
    let spilled = CLEAN.replace("\taddq\t$64, %rsi", "\tvmovaps\t%ymm3, -32(%rsp)");
    let Err(Spill::Stack { kernel, line, text }) = assembly::check(&spilled) else {
        panic!("not found")
    };
    assert_eq!(
        (kernel.as_str(), line, text.as_str()),
        ("kernel_store", 8, "vmovaps\t%ymm3, -32(%rsp)")
    );
}

/// `%rbp` is a frame pointer only in a function that makes it one.
#[test]
fn the_frame_pointer_counts_where_there_is_one() {
    let general = CLEAN.replace("\taddq\t$64, %rsi", "\tvmovaps\t%ymm3, 8(%rbp)");
    assert!(assembly::check(&general).is_ok());
    let framed = general.replace("\tpushq\t%rbp\n", "\tpushq\t%rbp\n\tmovq\t%rsp, %rbp\n");
    assert!(matches!(assembly::check(&framed), Err(Spill::Stack { .. })));
}

#[test]
fn the_innermost_loop_counts() {
    let nested = CLEAN
        .replace(".L3:", ".L2:\n\tmovq\t-8(%rsp), %rdx\n.L3:")
        .replace("\tvmovaps\t-32(%rsp), %ymm1\n", "\tdecl\t%ecx\n\tjg\t.L2\n");
    assert!(assembly::check(&nested).is_ok());
}

#[test]
fn aarch64_text_is_understood() {
    let clean = "kernel_store:\n\tmov\tx29, sp\n.L3:\n\tldr\tq1, [x1], 64\n\t// layout-sweep k-loop kernel_store\n\tsubs\tx4, x4, #8\n\tb.gt\t.L3\n\tldr\tq0, [sp, 16]\n";
    assert!(assembly::check(clean).is_ok());
    for operand in ["[sp, 16]", "[x29, -16]"] {
        let spilled = clean.replace("[x1], 64", operand);
        assert!(
            matches!(assembly::check(&spilled), Err(Spill::Stack { .. })),
            "{operand}"
        );
    }
}

#[test]
fn a_text_without_its_loop_is_refused() {
    assert_eq!(assembly::check("main:\n\tret\n"), Err(Spill::NoMarker));
    let straight = CLEAN.replace("\tjne\t.L3\n", "");
    assert_eq!(
        assembly::check(&straight),
        Err(Spill::NoLoop {
            kernel: "kernel_store".to_owned()
        })
    );
}

fn product() -> Vec<Product> {
    vec![Product {
        name: "up".to_owned(),
        extents: Extents {
            tokens: 96,
            inner: 64,
            features: 192,
        },
        activation: Some("gelu".to_owned()),
    }]
}

/// The assembly of one plan, by `cc` with the instruction set's own flags.
fn assembly_of(cc: &str, isa: Isa, geometry: GemmGeometry) -> String {
    let plan = CpuPlan {
        threads: 1,
        carry: false,
        gemms: vec![("up".to_owned(), geometry)],
    };
    let folder = tempfile::tempdir().unwrap();
    let (_, header) = harness_sources()
        .into_iter()
        .find(|(name, _)| *name == "layout_sweep.h")
        .unwrap();
    std::fs::write(folder.path().join("layout_sweep.h"), header).unwrap();
    std::fs::write(folder.path().join("gemm.c"), sources(isa, &product(), &plan).remove(0)).unwrap();
    let mut step = compile_steps(isa, cc, ".").remove(0);
    step.extend(["-Wall", "-Wextra", "-Werror"].map(str::to_owned));
    execute(&step, folder.path()).unwrap();
    std::fs::read_to_string(folder.path().join("gemm.s")).unwrap()
}

/// The rule refuses 7x16 for AVX2; compiled all the same, the check sees what the rule foresaw.
#[test]
fn a_kernel_that_asks_for_too_much_spills_and_is_found() {
    let Some(cc) = compiler() else { return };
    let isa = native_isa();
    let height = 2 * isa.registers() / 3;
    let geometry = GemmGeometry {
        height,
        width: 2 * isa.lanes(),
        ..plain_geometry(isa, Some(Activation::Fused))
    };
    assert_eq!(
        rules::gemm::registers(isa, height, geometry.width).unwrap().rule,
        "registers"
    );
    let found = assembly::check(&assembly_of(&cc, isa, geometry));
    assert!(matches!(found, Err(Spill::Stack { .. })), "{found:?}");
}

/// Every shape that the rule allows keeps its loop off the stack, whatever the unrolling.
fn allowed_shapes_are_clean(cc: &str, isa: Isa, shapes: &[(u32, u32)]) {
    for (n, (height, vectors)) in shapes.iter().enumerate() {
        let base = GemmGeometry {
            height: *height,
            width: vectors * isa.lanes(),
            unroll: [1, 2, 4, 8][n % 4],
            inner: 2,
            ..plain_geometry(isa, Some(Activation::Fused))
        };
        assert_eq!(rules::gemm::registers(isa, base.height, base.width), None);
        let variants = [
            base.clone(),
            GemmGeometry {
                weights: Weights::RowMajor,
                activations: Activations::InPlace,
                ..base.clone()
            },
            GemmGeometry {
                orientation: Orientation::Swapped,
                weights: Weights::RowMajor,
                ..base.clone()
            },
            GemmGeometry {
                staging: Staging::Complete,
                unroll: 8,
                ..base
            },
        ];
        for geometry in variants {
            let found = assembly::check(&assembly_of(cc, isa, geometry.clone()));
            assert!(found.is_ok(), "{isa} {}: {geometry:#?}", found.unwrap_err());
        }
    }
}

#[test]
fn avx2_shapes_are_clean() {
    let Some(cc) = compiler().filter(|_| cfg!(target_arch = "x86_64")) else {
        return;
    };
    allowed_shapes_are_clean(&cc, Isa::Avx2, &[(6, 2), (4, 3), (3, 4), (2, 6), (14, 1), (5, 2)]);
}

#[test]
fn avx512_shapes_are_clean() {
    let Some(cc) = compiler().filter(|_| cfg!(target_arch = "x86_64")) else {
        return;
    };
    allowed_shapes_are_clean(
        &cc,
        Isa::Avx512,
        &[(14, 2), (9, 3), (5, 5), (3, 8), (30, 1), (1, 1), (1, 2), (2, 2)],
    );
}

#[test]
fn plain_shapes_are_clean() {
    let Some(cc) = compiler() else { return };
    allowed_shapes_are_clean(&cc, Isa::Plain, &[(4, 2), (3, 3), (2, 4), (12, 1), (5, 2)]);
}

#[test]
fn neon_shapes_are_clean() {
    let native = if cfg!(target_arch = "aarch64") {
        compiler()
    } else {
        None
    };
    let cross = "aarch64-linux-gnu-gcc";
    let here = execute(&[cross.to_owned(), "--version".to_owned()], std::path::Path::new("/")).is_ok();
    let Some(cc) = native.or_else(|| here.then(|| cross.to_owned())) else {
        println!("SKIPPED: no compiler for aarch64, NEON sources are only generated");
        let geometry = plain_geometry(Isa::Neon, None);
        let plan = CpuPlan {
            threads: 1,
            carry: false,
            gemms: vec![("up".to_owned(), geometry)],
        };
        assert!(sources(Isa::Neon, &product(), &plan)[0].contains("vector_size(16)"));
        return;
    };
    allowed_shapes_are_clean(&cc, Isa::Neon, &[(6, 4), (5, 4), (4, 5), (8, 3), (2, 8)]);
}

/// Only what occurs is emitted.
#[test]
fn only_kernels_that_occur_are_emitted() {
    let isa = native_isa();
    let source = |geometry| {
        let plan = CpuPlan {
            threads: 1,
            carry: false,
            gemms: vec![("up".to_owned(), geometry)],
        };
        sources(isa, &product(), &plan).remove(0)
    };
    let plain = plain_geometry(isa, Some(Activation::Fused));
    let count = |text: &str, what: &str| text.matches(&format!("void {what}(")).count();
    let whole = source(plain.clone());
    assert_eq!(
        ["kernel_store", "kernel_add", "gelu_tile"].map(|name| count(&whole, name)),
        [1, 0, 1]
    );
    assert_eq!(
        ["add_result", "store_result", "reduce"].map(|name| count(&whole, name)),
        [0, 0, 0]
    );
    let split = source(GemmGeometry {
        inner: 2,
        activation: Some(Activation::Pass),
        ..plain.clone()
    });
    assert_eq!(
        ["kernel_store", "kernel_add", "gelu_tile", "activate"].map(|name| count(&split, name)),
        [1, 1, 0, 1]
    );
    let staged = source(GemmGeometry {
        inner: 2,
        staging: Staging::Complete,
        ..plain
    });
    assert_eq!(
        ["kernel_store", "kernel_add", "reduce"].map(|name| count(&staged, name)),
        [1, 0, 1]
    );
}
