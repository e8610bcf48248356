//! What the parts of a run share and none of them changes.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use cohort::{
    Case, Claim, CohortDir, CohortError, Frozen, HARNESS, Manifest, ShardId, UnitRef, WorkloadEntry, fresh_key,
    sha256_file, was_taken_over,
};
use target_api::{Built, Configured, Exclusive, LockHolder, Pairing};

use super::device::{Device, devices, granted, side_by_side};
use super::error::RunError;
use super::options::RunOptions;
use crate::cache::BuildCache;
use crate::guard::LockRequest;
use crate::host::available_bytes;
use crate::interrupt::{Interrupt, Urgency};
use crate::lock::Mode;
use crate::process::Launcher;

/// Cohorts of up to so many cases keep logs of all of them; larger ones those of failures.
const KEEP_ALL: u64 = 1000;

/// So long after what it runs a worker may hear that its job is being ended.
const HEARD: Duration = Duration::from_millis(300);

/// A unit to build for all cases that have it, or from scratch for one confirmation alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Piece<'f> {
    /// Digest of the unit.
    pub(crate) unit: &'f str,
    /// The confirmation.
    pub(crate) fresh_for: Option<&'f str>,
}

impl Piece<'_> {
    /// Name of its folder among the artifacts.
    pub(crate) fn key(&self) -> String {
        match self.fresh_for {
            Some(case) => fresh_key(self.unit, case),
            None => self.unit.to_owned(),
        }
    }
}

/// A cohort, what runs it, and when to stop.
pub(crate) struct Context<'f> {
    pub(crate) frozen: &'f Frozen,
    pub(crate) target: &'f dyn Configured,
    pub(crate) launcher: &'f Launcher,
    pub(crate) interrupt: &'f Interrupt,
    pub(crate) jobs: usize,
    pub(crate) cache: Option<&'f BuildCache>,
    pub(crate) deadline: Option<Instant>,
    /// What rounds run on, one worker each; never empty.
    pub(crate) devices: Vec<Device>,
    /// The shard that is worked on; `None` where it is the whole cohort.
    pub(crate) shard: Option<ShardId>,
    claim: Option<&'f Claim>,
    /// Whether this is a worker in a job of a cluster.
    in_job: bool,
    lock_timeout_ms: Option<u64>,
    cases: HashMap<&'f str, &'f Case>,
    units: HashMap<&'f str, &'f UnitRef>,
    workloads: HashMap<&'f str, &'f WorkloadEntry>,
    /// As [`Frozen::confirmations`].
    confirmations: HashMap<&'f str, Option<&'f Case>>,
}

impl<'f> Context<'f> {
    pub(crate) fn new(
        frozen: &'f Frozen,
        options: &'f RunOptions<'f>,
        launcher: &'f Launcher,
        interrupt: &'f Interrupt,
        deadline: Option<Instant>,
        claim: Option<&'f Claim>,
    ) -> Result<Self, RunError> {
        let unsupported = |what| RunError::Unsupported {
            target: options.target.target().to_owned(),
            what,
        };
        let devices = devices(
            &options.target.exclusive(),
            side_by_side(options.jobs, options.target.run_bytes(), available_bytes()),
            options.device_lock.as_deref(),
            granted().as_deref(),
        )
        .map_err(unsupported)?;
        Ok(Self {
            frozen,
            target: options.target,
            launcher,
            interrupt,
            jobs: options.jobs.max(1),
            cache: options.cache.as_ref(),
            deadline,
            devices,
            shard: options.shard,
            claim,
            in_job: claim.is_some_and(|claim| claim.worker.job.is_some()),
            lock_timeout_ms: options
                .lock_timeout
                .map(|limit| u64::try_from(limit.as_millis()).unwrap_or(u64::MAX)),
            cases: frozen.cases().map(|case| (case.name.as_str(), case)).collect(),
            units: frozen.units().map(|unit| (unit.digest.as_str(), unit)).collect(),
            confirmations: frozen.confirmations(),
            workloads: frozen
                .manifest()
                .workloads
                .iter()
                .map(|w| (w.workload.name.as_str(), w))
                .collect(),
        })
    }

