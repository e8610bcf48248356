//! Uses an exported kernel called `mlp` from Rust: pack weights once, run it.
//!
//! ```console
//! $ layout-sweep export cohorts/siglip-mlp-cpu --kernel mlp.c
//! $ cc -std=gnu11 -O2 -c mlp.c && ar rcs libmlp.a mlp.o
//! $ rustc -O --edition 2024 -L . -l static=mlp use_kernel.rs && ./use_kernel
//! ```

use std::alloc::{Layout, alloc_zeroed, handle_alloc_error};
use std::ffi::{CStr, c_char, c_int, c_long, c_void};
use std::time::Instant;

#[repr(C)]
struct Description {
    size: usize,
    about: *const c_char,
    isa: *const c_char,
    threads: c_int,
    products: c_int,
    tokens: c_long,
    inputs: c_long,
    outputs: c_long,
    weight_rows: *const c_long,
    weight_columns: *const c_long,
    gelu_after: *const c_int,
    x_floats: usize,
    alignment: usize,
}

unsafe extern "C" {
    fn mlp_describe() -> *const Description;
    fn mlp_packed_size() -> usize;
    fn mlp_workspace_size() -> usize;
    fn mlp_pack_weights(weights: *const *const f32, packed: *mut c_void) -> c_int;
    fn mlp_open(workspace: *mut c_void) -> c_int;
    fn mlp_run(x: *const f32, packed: *const c_void, workspace: *mut c_void, y: *mut f32) -> c_int;
    fn mlp_close(workspace: *mut c_void) -> c_int;
}

/// Zeroed memory for as long as the program runs.
fn aligned(bytes: usize, alignment: usize) -> *mut u8 {
    let layout = Layout::from_size_align(bytes.max(1), alignment).expect("a power of two");
    let memory = unsafe { alloc_zeroed(layout) };
    if memory.is_null() {
        handle_alloc_error(layout);
    }
    memory
}

/// `count` numbers that look random, in room for `room`.
fn floats(count: usize, room: usize, scale: f32, alignment: usize) -> *mut f32 {
    let memory = aligned(4 * count.max(room), alignment).cast::<f32>();
    let mut state = 0x9e37_79b9_7f4a_7c15_u64 ^ count as u64;
    for n in 0..count {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let unit = (state >> 40) as f32 / (1u64 << 23) as f32 - 1.0;
        unsafe { *memory.add(n) = unit * scale };
    }
    memory
}

fn must(status: c_int, what: &str) {
    assert_eq!(status, 0, "{what} failed");
}

fn main() {
    let d = unsafe { &*mlp_describe() };
    assert_eq!(
        d.size,
        size_of::<Description>(),
        "another description than this example knows"
    );
    print!("{}", unsafe { CStr::from_ptr(d.about) }.to_string_lossy());
    println!(
        "{} instructions, {} thread(s)",
        unsafe { CStr::from_ptr(d.isa) }.to_string_lossy(),
        d.threads
    );
    let (tokens, inputs, outputs) = (d.tokens as usize, d.inputs as usize, d.outputs as usize);
    let x = floats(tokens * inputs, d.x_floats, 1.0, d.alignment);
    let weights: Vec<*const f32> = (0..d.products as usize)
        .map(|g| {
            let (rows, columns, gelu) =
                unsafe { (*d.weight_rows.add(g), *d.weight_columns.add(g), *d.gelu_after.add(g)) };
            println!(
                "weights {g}: {rows} x {columns}{}",
                if gelu == 0 { "" } else { ", then GELU" }
            );
            floats((rows * columns) as usize, 0, (rows as f32).powf(-0.5), d.alignment).cast_const()
        })
        .collect();
    let y = floats(tokens * outputs, 0, 0.0, d.alignment);
    unsafe {
        let packed = aligned(mlp_packed_size(), d.alignment).cast();
        let workspace = aligned(mlp_workspace_size(), d.alignment).cast();
        must(mlp_pack_weights(weights.as_ptr(), packed), "pack_weights");
        must(mlp_open(workspace), "open");
        let mut best = f64::INFINITY;
        for _ in 0..5 {
            let start = Instant::now();
            must(mlp_run(x, packed, workspace, y), "run");
            best = best.min(start.elapsed().as_secs_f64());
        }
        must(mlp_close(workspace), "close");
        println!(
            "best of 5 calls: {:.3} ms (neither pinned nor in huge pages)",
            best * 1e3
        );
    }
    let squares: f64 = (0..tokens * outputs)
        .map(|n| f64::from(unsafe { *y.add(n) }).powi(2))
        .sum();
    println!("RMS of the result: {:.4}", (squares / (tokens * outputs) as f64).sqrt());
}
