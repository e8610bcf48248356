//! `layout-sweep freeze`, and finding the cohort of a definition.

use std::path::{Path, PathBuf};

use clap::Args;
use cohort::{CohortDir, CohortError, Frozen, Snapshot};
use coordinator::ExitCode;
use planner::counted;
use planner::definition::{changed_line, same_meaning};
use planner::select::Selection;
use serde::Serialize;

use crate::costs::{Costs, CostsFile};
use crate::failure::Failure;
use crate::freezing;
use crate::output::{self, Format, print};
use crate::place::cohort_of;
use crate::planning::Planning;
use crate::progress::shell_word;
use crate::sources;

/// Arguments of `freeze`.
#[derive(Args)]
pub(crate) struct Arguments {
    /// The sweep definition.
    definition: PathBuf,
    #[command(flatten)]
    place: Place,
    /// How to print.
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
}

/// What was frozen.
#[derive(Serialize)]
struct Froze<'a> {
    cohort: &'a Path,
    cases: u64,
    /// Whether this very command froze it.
    new: bool,
}

/// Which cohort belongs to a definition.
#[derive(Args)]
pub(crate) struct Place {
    /// The cohort's folder (default: the definition's path without `.toml`).
    #[arg(long, value_name = "DIR")]
    pub(crate) cohort: Option<PathBuf>,
    /// Freeze a new sibling (`STEM-2`, ...), as after an edit of the definition; it reuses finished builds, and nothing
    /// is deleted.
    #[arg(long)]
    pub(crate) new: bool,
    #[command(flatten)]
    pub(crate) costs: CostsFile,
}

/// Freezes a definition.
pub(crate) fn execute(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let (frozen, fresh) = open_or_freeze(&arguments.definition, &arguments.place, |_, _| Ok(()))?;
    let cases = frozen.manifest().cases;
    if arguments.format == Format::Json {
        let (cohort, new) = (frozen.dir().path(), fresh);
        output::print_json(&Froze { cohort, cases, new })?;
        return Ok(ExitCode::Done);
    }
    let dir = frozen.dir().path().display();
    print(&if fresh {
        format!("`{dir}` is frozen: {}", counted(cases, "case"))
    } else {
        format!(
            "`{dir}` was frozen before from this very definition: {}",
            counted(cases, "case")
        )
    });
    Ok(ExitCode::Done)
}

/// Where the cohort of a definition is or may be.
struct Search {
    /// Those that were frozen from this definition, the newest last, and whether it said the same then.
    cohorts: Vec<(Frozen, bool)>,
    /// The first folder that is free.
    free: PathBuf,
    text: String,
    /// The cost table that is wanted in force.
    costs: Option<Costs>,
}

impl Search {
    /// Takes the newest one that was frozen from a text that says the same.
    fn same(&mut self) -> Option<Frozen> {
        let at = self.cohorts.iter().rposition(|(_, same)| *same)?;
        Some(self.cohorts.remove(at).0)
    }
}

/// The cohort that was frozen from a text that says the same, if there is one and no new one is wanted.
pub(crate) fn find(definition: &Path, place: &Place) -> Result<Option<Frozen>, Failure> {
    Ok(search(definition, place)?.same().filter(|_| !place.new))
}

/// The cohort that was frozen from what this text says: an existing one, or a new one, whose cases are shown to `check` before
/// anything is written. Says whether it is new.
pub(crate) fn open_or_freeze(
    definition: &Path,
    place: &Place,
    check: impl FnOnce(&Planning, &Selection) -> Result<(), Failure>,
) -> Result<(Frozen, bool), Failure> {
    let mut found = search(definition, place)?;
    if !place.new {
        if let Some(frozen) = found.same() {
            tell_layout(definition, &frozen, &found.text);
            tell_sources(definition, &frozen)?;
            return Ok((frozen, false));
        }
        if let Some((newest, _)) = found.cohorts.last() {
            return Err(if says_the_same(newest, &found.text) {
                repriced(newest, found.costs.as_ref())
            } else {
                other_text(definition, newest, &found.text)
            });
        }
    }
    crate::programs::check(definition)?;
    let planning = Planning::of_path(definition, found.costs)?;
    let selection = planning.select()?;
    check(&planning, &selection)?;
    for line in crate::plan::told(&selection.refused, &selection) {
        output::narrate(&line);
    }
    match freezing::freeze(&planning, &selection, &found.free) {
        Ok(frozen) => Ok((frozen, true)),
        // Another run may have frozen the same text just now: then its cohort is this one's too.
        Err(failure) if !place.new => match search(definition, place)?.same() {
            Some(frozen) => Ok((frozen, false)),
            None => Err(failure),
        },
        Err(failure) => Err(failure),
    }
}

