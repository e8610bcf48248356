//! Networks: published counts and totals, what a user may write, and what is refused.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::collections::BTreeMap;

use planner::network::{Agreement, BUILT_IN, Inventory, Layer, MACHINES, MachineFile, Network, OPERATIONS, parse};

const FIXTURE: &str = include_str!("fixtures/sdxl-inventory.toml");

fn built_in(name: &str, given: &[(String, i64)]) -> Network {
    let file = BUILT_IN.iter().find(|file| file.name == name).unwrap();
    parse(file.path, file.text, given).unwrap_or_else(|error| panic!("{error}"))
}

fn fixture(table: &str) -> toml::Table {
    let all: toml::Table = FIXTURE.parse().unwrap();
    all[table].as_table().unwrap().clone()
}

fn number(value: &toml::Value) -> f64 {
    value.as_float().unwrap_or_else(|| value.as_integer().unwrap() as f64)
}

fn figure(inventory: &Inventory, name: &str) -> f64 {
    let found = inventory.figures.iter().find(|figure| figure.name == name);
    found.unwrap_or_else(|| panic!("no figure `{name}`")).value.number()
}

#[test]
fn sdxl_has_the_published_counts() {
    let inventory = Inventory::new(&built_in("sdxl", &[]));
    for (table, model) in [("counts", "unet"), ("vae_counts", "vae")] {
        let model = inventory.models.iter().find(|own| own.name == model).unwrap();
        for (name, expected) in fixture(table) {
            let classes = model
                .classes
                .iter()
                .find(|class| class.class == name)
                .map(|class| class.count);
            let found = classes.or_else(|| model.templates.get(&name).copied());
            let expected = u128::try_from(expected.as_integer().unwrap()).unwrap();
            assert_eq!(found, Some(expected), "{} {name}", model.name);
        }
    }
}

/// Distinct layers of one pass of the `UNet` under the names of the fixture.
fn unet_shapes(name: impl Fn(&Layer) -> Option<String>) -> toml::Table {
    let network = built_in("sdxl", &[]);
    let unet = network.models.iter().find(|model| model.name == "unet").unwrap();
    let mut shapes: BTreeMap<String, i64> = BTreeMap::new();
    for (layer, times) in unet.layers() {
        if let Some(name) = name(&layer) {
            *shapes.entry(name).or_default() += i64::try_from(times).unwrap();
        }
    }
    shapes
        .into_iter()
        .map(|(name, n)| (name, toml::Value::Integer(n)))
        .collect()
}

#[test]
fn sdxl_has_the_published_shapes_as_often() {
    let linear = unet_shapes(|layer| match layer {
        Layer::Linear {
            rows, inner, columns, ..
        } => Some(format!("{rows},{inner},{columns}")),
        _ => None,
    });
    assert_eq!(linear, fixture("linear"));
    let attention = unet_shapes(|layer| match layer {
        Layer::Attention {
            heads,
            queries,
            keys,
            width: 64,
            ..
        } => Some(format!("{heads}x{queries}x{keys}")),
        _ => None,
    });
    assert_eq!(attention, fixture("attention"));
    let conv = unet_shapes(|layer| match layer {
        Layer::Conv {
            height,
            inputs,
            outputs,
            kernel: 3,
            stride,
            ..
        } => {
            let stride = if *stride == 2 { " s2" } else { "" };
            Some(format!("{height}: {inputs}->{outputs}{stride}"))
        }
        _ => None,
    });
    assert_eq!(conv, fixture("conv3"));
}

#[test]
fn sdxl_has_the_published_totals() {
    let inventory = Inventory::new(&built_in("sdxl", &[]));
    for table in ["macs", "parameters", "activations"] {
        for (name, expected) in fixture(table) {
            let found = figure(&inventory, &name);
            assert!(
                (found - number(&expected)).abs() < 0.5,
                "{name}: {found}, expected {expected}"
            );
        }
    }
    for table in ["rounded", "footprints"] {
        for (name, expected) in fixture(table) {
            let (found, expected) = (figure(&inventory, &name), number(&expected));
            let off = (found / expected - 1.0).abs();
            assert!(off < 2.5e-3, "{name}: {found}, expected {expected}");
        }
    }
    let bytes: BTreeMap<String, u128> = inventory
        .attention
        .iter()
        .map(|a| (a.shape.clone(), a.call_bytes))
        .collect();
    for (name, expected) in fixture("conversion_bytes") {
        let (heads, keys) = name.split_once('x').unwrap();
        let shape = format!("attention {heads} heads {keys} of 64");
        assert_eq!(
            bytes[&shape],
            u128::try_from(expected.as_integer().unwrap()).unwrap(),
            "{name}"
        );
    }
    // What the network's figures sum must be what its models hold.
    assert_eq!(inventory.parameters_all, 3_434_674_203);
    assert!((inventory.macs_all as f64 - figure(&inventory, "image")).abs() < 0.5);
}

