//! `layout-sweep import --samples`: kernel samples that somebody else measured.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use calibrate::import::{ImportOptions, read};
use calibrate::{CalibrateError, Database, SampleSource};
use coordinator::ExitCode;
use formats::{Column, Role};
use planner::costs::CostTable;
use planner::{counted, grouped};
use target_api::KernelSample;

use crate::calibrate::inputs::default_table;
use crate::calibrate::refused;
use crate::failure::Failure;
use crate::import::{Arguments, load};
use crate::output::{narrate, print};
use crate::registry::{self, TARGETS};

/// Reads a table of kernel samples and adds it to the database at `path`, which is made if it is not there.
pub(crate) fn execute(arguments: &Arguments, path: &Path, columns: &[Column]) -> Result<ExitCode, Failure> {
    let target = arguments.target.as_deref().unwrap_or_default();
    if registry::target(target).is_none() {
        let names: Vec<&str> = TARGETS.iter().map(|target| target.id()).collect();
        return Err(Failure::usage(format!(
            "`--target {target}`: expected the target whose kernels were measured, one of {}",
            names.join(", ")
        )));
    }
    if let Some(other) = columns.iter().find(|column| column.role != Role::Ignore) {
        return Err(Failure::usage(format!(
            "`--column {}`: columns of kernel samples are named in the file; only `ignore` is for them",
            other.header
        )));
    }
    let shown = arguments.source.display().to_string();
    let loaded = load(&arguments.source)?;
    let (mut file, sha256, mut notes) = (loaded.source, loaded.sha256, loaded.notes);
    file.name.clone_from(&shown);
    let options = ImportOptions {
        clock: arguments.clock.clone().unwrap_or_else(|| "imported".to_owned()),
        unit: arguments.unit.clone(),
        hz: None,
        kernel: arguments.kernel.clone(),
        ignore: columns.iter().map(|column| column.header.clone()).collect(),
    };
    let profile = read(&file, &options, &mut notes).map_err(|error| match error {
        CalibrateError::NoTable(error) => crate::import::refused(error),
        error => Failure::because(ExitCode::Usage, "the source can't be imported", error),
    })?;
    for note in &notes {
        narrate(&format!("note: {note}"));
    }
    let source = SampleSource {
        path: shown,
        build: arguments.build_id.clone().unwrap_or_else(|| sha256.clone()),
        sha256,
        label: "measured elsewhere".to_owned(),
    };
    let mut database = Database::new(target, profile.clock.clone());
    database.begin(source.clone(), &BTreeMap::new()).map_err(refused)?;
    let gathered = database.gather(&source, &profile).map_err(refused)?;
    let grows = path.exists();
    if grows {
        let text = fs_err::read_to_string(path)
            .map_err(|error| Failure::because(ExitCode::Usage, "the database can't be read", error))?;
        let mut all = Database::parse(&path.display().to_string(), &text).map_err(refused)?;
        all.merge(database).map_err(refused)?;
        database = all;
    }
    let text = database.text().map_err(refused)?;
    cohort::write_atomic(path, text.as_bytes())
        .map_err(|error| Failure::because(ExitCode::Usage, "the database can't be written", error))?;
    if let Some(table) = default_table(target) {
        for line in unknown(&profile.samples, target, &table) {
            narrate(&line);
        }
    }
    let keys = match database.keys.len() {
        0 => "no key".to_owned(),
        keys => format!("{} of {}", counted(keys, "key"), database.kernels().join(", ")),
    };
    print(&format!(
        "`{}`: {} of `{}` added, {} left out; {keys} in all",
        path.display(),
        counted(gathered.counted, "sample"),
        arguments.source.display(),
        grouped(gathered.excluded),
    ));
    let whose = if grows {
        "left out, by this and earlier imports"
    } else {
        "left out"
    };
    for (why, samples) in &database.excluded {
        print(&format!("{whose}: {} {why}", counted(samples, "sample")));
    }
    print(&format!("next: layout-sweep calibrate --fit '{}'", path.display()));
    Ok(ExitCode::Done)
}

/// Warnings for kernels and arguments that no family of the target's table knows, each once and by name.
fn unknown(samples: &[KernelSample], target: &str, table: &CostTable) -> BTreeSet<String> {
    let mut known: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (name, family) in &table.families {
        let arguments = family.arguments.kinds().into_iter().map(|(argument, _)| argument);
        known.entry(family.kernel(name)).or_default().extend(arguments);
    }
    let quoted = |names: &[&str]| match names {
        [] => "none".to_owned(),
        names => format!("`{}`", names.join("`, `")),
    };
    let mut lines = BTreeSet::new();
    for sample in samples {
        let Some(arguments) = known.get(sample.kernel.as_str()) else {
            let kernels: Vec<&str> = known.keys().copied().collect();
            lines.insert(format!(
                "warning: no family of the cost table of `{target}` prices the kernel `{}`: it prices {}; a table that does \
                 is given by `calibrate --costs`",
                sample.kernel,
                quoted(&kernels)
            ));
            continue;
        };
        let scalars = sample.arguments.iter().flat_map(BTreeMap::keys);
        let extents = sample.logical.keys().chain(sample.physical.keys());
        for argument in scalars.chain(extents).filter(|name| !arguments.contains(name.as_str())) {
            let expected: Vec<&str> = arguments.iter().copied().collect();
            lines.insert(format!(
                "warning: the cost table of `{target}` does not look at the argument `{argument}` of the kernel `{}`: it \
                 looks at {}; `--column ignore={argument}` leaves a column out",
                sample.kernel,
                quoted(&expected)
            ));
        }
    }
    lines
}
