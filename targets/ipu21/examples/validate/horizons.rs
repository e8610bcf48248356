//! Scheduled cycles of single phases, and the gather, which is the open part.

use target_ipu21::exchange::{Policy, Release, schedule};
use target_ipu21::program::Program;
use target_ipu21::{mapping, text, traffic};

use crate::cases::{Case, down, each, siglip, up};
use crate::{Section, error, number, table};

const GUARDED: Policy = Policy {
    release: Release::Guarded,
    replay: false,
    pairs: false,
};

/// Name, up, down, mapping, phase, older start rule, published.
type Phase = (
    &'static str,
    &'static str,
    &'static str,
    &'static str,
    usize,
    bool,
    usize,
);

const UP: &str = "4x1 complete";
const DOWN: &str = "15x1 interleaved complete";

const EXACT: &[Phase] = &[
    ("up weights", UP, DOWN, "identity", 0, false, 7_048),
    ("up weights, transpose 92", UP, DOWN, "transpose:92", 0, false, 7_018),
    ("up reduction", UP, DOWN, "identity", 1, false, 3_779),
    ("up reduction 2x2", "2x2 complete", DOWN, "identity", 1, false, 8_944),
    ("down reduction", UP, DOWN, "identity", 3, false, 7_991),
    (
        "down reduction 5x3",
        UP,
        "5x3 interleaved complete",
        "identity",
        3,
        false,
        5_941,
    ),
    (
        "down batch 7, first",
        UP,
        "15x1 interleaved batch-7",
        "identity",
        3,
        false,
        5_132,
    ),
    (
        "down batch 7, second",
        UP,
        "15x1 interleaved batch-7",
        "identity",
        4,
        false,
        4_979,
    ),
    ("up weights, older start rule", UP, DOWN, "identity", 0, true, 7_179),
    ("up reduction, older start rule", UP, DOWN, "identity", 1, true, 5_638),
    (
        "down reduction, older start rule",
        UP,
        DOWN,
        "identity",
        3,
        true,
        12_527,
    ),
];

const GATHERS: &[Phase] = &[
    (
        "standard weights",
        UP,
        "15x1 standard complete",
        "identity",
        2,
        false,
        31_382,
    ),
    ("interleaved weights", UP, DOWN, "identity", 2, false, 32_939),
    (
        "up 2x2",
        "2x2 complete",
        "15x1 standard complete",
        "identity",
        2,
        false,
        28_065,
    ),
    (
        "transpose 92",
        UP,
        "15x1 standard complete",
        "transpose:92",
        2,
        false,
        39_504,
    ),
];

/// Ways to order a gather.
const WAYS: &[(&str, Policy)] = &[
    (
        "order without memory elements, laid out with them (in force)",
        Policy {
            release: Release::Pipelined,
            replay: true,
            pairs: true,
        },
    ),
    (
        "order with memory elements",
        Policy {
            release: Release::Pipelined,
            replay: false,
            pairs: true,
        },
    ),
    (
        "in force, no pairs",
        Policy {
            release: Release::Pipelined,
            replay: true,
            pairs: false,
        },
    ),
    (
        "in force, older start rule",
        Policy {
            release: Release::Guarded,
            replay: true,
            pairs: true,
        },
    ),
];

fn horizon(phase: &Phase, policy: Policy) -> Result<usize, String> {
    let (_, up_words, down_words, map, at, ..) = *phase;
    let geometry = |constraint: String| {
        text::parse(&constraint)
            .map(|(_, g)| g)
            .map_err(|error| error.to_string())
    };
    let geometries = [geometry(up(up_words)?)?, geometry(down(down_words)?)?];
    let program = Program::new(&siglip()?, &geometries, mapping::parse(map)?).map_err(|refusal| refusal.to_string())?;
    let phases = traffic::phases(&program);
    let phase = phases.get(at).ok_or("no such phase")?;
    usize::try_from(schedule(&program, phase, policy).horizon).map_err(|error| error.to_string())
}

pub(crate) fn section(_: &[Case]) -> Section {
    let ours = each(EXACT, |phase| {
        horizon(phase, if phase.5 { GUARDED } else { Policy::default() })
    });
    let mut rows = Vec::new();
    let mut exact = 0;
    for (phase, ours) in EXACT.iter().zip(ours) {
        let ours = ours?;
        exact += usize::from(ours == phase.6);
        rows.push(vec![
            phase.0.to_owned(),
            number(phase.6),
            number(ours),
            format!("{:+.2} %", error(ours, phase.6)),
        ]);
    }
    let mut text = format!(
        "\n## Exchange phases\n\nScheduled cycles, published against simulated; {exact} of {} to the cycle. No constant was \
         fitted on them.\n{}",
        EXACT.len(),
        table(&["phase", "published", "simulated", "error"], &rows)
    );
    text += "\n### The gather\n\nThe open part: a small change of any rule moves it by 5 %. The rule in force was chosen on \
             these four.\n";
    let combinations: Vec<(usize, usize)> = (0..WAYS.len())
        .flat_map(|way| (0..GATHERS.len()).map(move |gather| (way, gather)))
        .collect();
    let ours = each(&combinations, |&(way, gather)| horizon(&GATHERS[gather], WAYS[way].1));
    let ours: Vec<usize> = ours.into_iter().collect::<Result<_, _>>()?;
    let mut rows = vec![
        std::iter::once("*published*".to_owned())
            .chain(GATHERS.iter().map(|gather| number(gather.6)))
            .collect::<Vec<_>>(),
    ];
    for ((name, _), ours) in WAYS.iter().zip(ours.chunks(GATHERS.len())) {
        let cells = ours
            .iter()
            .zip(GATHERS)
            .map(|(ours, gather)| format!("{} ({:+.1} %)", number(*ours), error(*ours, gather.6)));
        rows.push(std::iter::once((*name).to_owned()).chain(cells).collect());
    }
    let header: Vec<&str> = std::iter::once("order")
        .chain(GATHERS.iter().map(|gather| gather.0))
        .collect();
    text += &table(&header, &rows);
    text += "\nNo way tells standard from interleaved weights as the hardware does, and none is near all four. Not \
             modelled, because their rules are not public: the final addresses of the published builds, and the repair of \
             an order around its critical chain.\n";
    Ok(text)
}
