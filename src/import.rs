//! `layout-sweep import`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use cohort::digest::tree_digest;
use cohort::{CohortDir, Imported, sha256_hex};
use coordinator::ExitCode;
use formats::{Column, Contents, FORMATS, Format, Found, ImportError, Origin, Part, Source, Table};
use planner::{counted, grouped};

use crate::failure::Failure;
use crate::output::{narrate, print};

/// Which way a number is better.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Direction {
    /// More of it is better.
    Higher,
    /// Less of it is better.
    Lower,
}

/// Arguments of `import`.
#[derive(Args)]
#[command(after_help = formats_help())]
pub(crate) struct Arguments {
    /// The file, gzip or not, or the folder.
    pub(crate) source: PathBuf,
    /// What it is; told from its content by default.
    #[arg(long, value_name = "FORMAT")]
    format: Option<String>,
    /// The cohort's folder (default: the source's name without its endings, in `cohorts/` where there is one).
    #[arg(long, value_name = "DIR")]
    cohort: Option<PathBuf>,
    /// Where a search space is written as a sweep definition (default: as for a cohort, ending in `.toml`).
    #[arg(short, long, value_name = "FILE", conflicts_with = "cohort")]
    output: Option<PathBuf>,
    /// What was measured, in words of your own: kept with the cohort and shown with its figures.
    #[arg(long, value_name = "TEXT")]
    pub(crate) build_id: Option<String>,
    /// The number to rank by (default: the file's own objective).
    #[arg(long, value_name = "NAME")]
    objective: Option<String>,
    /// Its unit, where the file does not say it.
    #[arg(long, value_name = "UNIT")]
    pub(crate) unit: Option<String>,
    /// Whether more or less of it is better, where neither its name nor its unit says so.
    #[arg(long, value_enum, value_name = "WAY")]
    direction: Option<Direction>,
    /// Rank by how far the number lies above X: for scores that reach zero or lie below it, of which there is no ratio.
    #[arg(long, value_name = "X")]
    above: Option<f64>,
    /// The case that others are compared with (default: none; ratios are relative to the first that was measured).
    #[arg(long, value_name = "NAME")]
    control: Option<String>,
    /// What a column is: `value`, `parameter`, `name`, `workload`, `family`, `outcome`, `reason`, `round`, `at`,
    /// `estimate`, `extra` or `ignore`. Several values are several samples.
    #[arg(long, value_name = "ROLE=HEADER")]
    column: Vec<String>,
    /// The source holds samples of kernels (a table with named columns, CSV or a JSON list): they are added to this
    /// database, for `calibrate`.
    #[arg(long, value_name = "FILE", requires = "target", conflicts_with_all = ["cohort", "output", "format", "objective", "direction", "above", "control"])]
    samples: Option<PathBuf>,
    /// The target whose kernels were measured.
    #[arg(long, value_name = "NAME", requires = "samples")]
    pub(crate) target: Option<String>,
    /// The kernel of every sample, where the table has no column `kernel`.
    #[arg(long, value_name = "NAME", requires = "samples")]
    pub(crate) kernel: Option<String>,
    /// What counted: databases with different clocks are never merged.
    #[arg(long, value_name = "NAME", requires = "samples")]
    pub(crate) clock: Option<String>,
}

fn formats_help() -> String {
    let formats = FORMATS
        .iter()
        .map(|format| format!("  {:<13} {}", format.name, format.about));
    let formats: Vec<String> = formats.collect();
    format!("Formats:\n{}", formats.join("\n"))
}

/// Makes a cohort of what somebody else measured: it can be analysed, never continued. A search space becomes a
/// definition.
pub(crate) fn execute(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let columns = arguments.column.iter().map(|column| column.parse::<Column>());
    let options = formats::Options {
        objective: arguments.objective.clone(),
        unit: arguments.unit.clone(),
        larger_is_better: arguments.direction.map(|direction| direction == Direction::Higher),
        above: arguments.above,
        columns: columns.collect::<Result<_, _>>().map_err(refused)?,
    };
    if let Some(path) = &arguments.samples {
        return crate::import_samples::execute(arguments, path, &options.columns);
    }
    let Loaded { source, sha256, notes } = load(&arguments.source)?;
    let format = match &arguments.format {
        Some(name) => formats::find(name).map_err(refused)?,
        None => formats::suiting(&source).map_err(refused)?,
    };
    if format.name != "csv" && !options.columns.is_empty() {
        return Err(Failure::usage(format!(
            "`--column` is for tables (csv); `{}` is read as {}",
            source.name, format.name
        )));
    }
    let (contents, more) = formats::read(format, &source, &options).map_err(refused)?;
    for note in notes.iter().chain(&more) {
        narrate(&format!("note: {note}"));
    }
    match contents {
        Contents::Definition(text) => write_definition(arguments, &text),
        Contents::Table(table) => freeze(arguments, format, &table, &source, sha256),
    }
}

/// A source, its digest, and what had to be left out of it.
pub(crate) struct Loaded {
    pub(crate) source: Source,
    pub(crate) sha256: String,
    pub(crate) notes: Vec<String>,
}

