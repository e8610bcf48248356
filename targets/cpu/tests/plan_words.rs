//! A plan, its attributes and its text are the same thing.

#![allow(clippy::unwrap_used, reason = "tests stop at the first surprise")]

mod common;

use common::{geometry, mlp};
use planner::{Attributes, Value};
use proptest::prelude::*;
use target_cpu::attributes::{gemm_from, plan_attributes, plan_from};
use target_cpu::geometry::{Activation, CpuPlan, GemmGeometry, Output};
use target_cpu::text::{gemm_text, parse_gemm, parse_plan, plan_text};

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn round_trips(mut up in geometry(400), mut down in geometry(400), carry: bool, threads in 1_u32..64) {
        up.activation = up.activation.or(Some(Activation::Pass));
        down.activation = None;
        let plan = CpuPlan { threads, carry, gemms: vec![("up".to_owned(), up), ("down".to_owned(), down)] };
        let attributes = plan_attributes(&plan);
        prop_assert_eq!(&plan_from(&mlp(9, 9, 9), &attributes, 99).unwrap(), &plan);
        prop_assert_eq!(&parse_plan(&plan_text(&plan)).unwrap(), &plan);
        // Through JSON, as a manifest holds them.
        let stored: Attributes = serde_json::from_str(&serde_json::to_string(&attributes).unwrap()).unwrap();
        prop_assert_eq!(&plan_from(&mlp(9, 9, 9), &stored, 99).unwrap(), &plan);
    }

    #[test]
    fn different_geometries_have_different_texts(a in geometry(400), b in geometry(400)) {
        prop_assert_eq!(a == b, gemm_text("up", &a) == gemm_text("up", &b));
    }
}

const TEXT: &str = "up:2x1x1:1x1:6x16u8:rkc.cr:panels:packed:tiles:streamed:rows.contiguous.t1:cb:fused";

#[test]
fn the_documented_text_is_the_text() {
    let (name, geometry) = parse_gemm(TEXT).unwrap();
    assert_eq!((name.as_str(), gemm_text("up", &geometry).as_str()), ("up", TEXT));
    assert_eq!(
        (geometry.rows, geometry.height, geometry.width, geometry.unroll),
        (2, 6, 16, 8)
    );
    assert_eq!(
        (geometry.output, geometry.activation),
        (Output::Tiles, Some(Activation::Fused))
    );
    let plan = parse_plan(&format!("{TEXT} | carry threads=2")).unwrap();
    assert!(plan.carry && plan.threads == 2 && plan.gemms.len() == 1);
}

#[test]
fn what_is_not_canonical_is_refused() {
    for wrong in [
        TEXT.replace("2x1x1", "02x1x1"),
        TEXT.replace("2x1x1", "0x1x1"),
        TEXT.replace("2x1x1", "+2x1x1"),
        TEXT.replace("2x1x1", "2x1"),
        TEXT.replace(":cb:", ":bc:"),
        TEXT.replace("streamed", "batch-02"),
        TEXT.replace("streamed", "batch-0"),
        TEXT.replace(":fused", ":fused:"),
        TEXT.replace("rkc.cr", "rkc"),
    ] {
        assert_eq!(parse_gemm(&wrong).unwrap_err().rule, "plan-text", "{wrong}");
    }
    assert!(parse_plan(TEXT).is_err() && parse_plan("threads=0").is_err() && parse_plan("").is_err());
}

#[test]
fn wrong_attributes_are_named() {
    let (_, geometry) = parse_gemm(TEXT).unwrap();
    let plan = CpuPlan {
        threads: 1,
        carry: false,
        gemms: vec![("up".to_owned(), geometry)],
    };
    let attributes = plan_attributes(&plan);
    let with = |name: &str, value: Value| {
        let mut changed = attributes.clone();
        changed.set(name, value);
        gemm_from("up", &changed).unwrap_err()
    };
    let refusal = with("up.order", Value::text("kkr"));
    assert_eq!(refusal.rule, "attribute-value");
    assert!(
        refusal.message.contains("`up.order`") && refusal.message.contains("rkc, rck"),
        "{refusal}"
    );
    assert!(with("up.rows", Value::Integer(0)).message.contains("at least 1"));
    assert!(
        with("up.prefetch_c", Value::text("yes"))
            .message
            .contains("`true` or `false`")
    );
    assert_eq!(gemm_from("down", &attributes).unwrap_err().rule, "missing-attribute");
}

#[test]
fn the_elementwise_step_is_neither_forgotten_nor_invented() {
    let (_, up) = parse_gemm(TEXT).unwrap();
    let down = GemmGeometry {
        activation: None,
        ..up.clone()
    };
    let read = |up: &GemmGeometry, down: &GemmGeometry| {
        let gemms = vec![("up".to_owned(), up.clone()), ("down".to_owned(), down.clone())];
        plan_from(
            &mlp(9, 9, 9),
            &plan_attributes(&CpuPlan {
                threads: 1,
                carry: false,
                gemms,
            }),
            1,
        )
        .map_err(|r| r.rule)
    };
    assert!(read(&up, &down).is_ok());
    assert_eq!(read(&down, &down), Err("missing-attribute".to_owned()));
    assert_eq!(read(&up, &up), Err("activation".to_owned()));
}
