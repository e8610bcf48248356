//! What rounds run on.

use std::path::{Path, PathBuf};

use target_api::Exclusive;

use crate::lock::{HOST_DEVICE, device_lock_path};

/// A device: one worker runs one round after another on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Device {
    /// Its name in records; that of its lock too.
    pub(crate) name: String,
    /// Its name for the programs that run on it.
    pub(crate) shown: String,
    /// Its lock; `None` where runs lie side by side.
    pub(crate) lock: Option<PathBuf>,
}

/// The devices of a target, or those of them that are `granted`; `lock` stands for the usual lock where there is one
/// device. Fails where it can't.
pub(super) fn devices(
    exclusive: &Exclusive,
    jobs: usize,
    lock: Option<&Path>,
    granted: Option<&[String]>,
) -> Result<Vec<Device>, &'static str> {
    let locked = |name: &str, shown: &str| Device {
        name: name.to_owned(),
        shown: shown.to_owned(),
        lock: Some(lock.map_or_else(|| device_lock_path(name), Path::to_path_buf)),
    };
    match exclusive {
        Exclusive::Nothing => {
            let side_by_side = Device {
                name: "none".to_owned(),
                shown: "none".to_owned(),
                lock: None,
            };
            Ok(vec![side_by_side; jobs.max(1)])
        }
        Exclusive::Host => Ok(vec![locked(HOST_DEVICE, "host")]),
        Exclusive::Devices(names) if names.is_empty() || granted.is_some_and(<[String]>::is_empty) => {
            Err("one of no devices")
        }
        Exclusive::Devices(names) if names.len() > 1 && granted.is_none_or(|own| own.len() > 1) && lock.is_some() => {
            Err("a lock for each of several devices, not the one of `--device-lock`")
        }
        Exclusive::Devices(names) => Ok(match granted {
            None => names.iter().map(|name| locked(name, name)).collect(),
            Some(granted) => on_granted(names, granted)
                .into_iter()
                .map(|(name, shown)| locked(&name, shown))
                .collect(),
        }),
    }
}

/// Devices of this node that Slurm gave to this job, by their numbers on the node (`0,2`): what `SLURM_STEP_GPUS` or
/// `SLURM_JOB_GPUS` says. `None` where there is no such word: then all devices are there for whoever takes their locks.
#[must_use]
pub(super) fn granted() -> Option<Vec<String>> {
    let said = ["SLURM_STEP_GPUS", "SLURM_JOB_GPUS"]
        .iter()
        .find_map(|name| std::env::var(name).ok());
    said.map(|text| numbers(&text))
}

/// The numbers of a list such as `0,2-3`; what is no number stays as it is.
fn numbers(text: &str) -> Vec<String> {
    let mut all = Vec::new();
    for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
        let range = part
            .split_once('-')
            .and_then(|(from, to)| Some((from.parse::<u32>().ok()?, to.parse().ok()?)));
        match range {
            Some((from, to)) => all.extend((from..=to).map(|number| number.to_string())),
            None => all.push(part.to_owned()),
        }
    }
    all
}

/// Each granted device as `(its name, its name for the program)`. Programs see only what was granted and count it from
/// zero (`CUDA_VISIBLE_DEVICES`), so the first one is what the definition lists first. The lock and the records name the
/// device of the node, so that jobs with different devices don't wait for one another, and those that share one do.
fn on_granted<'n>(names: &'n [String], granted: &[String]) -> Vec<(String, &'n str)> {
    let of_node = |device: &String| {
        let listed = device.parse::<usize>().ok().and_then(|at| names.get(at));
        listed.cloned().unwrap_or_else(|| format!("slurm-gpu-{device}"))
    };
    granted
        .iter()
        .map(of_node)
        .zip(names.iter().map(String::as_str))
        .collect()
}

