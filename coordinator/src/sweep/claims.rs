//! Who works on which shard, and whether they still do.

use std::collections::HashSet;

use cohort::{
    Claim, CohortDir, CohortError, Held, JobId, Release, ShardId, State, Worker, WriterName, batch_numbers,
    latest_claim, make_claim, read_batch, release_claim,
};
use planner::counted;

use target_api::Machine;

use super::error::RunError;
use crate::exit::ExitCode;
use crate::slurm::{JobState, Jobs, jobs};

/// Claims that this process holds.
pub(super) struct Claims {
    dir: CohortDir,
    held: Vec<Claim>,
    clock: fn() -> jiff::Timestamp,
}

/// Whoever wants to work.
pub(super) struct Claimant<'a> {
    pub(super) dir: &'a CohortDir,
    pub(super) me: Worker,
    /// Whether claims that may be held are taken all the same: somebody said so.
    pub(super) take_over: bool,
    pub(super) clock: fn() -> jiff::Timestamp,
}

/// What is known of somebody else.
enum Life {
    Working,
    /// Why that is certain.
    Gone(String),
    /// Why it can't be told.
    Unknown(String),
}

impl Claimant<'_> {
    /// Claims one shard and gives the names of its cases.
    pub(super) fn shard(&self, shard: ShardId) -> Result<(Claims, HashSet<String>), RunError> {
        let numbers = batch_numbers(self.dir)?;
        let no_shard = |why: String| RunError::NoShard { shard, why };
        if !numbers.contains(&shard.batch) {
            let why = format!("it has {} batches", numbers.len());
            return Err(no_shard(why));
        }
        let mut shards = read_batch(self.dir, shard.batch)?.shards;
        let number = shards.len();
        let cases = usize::try_from(shard.shard).ok().and_then(|at| shards.get_mut(at));
        let Some(cases) = cases else {
            return Err(no_shard(format!(
                "batch {} has {}",
                shard.batch,
                counted(number, "shard")
            )));
        };
        let cases = std::mem::take(cases).into_iter().collect();
        let claims = self.holding(vec![self.take(shard)?]);
        // Only now: whoever hands out anew holds the claims meanwhile.
        let latest = batch_numbers(self.dir)?.last().copied().unwrap_or_default();
        if latest > shard.batch {
            let why = format!(
                "what was left of batch {} was handed out again in batch {latest}",
                shard.batch
            );
            claims.release(ExitCode::Usage, Some(&why))?;
            return Err(no_shard(why));
        }
        Ok((claims, cases))
    }

    /// Claims every shard that has a case which is not done or which `also` takes, so that no worker that starts later
    /// works on it. An error, with nothing claimed that was not free, when somebody works on one of them.
    pub(super) fn everything(&self, state: &State<'_>, also: &HashSet<&str>) -> Result<Claims, RunError> {
        let mut claims = self.nothing();
        for batch in batch_numbers(self.dir)? {
            for (number, cases) in (0..).zip(read_batch(self.dir, batch)?.shards) {
                let open = |name: &String| {
                    also.contains(name.as_str()) || state.get(name).is_none_or(|case| case.outcome().is_none())
                };
                if !cases.iter().any(open) {
                    continue;
                }
                match self.take(ShardId { batch, shard: number }) {
                    Ok(claim) => claims.held.push(claim),
                    Err(error) => {
                        claims.release(ExitCode::LockTimeout, Some(&error.to_string()))?;
                        return Err(error);
                    }
                }
            }
        }
        Ok(claims)
    }

    /// No claim at all, where there are no shards.
    pub(super) fn nothing(&self) -> Claims {
        self.holding(Vec::new())
    }

    fn holding(&self, held: Vec<Claim>) -> Claims {
        let (dir, clock) = (self.dir.clone(), self.clock);
        Claims { dir, held, clock }
    }

    fn take(&self, shard: ShardId) -> Result<Claim, RunError> {
        loop {
            let held = latest_claim(self.dir, shard)?;
            let takes_over = match &held {
                Some(Held { claim, release: None }) => Some(self.why_gone(claim)?),
                _ => None,
            };
            let claim = Claim {
                shard,
                generation: held.map_or(1, |held| held.claim.generation + 1),
                at: (self.clock)(),
                worker: self.me.clone(),
                takes_over,
            };
            // Whoever was faster is looked at like everybody else.
            if make_claim(self.dir, &claim)? {
                return Ok(claim);
            }
        }
    }

    fn why_gone(&self, claim: &Claim) -> Result<String, RunError> {
        let why = match self.life(&claim.worker) {
            Life::Gone(why) => return Ok(why),
            Life::Working => "it works on it".to_owned(),
            Life::Unknown(why) => why,
        };
        if self.take_over {
            return Ok(format!("somebody said so with `--take-over`, although {why}"));
        }
        Err(RunError::ShardBusy {
            shard: claim.shard,
            holder: Box::new(claim.worker.clone()),
            why,
        })
    }

    /// Whether `other` may still work: by the process where it is one of this host, else by its job.
    fn life(&self, other: &Worker) -> Life {
        if other.coordinator && self.me.coordinator {
            return Life::Gone("the cohort's lock, which it held, was free".to_owned());
        }
        if other.host == self.me.host {
            if other.boot_id != self.me.boot_id {
                return Life::Gone("its host was started anew".to_owned());
            }
            return if started_ticks(other.pid) == Some(other.started_ticks) {
                Life::Working
            } else {
                Life::Gone("its process has ended".to_owned())
            };
        }
        other.job.as_ref().map_or_else(
            || Life::Unknown("whether it still works can't be told from this host".to_owned()),
            job_life,
        )
    }
}

