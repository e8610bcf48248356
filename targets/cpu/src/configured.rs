//! The CPU with its options on a machine.

use std::collections::BTreeMap;
use std::path::PathBuf;

use planner::costs::CostTable as Families;
use planner::{Assignment, Plan, Refusal, Rules, Workload};
use target_api::{
    BuildFailure, BuildInfo, BuildUnit, Built, Captured, CommandSpec, Configured, Estimator, Exclusive, InputSet,
    KernelProfile, Level, Limit, Malformed, Measurement, Objective, Pairing, PlanAmounts, RunRequest, SourceFile,
};

use crate::assembly;
use crate::attention::amounts::amounts as attention_amounts;
use crate::attention::attributes::plan_from as attention_plan_from;
use crate::attention::codegen::attention_source;
use crate::attention::facts::Context;
use crate::attention::geometry::AttentionPlan;
use crate::attention::problem::{Attention, attends, attention};
use crate::attention::rules;
use crate::attention::run::{arguments as attention_operands, tolerance as attention_tolerance};
use crate::attributes::{plan_attributes, plan_from};
use crate::chain::products;
use crate::codegen::gemm_source;
use crate::compile::{FLAGS, compile_steps, harness_step};
use crate::costs::samples::{clock, samples};
use crate::costs::{CostTable, shipped};
use crate::estimate::amounts::amounts;
use crate::estimate::limits::{LargestCache, limits};
use crate::estimate::{Analytic, Constants, Hardware, Proxy};
use crate::export::{exported, exported_attention};
use crate::facts::{GemmContext, contexts};
use crate::geometry::CpuPlan;
use crate::harness::{self, MachineReport, PlanObjects, attention_arguments, harness_sources, run_arguments};
use crate::inputs::{INPUT_FILE, REFERENCE_FILE, inputs, weights_file};
use crate::isa::Isa;
use crate::options::Settings;
use crate::problem::Product;
use crate::report::measurement;
use crate::rules::plan::first_broken;

/// Name of the tool that compiles.
pub const COMPILER: &str = "compiler";
/// Label of the unit that is built once for all cases.
pub const HARNESS: &str = "harness";
/// The file that objects and harness agree on.
const HEADER: &str = "layout_sweep.h";
/// The timeline of one call, beside the case's logs.
const PROFILE_FILE: &str = "profile.json";
/// The assembly text that is checked for spills.
const ASSEMBLY: &str = "gemm.s";

/// The CPU with its options on a machine.
#[derive(Debug, Clone, PartialEq)]
pub struct Configuration {
    /// Options in force.
    pub settings: Settings,
    /// Cores that stand for those of the settings where these may not be used; never compared with what was frozen.
    pinned: Option<Vec<u32>>,
    /// Path of the C compiler.
    pub compiler: String,
    /// The screening proxy.
    pub proxy: Proxy,
    /// The analytic model.
    pub analytic: Analytic,
    /// The largest cache of the workers' cores.
    largest_cache: LargestCache,
}

/// Why there is no model of a machine.
fn missing(isa: Isa, report: &MachineReport) -> String {
    let largest = report.read_bandwidth.last().map_or(0, |point| point.bytes);
    match (report.dram_gb_per_s, report.largest_cache_bytes) {
        (None, Some(cache)) => format!(
            "the rate of memory is not known: the largest set that could be read has {largest} bytes and the largest \
             cache {cache}; a set of twice that may take a quarter of the free memory, so free some and run `layout-sweep doctor --refresh`"
        ),
        _ => format!("the machine's measured figures for {isa} are missing or not positive"),
    }
}

impl Configuration {
    /// The configuration for a measured machine; fails in words when its figures can't be used.
    pub fn new(settings: Settings, report: &MachineReport, compiler: &str) -> Result<Self, String> {
        let costs = shipped(settings.isa).map_err(|error| format!("the cost table that ships: {error}"))?;
        Self::under(costs, settings, report, compiler)
    }

    /// The same with these prices.
    pub fn under(costs: CostTable, settings: Settings, report: &MachineReport, compiler: &str) -> Result<Self, String> {
        let hardware = Hardware::new(report, settings.isa).ok_or_else(|| missing(settings.isa, report))?;
        let constants = Constants::of(&costs).map_err(|error| error.to_string())?;
        let largest_cache = LargestCache::of(report, &settings.cores);
        Ok(Self {
            settings,
            pinned: None,
            compiler: compiler.to_owned(),
            proxy: Proxy {
                hardware: hardware.clone(),
                constants: constants.clone(),
            },
            analytic: Analytic {
                hardware,
                constants,
                costs,
            },
            largest_cache,
        })
    }

