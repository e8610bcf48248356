//! The findings of the published studies: our sign and size, and whether our margin exceeds our own error.

use target_ipu21::exchange::Policy;

use crate::cases::{Case, Ran, down, each, run, up};
use crate::{Section, number, table};

fn find<'a>(cases: &'a [Case], name: &str) -> Result<&'a Case, String> {
    cases
        .iter()
        .find(|case| case.name == name)
        .ok_or_else(|| format!("no case `{name}`"))
}

fn signed(n: i64) -> String {
    let size = number(usize::try_from(n.unsigned_abs()).unwrap_or(usize::MAX));
    format!("{}{size}", if n < 0 { '-' } else { '+' })
}

fn margin(a: usize, b: usize) -> i64 {
    i64::try_from(a).unwrap_or(i64::MAX) - i64::try_from(b).unwrap_or(i64::MAX)
}

/// `winner` against `other`: negative margins mean that it wins.
fn compare(text: &str, winner: &Case, other: &Case, phases: &str) -> Vec<String> {
    let theirs = margin(winner.published, other.published);
    let ours = margin(winner.ours.cycles, other.ours.cycles);
    let own = |case: &Case| case.ours.cycles.abs_diff(case.published);
    let error = own(winner).max(own(other));
    let resolved = ours.unsigned_abs() > error as u64;
    let verdict = match (resolved, theirs.signum() == ours.signum()) {
        (true, true) => "agrees",
        (true, false) => "disagrees",
        (false, true) => "not resolved (same sign)",
        (false, false) => "not resolved (other sign)",
    };
    vec![
        text.to_owned(),
        signed(theirs),
        signed(ours),
        number(error),
        phases.to_owned(),
        verdict.to_owned(),
    ]
}

pub(crate) fn section(cases: &[Case]) -> Section {
    let case = |name: &str| find(cases, name);
    let control = case("control")?;
    let gather = |case: &Case| case.ours.horizons.get(2).copied().unwrap_or(0);
    let two = case("up result 2x2")?;
    let rows = vec![
        compare(
            "down-22 beats historical; its gather carries it (32,939 to 31,382)",
            case("sweep down-22")?,
            case("sweep historical")?,
            &format!(
                "gather {} and {}",
                number(gather(case("sweep down-22")?)),
                number(gather(case("sweep historical")?))
            ),
        ),
        compare(
            "down result 5x3 beats 15x1",
            case("down result 5x3")?,
            control,
            "down reduction exact (7,991 to 5,941); the work after it is modelled low",
        ),
        compare(
            "up result 2x2 loses although its gather is shorter (28,065)",
            two,
            control,
            &format!(
                "gather {} against {}, up reduction exact",
                number(gather(two)),
                number(gather(control))
            ),
        ),
        compare(
            "down batch 7 loses",
            case("down batch 7")?,
            control,
            "both stages exact",
        ),
        compare(
            "down batch 2 loses more",
            case("down batch 2")?,
            case("down batch 7")?,
            "",
        ),
        compare("up batch 2 loses", case("up batch 2")?, control, ""),
        compare("block 92/2 wins", case("block 92/2")?, control, "the gather decides it"),
    ];
    let header = [
        "finding",
        "published margin",
        "simulated margin",
        "our error (larger of the two)",
        "phases",
        "verdict",
    ];
    Ok(format!(
        "\n## Findings\n\nCycles; a negative margin means that the first plan wins. A margin that does not exceed our own \
         error on the two plans decides nothing.\n{}{}{}",
        table(&header, &rows),
        batches(control)?,
        transposes(control)?
    ))
}

fn plans(all: &[(String, String, String)]) -> Result<Vec<Ran>, String> {
    each(all, |(up, down, map)| run(up, down, map, "after", Policy::default()))
        .into_iter()
        .collect()
}

fn batches(control: &Case) -> Section {
    let up = up("4x1 complete")?;
    let sizes = [7, 4, 2, 1];
    let all: Vec<_> = sizes
        .iter()
        .map(|n| {
            Ok((
                up.clone(),
                down(&format!("15x1 standard batch-{n}"))?,
                "identity".to_owned(),
            ))
        })
        .collect::<Result<_, String>>()?;
    let cycles: Vec<usize> = plans(&all)?.iter().map(|ran| ran.cycles).collect();
    let falling = cycles.is_sorted() && cycles[0] > control.ours.cycles;
    let words: Vec<String> = sizes
        .iter()
        .zip(&cycles)
        .map(|(n, c)| format!("batch {n} {}", number(*c)))
        .collect();
    Ok(format!(
        "\nSmaller batches lose in order (published): simulated {}, {}.\n",
        words.join(", "),
        if falling {
            "in that order and all behind the control"
        } else {
            "NOT in that order"
        }
    ))
}

/// Published: all eight lose; the best and the worst are known, not their widths.
const BEST: usize = 178_116;
const WORST: usize = 189_816;

fn transposes(control: &Case) -> Section {
    let (up, down) = (up("4x1 complete")?, down("15x1 standard complete")?);
    let widths = [2, 4, 16, 32, 46, 92, 184, 368];
    let all: Vec<_> = widths
        .iter()
        .map(|width| (up.clone(), down.clone(), format!("transpose:{width}")))
        .collect();
    let cycles: Vec<usize> = plans(&all)?.iter().map(|ran| ran.cycles).collect();
    let (least, most) = (
        cycles.iter().copied().min().unwrap_or(0),
        cycles.iter().copied().max().unwrap_or(0),
    );
    let lose = cycles.iter().filter(|cycles| **cycles > control.ours.cycles).count();
    let words: Vec<String> = widths
        .iter()
        .zip(&cycles)
        .map(|(w, c)| format!("{w}: {}", number(*c)))
        .collect();
    Ok(format!(
        "\nGlobal transposes lose (published, held back): simulated {}; {lose} of {} lose. Best {} against {} published \
         ({:+.2} %), worst {} against {} ({:+.2} %).\n",
        words.join(", "),
        widths.len(),
        number(least),
        number(BEST),
        crate::error(least, BEST),
        number(most),
        number(WORST),
        crate::error(most, WORST)
    ))
}
