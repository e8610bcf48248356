//! What an array of Slurm left, once it is over: why, and what that makes of its cases.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use cohort::{Batch, ShardId, Submission, batch_numbers, latest_claims, read_batch};

use super::error::RunError;
use super::lost;
use super::on_slurm::{LOOK, Session, is_alive, note};
use crate::events::Reporter;
use crate::slurm::{self, Ending, JobState, Jobs};

/// How long what a worker wrote may take to be seen from here: folders of a network are not the same everywhere at once.
const UNSEEN: Duration = Duration::from_secs(60);

impl Session<'_> {
    /// Judges what the latest array left, where it came to its end without anybody watching. What its nodes lacked may be
    /// there by now: that is for the next array to find out.
    pub(super) fn judge_latest(&mut self, reporter: &mut Reporter<'_>) -> Result<(), RunError> {
        let Some(batch) = batch_numbers(&self.dir)?.last().copied() else {
            return Ok(());
        };
        let Some(submission) = slurm::find(&self.dir, batch, (self.options.clock)())? else {
            return Ok(());
        };
        let batch = read_batch(&self.dir, batch)?;
        let is_left = |state: &cohort::State<'_>| {
            let mut cases = batch.shards.iter().flatten().filter_map(|name| state.get(name));
            cases.any(|case| case.outcome().is_none())
        };
        if !is_left(&self.state()?) {
            return Ok(());
        }
        let jobs = slurm::jobs(&submission.job);
        if is_alive(&jobs) {
            return Ok(());
        }
        self.wait_for_records(&batch, reporter)?;
        if is_left(&self.state()?) {
            let text = format!(
                "array {} (batch {}) is over and left cases",
                submission.job, batch.number
            );
            note(reporter, &text);
            self.judge(&batch, &submission, &jobs, reporter)?;
        }
        Ok(())
    }

    /// Waits until the records of workers that say that their cases are done can be seen here.
    pub(super) fn wait_for_records(&mut self, batch: &Batch, reporter: &mut Reporter<'_>) -> Result<(), RunError> {
        let begun = Instant::now();
        loop {
            self.take_records(reporter)?;
            let state = self.state()?;
            let now = (self.options.clock)();
            let unseen = latest_claims(&self.dir)?.into_iter().any(|(shard, held)| {
                let says_done = held.release.is_some_and(|release| {
                    release.why.is_none() && now.duration_since(release.at).unsigned_abs() < UNSEEN
                });
                let cases = (shard.batch == batch.number)
                    .then(|| batch.shards.get(shard.shard as usize))
                    .flatten();
                let done = |name: &String| state.get(name).is_some_and(|case| case.outcome().is_some());
                says_done && cases.is_some_and(|cases| !cases.iter().all(done))
            });
            if !unseen || begun.elapsed() >= UNSEEN {
                return Ok(());
            }
            std::thread::sleep(LOOK.0);
        }
    }

    /// Says of every shard with cases left why it has some, and gives those an outcome that must not be begun again and
    /// again. Gives the reasons.
    pub(super) fn judge(
        &mut self,
        batch: &Batch,
        submission: &Submission,
        jobs: &Jobs,
        reporter: &mut Reporter<'_>,
    ) -> Result<Vec<Ending>, RunError> {
        let claims = latest_claims(&self.dir)?;
        let (mut endings, mut outcomes) = (Vec::new(), Vec::new());
        let state = self.state()?;
        for (number, cases) in (0..).zip(&batch.shards) {
            let left: Vec<&str> = cases
                .iter()
                .map(String::as_str)
                .filter(|name| state.get(name).is_some_and(|case| case.outcome().is_none()))
                .collect();
            if left.is_empty() {
                continue;
            }
            let shard = ShardId {
                batch: batch.number,
                shard: number,
            };
            let held = claims.get(&shard);
            // A coordinator has gone on with it by itself since: how the array ended says nothing of it any more.
            if held.is_some_and(|held| held.claim.worker.coordinator) {
                continue;
            }
            let job = jobs.get(&format!("{}_{number}", submission.job));
            let ending = slurm::ending(&self.dir, shard, held, job);
            let writer = held.map(|held| held.claim.worker.writer.as_str());
            // What never began is not to blame for its end.
            let alone = !self.fruitless.is_empty() && slurm::begun(held, job).is_some();
            match &ending {
                Ending::Lost { state: how, why } => {
                    outcomes.extend(lost::outcomes(&state, &left, writer, *how, why, alone));
                }
                // Its worker was told to end and did: what ran then was lost with it all the same.
                Ending::Left(why) => {
                    let how = job.map_or(JobState::Ended, |job| job.state);
                    let alone = alone && how != JobState::Ended;
                    outcomes.extend(lost::outcomes(&state, &left, writer, how, why, alone));
                }
                _ => {}
            }
            endings.push(ending);
        }
        // One word for all shards that say the same.
        let mut told = HashSet::new();
        for ending in endings.iter().filter(|ending| told.insert(ending.why())) {
            note(reporter, &format!("left: {}", ending.why()));
        }
        for (case, attempt, kind) in outcomes {
            self.log.append(&case, attempt, kind)?;
        }
        self.take_records(reporter)?;
        Ok(endings)
    }

    /// Gives nothing more to nodes on which nothing can be measured.
    pub(super) fn mind_nodes(&mut self, endings: &[Ending], reporter: &mut Reporter<'_>) {
        for ending in endings {
            let bad = match ending {
                Ending::BadNode { node, .. } => Some(node),
                // One may have been anybody's; a second time it is the node.
                Ending::Killed { node, .. } if !node.is_empty() && !self.suspects.insert(node.clone()) => Some(node),
                _ => None,
            };
            if let Some(node) = bad.filter(|node| !self.bad_nodes.contains(node)) {
                note(reporter, &format!("nothing more goes to node `{node}`"));
                self.bad_nodes.push(node.clone());
            }
        }
    }
}
