//! Kernels computed in the arithmetic of the device, against float64.

mod reference;

use reference::{Case, graded};
use target_kohaku::compile::compile;
use target_kohaku::kernels::{self, Flash, Gelu, Mask, Norm, Padded, Restart, Tiling, flash};
use target_kohaku::machine::{Machine, Prices};
use target_kohaku::timing::timing;
use target_kohaku::unit::{Grade, grade, run};

/// Largest error and median, relative to the largest value, that a kernel may have.
fn within(grade: Grade, p50: f64, max: f64) {
    assert!(grade.p50 <= p50 && grade.max <= max, "{grade:?}");
    assert!(grade.past_10 <= 0.0, "{grade:?}");
}

#[test]
fn products_have_the_error_of_seven_bit_blocks() {
    for extents in [[64, 128, 96], [33, 70, 45]] {
        within(graded(&Case::matmul(extents)), 5e-3, 3e-2);
    }
    within(graded(&Case::linear([64, 128, 64])), 5e-3, 3e-2);
    within(graded(&Case::residual([64, 128, 64])), 5e-3, 3e-2);
    within(graded(&Case::fused([32, 128, 64])), 5e-3, 3e-2);
    within(graded(&Case::mlp(64, [256, 256, 256])), 5e-3, 3.5e-2);
    for (form, second) in [(Gelu::Sigmoid, false), (Gelu::Tanh, true), (Gelu::Erf, true)] {
        within(graded(&Case::geglu([64, 128, 64], form, second)), 5e-3, 6e-2);
    }
}

#[test]
fn the_split_of_heads_is_the_wide_projection_and_their_join_one_accumulator() {
    let (wide, split) = (Case::matmul([64, 128, 128]), Case::per_head([64, 128, 128], 4));
    let (wide, split) = (wide.run().remove("y").unwrap(), split.run().remove("y").unwrap());
    for (row, head, column) in (0..64).flat_map(|r| (0..4).flat_map(move |h| (0..32).map(move |c| (r, h, c)))) {
        let (a, b) = (
            wide[row * 128 + head * 32 + column],
            split[(head * 64 + row) * 32 + column],
        );
        assert_eq!(a.to_bits(), b.to_bits());
    }
    within(graded(&Case::join([64, 256, 64], 4)), 5e-3, 3e-2);
}

#[test]
fn rows_are_normalised_and_weighted() {
    within(graded(&Case::softmax(32, 128, 128)), 2e-4, 2e-3);
    within(graded(&Case::softmax(32, 80, 77)), 2e-4, 2e-3);
    within(graded(&Case::wide_softmax(4, 1280, 1280)), 2e-4, 2e-3);
    within(graded(&Case::wide_softmax(8, 128, 77)), 2e-4, 2e-3);
    within(graded(&Case::norm(Norm::wide(16, 640, 1e-5, false))), 1e-4, 2e-3);
    within(graded(&Case::norm(Norm::wide(16, 1280, 1e-5, false))), 1e-4, 2e-3);
    within(graded(&Case::norm(Norm::wide(4, 5120, 1e-5, true))), 1e-4, 2e-3);
    within(graded(&Case::norm(Norm::wide(16, 64, 1e-5, false))), 1e-4, 2e-3);
}

#[test]
fn masked_columns_are_exactly_zero_and_rows_sum_to_one() {
    // Elements are float16, off by at most 2^-11 of themselves; so is the sum that divides where it is stored, over sub-rows.
    let [element, sum] = [2_f64.powi(-11); 2];
    for (case, most) in [
        (Case::softmax(8, 128, 77), element),
        (Case::wide_softmax(8, 128, 77), element + sum),
    ] {
        let y = case.run().remove("y").unwrap();
        for row in y.chunks(128) {
            assert!(row[77..].iter().all(|x| x.abs() <= 0.0));
            let sum: f64 = row.iter().copied().map(f64::from).sum();
            assert!((sum - 1.0).abs() < 1.01 * most, "{sum}");
        }
    }
}

