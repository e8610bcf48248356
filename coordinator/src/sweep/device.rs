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

/// The devices of a target; `lock` stands for the usual lock where there is one device. Fails where it can't.
pub(super) fn devices(exclusive: &Exclusive, jobs: usize, lock: Option<&Path>) -> Result<Vec<Device>, &'static str> {
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
        Exclusive::Devices(names) if names.is_empty() => Err("one of no devices"),
        Exclusive::Devices(names) if names.len() > 1 && lock.is_some() => {
            Err("a lock for each of several devices, not the one of `--device-lock`")
        }
        Exclusive::Devices(names) => Ok(names.iter().map(|name| locked(name, name)).collect()),
    }
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
    let devices = devices(exclusive, 1, lock).unwrap_or_default();
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
    fn every_device_has_a_lock_of_its_own() {
        let two = Exclusive::Devices(vec!["gpu0".to_owned(), "gpu1".to_owned()]);
        let found = devices(&two, 8, None).unwrap();
        let locks: Vec<_> = found.iter().map(|device| device.lock.clone().unwrap()).collect();
        assert_eq!(locks, [device_lock_path("gpu0"), device_lock_path("gpu1")]);
        assert!(
            devices(&two, 8, Some(Path::new("/l"))).is_err(),
            "one lock can't serve two"
        );

        let host = devices(&Exclusive::Host, 8, Some(Path::new("/l"))).unwrap();
        assert_eq!((host.len(), host[0].lock.as_deref()), (1, Some(Path::new("/l"))));
        assert_eq!(
            locks_of(&Exclusive::Host, None),
            [(HOST_DEVICE.to_owned(), device_lock_path(HOST_DEVICE))]
        );
        assert!(locks_of(&Exclusive::Nothing, None).is_empty());
        let free = devices(&Exclusive::Nothing, 3, None).unwrap();
        assert!(free.len() == 3 && free.iter().all(|device| device.lock.is_none()));
    }
}