#[test]
fn every_published_figure_that_differs_says_why() {
    let inventory = Inventory::new(&built_in("sdxl", &[]));
    let mut differing = toml::Table::new();
    let mut published = 0;
    for figure in &inventory.figures {
        let Some(own) = &figure.published else { continue };
        published += 1;
        if own.agreement == Agreement::Equal {
            assert!(
                own.reason.is_none(),
                "{} is equal and gives a reason: {own:?}",
                figure.name
            );
        } else {
            assert!(own.reason.is_some(), "{}: {:?} and {own:?}", figure.name, figure.value);
            differing.insert(figure.name.clone(), own.agreement.to_string().into());
        }
    }
    assert_eq!(differing, fixture("differs"));
    assert!(published >= 75, "{published}");
}

#[test]
fn parameters_of_a_network_can_be_set() {
    let inventory = Inventory::new(&built_in("sdxl", &[("keys".to_owned(), 128)]));
    let unet = figure(&inventory, "UNet: one pass");
    let expected = number(&fixture("padded")["unet"]);
    assert!((unet / expected - 1.0).abs() < 1e-4, "{unet}, expected {expected}");
    let file = &BUILT_IN[0];
    let error = parse(file.path, file.text, &[("keyz".to_owned(), 1)]).unwrap_err();
    assert!(error.message.contains("no parameter is called `keyz`"), "{error}");
}

#[test]
fn siglip_and_a_decoder() {
    let siglip = Inventory::new(&built_in("siglip-so400m", &[]));
    assert!((figure(&siglip, "MLP of one block") - 2.0 * 729.0 * 1152.0 * 4304.0).abs() < 0.5);
    // 27 blocks of 4 x 1152^2 + 2 x 1152 x 4304 weights with biases and norms, patches, positions, and the pooling head.
    let block = 4 * (1152 * 1152 + 1152) + 2 * 1152 * 4304 + 4304 + 1152 + 4 * 1152;
    let head = 1152 + 4 * (1152 * 1152 + 1152) + 2 * 1152 + 2 * 1152 * 4304 + 4304 + 1152;
    let ends = 588 * 1152 + 1152 + 729 * 1152 + 2 * 1152;
    assert_eq!(siglip.parameters_all, 27 * block + head + ends);

    let network = built_in("llama-8b", &[]);
    let llama = Inventory::new(&network);
    assert_eq!(llama.parameters_all, 8_030_261_248, "published for Llama 3 8B");
    let [prefill, decode] = &llama.models[..] else {
        panic!("two phases")
    };
    assert_eq!(decode.parameters.total(), 0, "weights are those of the prompt");
    assert_eq!(decode.weights_read, prefill.parameters.total());
    let rows = |model: usize| {
        let layers = network.models[model].layers();
        layers
            .filter(|(layer, _)| matches!(layer, Layer::Linear { rows: 1, .. }))
            .map(|(_, n)| n)
            .sum::<u128>()
    };
    assert_eq!((rows(0), rows(1)), (1, 32 * 6 + 1));
    let mlps = planner::network::chains(&built_in("siglip-so400m", &[]).models[0]);
    let found: Vec<(String, u128)> = mlps.iter().map(|(layer, n)| (layer.to_string(), *n)).collect();
    assert_eq!(
        found,
        [
            ("mlp 1 rows 1152 -> 4304 gelu-tanh -> 1152 + biases".to_owned(), 1),
            ("mlp 729 rows 1152 -> 4304 gelu-tanh -> 1152 + biases".to_owned(), 27),
        ]
    );
}

