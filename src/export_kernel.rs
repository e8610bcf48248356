//! `layout-sweep export --kernel`: a measured plan as a C file to build into another program.

use std::path::Path;

use analyzer::analysis::{CaseRow, WorkloadRow};
use cohort::digest::unit_digest;
use cohort::{Case, Snapshot};
use coordinator::ExitCode;
use planner::counted;
use target_api::SourceFile;

use crate::failure::Failure;
use crate::planning::Planning;

/// The files of the kernel of `case`, for `path`, whose stem names its functions.
///
/// The code is generated anew and must be what was measured: its digest is compared with the frozen one.
pub(crate) fn kernel(
    snapshot: &Snapshot,
    case: &Case,
    workload: &WorkloadRow,
    path: &Path,
) -> Result<Vec<SourceFile>, Failure> {
    let name = identifier(path)?;
    let manifest = snapshot.frozen.manifest();
    if manifest.imported.is_some() {
        return Err(Failure::usage(
            "what was imported has no sources: there is no kernel to export",
        ));
    }
    let planning = Planning::of_frozen(manifest)?;
    let own = crate::freezing::workload(&planning, &case.workload)?;
    let refused =
        |refusal: planner::Refusal| Failure::usage(format!("case `{}` can't be exported: {refusal}", case.name));
    let units = planning.configured.build(own, &case.plan).map_err(refused)?;
    for unit in &units {
        let now = unit_digest(unit, &manifest.machine.tools);
        let Some(frozen) = case.units.get(&unit.label).filter(|frozen| **frozen != now) else {
            continue;
        };
        let message = format!(
            "this `layout-sweep` would export another `{}` than case `{}` was measured with: frozen {frozen}, now {now}",
            unit.label, case.name
        );
        let help = format!(
            "export with the cohort's own: `{}`",
            snapshot.frozen.dir().binary().display()
        );
        return Err(Failure::new(ExitCode::Mismatch, message).help(help));
    }
    let row = workload.cases.iter().find(|row| row.name == case.name);
    let about = about(snapshot, case, workload, row);
    planning
        .configured
        .kernel(own, &case.plan, &name, &about)
        .map_err(refused)
}

/// The stem of the file as a C identifier.
fn identifier(path: &Path) -> Result<String, Failure> {
    let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    let fits = path.extension().is_some_and(|extension| extension == "c")
        && stem.starts_with(|c: char| c.is_ascii_alphabetic())
        && stem.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if fits {
        Ok(stem.to_owned())
    } else {
        Err(
            Failure::usage(format!("`--kernel {}`: expected a file `NAME.c`", path.display()))
                .help("NAME begins the names of its functions: letters, digits and `_`, a letter first"),
        )
    }
}

/// Where the plan and its figures come from.
fn about(snapshot: &Snapshot, case: &Case, workload: &WorkloadRow, row: Option<&CaseRow>) -> Vec<String> {
    let manifest = snapshot.frozen.manifest();
    let fact = |key: &str| manifest.machine.class.get(key).map_or("unknown", String::as_str);
    let mut lines = vec![
        format!(
            "case `{}` ({}) of workload `{}`, cohort of `{}`, frozen {}",
            case.name, case.reason, case.workload, manifest.origin.definition_path, manifest.origin.frozen_at
        ),
        format!("plan: {}", case.plan.text),
        format!("machine: {}, {}", fact("cpu_model"), fact("compiler.version")),
    ];
    lines.push(
        row.and_then(|row| figures(row, workload, &manifest.objective.1))
            .unwrap_or_else(|| "never measured with a correct result".to_owned()),
    );
    lines
}

/// What was measured of a case; none when there is no correct result.
fn figures(row: &CaseRow, workload: &WorkloadRow, unit: &str) -> Option<String> {
    let mut parts = vec![format!(
        "measured there: median {} {unit} of {}",
        row.value?.round(),
        counted(row.pairs, "pair")
    )];
    if let (Some(ratio), true) = (&row.ratio, workload.has_control) {
        parts.push(format!("{:.4} of the control `{}`", ratio.median, workload.control));
        if let (Some(lower), Some(upper)) = (ratio.lower, ratio.upper) {
            parts.push(format!("95 % interval [{lower:.4}, {upper:.4}]"));
        }
    }
    parts.extend(
        row.share_of_peak
            .map(|share| format!("{share:.3} of the FMA peak probed beside it")),
    );
    Some(parts.join("; "))
}
