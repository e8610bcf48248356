//! Writing the report.

use std::collections::BTreeSet;
use std::path::Path;

use super::lock::ReportLock;
use super::{markdown, summary};
use crate::analysis::{Analysis, WorkloadRow};
use crate::error::AnalyzeError;
use crate::format::slug;
use crate::front::fronts;
use crate::plot::{Picture, calibration, drift, pareto, ranking};

/// JSON schema of `statistics.json`.
#[must_use]
pub fn schema() -> schemars::Schema {
    schemars::schema_for!(Analysis)
}

/// Writes the report of `analysis` into `folder`, which is made if it is not there, and puts the names of the files into
/// [`Analysis::files`]. Every file is written whole into a temporary folder beside its place, synced, and then renamed,
/// so that a reader sees the old file or the new one. Pictures that an earlier analysis wrote here and this one does not are
/// removed: they stand in the list of its `statistics.json`. Files of other names are left alone.
///
/// Errors: [`AnalyzeError::InUse`] while another process writes into the same folder; text that can't be drawn; the
/// operating system.
pub fn write(analysis: &mut Analysis, folder: &Path) -> Result<(), AnalyzeError> {
    write_with(analysis, &[], folder)
}

/// [`write()`], and further files with their names, which follow `report.md`.
pub fn write_with(analysis: &mut Analysis, further: &[(&str, Vec<u8>)], folder: &Path) -> Result<(), AnalyzeError> {
    fs_err::create_dir_all(folder)?;
    let lock = ReportLock::take(folder)?;
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
    let before = written_before(folder)?;
    for file in &analysis.files {
        fs_err::rename(place(file), folder.join(file))?;
    }
    for stale in before.iter().filter(|file| !analysis.files.contains(file)) {
        match fs_err::remove_file(folder.join(stale)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error.into()),
            _ => {}
        }
    }
    fs_err::File::open(folder)?.sync_all()?;
    temporary.close()?;
    drop(lock);
    Ok(())
}

/// What `statistics.json` says of an earlier report; everything else in it is skipped.
#[derive(serde::Deserialize)]
struct Before {
    format: u32,
    #[serde(rename = "level")]
    _level: f64,
    #[serde(rename = "resamples")]
    _resamples: u32,
    files: Vec<String>,
}

/// Pictures that an earlier analysis wrote into this folder. Nothing when its `statistics.json` is not there or not one
/// of ours: what is not known to be ours stays.
fn written_before(folder: &Path) -> Result<Vec<String>, AnalyzeError> {
    let file = match fs_err::File::open(folder.join("statistics.json")) {
        Ok(file) => std::io::BufReader::new(file),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error.into()),
    };
    let Ok(before) = serde_json::from_reader::<_, Before>(file) else {
        return Ok(Vec::new());
    };
    let is_picture = |name: &String| {
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        let stem = name.strip_suffix(".svg").or_else(|| name.strip_suffix(".png"));
        stem.is_some_and(|stem| !stem.is_empty() && stem.chars().all(plain))
    };
    let files = before.files.into_iter().filter(is_picture);
    Ok(if before.format == Analysis::FORMAT {
        files.collect()
    } else {
        Vec::new()
    })
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
        add(
            &mut pictures,
            named("ranking".to_owned()),
            ranking(workload, analysis.setup.origin()),
        )?;
        for front in fronts(workload) {
            let stem = named(format!("pareto-{}", slug(front.number)));
            add(
                &mut pictures,
                stem,
                Ok(pareto(workload, &front, analysis.setup.origin())),
            )?;
        }
        let stem = named("drift".to_owned());
        add(
            &mut pictures,
            stem,
            Ok(drift(workload, &analysis.setup.objective, analysis.setup.origin())),
        )?;
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
    calibration(workload, estimate, &analysis.setup.objective, analysis.setup.origin())
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