#[test]
fn convolutions_see_their_neighbours() {
    let plane = |side, channels, out, step| Padded {
        plane: [side, side, channels],
        channels: out,
        step,
    };
    within(graded(&Case::convolution(plane(16, 32, 32, 1))), 5e-3, 3e-2);
    within(graded(&Case::convolution(plane(8, 64, 32, 2))), 5e-3, 3e-2);
    within(graded(&Case::convolution(plane(9, 32, 16, 2))), 5e-3, 3e-2);
    within(graded(&Case::upsampled(plane(8, 32, 32, 1))), 5e-3, 3e-2);
}

#[test]
fn attention_agrees_for_self_cross_padded_blocked_and_causal_calls() {
    let plain = Flash::published(2, 64, 128);
    for call in [
        Flash::published(2, 128, 128),
        plain,
        Flash { keys: 77, ..plain },
        Flash {
            keys: 77,
            mask: Mask::Added,
            ..plain
        },
        Flash {
            query_block: 32,
            ..plain
        },
        // Keys in parts, the last one with a masked tail, over two passes.
        Flash {
            key_splits: 2,
            query_block: 32,
            keys: 77,
            ..plain
        },
        Flash {
            key_splits: 4,
            restart: Restart::InBand,
            ..Flash::published(2, 64, 256)
        },
        Flash {
            queries: 128,
            query_block: 64,
            causal: true,
            ..plain
        },
        Flash {
            restart: Restart::InBand,
            ..plain
        },
        Flash {
            tile: (4, 4),
            nk: 1,
            ..plain
        },
    ] {
        within(graded(&Case::attention(call)), 6e-3, 5e-2);
    }
}

/// Stages take all clusters: parts of the keys run one after another, so a split pays for its merge and gains nothing.
#[test]
fn parts_of_the_keys_cost_their_merge() {
    let time = |key_splits| {
        let call = Flash {
            key_splits,
            ..Flash::published(4, 256, 512)
        };
        timing(
            &compile(flash(&call).unwrap(), &Machine::default()).unwrap(),
            Prices::RealSpan,
        )
    };
    let merges = |key_splits: usize| {
        let call = Flash {
            key_splits,
            ..Flash::published(4, 256, 512)
        };
        let program = flash(&call).unwrap();
        let (compiled, t) = (compile(program, &Machine::default()).unwrap(), time(key_splits));
        let own = compiled.program.stages.iter().zip(&t.stages);
        let own = own.filter(|(stage, _)| stage.name.starts_with("merge") || stage.name == "init");
        own.map(|(_, time)| time.cycles).sum::<usize>()
    };
    let whole = time(1);
    for splits in [2, 4, 8] {
        let parts = time(splits);
        assert_eq!(parts.matrix(), whole.matrix(), "{splits}");
        assert_eq!(parts.vector() - merges(splits), whole.vector() - merges(1), "{splits}");
        assert!(parts.total() > whole.total(), "{splits}");
    }
}

#[test]
fn conversions_cost_what_was_planned_while_they_run() {
    let case = Case::attention(Flash::published(4, 128, 128));
    let compiled = compile(flash(&Flash::published(4, 128, 128)).unwrap(), &Machine::default()).unwrap();
    let timing = timing(&compiled, Prices::Published);
    let inputs = case.views();
    let ran = run(&compiled, &inputs).unwrap();
    let counted: Vec<(usize, usize)> = ran.conversions.iter().map(|(stage, _, c)| (*stage, c.cycles)).collect();
    let priced: Vec<(usize, usize)> = timing.conversions.iter().map(|p| (p.stage, p.price.cycles)).collect();
    assert_eq!(counted, priced);
    assert_eq!(counted.iter().map(|(_, cycles)| cycles).sum::<usize>(), 77_740);
}

#[test]
fn the_drain_in_rows_gives_the_same_values_and_fewer_conversions() {
    let call = Flash::published(2, 64, 128);
    let case = Case::attention(call);
    let rows = Machine {
        drain: target_kohaku::machine::Drain::Rows,
        ..Machine::default()
    };
    let outputs = |machine: &Machine| {
        let compiled = compile(flash(&call).unwrap(), machine).unwrap();
        let conversions = compiled.run().count();
        (run(&compiled, &case.views()).unwrap().outputs, conversions)
    };
    let ((tiles, six), (rows, two)) = (outputs(&Machine::default()), outputs(&rows));
    assert_eq!((six, two), (6, 2));
    assert_eq!(tiles, rows);
}

