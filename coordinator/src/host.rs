//! What the operating system says about this host.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use fs_err as fs;
use target_api::Host;

/// Why the host can't be read.
#[derive(Debug, thiserror::Error)]
#[error("cannot tell {what}")]
pub struct HostError {
    /// What was looked for.
    what: &'static str,
    /// Why it was not found.
    source: std::io::Error,
}

/// Reads `/proc`, `/sys` and the affinity of this process.
pub fn read_host() -> Result<Host, HostError> {
    let info = fs::read_to_string("/proc/cpuinfo").map_err(|source| HostError {
        what: "the processor's model",
        source,
    })?;
    let allowed = allowed().map_err(|source| HostError {
        what: "which processors this process may use",
        source: source.into(),
    })?;
    let cores = distinct_cores(&allowed, Path::new("/sys/devices/system/cpu"));
    let first = cores.first().copied().unwrap_or(0);
    let cpu = format!("/sys/devices/system/cpu/cpu{first}");
    let name = rustix::system::uname();
    let words = |text: &std::ffi::CStr| text.to_string_lossy().into_owned();
    Ok(Host {
        architecture: words(name.machine()),
        cpu_model: cpu_model(&info),
        flags: flags(&info),
        caches: caches(Path::new(&cpu)),
        governor: line(format!("{cpu}/cpufreq/scaling_governor")),
        hostname: words(name.nodename()),
        kernel: words(name.release()),
        boot_id: line("/proc/sys/kernel/random/boot_id").unwrap_or_default(),
        cores,
    })
}

/// Bytes of memory that a new process could take now without swapping; none where the system does not say.
pub(crate) fn available_bytes() -> Option<u64> {
    let info = std::fs::read_to_string("/proc/meminfo").ok()?;
    let kilobytes: u64 = field(&info, &["MemAvailable"])?
        .strip_suffix("kB")?
        .trim()
        .parse()
        .ok()?;
    Some(kilobytes * 1024)
}

fn line(path: impl AsRef<Path>) -> Option<String> {
    let text = std::fs::read_to_string(path).ok()?;
    Some(text.trim().to_owned())
}

fn field<'a>(info: &'a str, names: &[&str]) -> Option<&'a str> {
    info.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        names.contains(&name.trim()).then(|| value.trim())
    })
}

/// The model's name. Arm kernels give numbers instead: implementer and part then stand for it.
fn cpu_model(info: &str) -> String {
    if let Some(name) = field(info, &["model name"]) {
        return name.to_owned();
    }
    let numbers = ["CPU implementer", "CPU part", "CPU variant", "CPU revision"];
    let known: Vec<_> = numbers
        .iter()
        .filter_map(|name| Some(format!("{name} {}", field(info, &[name])?)))
        .collect();
    if known.is_empty() {
        "unknown".to_owned()
    } else {
        known.join(", ")
    }
}

fn flags(info: &str) -> Vec<String> {
    let words = field(info, &["flags", "Features"]).unwrap_or_default();
    let sorted: BTreeSet<_> = words.split_whitespace().map(str::to_owned).collect();
    sorted.into_iter().collect()
}

/// Logical CPUs that this process may use, ascending.
fn allowed() -> rustix::io::Result<Vec<u32>> {
    let set = rustix::thread::sched_getaffinity(None)?;
    let all = (0..rustix::thread::CpuSet::MAX_CPU).filter(|&cpu| set.is_set(cpu));
    Ok(all.filter_map(|cpu| u32::try_from(cpu).ok()).collect())
}

/// One logical CPU of each distinct physical core: two are on one core when the system lists them as siblings.
fn distinct_cores(allowed: &[u32], folder: &Path) -> Vec<u32> {
    let mut seen = BTreeSet::new();
    let mut cores = Vec::new();
    for &cpu in allowed {
        let siblings = line(folder.join(format!("cpu{cpu}/topology/thread_siblings_list")));
        // Without topology every logical CPU counts as a core.
        if seen.insert(siblings.unwrap_or_else(|| format!("alone {cpu}"))) {
            cores.push(cpu);
        }
    }
    cores
}

/// `L1d`, `L1i`, `L2`, `L3` -> bytes.
fn caches(cpu: &Path) -> BTreeMap<String, u64> {
    let mut found = BTreeMap::new();
    for index in 0..16 {
        let folder = cpu.join(format!("cache/index{index}"));
        let Some(level) = line(folder.join("level")) else { break };
        let kind = match line(folder.join("type")).as_deref() {
            Some("Data") => "d",
            Some("Instruction") => "i",
            _ => "",
        };
        if let Some(bytes) = line(folder.join("size")).and_then(|text| size(&text)) {
            found.insert(format!("L{level}{kind}"), bytes);
        }
    }
    found
}

/// `512K`, `32M` in bytes.
fn size(text: &str) -> Option<u64> {
    let (number, scale) = match text.as_bytes().last()? {
        b'K' => (text.strip_suffix('K')?, 1 << 10),
        b'M' => (text.strip_suffix('M')?, 1 << 20),
        b'G' => (text.strip_suffix('G')?, 1 << 30),
        _ => (text, 1),
    };
    number.parse::<u64>().ok()?.checked_mul(scale)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_host_has_a_model_and_cores() {
        let host = read_host().unwrap();
        assert!(!host.cores.is_empty() && host.cores.is_sorted());
        assert!(!host.cpu_model.is_empty() && host.flags.is_sorted());
        assert_eq!(host.architecture, std::env::consts::ARCH);
        assert_eq!(host.boot_id.len(), 36);
    }

    #[test]
    fn some_memory_is_available() {
        assert!(available_bytes().is_some_and(|bytes| bytes > 1 << 20));
    }

    #[test]
    fn sizes() {
        assert_eq!(size("512K"), Some(512 << 10));
        assert_eq!(size("32M"), Some(32 << 20));
        assert_eq!(size("64"), Some(64));
        assert_eq!(size("x"), None);
    }

    #[test]
    fn siblings_count_once() {
        let folder = tempfile::tempdir().unwrap();
        for (cpu, siblings) in [(0, "0,4"), (1, "1,5"), (4, "0,4"), (5, "1,5")] {
            let topology = folder.path().join(format!("cpu{cpu}/topology"));
            std::fs::create_dir_all(&topology).unwrap();
            std::fs::write(topology.join("thread_siblings_list"), format!("{siblings}\n")).unwrap();
        }
        assert_eq!(distinct_cores(&[0, 1, 4, 5], folder.path()), [0, 1]);
        assert_eq!(distinct_cores(&[4, 5], folder.path()), [4, 5]);
        assert_eq!(distinct_cores(&[7, 9], folder.path()), [7, 9]);
    }

    #[test]
    fn arm_has_numbers_for_a_name() {
        let info = "processor\t: 0\nFeatures\t: fp asimd aes\nCPU implementer\t: 0x41\nCPU part\t: 0xd0c\n";
        assert_eq!(cpu_model(info), "CPU implementer 0x41, CPU part 0xd0c");
        assert_eq!(flags(info), ["aes", "asimd", "fp"]);
    }
}
