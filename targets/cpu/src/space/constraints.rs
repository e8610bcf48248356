//! The rules of a plan, each with the few parameters that it looks at.

use super::build::{Builder, full};
use crate::geometry::{Activations, Deal, Orientation, Output, Split, Staging};
use crate::isa::Isa;
use crate::problem::{InputLayout, Product};
use crate::rules::{Refused, Verdict, between, gemm as rules};
use crate::schedule::computed;

fn refuse(wrong: bool, rule: &'static str, message: impl FnOnce() -> String) -> Verdict {
    wrong.then(|| Refused {
        rule,
        message: message(),
    })
}

/// Rules of one product, `before` being the one whose result it reads.
pub(super) fn gemm(builder: &mut Builder, product: &Product, before: Option<&str>, isa: Isa) {
    blocks(builder, product, before, isa);
    reduction(builder, product);
    let name = product.name.as_str();
    let own = |names: &[&str]| -> Vec<String> { names.iter().map(|short| full(Some(name), short)).collect() };
    builder.rule("tiles-output", own(&["orientation", "output"]), |s| {
        Ok(between::tiles_output(
            s.word(0, Orientation::parse)?,
            s.word(1, Output::parse)?,
        ))
    });
    builder.rule("transpose", own(&["columns", "transpose"]), |s| {
        let (columns, transpose) = (s.count(0)?, s.count(1)?);
        Ok(refuse(
            transpose == 0 || columns % transpose.max(1) != 0,
            "transpose",
            || format!("groups of {transpose} tiles do not divide {columns} column blocks"),
        ))
    });
    match before {
        None => builder.rule("swapped-in-place", own(&["orientation", "activations"]), |s| {
            let in_place = s.word(1, Activations::parse)? == Activations::InPlace;
            Ok(between::in_place(
                s.word(0, Orientation::parse)?,
                in_place,
                InputLayout::RowMajor,
            ))
        }),
        Some(before) => input(builder, name, before),
    }
}

fn blocks(builder: &mut Builder, product: &Product, before: Option<&str>, isa: Isa) {
    let (name, extents) = (product.name.as_str(), product.extents);
    let own = |names: &[&str]| -> Vec<String> { names.iter().map(|short| full(Some(name), short)).collect() };
    builder.rule("registers", own(&["height", "width"]), move |s| {
        Ok(rules::registers(isa, s.count(0)?, s.count(1)?))
    });
    builder.rule("blocks-rows", own(&["orientation", "rows", "height"]), move |s| {
        let (rows, _) = computed(extents, s.word(0, Orientation::parse)?);
        Ok(rules::blocks("rows", s.count(1)?, rows, s.count(2)?))
    });
    builder.rule("blocks-columns", own(&["orientation", "columns", "width"]), move |s| {
        let (_, columns) = computed(extents, s.word(0, Orientation::parse)?);
        Ok(rules::blocks("columns", s.count(1)?, columns, s.count(2)?))
    });
    let Some(before) = before else {
        builder.rule("blocks-inner", own(&["inner", "unroll"]), move |s| {
            Ok(rules::blocks("inner", s.count(0)?, extents.inner, s.count(1)?))
        });
        return;
    };
    // What one iteration unrolls to stays far below the limit for every unroll and kernel of the space: no rule is needed.
    // Steps of a tiled input are counted in the producer's tiles, others in the kernel's own iterations.
    let with_grain = |names: &[&str]| -> Vec<String> {
        let producer = ["output", "width"].map(|short| full(Some(before), short));
        producer.into_iter().chain(own(names)).collect()
    };
    let grain = |output: Output, width: u32, unroll: u32| if output == Output::Tiles { width } else { unroll };
    builder.rule("blocks-inner", with_grain(&["unroll", "inner"]), move |s| {
        let grain = grain(s.word(0, Output::parse)?, s.count(1)?, s.count(2)?);
        Ok(rules::blocks("inner", s.count(3)?, extents.inner, grain))
    });
}

fn reduction(builder: &mut Builder, product: &Product) {
    let (name, extents) = (product.name.as_str(), product.extents);
    let own = |names: &[&str]| -> Vec<String> { names.iter().map(|short| full(Some(name), short)).collect() };
    builder.rule("batch", own(&["staging", "inner"]), |s| {
        Ok(rules::batch(s.word(0, Staging::parse)?, s.count(1)?))
    });
    builder.rule(
        "result-streamed",
        own(&["staging", "result_rows", "result_columns"]),
        |s| {
            Ok(rules::result_streamed(
                s.word(0, Staging::parse)?,
                s.count(1)?,
                s.count(2)?,
            ))
        },
    );
    builder.rule("result-inner", own(&["result_rows", "result_columns", "inner"]), |s| {
        Ok(rules::result_inner(s.count(0)?, s.count(1)?, s.count(2)?))
    });
    builder.rule(
        "result-panels",
        own(&["orientation", "rows", "height", "result_rows"]),
        move |s| {
            let (rows, _) = computed(extents, s.word(0, Orientation::parse)?);
            Ok(rules::result_panels(
                "rows",
                s.count(3)?,
                s.count(1)?,
                rows,
                s.count(2)?,
            ))
        },
    );
    builder.rule(
        "result-panels",
        own(&["orientation", "columns", "width", "result_columns"]),
        move |s| {
            let (_, columns) = computed(extents, s.word(0, Orientation::parse)?);
            Ok(rules::result_panels(
                "columns",
                s.count(3)?,
                s.count(1)?,
                columns,
                s.count(2)?,
            ))
        },
    );
}