#[test]
fn refusals_name_their_rule() {
    let rule = |call: &Flash| {
        let program = flash(call);
        program
            .and_then(|p| compile(p, &Machine::default()))
            .map_err(|refusal| refusal.rule)
            .unwrap_err()
    };
    let plain = Flash::published(4, 256, 256);
    for (call, expected) in [
        (
            Flash {
                value_width: 512,
                block: 512,
                width: 512,
                padded_keys: 16_384,
                keys: 16_384,
                ..plain
            },
            "fold-row",
        ),
        (Flash { block: 128, ..plain }, "value-width"),
        (
            Flash {
                query_block: 96,
                ..plain
            },
            "query-blocks",
        ),
        (Flash { tile: (6, 8), ..plain }, "row-tiles"),
        (Flash { tile: (8, 3), ..plain }, "column-tiles"),
        (Flash { nk: 4, ..plain }, "chunks"),
        (Flash { key_splits: 3, ..plain }, "key-splits"),
        (Flash { tile: (2, 2), ..plain }, "host-move"),
        (
            Flash {
                tile: (64, 16),
                ..plain
            },
            "accumulator",
        ),
        (
            Flash {
                block: 16,
                value_width: 16,
                width: 16,
                nk: 1,
                tile: (4, 4),
                ..plain
            },
            "chunks",
        ),
    ] {
        assert_eq!(rule(&call), expected, "{call:?}");
    }
    let fused = kernels::fused_linear([256, 64, 64], Tiling::default(), true);
    assert_eq!(compile(fused, &Machine::default()).unwrap_err().rule, "fused-grid");
}

#[test]
fn one_stage_takes_a_buffer_in_one_order() {
    use target_kohaku::layout::Shape;
    use target_kohaku::program::{Expr, Program, Role, Statement, Vector, Work};
    let mut program = Program::default();
    let square = Shape::matrix(64, 64);
    let [x, w] = ["x", "w"].map(|name| program.buffer(name, Role::Input, 1, square));
    let t = program.buffer("t", Role::Temporary, 1, square);
    let [y, z] = ["y", "z"].map(|name| program.buffer(name, Role::Output, 1, square));
    program.product("product", [x, w, t], (8, 8), 2);
    let statements = vec![
        Statement::new(y, Expr::read(t).times(Expr::constant(2.0))),
        Statement::new(z, Expr::read(t).sum()),
    ];
    let vector = Vector {
        batch: 1,
        first_batch: 0,
        rows: 64,
        columns: 64,
        part: 8192,
        statements,
    };
    program.stage("both", Work::Vector(vector));
    assert_eq!(compile(program, &Machine::default()).unwrap_err().rule, "two-orders");
}

#[test]
fn the_result_may_be_rescaled_in_the_drain_where_an_epilogue_could() {
    let case = Case::attention(Flash {
        restart: Restart::InDrain,
        ..Flash::published(1, 64, 256)
    });
    let machine = Machine {
        full_shape_epilogue: true,
        ..Machine::default()
    };
    let compiled = compile(case.program.clone(), &machine).unwrap();
    let result = run(&compiled, &case.views()).unwrap().outputs.remove("o").unwrap();
    within(grade(&result, &case.expected["o"]).unwrap(), 6e-3, 5e-2);
    // Four heads drain more tiles than there are cores.
    let wide = Flash {
        restart: Restart::InDrain,
        ..Flash::published(4, 64, 256)
    };
    assert_eq!(compile(flash(&wide).unwrap(), &machine).unwrap_err().rule, "fused-grid");
}

#[test]
fn a_fixed_maximum_is_right_for_bounded_scores() {
    let call = Flash {
        restart: Restart::Fixed,
        ..Flash::published(2, 64, 128)
    };
    within(graded(&Case::attention(call)), 6e-3, 5e-2);
}