    /// The products and the typed plan; what no rule allows is refused.
    fn legal_plan(&self, workload: &Workload, plan: &Plan) -> Result<(Vec<Product>, CpuPlan), Refusal> {
        let products = products(workload)?;
        let plan = plan_from(workload, &plan.attributes, self.settings.threads)?;
        match first_broken(self.settings.isa, &products, &plan) {
            Some(refused) => Err(Refusal::new(refused.rule, refused.message)),
            None => Ok((products, plan)),
        }
    }

    /// The typed plan of an attention with its name and extents; what no rule allows is refused.
    fn legal_attention(&self, workload: &Workload, plan: &Plan) -> Result<(Attention, AttentionPlan), Refusal> {
        let own = attention(workload)?;
        let plan = attention_plan_from(&own.name, &plan.attributes, self.settings.threads)?;
        match rules::first_broken(self.settings.isa, plan.threads, own.extents, &plan.geometry) {
            Some(refused) => Err(Refusal::new(refused.rule, refused.message)),
            None => Ok((own, plan)),
        }
    }

    /// Name and source of the object of an attention.
    fn attention_source(&self, workload: &Workload, plan: &Plan) -> Result<(String, String), Refusal> {
        let (own, plan) = self.legal_attention(workload, plan)?;
        let source = attention_source(Context {
            isa: self.settings.isa,
            threads: plan.threads,
            extents: own.extents,
            geometry: &plan.geometry,
        });
        Ok((own.name, source))
    }

    /// What is told of a kernel, and what its figure needs.
    fn with_needs(&self, about: &[String], threads: u32) -> Vec<String> {
        let cores: Vec<String> = self.settings.cores.iter().map(ToString::to_string).collect();
        let needs = format!(
            "what the figure needs: gcc or clang with {}; all memory in 2 MiB pages (madvise, MADV_HUGEPAGE); {threads} \
             worker(s) pinned, there to core(s) {}",
            FLAGS.join(" "),
            cores.join(", ")
        );
        about.iter().cloned().chain([needs]).collect()
    }

    /// What the object `label` is built from.
    fn unit(&self, label: &str, text: String) -> Result<BuildUnit, Refusal> {
        let header = harness_sources().into_iter().find(|(path, _)| *path == HEADER);
        let (_, header) = header.ok_or_else(|| Refusal::new("sources", format!("`{HEADER}` is missing")))?;
        let source = |path: &str, text: String| SourceFile {
            path: path.to_owned(),
            text,
        };
        Ok(BuildUnit {
            label: label.to_owned(),
            sources: vec![source("gemm.c", text), source(HEADER, header.to_owned())],
            steps: compile_steps(self.settings.isa, &self.compiler, ".")
                .into_iter()
                .map(command)
                .collect(),
            artifact: "gemm.so".to_owned(),
            inspect: vec![ASSEMBLY.to_owned()],
        })
    }

    fn objects(&self, built: &Built<'_>, workload: &Workload) -> PlanObjects {
        // An attention's plan has no products; what it says of workers and `carry` is read the same way.
        let plan = plan_from(workload, &built.plan.attributes, self.settings.threads);
        let (threads, carry) = plan.map_or((self.settings.threads, false), |plan| (plan.threads, plan.carry));
        // An object that is missing keeps its place: the harness then says which one it can't load.
        let object = |name: &str| {
            built
                .artifacts
                .get(name)
                .cloned()
                .unwrap_or_else(|| PathBuf::from(name))
        };
        PlanObjects {
            threads,
            carry,
            objects: built_operations(workload).map(object).collect(),
        }
    }
}

/// Operations that are objects of their own.
fn built_operations(workload: &Workload) -> impl Iterator<Item = &str> {
    let attentions = workload.attentions().map(|(name, _)| name);
    workload.gemms().map(|(name, _)| name).chain(attentions)
}

/// The harness, for kernels of `isa`.
#[must_use]
pub fn harness_unit(isa: Isa, compiler: &str) -> BuildUnit {
    let source = |(path, text): (&str, &str)| SourceFile {
        path: path.to_owned(),
        text: text.to_owned(),
    };
    let mut sources: Vec<SourceFile> = harness_sources().into_iter().map(source).collect();
    sources.sort();
    BuildUnit {
        label: HARNESS.to_owned(),
        sources,
        steps: vec![command(harness_step(isa, compiler))],
        artifact: "harness".to_owned(),
        inspect: Vec::new(),
    }
}

fn command(argv: Vec<String>) -> CommandSpec {
    let mut argv = argv.into_iter();
    CommandSpec {
        program: argv.next().unwrap_or_default(),
        arguments: argv.collect(),
        environment: BTreeMap::new(),
    }
}

