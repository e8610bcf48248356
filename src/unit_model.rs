//! The hidden subcommand `unit-model`: software machines run as processes, by the binary that the cohort froze.

use std::ffi::OsString;
use std::path::Path;

use crate::output::{narrate, print};

/// Name of the subcommand.
const SUBCOMMAND: &str = "unit-model";

/// Runs the unit model that `arguments` (without the program's name) ask for, if they do, and gives the exit code:
/// `unit-model ipu21 build REQUEST PROGRAM` or `unit-model ipu21 run PROGRAM INPUTS PROFILE`, and the same of `kohaku`,
/// which leaves no profile.
pub(crate) fn hidden_subcommand(arguments: &[OsString]) -> Option<i32> {
    let words: Vec<&str> = arguments.iter().map(|word| word.to_str().unwrap_or_default()).collect();
    let done = match words[..] {
        [SUBCOMMAND, "ipu21", "build", request, program] => build(Path::new(request), Path::new(program), target_ipu21::process::build),
        [SUBCOMMAND, "ipu21", "run", program, inputs, profile] => {
            run(Path::new(program), Path::new(inputs), Path::new(profile))
        }
        [SUBCOMMAND, "kohaku", "build", request, program] => {
            build(Path::new(request), Path::new(program), target_kohaku::process::build)
        }
        [SUBCOMMAND, "kohaku", "run", program, inputs] => run_kohaku(Path::new(program), Path::new(inputs)),
        [SUBCOMMAND, ..] => Err(
            "expected `ipu21 build REQUEST PROGRAM`, `ipu21 run PROGRAM INPUTS PROFILE`, `kohaku build REQUEST PROGRAM` \
             or `kohaku run PROGRAM INPUTS`"
                .to_owned(),
        ),
        _ => return None,
    };
    Some(match done {
        Ok(()) => 0,
        Err(message) => {
            narrate(&format!("error: {message}"));
            1
        }
    })
}

type Build = fn(&str) -> Result<String, String>;

fn build(request: &Path, program: &Path, with: Build) -> Result<(), String> {
    let request = fs_err::read_to_string(request).map_err(|error| error.to_string())?;
    let built = with(&request)?;
    fs_err::write(program, built).map_err(|error| error.to_string())
}

fn run(program: &Path, inputs: &Path, profile: &Path) -> Result<(), String> {
    let built = fs_err::read_to_string(program).map_err(|error| error.to_string())?;
    let read = |name: &str| fs_err::read(inputs.join(name)).map_err(|error| error.to_string());
    let ran = target_ipu21::process::run(&built, &read)?;
    fs_err::write(profile, ran.profile).map_err(|error| error.to_string())?;
    print(&ran.report);
    Ok(())
}

fn run_kohaku(program: &Path, inputs: &Path) -> Result<(), String> {
    let built = fs_err::read_to_string(program).map_err(|error| error.to_string())?;
    let read = |name: &str| fs_err::read(inputs.join(name)).map_err(|error| error.to_string());
    print(&target_kohaku::process::run(&built, &read)?);
    Ok(())
}
