//! What Slurm remembers of jobs, by `scontrol`, and by `sacct` once the controller has forgotten them.

use std::collections::BTreeMap;
use std::process::Command;

/// State of a job, as far as it matters here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum JobState {
    /// It waits, runs, or is about to.
    Pending,
    /// It has processes, or may have.
    Running,
    /// All its processes came to an end by themselves, whatever their exit codes.
    Ended,
    /// Its time limit was over.
    TimedOut,
    /// It took more memory than it was given.
    OutOfMemory,
    /// Its node vanished.
    NodeFailed,
    /// Another job took its place.
    Preempted,
    /// Somebody cancelled it.
    Cancelled,
}

impl JobState {
    /// A state by its word. Words that later versions may bring mean that it has not ended: nothing is taken from
    /// somebody who may be alive.
    #[must_use]
    pub fn parse(word: &str) -> Self {
        // `CANCELLED by 1000` in some outputs.
        match word.split([' ', '+']).next().unwrap_or_default() {
            "PENDING" | "REQUEUED" | "REQUEUE_HOLD" | "REQUEUE_FED" | "SPECIAL_EXIT" | "RESV_DEL_HOLD" => Self::Pending,
            "COMPLETED" | "FAILED" | "REVOKED" => Self::Ended,
            "TIMEOUT" | "DEADLINE" => Self::TimedOut,
            "OUT_OF_MEMORY" => Self::OutOfMemory,
            "NODE_FAIL" | "BOOT_FAIL" => Self::NodeFailed,
            "PREEMPTED" => Self::Preempted,
            "CANCELLED" => Self::Cancelled,
            _ => Self::Running,
        }
    }

    /// Whether it is over.
    #[must_use]
    pub fn is_over(self) -> bool {
        !matches!(self, Self::Pending | Self::Running)
    }

    /// How it ended, in words.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Pending => "it waits",
            Self::Running => "it runs",
            Self::Ended => "it has ended",
            Self::TimedOut => "its time limit was over",
            Self::OutOfMemory => "it took more memory than it was given",
            Self::NodeFailed => "its node failed",
            Self::Preempted => "it was preempted",
            Self::Cancelled => "it was cancelled",
        }
    }
}

/// A job, or an element of an array.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Job {
    /// `812`, or `812_3` for an element of an array; elements that wait together stand for one another: `812_4-9`.
    pub id: String,
    /// Its state.
    pub state: JobState,
    /// Slurm's word for it.
    pub word: String,
    /// Why it waits, or how it failed, in Slurm's words; empty where Slurm gives no reason.
    pub reason: String,
    /// How often it was requeued.
    pub restarts: u32,
    /// Exit code of its script; `None` where a signal ended it.
    pub exit_code: Option<u8>,
    /// Its nodes, as Slurm lists them; empty before it has any.
    pub nodes: String,
}

/// What Slurm says of a job or an array.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Jobs {
    /// It knows it: one entry for each element that was started, and one for those that wait.
    Known(Vec<Job>),
    /// It has never heard of it, or no longer remembers it.
    Forgotten,
    /// It can't be asked: why.
    Silent(String),
}

impl Jobs {
    /// The one with this id.
    #[must_use]
    pub fn get(&self, id: &str) -> Option<&Job> {
        match self {
            Self::Known(jobs) => jobs.iter().find(|job| job.id == id || job.covers(id)),
            Self::Forgotten | Self::Silent(_) => None,
        }
    }
}

impl Job {
    /// Whether this entry stands for the elements that wait, and `id` is one of them.
    fn covers(&self, id: &str) -> bool {
        let Some((own, tasks)) = self.id.split_once('_') else {
            return false;
        };
        let Some((array, task)) = id.split_once('_') else {
            return false;
        };
        let Ok(task) = task.parse::<u32>() else { return false };
        // `0-9,12%4`: at most four of these at a time.
        let tasks = tasks.split('%').next().unwrap_or_default();
        own == array
            && tasks.split(',').any(|range| {
                let (first, last) = range.split_once('-').unwrap_or((range, range));
                matches!((first.parse::<u32>(), last.parse::<u32>()), (Ok(first), Ok(last)) if (first..=last).contains(&task))
            })
    }
}

/// Asks Slurm about `id`, a job, an array or an element of one.
#[must_use]
pub fn jobs(id: &str) -> Jobs {
    let output = Command::new("scontrol")
        .args(["--oneliner", "show", "job", id])
        .env("LC_ALL", "C")
        .output();
    let output = match output {
        Ok(output) => output,
        Err(error) => return Jobs::Silent(format!("`scontrol` can't be started: {error}")),
    };
    let text = String::from_utf8_lossy(&output.stdout);
    let said = String::from_utf8_lossy(&output.stderr);
    if output.status.success() {
        return Jobs::Known(text.lines().filter_map(parse).collect());
    }
    if said.contains("Invalid job id") {
        accounted(id).map_or(Jobs::Forgotten, Jobs::Known)
    } else {
        Jobs::Silent(format!("`scontrol show job {id}`: {}", said.trim()))
    }
}

/// What the accounting knows of a job that the controller has forgotten; `None` where there is no accounting, or it knows
/// nothing. What it says of a job that has not ended can't be: only ends count.
fn accounted(id: &str) -> Option<Vec<Job>> {
    let format = format!("--format={}", ACCOUNTED.join(","));
    let output = Command::new("sacct")
        .args([
            "--noheader",
            "--parsable2",
            "--allocations",
            "--array",
            "--jobs",
            id,
            &format,
        ])
        .env("LC_ALL", "C")
        .output()
        .ok()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let ended = text
        .lines()
        .filter_map(parse_accounted)
        .filter(|job| job.state.is_over());
    let ended: Vec<Job> = ended.collect();
    (output.status.success() && !ended.is_empty()).then_some(ended)
}