/// Whether a cohort was frozen from what `text` says, be it commented and spaced otherwise.
fn says_the_same(frozen: &Frozen, text: &str) -> bool {
    let written = &frozen.manifest().definition;
    written == text || same_meaning(written, text)
}

/// Says that the definition looks otherwise than the frozen one, though it means the same.
fn tell_layout(definition: &Path, frozen: &Frozen, text: &str) {
    if frozen.manifest().definition != text {
        output::narrate(&format!(
            "note: comments or spacing of `{}` were edited after `{}` was frozen from it; what it says is the same",
            definition.display(),
            frozen.dir().path().display()
        ));
    }
}

/// Says which of the sources beside the definition is not as the frozen copy, with which the cohort goes on.
fn tell_sources(definition: &Path, frozen: &Frozen) -> Result<(), Failure> {
    let patterns = Planning::of_frozen(frozen.manifest())?.patterns()?;
    // A frozen copy that can't be read is a difference, which is found before anything runs.
    let Ok(copies) = sources::frozen(frozen) else {
        return Ok(());
    };
    if patterns.is_empty() {
        return Ok(());
    }
    let changes = match sources::beside(definition, &patterns) {
        Ok(files) => sources::changes(&copies, &files),
        Err(error) => vec![error.message],
    };
    if let Some(first) = changes.first() {
        let more = match changes.len() - 1 {
            0 => String::new(),
            more => format!(" (and {more} more)"),
        };
        output::narrate(&format!(
            "note: beside the definition {first}{more}: `{}` goes on with the frozen copies; `--new` freezes a sibling from \
             what is there now",
            frozen.dir().path().display()
        ));
    }
    Ok(())
}

/// Looks at `STEM/`, `STEM-2/`, ... until one is free.
fn search(definition: &Path, place: &Place) -> Result<Search, Failure> {
    let text = fs_err::read_to_string(definition)
        .map_err(|error| Failure::because(ExitCode::Usage, "the definition can't be read", error))?;
    let first = place.cohort.clone().unwrap_or_else(|| cohort_of(definition));
    if first == definition {
        return Err(
            Failure::usage(format!("`{}` would be the cohort of itself", definition.display()))
                .help("a definition's name ends in `.toml`; `--cohort DIR` chooses another folder"),
        );
    }
    let mut found = Search {
        cohorts: Vec::new(),
        free: first.clone(),
        text,
        costs: place.costs.read()?,
    };
    let mut number = 1_u32;
    while occupied(&found.free)? {
        let frozen = open(&found.free)?;
        refuse_imported(&frozen)?;
        let origin = Path::new(&frozen.manifest().origin.definition_path);
        if origin.file_name() == definition.file_name() {
            let costs = frozen.manifest().costs.as_ref().map(|costs| costs.sha256.clone());
            let same = says_the_same(&frozen, &found.text) && costs == found.costs.as_ref().map(Costs::digest);
            found.cohorts.push((frozen, same));
        } else if number == 1 {
            let (folder, origin) = (found.free.display(), origin.display());
            return Err(
                Failure::usage(format!("`{folder}` is the cohort of another definition, `{origin}`"))
                    .help("`--cohort DIR` chooses another folder"),
            );
        }
        number += 1;
        found.free = sibling(&first, number);
    }
    Ok(found)
}

/// What was imported is never continued.
pub(crate) fn refuse_imported(frozen: &Frozen) -> Result<(), Failure> {
    frozen.continuable().map_err(|error| {
        Failure::new(ExitCode::Mismatch, error.to_string()).help(
            "`analyze`, `explain`, `compare` and `export` read it; to measure the same plans here, write a definition (a \
             search space in T1 becomes one with `layout-sweep import`)",
        )
    })
}

/// Opens a cohort.
pub(crate) fn open(path: &Path) -> Result<Frozen, Failure> {
    Frozen::open(&CohortDir::new(path))
        .map_err(|error| unreadable(format!("`{}` can't be opened", path.display()), error))
}

/// What a cohort measured, for whoever makes figures of it. Records and profiles that were edited are told: no figure that rests on them
/// is what was measured.
pub(crate) fn read(path: &Path) -> Result<Snapshot, Failure> {
    let snapshot = snapshot(path)?;
    if let Some((message, help)) = edited(path, &snapshot)? {
        output::narrate(&format!(
            "warning: {message}: figures that rest on it are not what was measured; {help}"
        ));
    }
    Ok(snapshot)
}

