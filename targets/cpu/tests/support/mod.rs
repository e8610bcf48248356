//! Builds generated sources and runs them in the harness, on inputs with a float64 reference.
#![allow(dead_code, reason = "each test binary uses its own part")]
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "these are tests, outside a test function"
)]

pub(crate) mod attentions;
pub(crate) mod plans;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, OnceLock};

use target_cpu::codegen::gemm_source;
use target_cpu::compile::{compile_steps, harness_step};
use target_cpu::facts::contexts;
use target_cpu::geometry::{
    Activation, Activations, CpuPlan, Deal, GemmGeometry, Inside, Order, Orientation, Output, Split, Staging, Weights,
};
use target_cpu::harness::{Calls, PlanObjects, RunReport, RunRequest, harness_sources, run_arguments};
use target_cpu::isa::Isa;
use target_cpu::problem::{Extents, Product};

/// The instruction set that tests run on: what this machine has.
pub(crate) fn native_isa() -> Isa {
    #[cfg(target_arch = "x86_64")]
    if std::is_x86_feature_detected!("avx2") && std::is_x86_feature_detected!("fma") {
        return Isa::Avx2;
    }
    if cfg!(target_arch = "aarch64") {
        Isa::Neon
    } else {
        Isa::Plain
    }
}

/// A workshop for AVX-512; `None` after a word where this machine has not that or no compiler.
pub(crate) fn wide_workshop() -> Option<Workshop> {
    #[cfg(target_arch = "x86_64")]
    if std::is_x86_feature_detected!("avx512f") {
        return Some(Workshop::new(compiler()?, Isa::Avx512, &[]));
    }
    println!("SKIPPED: this machine has no AVX-512, its kernels are compiled but not run");
    None
}

/// A workshop for NEON, whose programs an emulator runs; `None` after a word where that or the cross compiler is missing.
pub(crate) fn neon_workshop() -> Option<Workshop> {
    let (cc, emulator) = (
        "aarch64-linux-gnu-gcc",
        ["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu"],
    );
    let there = |program: &str| execute(&[program.to_owned(), "--version".to_owned()], Path::new("/")).is_ok();
    if !there(cc) || !there(emulator[0]) {
        println!("SKIPPED: no `{cc}` or no `{}`", emulator[0]);
        return None;
    }
    Some(Workshop::new(cc.to_owned(), Isa::Neon, &emulator))
}

/// `$CC`, else `cc`; `None` after a loud word when neither runs. On CI a compiler must be there.
pub(crate) fn compiler() -> Option<String> {
    let cc = std::env::var("CC")
        .ok()
        .filter(|cc| !cc.is_empty())
        .unwrap_or_else(|| "cc".to_owned());
    if Command::new(&cc)
        .arg("--version")
        .output()
        .is_ok_and(|output| output.status.success())
    {
        return Some(cc);
    }
    assert_ne!(
        std::env::var("CI").as_deref(),
        Ok("true"),
        "no C compiler `{cc}`: this test can't be left out on CI"
    );
    println!("SKIPPED: no C compiler `{cc}`, nothing was compiled and nothing was checked");
    None
}

/// Compiling takes its time with the sanitizers: not for every plan.
pub(crate) const SANITIZE: &[&str] = &["-g1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"];

/// Compilers at hand: the one that sweeps use, and clang. On CI clang must be there.
pub(crate) fn compilers() -> Vec<String> {
    let Some(cc) = compiler() else { return Vec::new() };
    let there = |name: &str| execute(&[name.to_owned(), "--version".to_owned()], Path::new("/")).is_ok();
    if there("clang") {
        return vec![cc, "clang".to_owned()];
    }
    assert_ne!(
        std::env::var("CI").as_deref(),
        Ok("true"),
        "clang is missing: this test can't be left out on CI"
    );
    println!("SKIPPED: no clang, exported kernels are compiled by `{cc}` alone");
    vec![cc]
}

pub(crate) fn words(list: &[&str]) -> Vec<String> {
    list.iter().map(|word| (*word).to_owned()).collect()
}

/// Runs a command in a folder and hands back what it printed.
pub(crate) fn execute(argv: &[String], folder: &Path) -> Result<String, String> {
    let output = Command::new(&argv[0])
        .args(&argv[1..])
        .current_dir(folder)
        .output()
        .map_err(|e| e.to_string())?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    Err(format!(
        "{argv:?}: {}: {}",
        output.status,
        String::from_utf8_lossy(&output.stderr)
    ))
}

