//! What this machine makes of the layers of a network: the kernel that serves a layer is compiled for the machine and
//! priced, its byte orders are those that its stages pin; what no kernel serves is said in words.

mod facilities;
mod fragments;
mod moves;

use planner::network::{Function, Layer};
use planner::{Refusal, counted};
use target_api::network_default::by_workload_kinds;
use target_api::{Level, OperandOrder, Price, Status, Support};

use crate::compile::{Compiled, compile};
use crate::configured::Configuration;
use crate::kernels::{Padded, Tiling, convolution, fused_linear, matmul, residual, upsampled};
use crate::machine::BLOCK;
use crate::program::{Program, Role};
use crate::timing::timing;
use crate::work::extent;

/// What would have to change for a rule to be kept.
pub(crate) fn level(rule: &str) -> Level {
    match rule {
        "accumulator" | "fill-entries" | "fold-row" | "byte-order" => Level::Hardware,
        "value-width" | "key-blocks" | "query-blocks" | "row-tiles" | "column-tiles" | "chunks" | "causal-block"
        | "causal-groups" | "head-blocks" | "key-splits" => Level::Kernel,
        _ => Level::Compiler,
    }
}

impl Configuration {
    /// What becomes of a layer.
    pub(crate) fn layer(&self, layer: &Layer) -> Support {
        match *layer {
            Layer::Linear {
                rows,
                inner,
                columns,
                bias,
            } => self.product(layer, [rows, inner, columns], bias, ""),
            Layer::Conv {
                height,
                width,
                inputs,
                outputs,
                kernel: 1,
                stride: 1,
                bias,
            } => {
                let pixels = height.saturating_mul(width);
                self.product(layer, [pixels, inputs, outputs], bias, "a product over pixels: ")
            }
            Layer::Conv {
                height,
                width,
                inputs,
                outputs,
                kernel: 3,
                stride,
                bias,
            } => {
                let plane = [extent(height), extent(width), extent(inputs)];
                let channels = extent(outputs);
                self.convolution(
                    &Padded {
                        plane,
                        channels,
                        step: extent(stride),
                    },
                    bias,
                )
            }
            Layer::Conv { kernel, .. } => {
                let words = format!("a convolution has 3x3 taps, or 1x1 of stride 1: not {kernel}x{kernel}");
                Support::new(Status::Refused, Some(Level::Kernel), words)
            }
            Layer::Attention { .. } | Layer::Mlp { .. } => self.call(layer),
            Layer::Upsample {
                height,
                width,
                channels,
                ..
            } => self.upsample([height, width, channels].map(extent)),
            Layer::Rearrange {
                form,
                rows,
                columns,
                parts,
            } => self.rearranged(form, rows, columns, parts),
            Layer::Concat { first, second, .. } => moves::side_by_side(first, second),
            Layer::Host { .. } => Support::new(Status::Host, None, "stays on the host"),
            Layer::Embedding { .. } => Support::new(
                Status::Host,
                Some(Level::Hardware),
                "no gather: rows are looked up on the host",
            ),
            Layer::Rotary { .. } => Support::new(
                Status::Refused,
                Some(Level::Kernel),
                "no kernel; there is no sine and no cosine either",
            ),
            Layer::RmsNorm { .. } => {
                Support::new(Status::Refused, Some(Level::Kernel), "no kernel: norms subtract a mean")
            }
            _ => self.pointwise(layer),
        }
    }

    /// Norms, softmax and element-wise steps.
    fn pointwise(&self, layer: &Layer) -> Support {
        match fragments::of(layer) {
            Ok((program, words)) => self.served(program, words),
            Err(refusal) => refused(refusal),
        }
    }

    fn price(&self, compiled: &Compiled, of: &str) -> Price {
        Price {
            value: timing(compiled, self.prices()).total() as f64,
            unit: "cycles".to_owned(),
            estimate: self.prices().word().to_owned(),
            of: of.to_owned(),
            label: "modelled",
        }
    }

    /// A layer that one program computes.
    fn served(&self, program: Program, words: String) -> Support {
        match compile(program, self.machine()) {
            Ok(compiled) => Support {
                cost: Some(self.price(&compiled, "the kernel's program, tiles of 8 x 8")),
                orders: orders(&compiled),
                ..Support::new(Status::Supported, None, words)
            },
            Err(refusal) => refused(refusal),
        }
    }

    /// A product, perhaps with a bias: fused where its tiles fit the vector cores, else at full shape as a pass.
    fn product(&self, layer: &Layer, extents: [u64; 3], bias: bool, lead: &str) -> Support {
        let [rows, inner, columns] = extents;
        let plain = Layer::Linear {
            rows,
            inner,
            columns,
            bias: false,
        };
        let mut found = by_workload_kinds(self, &plain);
        let tiling = Tiling::default();
        let extents = extents.map(extent);
        let alone = match compile(matmul(extents, tiling), self.machine()) {
            Ok(compiled) => compiled,
            Err(refusal) => return refused(refusal),
        };
        found.orders = orders(&alone);
        if !lead.is_empty() {
            found.words = format!("{lead}{}", found.words);
        }
        if !bias || found.status != Status::Supported {
            return found;
        }
        match compile(fused_linear(extents, tiling, false), self.machine()) {
            Ok(compiled) => {
                found.cost = Some(self.price(&compiled, "product and bias in one dispatch, tiles of 8 x 8"));
                found.orders = orders(&compiled);
                found.words = format!("{}, its bias in the fused epilogue", found.words);
            }
            Err(refusal) => self.bias_as_pass(&mut found, &alone, residual(extents, tiling), &refusal, layer),
        }
        found
    }