/// Rules between a product and the layout that the one before leaves.
fn input(builder: &mut Builder, name: &str, before: &str) {
    let theirs = |short: &str| full(Some(before), short);
    let own = |short: &str| full(Some(name), short);
    builder.rule(
        "input-order",
        vec![theirs("output"), own("orientation"), own("activations")],
        |s| {
            let (output, orientation) = (s.word(0, Output::parse)?, s.word(1, Orientation::parse)?);
            let in_place = s.word(2, Activations::parse)? == Activations::InPlace;
            if output == Output::RowMajor {
                return Ok(between::in_place(orientation, in_place, InputLayout::RowMajor));
            }
            Ok(refuse(!in_place, "input-packed", || {
                format!("the product before leaves {output}: they are read in place, not packed again")
            }))
        },
    );
    // Panels hold as many tokens as the producer's kernel covers, by its height or, swapped, its width.
    for (theirs_is, their_size) in [(Orientation::Normal, "height"), (Orientation::Swapped, "width")] {
        for (own_is, own_size) in [(Orientation::Normal, "height"), (Orientation::Swapped, "width")] {
            let scope = vec![
                theirs("output"),
                theirs("orientation"),
                theirs(their_size),
                own("orientation"),
                own(own_size),
            ];
            builder.rule("panels-extent", scope, move |s| {
                let applies = s.word(0, Output::parse)? == Output::Panels
                    && s.word(1, Orientation::parse)? == theirs_is
                    && s.word(3, Orientation::parse)? == own_is;
                let (theirs, own) = (s.count(2)?, s.count(4)?);
                Ok(refuse(applies && theirs != own, "panels-extent", || {
                    format!("the input lies in panels of {theirs} tokens, this product reads panels of {own}")
                }))
            });
        }
    }
    let scope = vec![theirs("output"), theirs("height"), own("orientation"), own("height")];
    builder.rule("tiles-input", scope, |s| {
        let tiles = s.word(0, Output::parse)? == Output::Tiles;
        let (theirs, orientation, height) = (s.count(1)?, s.word(2, Orientation::parse)?, s.count(3)?);
        let wrong = tiles && (orientation != Orientation::Normal || theirs != height);
        Ok(refuse(wrong, "tiles-input", || {
            format!(
                "the input lies in tiles of {theirs} rows: the product that reads them must be normal with height \
                 {theirs}, not {orientation} with {height}"
            )
        }))
    });
}

/// What a product must be to be carried: see [`crate::rules::plan`].
pub(super) fn carry(builder: &mut Builder, before: Option<&str>, name: &str, threads: u32) {
    let carried = |names: &[&str]| -> Vec<String> {
        let own = names.iter().map(|short| full(Some(name), short));
        [full(None, crate::attributes::CARRY)].into_iter().chain(own).collect()
    };
    builder.rule("carry-normal", carried(&["orientation"]), |s| {
        let orientation = s.word(1, Orientation::parse)?;
        Ok(refuse(
            s.truth(0)? && orientation != Orientation::Normal,
            "carry-normal",
            || "carry takes row blocks of tokens through all products: each must be normal".to_owned(),
        ))
    });
    builder.rule("carry-streamed", carried(&["staging"]), |s| {
        let staging = s.word(1, Staging::parse)?;
        Ok(refuse(
            s.truth(0)? && staging != Staging::Streamed,
            "carry-streamed",
            || format!("carry has no barrier before a reduction: sums must be streamed, not {staging}"),
        ))
    });
    builder.rule("carry-split", carried(&["split", "deal"]), |s| {
        let (split, deal) = (s.word(1, Split::parse)?, s.word(2, Deal::parse)?);
        let wrong = (split, deal) != (Split::Rows, Deal::Contiguous);
        Ok(refuse(s.truth(0)? && wrong, "carry-split", || {
            format!(
                "carry gives whole row blocks to one worker: tiles must be split by rows and dealt in contiguous runs, \
                 not by {split} and {deal}"
            )
        }))
    });
    builder.rule("carry-transpose", carried(&["transpose"]), |s| {
        let transpose = s.count(1)?;
        Ok(refuse(s.truth(0)? && transpose != 1, "carry-transpose", || {
            format!("carry gives whole row blocks to one worker: the tile mapping must be 1, not {transpose}")
        }))
    });
    let Some(before) = before else {
        builder.rule("carry-owner", carried(&["rows"]), move |s| {
            let rows = s.count(1)?;
            Ok(refuse(s.truth(0)? && rows % threads.max(1) != 0, "carry-owner", || {
                format!("carry deals whole row blocks: {rows} blocks are no multiple of {threads} workers")
            }))
        });
        return;
    };
    for (short, multiple) in [("rows", true), ("height", false)] {
        let mut scope = carried(&[short]);
        scope.insert(1, full(Some(before), short));
        builder.rule("carry-nested", scope, move |s| {
            let (theirs, own) = (s.count(1)?, s.count(2)?);
            let nested = if multiple { own % theirs.max(1) == 0 } else { own == theirs };
            Ok(refuse(s.truth(0)? && !nested, "carry-nested", || {
                let wanted = if multiple { "a multiple of" } else { "equal to" };
                format!("carry needs row blocks inside those of the product before: `{short}` must be {wanted} {theirs}, not {own}")
            }))
        });
    }
}
