//! The published alternatives: 47 plans around the control, of which 44 passed.

use planner::Definition;
use planner::select::select;
use target_api::Target;
use target_ipu21::Ipu21;
use target_ipu21::exchange::Policy;

use crate::cases::{each, run};
use crate::{Section, error, number, table};

/// Published renderer cycles, by case; those of the others are not published.
const PUBLISHED: &[(&str, usize)] = &[
    ("control", 175_140),
    ("up-result-2x2", 179_274),
    ("up-batch-2", 182_070),
    ("down-batch-2", 207_654),
    ("down-batch-7", 179_382),
    ("down-result-5x3", 173_442),
    ("mixed-control", 173_442),
    ("mixed-repeat", 173_442),
    ("down-result-3x3", 179_214),
    ("down-result-4x3", 176_652),
    ("mapping-block-92-2-base", 174_132),
];

pub(crate) fn section() -> Section {
    let text = include_str!("../../../../cohorts/siglip-mlp-ipu21-alternatives.toml");
    let definition = Definition::parse("siglip-mlp-ipu21-alternatives.toml", text)?;
    let target = Ipu21.configure(&definition.options, &target_api::Machine::default())?;
    let selection = select(&definition, target.as_ref())?;
    let cases: Vec<_> = selection
        .workloads
        .iter()
        .flat_map(|workload| &workload.cases)
        .collect();
    let all = each(&cases, |case| {
        let mut words = case.text.split(' ');
        let (up, down) = (words.next().ok_or("no up")?, words.next().ok_or("no down")?);
        let map = words.next().and_then(|word| word.strip_prefix("mapping="));
        run(up, down, map.unwrap_or("identity"), "after", Policy::default())
    });
    let refused = all.iter().filter(|ran| ran.is_err()).count();
    let rows = cases.iter().zip(&all).map(|(case, ran)| {
        let published = PUBLISHED
            .iter()
            .find(|(name, _)| *name == case.name)
            .map(|(_, cycles)| *cycles);
        let compared = match (ran, published) {
            (Ok(ran), Some(published)) => format!("{:+.2} %", error(ran.cycles, published)),
            _ => String::new(),
        };
        vec![
            format!("`{}`", case.name),
            published.map_or_else(String::new, number),
            ran.as_ref().map_or_else(Clone::clone, |ran| number(ran.cycles)),
            compared,
        ]
    });
    Ok(format!(
        "\n## The published alternatives\n\nThe cases of `cohorts/siglip-mlp-ipu21-alternatives.toml`: {} simulated, {refused} \
         refused (published: 44 and 3). Cycles of most of them are not published.\n{}",
        all.len() - refused,
        table(&["case", "published", "simulated", "error"], &rows.collect::<Vec<_>>())
    ))
}
