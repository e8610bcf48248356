//! Handing an array to Slurm, finding it again, and ending it.

use std::io::Write;
use std::process::{Command, Stdio};

use cohort::{CohortDir, Submission, read_submission, sha256_hex, write_submission};

use super::error::SlurmError;
use crate::sweep::RunError;

/// Elements of one array where Slurm does not say how many it takes: its own default.
const USUAL_ARRAY: usize = 1001;

/// Name of the array of `batch`: the same whoever asks, so that one whose number was not noted any more is found again.
pub(crate) fn name(dir: &CohortDir, batch: u32) -> String {
    let cohort = dir.path().to_string_lossy();
    format!("layout-sweep-{}-{batch}", &sha256_hex(cohort.as_bytes())[..12])
}

/// Name of the array that builds for `batch`.
pub(crate) fn builds_name(dir: &CohortDir, batch: u32) -> String {
    format!("{}-builds", name(dir, batch))
}

/// Submits an array that only builds, and gives its number. Nothing is noted: what it built stands in records, and the array
/// of the batch waits for its end, however that is.
pub(crate) fn submit_builds(arguments: &[String], script: &str) -> Result<String, RunError> {
    sbatch(arguments, script)
}

/// Ends what only builds for `batch`.
pub(crate) fn cancel_builds(dir: &CohortDir, batch: u32) -> Result<(), SlurmError> {
    call("scancel", &[&format!("--name={}", builds_name(dir, batch))])?;
    Ok(())
}

/// Submits the array of `batch` and notes its number in the cohort.
pub(crate) fn submit(
    dir: &CohortDir,
    batch: u32,
    arguments: &[String],
    script: &str,
    now: jiff::Timestamp,
) -> Result<Submission, RunError> {
    fs_err::create_dir_all(dir.batch_logs(batch))?;
    let job = sbatch(arguments, script)?;
    let submission = Submission { batch, job, at: now };
    write_submission(dir, &submission)?;
    Ok(submission)
}

/// The number of the job that `sbatch` makes of a script.
fn sbatch(arguments: &[String], script: &str) -> Result<String, RunError> {
    let missing = |source| SlurmError::Missing {
        command: "sbatch",
        source,
    };
    let mut child = Command::new("sbatch")
        .args(arguments)
        .env("LC_ALL", "C")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(missing)?;
    if let Some(mut pipe) = child.stdin.take() {
        // One that refuses its arguments reads nothing; what it says is told below.
        let _ = pipe.write_all(script.as_bytes());
    }
    let output = child.wait_with_output()?;
    if !output.status.success() {
        return Err(SlurmError::Refused(words(&output.stderr)).into());
    }
    let said = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    // `NUMBER`, or `NUMBER;CLUSTER`.
    let job = said.split(';').next().unwrap_or_default().to_owned();
    if job.is_empty() || !job.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(SlurmError::NoNumber(said).into());
    }
    Ok(job)
}

/// The array of `batch`, as the cohort or, when its number was not noted any more, Slurm knows it.
pub(crate) fn find(dir: &CohortDir, batch: u32, now: jiff::Timestamp) -> Result<Option<Submission>, RunError> {
    if let Some(known) = read_submission(dir, batch)? {
        return Ok(Some(known));
    }
    let arguments = [
        "--noheader",
        "--states=all",
        "--format=%F",
        &format!("--name={}", name(dir, batch)),
    ];
    let output = call("squeue", &arguments)?;
    let text = String::from_utf8_lossy(&output.stdout);
    let Some(job) = text.lines().map(str::trim).find(|line| !line.is_empty()) else {
        return Ok(None);
    };
    let submission = Submission {
        batch,
        job: job.to_owned(),
        at: now,
    };
    write_submission(dir, &submission)?;
    Ok(Some(submission))
}

/// How an array is ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// Elements that wait are cancelled; those that run are asked to finish their rounds.
    Orderly,
    /// All of it, at once.
    Now,
}

/// Ends an array. What Slurm has to say against it is given back: it may have ended meanwhile.
pub(crate) fn cancel(job: &str, end: End) -> Result<(), SlurmError> {
    match end {
        // Only the script, which has become the worker: what it runs is its own affair.
        End::Orderly => {
            call("scancel", &["--state=PENDING", job])?;
            call("scancel", &["--batch", "--signal=TERM", job])?;
        }
        End::Now => _ = call("scancel", &[job])?,
    }
    Ok(())
}

/// How many elements an array may have.
pub(crate) fn largest_array() -> Result<usize, SlurmError> {
    let output = call("scontrol", &["show", "config"])?;
    let text = String::from_utf8_lossy(&output.stdout);
    let value = text.lines().find_map(|line| {
        let (name, value) = line.split_once('=')?;
        (name.trim() == "MaxArraySize").then(|| value.trim().parse().ok())?
    });
    // The largest index is one less than this.
    Ok(value.unwrap_or(USUAL_ARRAY).max(1))
}

fn call(command: &'static str, arguments: &[&str]) -> Result<std::process::Output, SlurmError> {
    let output = Command::new(command).args(arguments).env("LC_ALL", "C").output();
    output.map_err(|source| SlurmError::Missing { command, source })
}

/// What a command of Slurm said, without its name in front of each line.
fn words(said: &[u8]) -> String {
    let text = String::from_utf8_lossy(said);
    let lines = text
        .lines()
        .map(|line| line.trim_start_matches("sbatch: ").trim_start_matches("error: ").trim());
    lines.filter(|line| !line.is_empty()).collect::<Vec<_>>().join("; ")
}