/// The same for a gate, which nothing passes that was edited: exit code 4.
pub(crate) fn read_unedited(path: &Path) -> Result<Snapshot, Failure> {
    let snapshot = snapshot(path)?;
    match edited(path, &snapshot)? {
        Some((message, help)) => {
            Err(Failure::new(ExitCode::Mismatch, format!("no gate is judged: {message}")).help(help))
        }
        None => Ok(snapshot),
    }
}

/// Which records and profiles are not as they were written, and where more is said of it.
fn edited(path: &Path, snapshot: &Snapshot) -> Result<Option<(String, String)>, Failure> {
    let failed = |error| unreadable(format!("`{}` can't be read", path.display()), error);
    let mut edited = cohort::edited_records(&snapshot.frozen).map_err(failed)?;
    edited.extend(cohort::edited_profiles(snapshot).map_err(failed)?);
    Ok(edited.first().map(|first| {
        let message = format!(
            "`{}` is not as it was written ({})",
            path.join(&first.name).display(),
            counted(edited.len() as u64, "difference")
        );
        let help = format!(
            "`layout-sweep verify {}` says more",
            shell_word(&path.display().to_string())
        );
        (message, help)
    }))
}

fn snapshot(path: &Path) -> Result<Snapshot, Failure> {
    let failed = |error| unreadable(format!("`{}` can't be read", path.display()), error);
    let snapshot = Snapshot::read(&CohortDir::new(path)).map_err(failed)?;
    let unlike = |record: &cohort::Record| matches!(record.kind, cohort::RecordKind::Machine { .. });
    if snapshot.records.records.iter().any(unlike) {
        output::narrate(
            "note: machines of other classes than the frozen one measured some of it; they have reports of their own, and \
             nothing else knows of them",
        );
    }
    Ok(snapshot)
}

/// A cohort that can't be read: damaged, or none at all.
pub(crate) fn unreadable(message: String, error: CohortError) -> Failure {
    let code = match error {
        CohortError::NoCohort { .. } => ExitCode::Usage,
        _ => ExitCode::Mismatch,
    };
    let damage = error.is_damage();
    let failure = Failure::because(code, message, error);
    if damage {
        failure.help(coordinator::sweep::DAMAGED)
    } else if code == ExitCode::Usage {
        failure.help("a cohort is the folder that `layout-sweep freeze` or `sweep` made from a definition")
    } else {
        failure
    }
}

/// Whether something stands at `path`; an empty folder counts as free.
fn occupied(path: &Path) -> Result<bool, Failure> {
    match fs_err::read_dir(path) {
        Ok(mut entries) => Ok(entries.next().is_some()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(Failure::because(
            ExitCode::Usage,
            "the cohort's folder can't be read",
            error,
        )),
    }
}

fn sibling(first: &Path, number: u32) -> PathBuf {
    let mut name = first.file_name().unwrap_or_default().to_owned();
    name.push(format!("-{number}"));
    first.with_file_name(name)
}

/// The same definition under other prices.
fn repriced(frozen: &Frozen, costs: Option<&Costs>) -> Failure {
    let dir = frozen.dir().path().display();
    let own = |words: Option<(&str, &str)>| {
        words.map_or("the definition's own prices".to_owned(), |(file, digest)| {
            format!("the cost table `{file}` (SHA-256 {digest})")
        })
    };
    let frozen_with = frozen.manifest().costs.as_ref();
    let was = own(frozen_with.map(|costs| (costs.file.as_str(), costs.sha256.as_str())));
    let digest = costs.map(Costs::digest);
    let is = own(costs
        .zip(digest.as_deref())
        .map(|(costs, digest)| (costs.file.as_str(), digest)));
    Failure::new(
        ExitCode::Mismatch,
        format!("`{dir}` was frozen with {was}, not with {is}"),
    )
    .help(format!(
        "`--new` freezes a sibling that reuses finished builds; `layout-sweep run '{dir}'` goes on with what was frozen"
    ))
}

fn other_text(definition: &Path, frozen: &Frozen, text: &str) -> Failure {
    let dir = frozen.dir().path().display();
    let (definition, manifest) = (definition.display(), frozen.manifest());
    let change = changed_line(&manifest.definition, text).map_or_else(
        || "only its line endings differ".to_owned(),
        |(line, old, new)| format!("line {line} was `{old}` and is `{new}`"),
    );
    Failure::new(
        ExitCode::Mismatch,
        format!("`{definition}` was edited after `{dir}` was frozen from it: {change}"),
    )
    .help(format!(
        "`--new` freezes a sibling that reuses finished builds; `layout-sweep run '{dir}'` goes on with what was frozen"
    ))
}