/// One pair of calls.
pub(crate) fn calls(tolerance: f64, control: PlanObjects, case: Option<PlanObjects>) -> Calls {
    Calls {
        tolerance,
        cores: cores(),
        pairs: 1,
        warm_case: false,
        case_first: false,
        control,
        case,
        profile: None,
    }
}

/// A folder with the built harness and one folder per built source.
pub(crate) struct Workshop {
    pub(crate) cc: String,
    pub(crate) isa: Isa,
    pub(crate) folder: tempfile::TempDir,
    /// What runs the harness: nothing, or an emulator.
    runner: Vec<String>,
    objects: Mutex<HashMap<String, PathBuf>>,
}

impl Workshop {
    pub(crate) fn new(cc: String, isa: Isa, runner: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in harness_sources() {
            std::fs::write(folder.path().join(name), text).unwrap();
        }
        let mut step = harness_step(isa, &cc);
        step.extend(["-Wall", "-Wextra", "-Werror"].map(str::to_owned));
        execute(&step, folder.path()).unwrap();
        let runner = runner.iter().map(|word| (*word).to_owned()).collect();
        Self {
            cc,
            isa,
            folder,
            runner,
            objects: Mutex::new(HashMap::new()),
        }
    }

    /// Builds a source once; warnings are errors, so that generated code stays clean.
    pub(crate) fn object(&self, source: &str) -> PathBuf {
        let known = self.objects.lock().unwrap().len();
        if let Some(path) = self.objects.lock().unwrap().get(source) {
            return path.clone();
        }
        let folder = tempfile::Builder::new()
            .prefix(&format!("gemm-{known}-"))
            .tempdir_in(self.folder.path())
            .unwrap();
        let folder = folder.keep();
        std::fs::write(folder.join("gemm.c"), source).unwrap();
        for mut step in compile_steps(self.isa, &self.cc, &self.folder.path().display().to_string()) {
            if step.iter().any(|word| word == "-S") {
                step.extend(["-Wall", "-Wextra", "-Werror"].map(str::to_owned));
            }
            if let Err(problem) = execute(&step, &folder) {
                panic!("{problem}\n{source}");
            }
        }
        let path = folder.join("gemm.so");
        self.objects.lock().unwrap().insert(source.to_owned(), path.clone());
        path
    }

    pub(crate) fn harness(&self, arguments: &[String]) -> Result<String, String> {
        let mut argv = self.runner.clone();
        argv.push(self.folder.path().join("harness").display().to_string());
        argv.extend_from_slice(arguments);
        execute(&argv, self.folder.path())
    }

    pub(crate) fn objects_of(&self, products: &[Product], plan: &CpuPlan) -> PlanObjects {
        let objects = sources(self.isa, products, plan)
            .iter()
            .map(|source| self.object(source))
            .collect();
        PlanObjects {
            threads: plan.threads,
            carry: plan.carry,
            objects,
        }
    }

    pub(crate) fn run(&self, problem: &Problem, control: PlanObjects, case: Option<PlanObjects>) -> RunReport {
        let request = RunRequest {
            products: &problem.products,
            x: problem.x.clone(),
            weights: problem.weights.clone(),
            reference: problem.reference.clone(),
            calls: calls(2e-5, control, case),
        };
        let text = self.harness(&run_arguments(&request)).unwrap();
        serde_json::from_str(&text).unwrap_or_else(|e| panic!("{e}: {text}"))
    }
}

/// Cores for up to four workers; they may share one.
pub(crate) fn cores() -> Vec<u32> {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let list = status
        .lines()
        .find_map(|line| line.strip_prefix("Cpus_allowed_list:"))
        .unwrap()
        .trim();
    let allowed: Vec<u32> = list
        .split(',')
        .flat_map(|range| {
            let (first, last) = range.split_once('-').unwrap_or((range, range));
            first.parse::<u32>().unwrap()..=last.parse().unwrap()
        })
        .collect();
    allowed.iter().copied().cycle().take(4.max(allowed.len())).collect()
}

/// Sources of all objects of a plan.
pub(crate) fn sources(isa: Isa, products: &[Product], plan: &CpuPlan) -> Vec<String> {
    contexts(isa, products, plan).iter().map(gemm_source).collect()
}