/// What `sacct` is asked for.
const ACCOUNTED: [&str; 4] = ["JobID", "State", "ExitCode", "NodeList"];

/// One line of `sacct --parsable2`.
fn parse_accounted(line: &str) -> Option<Job> {
    let mut fields = line.split('|');
    let [id, word, code, nodes] = [fields.next()?, fields.next()?, fields.next()?, fields.next()?];
    Some(Job {
        id: id.to_owned(),
        state: JobState::parse(word),
        word: word.to_owned(),
        reason: String::new(),
        restarts: 0,
        exit_code: exit_code(code),
        nodes: if nodes == "None assigned" {
            String::new()
        } else {
            nodes.to_owned()
        },
    })
}

/// From `CODE:SIGNAL`; `None` where it was a signal.
fn exit_code(text: &str) -> Option<u8> {
    let (code, signal) = text.split_once(':')?;
    code.parse().ok().filter(|_| signal == "0")
}

/// One line of `scontrol --oneliner show job`. Values may hold spaces, but the fields that are read don't.
fn parse(line: &str) -> Option<Job> {
    let mut fields: BTreeMap<&str, &str> = BTreeMap::new();
    for field in line.split_whitespace() {
        if let Some((name, value)) = field.split_once('=') {
            fields.entry(name).or_insert(value);
        }
    }
    let get = |name: &str| fields.get(name).copied().unwrap_or_default();
    let id = match (fields.get("ArrayJobId"), fields.get("ArrayTaskId")) {
        (Some(array), Some(task)) => format!("{array}_{task}"),
        _ => (*fields.get("JobId")?).to_owned(),
    };
    let word = (*fields.get("JobState")?).to_owned();
    let or_empty = |text: &str| match text {
        "None" | "(null)" => String::new(),
        text => text.to_owned(),
    };
    Some(Job {
        id,
        state: JobState::parse(&word),
        word,
        reason: or_empty(get("Reason")),
        restarts: get("Restarts").parse().unwrap_or(0),
        exit_code: exit_code(get("ExitCode")),
        nodes: or_empty(get("NodeList")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lines of Slurm 22.05.8, shortened.
    const LINES: &str = "\
JobId=7 ArrayJobId=7 ArrayTaskId=4-9%2 JobName=x y UserId=root(0) JobState=PENDING Reason=JobArrayTaskLimit Restarts=0 ExitCode=0:0 NodeList=
JobId=8 ArrayJobId=7 ArrayTaskId=0 JobName=x JobState=FAILED Reason=NonZeroExitCode Restarts=1 ExitCode=4:0 NodeList=n1
JobId=9 JobName=x JobState=CANCELLED Reason=None Restarts=0 ExitCode=0:15 NodeList=(null)";

    #[test]
    fn lines_of_scontrol() {
        let jobs = Jobs::Known(LINES.lines().filter_map(parse).collect());
        let failed = jobs.get("7_0").unwrap();
        assert_eq!(
            (failed.state, failed.exit_code, failed.restarts),
            (JobState::Ended, Some(4), 1)
        );
        assert_eq!(
            (failed.nodes.as_str(), failed.reason.as_str()),
            ("n1", "NonZeroExitCode")
        );
        assert_eq!(jobs.get("7_5").unwrap().state, JobState::Pending);
        assert_eq!((jobs.get("7_3"), jobs.get("6_5"), jobs.get("7")), (None, None, None));
        let cancelled = jobs.get("9").unwrap();
        assert_eq!((cancelled.state, cancelled.exit_code), (JobState::Cancelled, None));
        assert_eq!((cancelled.nodes.as_str(), cancelled.reason.as_str()), ("", ""));
    }

    #[test]
    fn lines_of_sacct() {
        let lines = [
            ("7_0|COMPLETED|0:0|n1", JobState::Ended, Some(0), "n1"),
            (
                "7_1|CANCELLED by 1000|0:15|None assigned",
                JobState::Cancelled,
                None,
                "",
            ),
            ("7_2|OUT_OF_MEMORY|0:125|n2", JobState::OutOfMemory, None, "n2"),
            ("7_[3-9]|PENDING|0:0|None assigned", JobState::Pending, Some(0), ""),
        ];
        for (line, state, code, nodes) in lines {
            let job = parse_accounted(line).unwrap();
            let found = (job.id.as_str(), job.state, job.exit_code, job.nodes.as_str());
            assert_eq!(found, (line.split('|').next().unwrap(), state, code, nodes));
        }
        assert_eq!(parse_accounted("Slurm accounting storage is disabled"), None);
    }

    #[test]
    fn only_known_ends_are_ends() {
        for over in [
            "COMPLETED",
            "TIMEOUT",
            "OUT_OF_MEMORY",
            "NODE_FAIL",
            "PREEMPTED",
            "CANCELLED by 0",
            "FAILED",
        ] {
            assert!(JobState::parse(over).is_over(), "{over}");
        }
        for alive in [
            "PENDING",
            "RUNNING",
            "COMPLETING",
            "CONFIGURING",
            "SUSPENDED",
            "SOMETHING_NEW",
        ] {
            assert!(!JobState::parse(alive).is_over(), "{alive}");
        }
    }
}