    /// The bias comes at full shape, as a pass of its own: what that takes would go.
    fn bias_as_pass(&self, found: &mut Support, alone: &Compiled, whole: Program, why: &Refusal, layer: &Layer) {
        found.status = Status::Partial;
        found.level = Some(level(&why.rule));
        found.rule = Some(why.rule.clone());
        found.words = format!(
            "{}; its bias must come at full shape, as a pass of its own: {}",
            found.words, why.message
        );
        if let Ok(compiled) = compile(whole, self.machine()) {
            let (with, without) = (self.price(&compiled, "with a pass"), self.price(alone, "alone"));
            found.unlocks = Some(Price {
                value: with.value - without.value,
                of: format!("the pass that adds the bias of {}", layer.class()),
                ..with.clone()
            });
            found.cost = Some(Price {
                of: "product, and the bias as a pass; tiles of 8 x 8".to_owned(),
                ..with
            });
        }
    }

    fn convolution(&self, c: &Padded, bias: bool) -> Support {
        let tiling = Tiling::default();
        let alone = match compile(convolution(c, tiling), self.machine()) {
            Ok(compiled) => compiled,
            Err(refusal) => {
                let mut found = refused(refusal);
                found.words = format!("{}: channels come in blocks of {BLOCK}", found.words);
                return found;
            }
        };
        let words = format!("3x3 taps of stride {}, one dispatch, no conversion", c.step);
        let mut found = Support {
            cost: Some(self.price(&alone, "the kernel's program, tiles of 8 x 8")),
            orders: orders(&alone),
            ..Support::new(Status::Supported, None, words)
        };
        if bias {
            let why = Refusal::new("conv-epilogue", "a convolution has no epilogue");
            let layer = Layer::Conv {
                height: 1,
                width: 1,
                inputs: 1,
                outputs: 1,
                kernel: 3,
                stride: 1,
                bias,
            };
            self.bias_as_pass(
                &mut found,
                &alone,
                fragments::with_bias(convolution(c, tiling)),
                &why,
                &layer,
            );
        }
        found
    }

    /// Folded into the 3x3 convolution that follows: told by how much that gets cheaper, channels as many.
    fn upsample(&self, [height, width, channels]: [usize; 3]) -> Support {
        let tiling = Tiling::default();
        let small = Padded {
            plane: [height, width, channels],
            channels,
            step: 1,
        };
        let large = Padded {
            plane: [2 * height, 2 * width, channels],
            ..small
        };
        let folded = compile(upsampled(&small, tiling), self.machine());
        let apart = compile(convolution(&large, tiling), self.machine());
        match folded.and_then(|folded| apart.map(|apart| (folded, apart))) {
            Ok((folded, apart)) => {
                let total = |compiled: &Compiled| timing(compiled, self.prices()).total() as f64;
                let words = format!(
                    "folded into the convolution that follows, four 2x2 convolutions on the plane as it is: {:.2} times \
                     fewer cycles than on the larger plane",
                    total(&apart) / total(&folded)
                );
                Support::new(Status::Supported, None, words)
            }
            Err(refusal) => refused(refusal),
        }
    }

    /// A workload kind of its own, with what its conversions take.
    fn call(&self, layer: &Layer) -> Support {
        let mut found = by_workload_kinds(self, layer);
        let Some(runs) = &found.runs else { return found };
        let Ok(compiled) = self.compiled_plan(&runs.workload, &runs.plan) else {
            return found;
        };
        let time = timing(&compiled, self.prices());
        // The price revision in force is that of all layers.
        found.cost = Some(self.price(&compiled, "the target's default plan"));
        found.orders = orders(&compiled);
        if time.conversion() > 0 {
            let (listed, run) = (compiled.conversions.len(), time.conversions.len());
            let share = 100.0 * time.conversion() as f64 / time.total() as f64;
            found.status = Status::Partial;
            found.level = Some(Level::Hardware);
            found.words = format!(
                "{}; {} between byte orders, {run} of them run: {share:.1} % of the cycles, since clusters drain tiles where \
                 reductions read rows",
                found.words,
                counted(listed, "conversion")
            );
            found.unlocks = Some(Price {
                value: time.conversion() as f64,
                of: "conversions that a drain in rows, or orders that agree, would save".to_owned(),
                ..self.price(&compiled, "")
            });
        }
        found
    }
}

fn refused(refusal: Refusal) -> Support {
    Support {
        rule: Some(refusal.rule.clone()),
        ..Support::new(Status::Refused, Some(level(&refusal.rule)), refusal.message)
    }
}

/// Orders in which the caller hands operands over and gets results.
fn orders(compiled: &Compiled) -> Vec<OperandOrder> {
    let buffers = compiled.program.buffers.iter().enumerate();
    let of = |(at, buffer): (usize, &crate::program::Buffer)| {
        let id = crate::program::BufferId(at);
        let layout = match buffer.role {
            Role::Input => compiled.first_layout(id)?,
            Role::Output => compiled.last_layout(id)?,
            Role::Temporary => return None,
        };
        // Grids differ with every shape: the kind of order is what a class of layers wants.
        let order = layout.to_string();
        let kind = order.split(':').next().unwrap_or(&order).to_owned();
        Some(OperandOrder {
            operand: buffer.name.clone(),
            order: kind,
        })
    };
    buffers.filter_map(of).collect()
}

/// Which GELU of the vector cores a function is.
fn gelu_form(function: Function) -> Option<crate::kernels::Gelu> {
    match function {
        Function::GeluErf => Some(crate::kernels::Gelu::Erf),
        Function::GeluTanh => Some(crate::kernels::Gelu::Tanh),
        Function::QuickGelu => Some(crate::kernels::Gelu::Sigmoid),
        Function::Silu | Function::Relu => None,
    }
}
