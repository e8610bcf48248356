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
