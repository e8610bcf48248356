//! What a program needs of the system that starts it: the frozen binary goes to nodes as it is.

use std::fmt;
use std::path::Path;

/// Which C library a program needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Needs {
    /// None: it is linked statically.
    Nothing,
    /// glibc of at least this version, `(major, minor)`.
    Glibc(u32, u32),
    /// A dynamic loader, but no version of glibc.
    Loader,
}

impl fmt::Display for Needs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nothing => f.write_str("no C library: it is linked statically"),
            Self::Glibc(major, minor) => write!(f, "glibc {major}.{minor} or newer"),
            Self::Loader => f.write_str("the dynamic loader of the system that it was built on"),
        }
    }
}

/// What the program at `path` needs; `None` where it is no 64-bit little-endian ELF file (a script, say) or can't be read.
#[must_use]
pub fn needs(path: &Path) -> Option<Needs> {
    needs_of(&std::fs::read(path).ok()?)
}

/// Layout as in the ELF specification (System V ABI, chapters 4 and 5): 64-bit program headers, the dynamic section, and
/// the table of strings that it names.
fn needs_of(elf: &[u8]) -> Option<Needs> {
    const PT_LOAD: u64 = 1;
    const PT_DYNAMIC: u64 = 2;
    const PT_INTERP: u64 = 3;
    const DT_STRTAB: u64 = 5;
    const DT_STRSZ: u64 = 10;
    if elf.get(..6)? != b"\x7fELF\x02\x01" {
        return None;
    }
    let table = number(elf, 32, 8)?;
    let (size, count) = (number(elf, 54, 2)?, number(elf, 56, 2)?);
    let headers = (0..count).map(|at| Segment::read(elf, usize::try_from(table + at * size).ok()?));
    let headers: Vec<Segment> = headers.collect::<Option<_>>()?;
    let of = |kind: u64| headers.iter().find(|segment| segment.kind == kind);
    if of(PT_INTERP).is_none() {
        return Some(Needs::Nothing);
    }
    let dynamic = of(PT_DYNAMIC).and_then(|segment| elf.get(Segment::range(segment.offset, segment.bytes)?));
    let value = |tag: u64| {
        let mut entries = dynamic?.chunks_exact(16);
        entries.find_map(|entry| (number(entry, 0, 8)? == tag).then(|| number(entry, 8, 8))?)
    };
    let strings = value(DT_STRTAB).zip(value(DT_STRSZ)).and_then(|(address, bytes)| {
        let mut loaded = headers.iter().filter(|segment| segment.kind == PT_LOAD);
        let holder = loaded.find(|one| (one.address..one.address.saturating_add(one.bytes)).contains(&address))?;
        elf.get(Segment::range(address - holder.address + holder.offset, bytes)?)
    });
    let newest = strings.and_then(newest);
    Some(newest.map_or(Needs::Loader, |(major, minor)| Needs::Glibc(major, minor)))
}

/// A program header.
struct Segment {
    kind: u64,
    offset: u64,
    address: u64,
    /// In the file.
    bytes: u64,
}

impl Segment {
    fn read(elf: &[u8], at: usize) -> Option<Self> {
        let header = elf.get(at..)?;
        Some(Self {
            kind: number(header, 0, 4)?,
            offset: number(header, 8, 8)?,
            address: number(header, 16, 8)?,
            bytes: number(header, 32, 8)?,
        })
    }

    /// `bytes` of the file from `offset`.
    fn range(offset: u64, bytes: u64) -> Option<std::ops::Range<usize>> {
        Some(usize::try_from(offset).ok()?..usize::try_from(offset.checked_add(bytes)?).ok()?)
    }
}

/// The little-endian number of so many `bytes` at `at`.
fn number(from: &[u8], at: usize, bytes: usize) -> Option<u64> {
    let own = from.get(at..at.checked_add(bytes)?)?;
    Some(
        own.iter()
            .rev()
            .fold(0, |number, byte| (number << 8) | u64::from(*byte)),
    )
}

/// The newest version among names such as `GLIBC_2.34` in a table of strings.
fn newest(strings: &[u8]) -> Option<(u32, u32)> {
    let names = strings.split(|&byte| byte == 0);
    let versions = names.filter_map(|name| {
        let version = std::str::from_utf8(name).ok()?.strip_prefix("GLIBC_")?;
        let (major, minor) = version.split_once('.')?;
        // `2.2.5` is older than all that have two parts only.
        Some((major.parse().ok()?, minor.split('.').next()?.parse().ok()?))
    });
    versions.max()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A program with these strings, which is started by a loader where it is `dynamic`: three program headers, the dynamic
    /// section, the strings; the file is loaded at address 4096.
    fn elf(dynamic: bool, strings: &[u8]) -> Vec<u8> {
        const HEADERS: [u32; 3] = [1, 2, 3];
        let (section, table) = (64 + 3 * 56, 64 + 3 * 56 + 32);
        let mut bytes = vec![0; table];
        bytes[..6].copy_from_slice(b"\x7fELF\x02\x01");
        let mut put = |at: usize, value: usize| bytes[at..at + 8].copy_from_slice(&(value as u64).to_le_bytes());
        put(32, 64);
        put(54, 56);
        put(56, if dynamic { 3 } else { 1 });
        for (number, kind) in HEADERS.into_iter().enumerate() {
            let at = 64 + number * 56;
            put(at, kind as usize);
            let (from, length) = if kind == 2 {
                (section, 32)
            } else {
                (0, table + strings.len())
            };
            put(at + 8, from);
            put(at + 16, 4096 + from);
            put(at + 32, length);
        }
        put(section, 5);
        put(section + 8, 4096 + table);
        put(section + 16, 10);
        put(section + 24, strings.len());
        bytes.extend_from_slice(strings);
        bytes
    }

    #[test]
    fn the_newest_version_counts_and_static_programs_need_none() {
        let strings = b"\0GLIBC_2.9\0GLIBC_2.34\0GLIBC_2.2.5\0GLIBC_PRIVATE\0";
        assert_eq!(needs_of(&elf(true, strings)), Some(Needs::Glibc(2, 34)));
        assert_eq!(needs_of(&elf(true, b"\0libc.so\0")), Some(Needs::Loader));
        assert_eq!(needs_of(&elf(false, strings)), Some(Needs::Nothing));
        for other in [&b"#!/bin/sh\n"[..], b"", b"\x7fELF\x02\x01"] {
            assert_eq!(needs_of(other), None);
        }
        assert_eq!(Needs::Glibc(2, 34).to_string(), "glibc 2.34 or newer");
    }

    /// This very test was linked by the same linker as the program.
    #[test]
    fn a_real_program_says_what_the_system_has() {
        let own = needs(&std::env::current_exe().unwrap());
        if cfg!(target_feature = "crt-static") {
            assert_eq!(own, Some(Needs::Nothing));
        } else {
            assert!(
                matches!(own, Some(Needs::Glibc(2, minor)) if minor >= 17) || cfg!(not(target_env = "gnu")),
                "{own:?}"
            );
        }
    }
}