/// Largest error of one value that passes, relative to the RMS of the reference.
///
/// A float32 sum of `n` products of independent values has a rounding error whose standard deviation is about
/// `2^-24 sqrt(n)` of the result's own (each of its `n` roundings is relative to a partial sum that grows to the
/// result's size), hence the growth with the square root of the longest inner extent; the scale is the RMS because
/// single results lie near zero by cancellation, where a relative error means nothing. The factor 16 leaves room for the
/// largest of millions of values and for two products in a chain: right plans were measured 7e-6 off at n = 4304,
/// where this allows 6.3e-5. What it must catch is far larger: a missing partial of `m` of `n` steps is off by
/// `sqrt(m / n)` of the RMS, 1.5e-2 for a single step of 4304, and a block that was never written is NaN.
#[must_use]
pub fn tolerance(products: &[Product]) -> f64 {
    let longest = products.iter().map(|product| product.extents.inner).max().unwrap_or(1);
    16.0 * libm::exp2(-24.0) * libm::sqrt(f64::from(longest))
}

impl Configured for Configuration {
    fn target(&self) -> &'static str {
        "cpu"
    }

    fn objective(&self) -> Objective {
        Objective {
            name: "time",
            unit: "ns",
        }
    }

    fn options(&self) -> BTreeMap<String, String> {
        let cores: Vec<String> = self.settings.cores.iter().map(ToString::to_string).collect();
        BTreeMap::from([
            ("threads".to_owned(), self.settings.threads.to_string()),
            ("isa".to_owned(), self.settings.isa.word().to_owned()),
            ("cores".to_owned(), cores.join(", ")),
            ("costs".to_owned(), self.analytic.costs.families().name.clone()),
        ])
    }

    fn accept_cores(&mut self, cores: &[u32]) -> Result<(), String> {
        let frozen = &self.settings.cores;
        if frozen.iter().all(|core| cores.contains(core)) {
            return Ok(());
        }
        let pinned = cores.get(..frozen.len()).ok_or_else(|| {
            format!(
                "its plans have {} workers, each pinned to a core of its own, and this process may use {}: a job of Slurm \
                 asks for more with `arguments = [\"--cpus-per-task={}\"]` in `[executor]`",
                frozen.len(),
                cores.len(),
                frozen.len()
            )
        })?;
        self.pinned = Some(pinned.to_vec());
        Ok(())
    }

    fn plan(&self, workload: &Workload, assignment: &Assignment) -> Plan {
        // The space lists parameters as they count fastest; people read attributes as the geometry has them.
        let typed = (!attends(workload)).then(|| plan_from(workload, assignment, self.settings.threads));
        let own = match typed {
            Some(Ok(plan)) => plan_attributes(&plan),
            _ => assignment.clone(),
        };
        let derived = self.derived(workload, assignment);
        let mut attributes = own;
        for (name, value) in derived.iter() {
            attributes.set(name, value.clone());
        }
        Plan {
            target: self.target().to_owned(),
            text: self.text(workload, assignment),
            attributes,
        }
    }

    fn estimators(&self) -> Vec<&dyn Estimator> {
        vec![&self.proxy, &self.analytic]
    }

    fn costs(&self) -> Option<Families> {
        Some(self.analytic.costs.families().clone())
    }

    fn measured_kernels(&self, workload: &Workload, plan: &Plan, measurement: &Measurement) -> Option<KernelProfile> {
        samples(&self.analytic, workload, plan, measurement)
    }

    fn kernels(&self, _profile: &str) -> Result<KernelProfile, Malformed> {
        // The profile beside a case is the timeline of one call; its phases are told by every call's measurement.
        Ok(KernelProfile {
            clock: clock(),
            samples: Vec::new(),
        })
    }

    fn amounts(&self, workload: &Workload, plan: &Plan) -> Option<PlanAmounts> {
        let hardware = &self.analytic.hardware;
        let phases = if attends(workload) {
            let (own, plan) = self.legal_attention(workload, plan).ok()?;
            let context = Context {
                isa: self.settings.isa,
                threads: plan.threads,
                extents: own.extents,
                geometry: &plan.geometry,
            };
            attention_amounts(&own.name, context, hardware)
        } else {
            let (_, plan) = self.legal_plan(workload, plan).ok()?;
            amounts(&self.analytic, workload, &plan)
        };
        Some(PlanAmounts {
            clock_ghz: hardware.clock_ghz,
            phases,
        })
    }

    fn limits(&self, workload: &Workload) -> Vec<Limit> {
        let threads = self.settings.threads;
        limits(&self.analytic.hardware, self.largest_cache, threads, workload)
    }

    fn inputs(&self, workload: &Workload, seed: u64) -> Result<InputSet, Refusal> {
        inputs(workload, seed, self.settings.cores.len())
    }

    fn harness(&self) -> Option<BuildUnit> {
        Some(harness_unit(self.settings.isa, &self.compiler))
    }

    fn build(&self, workload: &Workload, plan: &Plan) -> Result<Vec<BuildUnit>, Refusal> {
        if attends(workload) {
            let (name, source) = self.attention_source(workload, plan)?;
            return Ok(vec![self.unit(&name, source)?]);
        }
        let (products, plan) = self.legal_plan(workload, plan)?;
        let contexts = contexts(self.settings.isa, &products, &plan);
        let unit = |((name, _), context): (&(String, _), &GemmContext<'_>)| self.unit(name, gemm_source(context));
        plan.gemms.iter().zip(&contexts).map(unit).collect()
    }

    fn parse_build(&self, unit: &BuildUnit, captured: &Captured) -> Result<BuildInfo, BuildFailure> {
        if !unit.inspect.iter().any(|name| name == ASSEMBLY) {
            return Ok(BuildInfo::default());
        }
        let missing = || BuildFailure::Failed {
            reason: format!("the build left no `{ASSEMBLY}` to check"),
        };
        let text = captured.files.get(ASSEMBLY).ok_or_else(missing)?;
        let loops = assembly::check(text).map_err(|spill| BuildFailure::Failed {
            reason: spill.to_string(),
        })?;
        let fact = |found: assembly::KernelLoop| {
            (
                format!("{}.loop_instructions", found.kernel),
                found.instructions.to_string(),
            )
        };
        Ok(BuildInfo {
            facts: loops.into_iter().map(fact).collect(),
        })
    }

    fn run(&self, request: &RunRequest<'_>) -> CommandSpec {
        let workload = request.workload;
        // A workload that is no chain has no plan, hence no run; the harness refuses an empty list of products.
        let products = products(workload).unwrap_or_default();
        let case = self.objects(&request.case, workload);
        // The harness calls what is measured alone its control; `parse_run` gives the name back.
        let (control, case) = match &request.control {
            Some(control) => (self.objects(control, workload), Some(case)),
            None => (case, None),
        };
        let weights = products
            .iter()
            .map(|product| request.inputs.join(weights_file(&product.name)));
        let attention = attends(workload).then(|| attention(workload).ok()).flatten();
        let calls = harness::Calls {
            tolerance: attention
                .as_ref()
                .map_or_else(|| tolerance(&products), |own| attention_tolerance(own.extents)),
            cores: self.pinned.clone().unwrap_or_else(|| self.settings.cores.clone()),
            pairs: request.pairs,
            warm_case: true,
            case_first: request.round % 2 == 1,
            control,
            case,
            profile: Some(request.case_dir.join(PROFILE_FILE)),
        };
        let arguments = match attention {
            Some(own) => attention_arguments(attention_operands(&own, request.inputs), &calls),
            None => run_arguments(&harness::RunRequest {
                products: &products,
                x: request.inputs.join(INPUT_FILE),
                weights: weights.collect(),
                reference: request.inputs.join(REFERENCE_FILE),
                calls,
            }),
        };
        let program = request
            .harness
            .map_or_else(|| "./harness".to_owned(), |path| path.display().to_string());
        CommandSpec {
            program,
            arguments,
            environment: BTreeMap::new(),
        }
    }

    fn parse_run(&self, workload: &Workload, captured: &Captured) -> Result<Measurement, Malformed> {
        measurement(workload, captured)
    }

    fn kernel(
        &self,
        workload: &Workload,
        plan: &Plan,
        name: &str,
        about: &[String],
    ) -> Result<Vec<SourceFile>, Refusal> {
        let isa = self.settings.isa;
        let kernel = if attends(workload) {
            let (own, plan) = self.legal_attention(workload, plan)?;
            let context = Context {
                isa,
                threads: plan.threads,
                extents: own.extents,
                geometry: &plan.geometry,
            };
            exported_attention(context, name, &self.with_needs(about, plan.threads))
        } else {
            let (products, plan) = self.legal_plan(workload, plan)?;
            exported(isa, &products, &plan, name, &self.with_needs(about, plan.threads))
        };
        let file = |extension: &str, text: String| SourceFile {
            path: format!("{name}.{extension}"),
            text,
        };
        Ok(vec![file("c", kernel.source), file("h", kernel.header)])
    }

    fn refusal_level(&self, rule: &str) -> Level {
        match rule {
            "registers" | "memory" | "array-too-large" => Level::Hardware,
            _ => Level::Compiler,
        }
    }

    fn pairing(&self) -> Pairing {
        Pairing::InProcess
    }

    fn exclusive(&self) -> Exclusive {
        Exclusive::Host
    }
}