pub(crate) fn load(path: &Path) -> Result<Loaded, Failure> {
    let unreadable = |error| Failure::because(ExitCode::Usage, "the source can't be read", error);
    let folder = fs_err::metadata(path).map_err(unreadable)?.is_dir();
    // A trailing slash or `.` names a folder, too.
    let whole = fs_err::canonicalize(path).map_err(unreadable)?;
    let name = whole
        .file_name()
        .unwrap_or(whole.as_os_str())
        .to_string_lossy()
        .into_owned();
    let mut files: BTreeMap<String, Vec<u8>> = BTreeMap::new();
    if folder {
        let manifest = whole.join("manifest.json");
        if manifest.is_file() {
            files.insert("manifest.json".to_owned(), fs_err::read(&manifest).map_err(unreadable)?);
        }
        for entry in fs_err::read_dir(&whole).map_err(unreadable)? {
            let entry = entry.map_err(unreadable)?;
            let result = entry.path().join("result.json");
            if result.is_file() {
                let inner = format!("{}/result.json", entry.file_name().to_string_lossy());
                files.insert(inner, fs_err::read(&result).map_err(unreadable)?);
            }
        }
    } else {
        files.insert(name.clone(), fs_err::read(&whole).map_err(unreadable)?);
    }
    let sha256 = match files.get(&name).filter(|_| !folder) {
        Some(bytes) => sha256_hex(bytes),
        None => tree_digest(files.iter().map(|(path, bytes)| (path.as_str(), bytes.as_slice()))),
    };
    let (mut parts, mut notes) = (Vec::new(), Vec::new());
    for (path, bytes) in files {
        let (text, more) = formats::unpack(&path, bytes).map_err(refused)?;
        notes.extend(more);
        parts.push(Part { path, text });
    }
    let source = Source { name, parts, folder };
    Ok(Loaded { source, sha256, notes })
}

pub(crate) fn refused(error: ImportError) -> Failure {
    let help = error.help();
    let failure = Failure::because(ExitCode::Usage, "the source can't be imported", error);
    match help {
        Some(help) => failure.help(help),
        None => failure,
    }
}

/// The source's name without the endings of files, in `cohorts/` where there is one.
fn usual_place(source: &Path) -> PathBuf {
    let name = source.canonicalize().unwrap_or_else(|_| source.to_owned());
    let name = name.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let mut stem = name.as_str();
    for ending in [".gz", ".json", ".csv", ".tsv", ".txt"] {
        stem = stem.strip_suffix(ending).unwrap_or(stem);
    }
    let stem = if stem.is_empty() { "imported" } else { stem };
    let cohorts = Path::new("cohorts");
    if cohorts.is_dir() {
        cohorts.join(stem)
    } else {
        PathBuf::from(stem)
    }
}

fn write_definition(arguments: &Arguments, text: &str) -> Result<ExitCode, Failure> {
    if arguments.cohort.is_some() {
        return Err(
            Failure::usage("the source is a search space: it makes a definition, not a cohort")
                .help("`--output FILE` says where it is written"),
        );
    }
    let mut place = usual_place(&arguments.source).into_os_string();
    place.push(".toml");
    let path = arguments.output.clone().unwrap_or_else(|| PathBuf::from(place));
    let failed = |error| Failure::because(ExitCode::Usage, "the definition can't be written", error);
    cohort::create_once(&path, text.as_bytes()).map_err(failed)?;
    let shown = path.display();
    print(&format!(
        "`{shown}`: a definition to be edited; `layout-sweep plan --count {shown}` counts its plans"
    ));
    Ok(ExitCode::Done)
}

fn freeze(
    arguments: &Arguments,
    format: &Format,
    table: &Table,
    source: &Source,
    sha256: String,
) -> Result<ExitCode, Failure> {
    if arguments.output.is_some() {
        return Err(
            Failure::usage("the source holds results: they make a cohort, not a file")
                .help("`--cohort DIR` says where"),
        );
    }
    let path = arguments
        .cohort
        .clone()
        .unwrap_or_else(|| usual_place(&arguments.source));
    let origin = Origin {
        imported: Imported {
            file: source.name.clone(),
            sha256,
            format: format.name.to_owned(),
            build_id: arguments.build_id.clone(),
            shifted: arguments.above.is_some(),
        },
        at: jiff::Timestamp::now(),
        control: arguments.control.clone(),
    };
    let failed = |error| {
        let message = format!("`{}` can't be made", path.display());
        Failure::because(ExitCode::Usage, message, error)
    };
    let draft = formats::draft(table, &origin).map_err(failed)?;
    let frozen = draft
        .freeze(&CohortDir::new(&path), std::process::id())
        .map_err(failed)?;
    let mut failures: BTreeMap<&str, u64> = BTreeMap::new();
    let mut samples = 0;
    for row in &table.rows {
        match &row.found {
            Found::Measured { samples: own } => samples += own.len(),
            Found::Failed { how, .. } => *failures.entry(how.word()).or_default() += 1,
        }
    }
    let measured = table.rows.len() as u64 - failures.values().sum::<u64>();
    let failures = failures
        .iter()
        .map(|(word, count)| format!(", {} {word}", grouped(count)));
    print(&format!(
        "`{}`: {} of `{}` ({}): {} measured by others with {} of {}{}{}",
        frozen.dir().path().display(),
        counted(table.rows.len(), "configuration"),
        source.name,
        format.name,
        grouped(measured),
        counted(samples, "sample"),
        table.described(" in ", ""),
        failures.collect::<String>(),
        if table.larger_is_better {
            "; more of it is better"
        } else {
            ""
        }
    ));
    print(&format!("next: layout-sweep analyze '{}'", path.display()));
    Ok(ExitCode::Done)
}