#[test]
fn bounds_are_those_of_the_page() {
    let inventory = Inventory::new(&built_in("sdxl", &[]));
    let machine = MachineFile::parse(MACHINES[0].path, MACHINES[0].text).unwrap();
    let bounds = machine.bounds(&inventory);
    let at = |of: &str, clock: f64, share: f64| {
        let found = bounds.iter().find(|bound| {
            bound.of == of && (bound.clock_hz - clock).abs() < 1.0 && (bound.efficiency - share).abs() < 1e-9
        });
        found.unwrap().arithmetic_s
    };
    for (of, clock, share, expected) in [
        ("sdxl", 400e6, 1.0, 33.88),
        ("sdxl", 300e6, 1.0, 45.18),
        ("sdxl", 300e6, 0.755, 59.84),
        ("vae", 400e6, 1.0, 0.852),
    ] {
        let found = at(of, clock, share);
        assert!(
            (found / expected - 1.0).abs() < 1e-3,
            "{of}: {found}, expected {expected}"
        );
    }
    // Reading 2.327 GB of weights 60 times at 51.2 GB/s takes 2.7 s: arithmetic decides.
    let unet = bounds
        .iter()
        .find(|bound| bound.of == "unet" && bound.format == "mxfp7")
        .unwrap();
    assert!(
        (unet.weights_s.unwrap() - 60.0 * 2.326_764 / 51.2).abs() < 1e-2,
        "{unet:?}"
    );
    assert!((unet.seconds - unet.arithmetic_s).abs() < 1e-9);
}

#[test]
fn every_operation_can_be_written() {
    for operation in OPERATIONS {
        let fields: Vec<String> = operation
            .fields
            .iter()
            .filter(|field| !field.words().contains('='))
            .map(|field| match field.name {
                "function" => "function = \"silu\"".to_owned(),
                "form" => "form = \"slice\"".to_owned(),
                "task" => "task = \"look\"".to_owned(),
                name => format!("{name} = 64"),
            })
            .collect();
        let item = format!("{{ op = \"{}\", {} }}", operation.name, fields.join(", "));
        let text = format!("name = \"n\"\nabout = \"\"\n[[model]]\nname = \"m\"\nbody = [{item}]\n");
        let network = parse("n.toml", &text, &[]).unwrap_or_else(|error| panic!("{error}"));
        let (layer, times) = network.models[0].layers().next().unwrap();
        assert_eq!((layer.op().as_str(), times), (operation.name, 1));
        assert!(!layer.to_string().is_empty());
    }
}

#[test]
fn wrong_files_are_refused_with_line_and_field() {
    let head = "name = \"n\"\nabout = \"\"\nparameters = { a = 64, z = 0 }\n\
                [template.t]\nparameters = [\"c\"]\nbody = [{ op = \"linear\", rows = \"c\", inner = 2, columns = 2 }]\n\
                [template.loop]\nbody = [{ use = \"loop\" }]\n[[model]]\nname = \"m\"\n";
    let cases = [
        (
            "body = [{ op = \"linaer\", rows = 1 }]",
            11,
            "no operation is called `linaer`",
        ),
        ("body = [{ op = \"linear\", rows = 1 }]", 11, "`linear` needs `inner`"),
        (
            "body = [{ op = \"linear\", rows = 1, inner = 2, columns = 3, kernel = 1 }]",
            11,
            "no field `kernel`",
        ),
        (
            "body = [{ op = \"linear\", rows = \"b\", inner = 2, columns = 3 }]",
            11,
            "`rows`: unknown name `b`",
        ),
        (
            "body = [{ op = \"linear\", rows = \"a / 3\", inner = 2, columns = 3 }]",
            11,
            "`rows`: expected a whole number",
        ),
        (
            "body = [{ op = \"linear\", rows = \"a // z\", inner = 2, columns = 3 }]",
            11,
            "`rows`: division by zero",
        ),
        (
            "body = [{ op = \"linear\", rows = \"a - 64\", inner = 2, columns = 3 }]",
            11,
            "at least 1, found 0",
        ),
        ("body = [{ use = \"t\" }]", 11, "template `t` needs `c`"),
        ("body = [{ use = \"t\", c = 1, d = 2 }]", 11, "no parameter `d`"),
        (
            "body = [{ use = \"t\", c = 0 }]",
            6,
            "`rows`: expected a whole number of at least 1, found 0",
        ),
        ("body = [{ use = \"u\" }]", 11, "no template is called `u`"),
        ("body = [{ use = \"loop\" }]", 8, "template `loop` uses itself"),
        ("body = [{ rows = 1 }]", 11, "expected one of `op` (a layer) and `use`"),
        ("body = []", 10, "model `m` is empty"),
        ("bodies = []", 11, "unknown field `bodies`"),
        (
            "weights_of = \"x\"\nbody = [{ use = \"t\", c = 1 }]",
            11,
            "no model above is called `x`",
        ),
        (
            "body = [{ use = \"t\", c = 1 }]\n[[figure]]\nname = \"f\"\nsum = \"macs\"\nat = \"x/**\"",
            15,
            "nothing in the network",
        ),
        (
            "body = [{ use = \"t\", c = 1 }]\n[[figure]]\nname = \"f\"\nformula = \"1\"\npublished = \"much\"",
            15,
            "`published`: expected a number",
        ),
        (
            "body = [{ op = \"activation\", function = \"sin\", rows = 1, columns = 1 }]",
            11,
            "expected one of `silu`",
        ),
        (
            "body = [{ op = \"attention\", heads = 4, key_heads = 3, queries = 1, width = 1 }]",
            11,
            "4 heads do not divide into 3 heads of keys",
        ),
        (
            "body = [{ op = \"group-norm\", height = 1, channels = 48 }]",
            11,
            "48 channels do not divide into 32 groups",
        ),
        (
            "body = [{ op = \"linear\", rows = 1099511627776, inner = 1099511627776, columns = 2 }]",
            11,
            "at most 2^60",
        ),
    ];
    for (tail, line, words) in cases {
        let error = parse("n.toml", &format!("{head}{tail}\n"), &[]).unwrap_err();
        assert_eq!(error.line, line, "{error}");
        assert!(error.message.contains(words), "expected `{words}` in {error}");
        assert!(!error.excerpt.is_empty());
    }
    let error = parse("n.toml", &format!("{head}body = [{{ use = \"t\", c = 0 }}]\n"), &[]).unwrap_err();
    assert_eq!(
        error.help.as_deref(),
        Some("`t` is used in line 11 with c = 0"),
        "{error}"
    );
}