/// A small workload with its inputs and its float64 reference on disk.
pub(crate) struct Problem {
    pub(crate) products: Vec<Product>,
    pub(crate) x: PathBuf,
    pub(crate) weights: Vec<PathBuf>,
    pub(crate) reference: PathBuf,
}

/// Numbers that look random and are the same everywhere.
pub(crate) struct Numbers(u64);

impl Numbers {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(crate) fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % n
    }

    pub(crate) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[usize::try_from(self.below(from.len() as u64)).unwrap()]
    }

    /// Roughly Gaussian with variance 1.
    #[expect(clippy::cast_possible_truncation, reason = "float32 is what is wanted")]
    fn gaussian(&mut self) -> f32 {
        let sum: f64 = (0..12).map(|_| self.below(1 << 24) as f64 / f64::from(1 << 24)).sum();
        (sum - 6.0) as f32
    }
}

pub(crate) fn gelu(x: f64) -> f64 {
    0.5 * x * (1.0 + ((2.0 / std::f64::consts::PI).sqrt() * (x + 0.044_715 * x * x * x)).tanh())
}

/// Chains of products: `extents[i]` is `(inner, features, activated)`.
pub(crate) fn problem(folder: &Path, tokens: u32, chain: &[(u32, u32, bool)]) -> Problem {
    let names = ["up", "down", "third"];
    let products: Vec<Product> = chain
        .iter()
        .zip(names)
        .map(|((inner, features, activated), name)| Product {
            name: name.to_owned(),
            extents: Extents {
                tokens,
                inner: *inner,
                features: *features,
            },
            activation: activated.then(|| "gelu".to_owned()),
        })
        .collect();
    let folder = tempfile::Builder::new()
        .prefix("inputs-")
        .tempdir_in(folder)
        .unwrap()
        .keep();
    let mut numbers = Numbers::new(u64::from(tokens) + 7);
    let mut fill = |count: u32, scale: f32| -> Vec<f32> { (0..count).map(|_| numbers.gaussian() * scale).collect() };
    let write = |name: &str, bytes: Vec<u8>| {
        let path = folder.join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    };
    let x = fill(tokens * chain[0].0, 1.0);
    let mut now: Vec<f64> = x.iter().map(|v| f64::from(*v)).collect();
    let mut weights = Vec::new();
    for (product, (inner, features, activated)) in products.iter().zip(chain) {
        #[expect(clippy::cast_possible_truncation, reason = "float32 is what is wanted")]
        let w = fill(inner * features, 1.0 / f64::from(*inner).sqrt() as f32);
        let (k, n) = (*inner as usize, *features as usize);
        let mut next = vec![0.0; tokens as usize * n];
        for (row, out) in now.chunks(k).zip(next.chunks_mut(n)) {
            for (a, line) in row.iter().zip(w.chunks(n)) {
                for (sum, b) in out.iter_mut().zip(line) {
                    *sum += a * f64::from(*b);
                }
            }
        }
        if *activated {
            for v in &mut next {
                *v = gelu(*v);
            }
        }
        now = next;
        weights.push(write(&product.name, w.iter().flat_map(|v| v.to_le_bytes()).collect()));
    }
    Problem {
        x: write("x", x.iter().flat_map(|v| v.to_le_bytes()).collect()),
        reference: write("reference", now.iter().flat_map(|v| v.to_le_bytes()).collect()),
        weights,
        products,
    }
}

/// A good geometry: packed operands, 6x16 (or what fits the instruction set), nothing split.
pub(crate) fn plain_geometry(isa: Isa, activation: Option<Activation>) -> GemmGeometry {
    GemmGeometry {
        orientation: Orientation::Normal,
        rows: 1,
        columns: 1,
        inner: 1,
        height: 6,
        width: 2 * isa.lanes(),
        unroll: 4,
        order: Order::Rkc,
        inside: Inside::Cr,
        weights: Weights::Panels,
        activations: Activations::Packed,
        output: Output::RowMajor,
        staging: Staging::Streamed,
        result_rows: 1,
        result_columns: 1,
        split: Split::Rows,
        deal: Deal::Contiguous,
        transpose: 1,
        prefetch_c: true,
        prefetch_b: true,
        activation,
    }
}

/// One workshop for all tests of a binary; `None` without a compiler.
pub(crate) fn workshop() -> Option<&'static Workshop> {
    static SHOP: OnceLock<Option<Workshop>> = OnceLock::new();
    SHOP.get_or_init(|| Some(Workshop::new(compiler()?, native_isa(), &[])))
        .as_ref()
}