/// How many runs lie side by side: `jobs`, but no more than `available` bytes of memory hold at `run_bytes` each; at
/// least one.
pub(super) fn side_by_side(jobs: usize, run_bytes: Option<u64>, available: Option<u64>) -> usize {
    let fit = match (run_bytes, available) {
        (Some(each), Some(available)) => usize::try_from(available / each.max(1)).unwrap_or(usize::MAX),
        _ => usize::MAX,
    };
    jobs.min(fit).max(1)
}

/// Names and locks of the devices that a target runs on: what [`crate::status()`] wants to know. Empty where runs lie
/// side by side. `lock` is what `--device-lock` said.
#[must_use]
pub fn locks_of(exclusive: &Exclusive, lock: Option<&Path>) -> Vec<(String, PathBuf)> {
    let devices = devices(exclusive, 1, lock, None).unwrap_or_default();
    devices
        .into_iter()
        .filter_map(|device| Some((device.name, device.lock?)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_bounds_how_many_runs_lie_side_by_side() {
        const GIB: u64 = 1 << 30;
        assert_eq!(side_by_side(8, None, Some(GIB)), 8);
        assert_eq!(side_by_side(8, Some(GIB), None), 8);
        assert_eq!(side_by_side(8, Some(GIB), Some(3 * GIB + 1)), 3);
        assert_eq!(side_by_side(8, Some(GIB), Some(1)), 1);
        assert_eq!(side_by_side(0, Some(GIB), Some(3 * GIB)), 1);
    }

    #[test]
    fn what_slurm_gave_is_counted_from_zero_by_programs_and_locked_by_its_own_name() {
        let four = Exclusive::Devices(["gpu0", "gpu1", "gpu2", "gpu3"].map(str::to_owned).to_vec());
        let found = |granted: &str| {
            let devices = devices(&four, 8, None, Some(&numbers(granted))).unwrap();
            let each = devices
                .into_iter()
                .map(|device| (device.name, device.shown, device.lock.unwrap()));
            each.collect::<Vec<_>>()
        };
        let device = |name: &str, shown: &str| (name.to_owned(), shown.to_owned(), device_lock_path(name));
        assert_eq!(found("2"), [device("gpu2", "gpu0")]);
        assert_eq!(
            found("1-2,3"),
            [device("gpu1", "gpu0"), device("gpu2", "gpu1"), device("gpu3", "gpu2")]
        );
        // The definition lists fewer than the node has, or Slurm names it otherwise.
        assert_eq!(found("7"), [device("slurm-gpu-7", "gpu0")]);
        assert_eq!(found("GPU-0a"), [device("slurm-gpu-GPU-0a", "gpu0")]);
        assert!(
            devices(&four, 8, None, Some(&[])).is_err(),
            "a job without devices measures on none"
        );
        let lock = Some(Path::new("/l"));
        assert!(
            devices(&four, 8, lock, Some(&numbers("2"))).is_ok(),
            "one device, one lock"
        );
    }

    #[test]
    fn every_device_has_a_lock_of_its_own() {
        let two = Exclusive::Devices(vec!["gpu0".to_owned(), "gpu1".to_owned()]);
        let found = devices(&two, 8, None, None).unwrap();
        let locks: Vec<_> = found.iter().map(|device| device.lock.clone().unwrap()).collect();
        assert_eq!(locks, [device_lock_path("gpu0"), device_lock_path("gpu1")]);
        assert!(
            devices(&two, 8, Some(Path::new("/l")), None).is_err(),
            "one lock can't serve two"
        );

        let host = devices(&Exclusive::Host, 8, Some(Path::new("/l")), None).unwrap();
        assert_eq!((host.len(), host[0].lock.as_deref()), (1, Some(Path::new("/l"))));
        assert_eq!(
            locks_of(&Exclusive::Host, None),
            [(HOST_DEVICE.to_owned(), device_lock_path(HOST_DEVICE))]
        );
        assert!(locks_of(&Exclusive::Nothing, None).is_empty());
        let free = devices(&Exclusive::Nothing, 3, None, None).unwrap();
        assert!(free.len() == 3 && free.iter().all(|device| device.lock.is_none()));
    }
}