    pub(crate) fn dir(&self) -> &'f CohortDir {
        self.frozen.dir()
    }

    pub(crate) fn manifest(&self) -> &'f Manifest {
        self.frozen.manifest()
    }

    /// A case that the state named.
    pub(crate) fn case(&self, name: &str) -> Result<&'f Case, RunError> {
        self.cases.get(name).copied().ok_or_else(|| missing("case", name))
    }

    pub(crate) fn unit(&self, digest: &str) -> Result<&'f UnitRef, RunError> {
        self.units.get(digest).copied().ok_or_else(|| missing("unit", digest))
    }

    pub(crate) fn workload(&self, case: &Case) -> Result<&'f WorkloadEntry, RunError> {
        self.workloads
            .get(case.workload.as_str())
            .copied()
            .ok_or_else(|| missing("workload", &case.workload))
    }

    /// What a case is compared with in each of its rounds, the control itself included (it shows the noise); for a
    /// confirmation it was built from scratch as well. `None` where the target's values don't vary.
    pub(crate) fn control(&self, case: &Case) -> Result<Option<&'f Case>, RunError> {
        match self.target.pairing() {
            Pairing::None => Ok(None),
            Pairing::InProcess | Pairing::AlternatingCommands => {
                if let Some(Some(control)) = self.confirmations.get(case.name.as_str()) {
                    return Ok(Some(control));
                }
                let control = self.workload(case)?.control.as_deref();
                control.map(|control| self.case(control)).transpose()
            }
        }
    }

    /// Whether case and control take turns as commands of their own.
    pub(crate) fn takes_turns(&self) -> bool {
        self.target.pairing() == Pairing::AlternatingCommands
    }

    /// Whether this case is measured to confirm another one.
    pub(crate) fn is_confirmation(&self, case: &str) -> bool {
        self.confirmations.contains_key(case)
    }

    pub(crate) fn built(&self, case: &'f Case) -> Result<Built<'f>, RunError> {
        let mut artifacts = BTreeMap::new();
        for (label, piece) in self.own(case) {
            let unit = self.unit(piece.unit)?;
            artifacts.insert(label.to_owned(), self.dir().artifact(&piece.key(), &unit.artifact));
        }
        Ok(Built {
            plan: &case.plan,
            artifacts,
        })
    }

    pub(crate) fn harness(&self) -> Result<Option<PathBuf>, RunError> {
        let Some(digest) = &self.manifest().harness else {
            return Ok(None);
        };
        Ok(Some(self.dir().artifact(digest, &self.unit(digest)?.artifact)))
    }

    /// Labels of all that a case is built from, the harness first; that one is never built from scratch.
    pub(crate) fn needs(&self, case: &'f Case) -> impl Iterator<Item = (&'f str, Piece<'f>)> {
        let shared = |unit| Piece { unit, fresh_for: None };
        let harness = self.manifest().harness.as_deref().map(|unit| (HARNESS, shared(unit)));
        harness.into_iter().chain(self.own(case))
    }

    /// The same without the harness.
    pub(crate) fn own(&self, case: &'f Case) -> impl Iterator<Item = (&'f str, Piece<'f>)> {
        let name = case.name.as_str();
        let fresh_for = self.confirmations.contains_key(name).then_some(name);
        let units = case.units.iter();
        units.map(move |(label, unit)| (label.as_str(), Piece { unit, fresh_for }))
    }

    /// Frozen sources of the unit that all cases share.
    pub(crate) fn sources(&self) -> Option<PathBuf> {
        let harness = self.manifest().harness.as_ref()?;
        Some(self.dir().unit_sources(harness))
    }

    /// The lock that a round on `device` holds; none where the program takes it itself.
    pub(crate) fn round_lock(&self, device: &Device, case: &str) -> Option<LockRequest> {
        match self.target.lock() {
            LockHolder::Guard => self.lock(device, case, Mode::Exclusive),
            LockHolder::Child => None,
        }
    }

    /// The lock that a build holds: shared, and only where a build would disturb measurements.
    pub(crate) fn build_lock(&self, what: &str) -> Option<LockRequest> {
        (self.target.exclusive() == Exclusive::Host)
            .then(|| {
                self.devices
                    .first()
                    .and_then(|host| self.lock(host, what, Mode::Shared))
            })
            .flatten()
    }

    fn lock(&self, device: &Device, what: &str, mode: Mode) -> Option<LockRequest> {
        device.lock.as_ref().map(|path| LockRequest {
            path: path.clone(),
            mode,
            cohort: self.dir().path().display().to_string(),
            case: what.to_owned(),
            timeout_ms: self.lock_timeout_ms,
        })
    }

    /// Whether logs and commands of all cases are kept.
    pub(crate) fn keeps_all(&self) -> bool {
        self.manifest().cases <= KEEP_ALL
    }

    /// SHA-256 of the profile beside a case, where one lies and such files are kept.
    pub(super) fn profile_sha256(&self, case: &str) -> Result<Option<String>, CohortError> {
        let path = self.dir().case_profile(case);
        if self.keeps_all() && path.is_file() {
            return Ok(Some(sha256_file(&path)?.0));
        }
        Ok(None)
    }

    /// An error when somebody else has taken the shard that is worked on.
    pub(crate) fn still_ours(&self) -> Result<(), RunError> {
        match self.claim {
            Some(claim) if was_taken_over(self.dir(), claim) => Err(RunError::TakenOver(claim.shard)),
            _ => Ok(()),
        }
    }

    /// Whether nothing new should be started.
    pub(crate) fn should_stop(&self) -> bool {
        self.time_over() || self.interrupt.urgency() > Urgency::None
    }

    /// Whether what failed just now did so because the job is being ended: a cluster tells all processes of a job at once,
    /// and what runs may be quicker than the worker to hear of it. Then nothing is known of the case.
    pub(crate) fn ended_with_its_job(&self) -> bool {
        if !self.in_job {
            return false;
        }
        if self.interrupt.urgency() == Urgency::None {
            std::thread::sleep(HEARD);
        }
        self.interrupt.urgency() > Urgency::None
    }

    pub(crate) fn time_over(&self) -> bool {
        self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }
}

fn missing(what: &str, name: &str) -> RunError {
    RunError::Io(std::io::Error::other(format!("the cohort has no {what} `{name}`")))
}