fn job_life(job: &JobId) -> Life {
    let jobs = jobs(&job.id);
    match (&jobs, jobs.get(&job.id)) {
        (Jobs::Silent(why), _) => Life::Unknown(why.clone()),
        (Jobs::Forgotten, _) | (Jobs::Known(_), None) => Life::Gone(format!("Slurm knows no job {} any more", job.id)),
        (Jobs::Known(_), Some(now)) if now.state.is_over() => {
            Life::Gone(format!("Slurm says of job {}: {}", job.id, now.state.words()))
        }
        (Jobs::Known(_), Some(now)) if now.restarts > job.restarts || now.state == JobState::Pending => {
            Life::Gone(format!("Slurm has requeued job {}", job.id))
        }
        _ => Life::Working,
    }
}

impl Claims {
    /// The claim of a shard's worker; `None` where there is none.
    pub(super) fn first(&self) -> Option<&Claim> {
        self.held.first()
    }

    /// Ends all of them; `why` where cases are left.
    pub(super) fn release(&self, code: ExitCode, why: Option<&str>) -> Result<(), CohortError> {
        for claim in &self.held {
            let release = Release {
                at: (self.clock)(),
                exit_code: code.code(),
                why: why.map(str::to_owned),
            };
            release_claim(&self.dir, claim, &release)?;
        }
        Ok(())
    }
}

/// This process, as a claim names it.
pub(super) fn this_worker(writer: &WriterName, coordinator: bool, machine: Option<&Machine>) -> Worker {
    let pid = std::process::id();
    let boot_id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    Worker {
        writer: writer.as_str().to_owned(),
        coordinator,
        host: rustix::system::uname().nodename().to_string_lossy().into_owned(),
        boot_id: boot_id.trim().to_owned(),
        pid,
        started_ticks: started_ticks(pid).unwrap_or_default(),
        job: this_job(|name| std::env::var(name).ok()),
        instance: machine.map(|machine| machine.instance.clone()).unwrap_or_default(),
    }
}

/// The job that this process runs in, by the variables that Slurm sets.
fn this_job(variable: impl Fn(&str) -> Option<String>) -> Option<JobId> {
    let id = match (variable("SLURM_ARRAY_JOB_ID"), variable("SLURM_ARRAY_TASK_ID")) {
        (Some(array), Some(task)) => format!("{array}_{task}"),
        _ => variable("SLURM_JOB_ID")?,
    };
    let restarts = variable("SLURM_RESTART_COUNT").and_then(|count| count.parse().ok());
    Some(JobId {
        id,
        restarts: restarts.unwrap_or(0),
        node: variable("SLURMD_NODENAME").unwrap_or_default(),
    })
}

/// Whether the process of a worker of this very host still runs; `None` where the worker is one of another host.
pub(crate) fn runs_here(worker: &Worker) -> Option<bool> {
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    (worker.host == host).then(|| started_ticks(worker.pid) == Some(worker.started_ticks))
}

/// When a process started, in clock ticks since the boot; `None` when there is none of this number, or only what is
/// left of one. Field 22 of `/proc/PID/stat`; the second one, a name in parentheses, may hold anything.
fn started_ticks(pid: u32) -> Option<u64> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
    let state = fields.next()?;
    if matches!(state, "Z" | "X") {
        return None;
    }
    fields.nth(18)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processes_are_known_by_their_start() {
        let me = std::process::id();
        assert!(started_ticks(me).is_some_and(|ticks| ticks > 0));
        assert_eq!(started_ticks(me), started_ticks(me));
        assert_eq!(started_ticks(u32::MAX), None);
    }

    #[test]
    fn the_job_is_the_element_of_the_array() {
        let job = |variables: &[(&str, &str)]| {
            let variables = variables.to_vec();
            this_job(move |name| {
                let found = variables.iter().find(|(own, _)| *own == name);
                found.map(|(_, value)| (*value).to_owned())
            })
        };
        assert_eq!(job(&[]), None);
        assert_eq!(job(&[("SLURM_JOB_ID", "9")]).unwrap().id, "9");
        let element = job(&[
            ("SLURM_JOB_ID", "9"),
            ("SLURM_ARRAY_JOB_ID", "7"),
            ("SLURM_ARRAY_TASK_ID", "3"),
            ("SLURM_RESTART_COUNT", "2"),
            ("SLURMD_NODENAME", "n4"),
        ]);
        assert_eq!(
            element,
            Some(JobId {
                id: "7_3".to_owned(),
                restarts: 2,
                node: "n4".to_owned()
            })
        );
    }
}