#[test]
fn what_must_hold_of_parameters_is_checked_with_its_reason() {
    let text = |holds: &str| {
        format!(
            "name = \"n\"\nabout = \"\"\nparameters = {{ a = 64, z = 0, half = \"a // 2\", flag = true }}\n\
             [[constraint]]\nholds = \"{holds}\"\nbecause = \"halves are halves\"\n\
             [[model]]\nname = \"m\"\nbody = [{{ op = \"linear\", rows = \"a // (z + 1)\", inner = 2, columns = 2 }}]\n"
        )
    };
    let read = |holds: &str, given: &[(&str, i64)]| {
        let given: Vec<(String, i64)> = given.iter().map(|(name, n)| ((*name).to_owned(), *n)).collect();
        parse("n.toml", &text(holds), &given).map_err(|error| error.to_string())
    };
    read("2 * half == a", &[("a", 128)]).unwrap();
    read("2 * half == a", &[("z", -3)]).unwrap_err();
    for (holds, given, words) in [
        ("2 * half == a", ("a", 63), "62 == 63 is false"),
        (
            "2 * half == a",
            ("a", 63),
            "help: halves are halves; `a` is set to 63 (the file has 64)",
        ),
        ("2 * half == a", ("a", 0), "from 1 to 2^40"),
        ("2 * half == a", ("flag", 1), "the file has the boolean true"),
        ("2 * half == a", ("z", -1), "`z` is set to -1 (the file has 0)"),
        ("2 * half == b", ("a", 64), "unknown name `b`"),
        ("2 * half", ("a", 64), "a condition is a boolean"),
        ("a // z == 1", ("a", 64), "division by zero"),
    ] {
        let error = read(holds, &[given]).unwrap_err();
        assert!(error.contains(words), "expected `{words}` in {error}");
    }
}

#[test]
fn machine_files_are_checked() {
    let good = MACHINES[0].text;
    for (from, to, words) in [
        ("[400e6, 300e6]", "[0.0]", "`clock_hz`: expected numbers above zero"),
        ("[1.0, 0.755]", "[1.5]", "at most 1"),
        ("macs_per_cycle = 15360", "mac = 1", "unknown field `mac`"),
    ] {
        let text = good.replace(from, to);
        assert_ne!(text, good);
        let error = MachineFile::parse("m.toml", &text).unwrap_err();
        assert!(error.message.contains(words), "{error}");
    }
}
