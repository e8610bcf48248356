//! Writing the report.

use std::collections::BTreeSet;
use std::path::Path;

use super::{markdown, summary};
use crate::analysis::{Analysis, WorkloadRow};
use crate::error::AnalyzeError;
use crate::format::slug;
use crate::plot::{Picture, calibration, drift, ranking};

/// JSON schema of `statistics.json`.
#[must_use]
pub fn schema() -> schemars::Schema {
    schemars::schema_for!(Analysis)
}

/// Writes the report of `analysis` into `folder`, which is made if it is not there, and puts the names of the files into
/// [`Analysis::files`]. Every file is written whole into a temporary folder beside its place, synced, and then renamed,
/// so that a reader sees the old file or the new one. Files of other names are left alone.
pub fn write(analysis: &mut Analysis, folder: &Path) -> Result<(), AnalyzeError> {
    write_with(analysis, &[], folder)
}

/// [`write`], and further files with their names, which follow `report.md`.
pub fn write_with(analysis: &mut Analysis, further: &[(&str, Vec<u8>)], folder: &Path) -> Result<(), AnalyzeError> {
    fs_err::create_dir_all(folder)?;
    let pictures = pictures(analysis)?;
    let further_names = further.iter().map(|(name, _)| *name);
    analysis.files = std::iter::once("report.md")
        .chain(further_names)
        .chain(["summary.csv", "statistics.json"])
        .map(str::to_owned)
        .collect();
    for (stem, _) in &pictures {
        analysis.files.extend([format!("{stem}.svg"), format!("{stem}.png")]);
    }
    let temporary = tempfile::Builder::new().prefix(".writing-").tempdir_in(folder)?;
    let place = |name: &str| temporary.path().join(name);
    fs_err::write(place("report.md"), markdown(analysis))?;
    for (name, content) in further {
        fs_err::write(place(name), content)?;
    }
    fs_err::write(place("summary.csv"), summary(analysis)?)?;
    let mut statistics = serde_json::to_vec_pretty(analysis)?;
    statistics.push(b'\n');
    fs_err::write(place("statistics.json"), statistics)?;
    for (stem, picture) in &pictures {
        let (svg, png) = (format!("{stem}.svg"), format!("{stem}.png"));
        let drawn = picture.svg().map_err(|message| plot_error(&svg, message))?;
        fs_err::write(place(&svg), drawn)?;
        picture.png(&place(&png)).map_err(|message| plot_error(&png, message))?;
    }
    for file in &analysis.files {
        fs_err::File::open(place(file))?.sync_all()?;
    }
    for file in &analysis.files {
        fs_err::rename(place(file), folder.join(file))?;
    }
    fs_err::File::open(folder)?.sync_all()?;
    temporary.close()?;
    Ok(())
}

fn plot_error(file: &str, message: String) -> AnalyzeError {
    AnalyzeError::Plot {
        file: file.to_owned(),
        message,
    }
}

/// Plots with the stems of their files, in the order of the report.
fn pictures(analysis: &Analysis) -> Result<Vec<(String, Picture)>, AnalyzeError> {
    let mut pictures = Vec::new();
    let mut taken = BTreeSet::new();
    for workload in &analysis.workloads {
        let several = analysis.workloads.len() > 1;
        let mut named = |plot: String| {
            let stem = if several {
                format!("{plot}-{}", slug(&workload.name))
            } else {
                plot
            };
            unique(&stem, &mut taken)
        };
        add(&mut pictures, named("ranking".to_owned()), ranking(workload))?;
        let stem = named("drift".to_owned());
        add(&mut pictures, stem, Ok(drift(workload, &analysis.setup.objective.unit)))?;
        for estimate in &workload.estimates {
            let stem = named(format!("calibration-{}", slug(&estimate.name)));
            add(&mut pictures, stem, calibration_of(analysis, workload, estimate))?;
        }
    }
    Ok(pictures)
}

fn calibration_of(
    analysis: &Analysis,
    workload: &WorkloadRow,
    estimate: &crate::analysis::EstimateRow,
) -> Result<Option<Picture>, String> {
    calibration(workload, estimate, &analysis.setup.objective.unit)
}

fn add(
    pictures: &mut Vec<(String, Picture)>,
    stem: String,
    picture: Result<Option<Picture>, String>,
) -> Result<(), AnalyzeError> {
    let picture = picture.map_err(|message| plot_error(&stem, message))?;
    pictures.extend(picture.map(|picture| (stem, picture)));
    Ok(())
}

/// A stem that no other plot has: names that differ only in what a file name can't hold get a number.
fn unique(stem: &str, taken: &mut BTreeSet<String>) -> String {
    let numbered = (2_usize..).map(|number| format!("{stem}-{number}"));
    let free = std::iter::once(stem.to_owned())
        .chain(numbered)
        .find(|stem| !taken.contains(stem));
    let free = free.unwrap_or_else(|| stem.to_owned());
    taken.insert(free.clone());
    free
}
