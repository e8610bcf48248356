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
    facility: Option<String>,
    layers: Vec<Layer>,
}

impl Requirement {
    /// What the target says to each of its layers, or of the facility that they could use.
    fn ask(&self, target: &dyn Configured) -> Vec<Support> {
        let Some(name) = &self.facility else {
            return self.layers.iter().map(|layer| target.express(layer)).collect();
        };
        let layers: Vec<(Layer, u128)> = self.layers.iter().map(|layer| (layer.clone(), 10)).collect();
        let all = target.facilities(&layers).into_iter();
        all.filter(|facility| facility.name == *name)
            .map(|facility| facility.support)
            .collect()
    }
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
    let numbers: Vec<u32> = fixture.requirement.iter().map(|own| own.number).collect();
    assert!(numbers.iter().copied().eq(1..=32), "{numbers:?}");
    for own in &fixture.requirement {
        let expected = own.ours.as_ref().unwrap_or(&own.published);
        assert_eq!(own.ours.is_some(), own.reason.is_some(), "{}", own.number);
        let answers = own.ask(&*target);
        assert!(!answers.is_empty(), "{} {}", own.number, own.what);
        for found in answers {
            let about = format!("{} {}: {found:?}", own.number, own.what);
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
fn a_move_is_nothing_only_where_bytes_or_cycles_say_so() {
    let moved = |form: &str, columns: u64, parts: u64| {
        ask(&format!(
            "{{ op = \"rearrange\", rows = 1024, columns = {columns}, form = \"{form}\", parts = {parts} }}"
        ))
    };
    let wide = moved("split-heads", 1280, 20);
    assert!(
        wide.status == Status::Deleted && wide.words.contains("byte by byte"),
        "{wide:?}"
    );
    // Heads of 72 leave tiles of 32 columns, and steps of 64, partly empty.
    for form in ["split-heads", "join-heads"] {
        let narrow = moved(form, 1152, 16);
        assert_eq!(
            (narrow.status, narrow.level),
            (Status::Partial, Some(Level::Kernel)),
            "{narrow:?}"
        );
        assert!(narrow.unlocks.unwrap().value > 0.0);
    }
    assert_eq!(moved("split-heads", 100, 7).status, Status::Refused);
    assert_eq!(moved("transpose", 1280, 1).status, Status::Deleted);
    let reshaped = moved("reshape", 1280, 1);
    assert!(
        reshaped.status == Status::Free && reshaped.words.contains("would move"),
        "{reshaped:?}"
    );
    let half = moved("slice", 5120, 2);
    assert!(
        half.status == Status::Free && half.words.contains("strided"),
        "{half:?}"
    );
    // 40 channels are no whole number of blocks of 32.
    for odd in [
        moved("slice", 40, 2),
        ask("{ op = \"concat\", rows = 64, first = 64, second = 40 }"),
    ] {
        assert_eq!(
            (odd.status, odd.rule.as_deref()),
            (Status::Refused, Some("byte-order")),
            "{odd:?}"
        );
    }
}

#[test]
fn facilities_are_asked_of_the_rules_and_of_the_compiler() {
    let attention = |queries: u64, keys: u64| Layer::Attention {
        heads: 10,
        queries,
        keys,
        width: 64,
        value_width: 64,
        key_heads: 10,
        causal: false,
    };
    let of = |options: &str, layers: &[(Layer, u128)], name: &str| {
        let target = Kohaku
            .configure(&options.parse().unwrap(), &Machine::default())
            .unwrap();
        let found = target.facilities(layers).into_iter().find(|own| own.name == name);
        found.map(|own| own.support)
    };
    let staging = "staging memory of the mesh";
    let both = [(attention(4096, 77), 5), (attention(4096, 4096), 2)];
    let found = of("", &both, staging).unwrap();
    assert_eq!(found.status, Status::Unreachable, "{found:?}");
    // Keys and values of ten heads over 4,096 tokens are 10 MiB; over 77 they fit. It is as wide as the memory: no cycle.
    assert!(found.words.contains("(1 have none)"), "{found:?}");
    assert!(found.unlocks.unwrap().value.abs() < 0.5);
    assert_eq!(of("staging = true", &both, staging).unwrap().status, Status::Supported);
    // Where nothing has room, addresses would not help.
    let large = of("staging = true", &both[1..], staging).unwrap();
    assert_eq!(
        (large.status, large.rule.as_deref()),
        (Status::Refused, Some("staging-bytes"))
    );
    assert_eq!(of("", &both[1..], staging).unwrap().status, Status::Unreachable);
    // Transposes take all but a few of the cycles of conversions, and none is left where clusters drain rows.
    let mover = |options: &str| of(options, &both[1..], "transpose by the mover").unwrap();
    let share = |found: &Support| found.unlocks.as_ref().unwrap().value;
    assert!(mover("").words.contains(" 0.3 %"), "{:?}", mover(""));
    assert!(mover("drain = \"rows\"").words.contains("100.0 %"));
    assert!((share(&mover("")) - share(&mover("drain = \"rows\""))).abs() < 0.5);
    // Four meshes save at most three quarters, and what they have in common.
    let meshes = of("", &both, "several meshes").unwrap();
    let all: f64 = both
        .iter()
        .map(|(layer, times)| kohaku().express(layer).cost.unwrap().value * *times as f64)
        .sum();
    let saved = meshes.unlocks.unwrap().value / all;
    assert!((0.7..=0.75).contains(&saved), "{saved}");
    assert!(of("", &[(Layer::Softmax { rows: 4, columns: 128 }, 1)], staging).is_none());
}

#[test]
fn an_attention_is_priced_by_the_revision_in_force() {
    let call = "{ op = \"attention\", heads = 20, queries = 1024, keys = 1024, width = 64, value_width = 64, key_heads = 20, \
                causal = false }";
    let found = ask(call);
    let (cost, unlocks) = (found.cost.unwrap(), found.unlocks.unwrap());
    assert_eq!(
        (cost.estimate.as_str(), unlocks.estimate.as_str()),
        ("real-span", "real-span")
    );
    assert!((cost.value - 45_058_912.0).abs() < 0.5, "{cost:?}");
    let share = format!("{:.1} %", 100.0 * unlocks.value / cost.value);
    assert!(found.words.contains(&share), "{share}: {}", found.words);
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
