//! `layout-sweep import --samples`: kernel samples that somebody else measured.

use std::collections::BTreeMap;
use std::path::Path;

use calibrate::import::{ImportOptions, read};
use calibrate::{Database, SampleSource};
use cohort::sha256_hex;
use coordinator::ExitCode;
use formats::{Column, Role};
use target_api::Clock;

use crate::calibrate::refused;
use crate::failure::Failure;
use crate::import::Arguments;
use crate::output::print;
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
    let unit = arguments
        .unit
        .clone()
        .ok_or_else(|| Failure::usage("kernel samples have a unit: expected `--unit cycles`, `--unit ns`, ..."))?;
    if let Some(other) = columns.iter().find(|column| column.role != Role::Ignore) {
        return Err(Failure::usage(format!(
            "`--column {}`: columns of kernel samples are named in the file; only `ignore` is for them",
            other.header
        )));
    }
    let text = fs_err::read_to_string(&arguments.source)
        .map_err(|error| Failure::because(ExitCode::Usage, "the source can't be read", error))?;
    let shown = arguments.source.display().to_string();
    let options = ImportOptions {
        clock: Clock {
            name: arguments.clock.clone().unwrap_or_else(|| "imported".to_owned()),
            unit,
            hz: None,
        },
        kernel: arguments.kernel.clone(),
        ignore: columns.iter().map(|column| column.header.clone()).collect(),
    };
    let profile = read(&shown, &text, &options).map_err(refused)?;
    let sha256 = sha256_hex(text.as_bytes());
    let source = SampleSource {
        path: shown,
        build: arguments.build_id.clone().unwrap_or_else(|| sha256.clone()),
        sha256,
        label: "measured elsewhere".to_owned(),
    };
    let mut database = Database::new(target, profile.clock.clone());
    database.begin(source.clone(), &BTreeMap::new()).map_err(refused)?;
    let gathered = database.gather(&source, &profile).map_err(refused)?;
    if path.exists() {
        let text = fs_err::read_to_string(path)
            .map_err(|error| Failure::because(ExitCode::Usage, "the database can't be read", error))?;
        let mut all = Database::parse(&path.display().to_string(), &text).map_err(refused)?;
        all.merge(database).map_err(refused)?;
        database = all;
    }
    let text = database.text().map_err(refused)?;
    cohort::write_atomic(path, text.as_bytes())
        .map_err(|error| Failure::because(ExitCode::Usage, "the database can't be written", error))?;
    print(&format!(
        "`{}`: {} samples of `{}` added, {} left out; {} keys of {} in all",
        path.display(),
        gathered.counted,
        arguments.source.display(),
        gathered.excluded,
        database.keys.len(),
        database.kernels().join(", ")
    ));
    for (why, samples) in &database.excluded {
        print(&format!("left out: {samples} samples {why}"));
    }
    print(&format!("next: layout-sweep calibrate --fit '{}'", path.display()));
    Ok(ExitCode::Done)
}
