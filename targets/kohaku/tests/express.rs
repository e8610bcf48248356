//! Layers of networks on this machine: the published requirements of SDXL come out with their status, or say why not.

#![expect(clippy::unwrap_used, reason = "a test that can't go on fails")]

use planner::network::Layer;
use serde::Deserialize;
use target_api::{Configured, Level, Machine, Options, Status, Support, Target};
use target_kohaku::Kohaku;

#[derive(Deserialize)]
struct Requirement {
    number: u32,
    what: String,
    published: String,
    ours: Option<String>,
    level: Option<String>,
    rule: Option<String>,
    reason: Option<String>,
    layers: Vec<Layer>,
}

#[derive(Deserialize)]
struct Fixture {
    requirement: Vec<Requirement>,
}

fn kohaku() -> Box<dyn Configured> {
    Kohaku.configure(&Options::new(), &Machine::default()).unwrap()
}

fn ask(layer: &str) -> Support {
    #[derive(Deserialize)]
    struct One {
        layer: Layer,
    }
    let One { layer } = toml::from_str(&format!("layer = {layer}")).unwrap();
    kohaku().express(&layer)
}

fn word(choice: impl serde::Serialize) -> String {
    serde_json::to_value(choice).unwrap().as_str().unwrap().to_owned()
}

#[test]
fn requirements_have_their_published_status() {
    let fixture: Fixture = toml::from_str(include_str!("fixtures/requirements.toml")).unwrap();
    let target = kohaku();
    assert_eq!(fixture.requirement.len(), 28);
    for own in &fixture.requirement {
        let expected = own.ours.as_ref().unwrap_or(&own.published);
        assert_eq!(own.ours.is_some(), own.reason.is_some(), "{}", own.number);
        for layer in &own.layers {
            let found = target.express(layer);
            let about = format!("{} {}: {layer}: {found:?}", own.number, own.what);
            assert_eq!(&word(found.status), expected, "{about}");
            assert!(!found.words.is_empty(), "{about}");
            if let Some(level) = &own.level {
                assert_eq!(found.level.map(word).as_ref(), Some(level), "{about}");
            }
            if let Some(rule) = &own.rule {
                assert_eq!(found.rule.as_ref(), Some(rule), "{about}");
            }
            if matches!(found.status, Status::Partial) {
                let (cost, unlocks) = (
                    found.cost.as_ref().unwrap().value,
                    found.unlocks.as_ref().unwrap().value,
                );
                assert!(0.0 < unlocks && unlocks < cost, "{about}");
            }
        }
    }
}

#[test]
fn orders_are_those_that_the_stages_pin() {
    let product = ask("{ op = \"linear\", rows = 1024, inner = 1280, columns = 1280, bias = false }");
    let orders: Vec<(&str, &str)> = product
        .orders
        .iter()
        .map(|own| (own.operand.as_str(), own.order.as_str()))
        .collect();
    assert_eq!(orders, [("x", "entry"), ("w", "entry"), ("y", "tile")]);
    let norm = ask("{ op = \"layer-norm\", rows = 64, columns = 640 }");
    assert!(
        !norm.orders.is_empty() && norm.orders.iter().all(|own| own.order == "flat"),
        "{norm:?}"
    );
    let conv = ask(
        "{ op = \"conv\", height = 32, width = 32, inputs = 640, outputs = 640, kernel = 3, stride = 1, bias = false }",
    );
    assert!(
        conv.orders
            .iter()
            .any(|own| own.operand == "x" && own.order == "conv-entry"),
        "{conv:?}"
    );
}

#[test]
fn refusals_say_which_rule_and_how_deep_it_lies() {
    let few = ask(
        "{ op = \"conv\", height = 128, width = 128, inputs = 4, outputs = 320, kernel = 3, stride = 1, bias = true }",
    );
    assert_eq!(
        (few.status, few.level, few.rule.as_deref()),
        (Status::Refused, Some(Level::Hardware), Some("byte-order"))
    );
    let middle = ask(
        "{ op = \"attention\", heads = 1, queries = 16384, keys = 16384, width = 512, value_width = 512, key_heads = 1, causal = false }",
    );
    assert_eq!(middle.status, Status::Refused, "{middle:?}");
    assert!(middle.rule.is_some() && middle.words.contains("512"), "{middle:?}");
    // A small grid takes its bias on the way: four tiles for four cores.
    let small = ask("{ op = \"linear\", rows = 64, inner = 320, columns = 64, bias = true }");
    assert_eq!(small.status, Status::Supported, "{small:?}");
}
