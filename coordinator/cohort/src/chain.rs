//! Digests of record lines: each covers its own line and, through the digest before it, all earlier lines of the file.
//!
//! A line `{...}` is written as `{...,"chain":"DIGEST"}`, where `DIGEST` is the first 16 hex digits of the SHA-256 of the
//! digest of the line before it (nothing for the first one) followed by `{...` without the closing brace. So an edited
//! value, a removed or a moved line is found by [`check`]. Lines that are missing at the end of a file, or a whole file, are
//! found only up to what the last addition saw of them ([`heads`]): after that a kill may leave the same. Nor is this a seal
//! against whoever computes the digests anew.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use planner::counted;
use serde::Deserialize;

use crate::addition::{Addition, Head};
use crate::digest::Hasher;
use crate::error::CohortError;
use crate::paths::CohortDir;
use crate::records::record_files;
use crate::verify::Difference;

/// What stands before the digest in a line.
const KEY: &[u8] = b",\"chain\":\"";
/// What follows it.
const END: &[u8] = b"\"}";
/// How many hex digits of the SHA-256 are kept.
const DIGITS: usize = 16;

/// What the lines of all record files say about one another.
#[derive(Debug, Default)]
pub(crate) struct Chained {
    /// Lines that are not what was written, by file and line.
    pub(crate) differences: Vec<Difference>,
    /// Records in files of versions that wrote no digests: nothing says whether they were edited.
    pub(crate) without: u64,
    /// Whether any line has a digest.
    pub(crate) sealed: bool,
}

/// Adds the digest to `line`, an object with its newline, and gives it.
pub(crate) fn seal(previous: &str, line: &mut Vec<u8>) -> String {
    // The brace and the newline.
    line.truncate(line.len().saturating_sub(END.len()));
    let digest = digest(previous, line);
    line.extend_from_slice(KEY);
    line.extend_from_slice(digest.as_bytes());
    line.extend_from_slice(END);
    line.push(b'\n');
    digest
}

/// Whether the digest in a file of one sealed line is its own; else what it says and what it should say. Lines of versions that
/// wrote none pass.
pub(crate) fn unsealed(bytes: &[u8]) -> Result<(), (String, String)> {
    let line = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    match split(line) {
        Some((text, written)) if digest("", text) != written => Err((written.to_owned(), digest("", text))),
        _ => Ok(()),
    }
}

/// Walks the chain of each record file, up to what each addition saw of it at least. A last line without newline is not
/// looked at.
pub(crate) fn check(dir: &CohortDir, additions: &[Addition]) -> Result<Chained, CohortError> {
    let mut all = Chained::default();
    let mut seen: BTreeMap<&str, Vec<&Head>> = BTreeMap::new();
    for (writer, head) in additions.iter().flat_map(|addition| &addition.records) {
        seen.entry(writer).or_default().push(head);
    }
    let name_of = |writer: &str| {
        let path = dir.record_file(writer);
        path.strip_prefix(dir.path()).unwrap_or(&path).display().to_string()
    };
    for writer in record_files(dir)? {
        let heads = seen.remove(writer.as_str()).unwrap_or_default();
        check_file(&dir.record_file(&writer), &name_of(&writer), &heads, &mut all)?;
    }
    all.differences
        .extend(seen.into_iter().map(|(writer, heads)| Difference {
            name: name_of(writer),
            expected: heads.iter().map(|head| head.lines).max().map(lines),
            found: None,
        }));
    Ok(all)
}

/// `12 lines`.
fn lines(count: u64) -> String {
    counted(count, "line")
}

/// How far each record file goes, for an addition that rests on them; each is synced, so that what is said of it holds whatever
/// happens. Files of versions that wrote no digests are left out.
pub(crate) fn heads(dir: &CohortDir) -> Result<BTreeMap<String, Head>, CohortError> {
    #[derive(Deserialize)]
    struct Numbered {
        sequence: u64,
    }
    let mut heads = BTreeMap::new();
    for writer in record_files(dir)? {
        let mut file = fs_err::File::open(dir.record_file(&writer))?;
        file.sync_data()?;
        let last = last_line(&mut file)?;
        if let Some((text, chain)) = split(&last) {
            // As the digest found it: an object without its brace.
            let text = [text, b"}"].concat();
            if let Ok(Numbered { sequence }) = serde_json::from_slice(&text) {
                let (lines, chain) = (sequence + 1, chain.to_owned());
                heads.insert(writer, Head { lines, chain });
            }
        }
    }
    Ok(heads)
}

/// The last whole line of a file without its newline; empty where there is none. Read from the end.
fn last_line(file: &mut fs_err::File) -> std::io::Result<Vec<u8>> {
    let length = file.metadata()?.len();
    let mut tail = Vec::new();
    let mut size = 1 << 16;
    loop {
        let from = length.saturating_sub(size);
        file.seek(SeekFrom::Start(from))?;
        tail.clear();
        file.by_ref().take(length - from).read_to_end(&mut tail)?;
        let end = tail.iter().rposition(|byte| *byte == b'\n');
        let whole = &tail[..end.unwrap_or(0)];
        match whole.iter().rposition(|byte| *byte == b'\n') {
            Some(before) => return Ok(whole[before + 1..].to_vec()),
            None if from == 0 => return Ok(whole.to_vec()),
            None => size *= 4,
        }
    }
}

fn check_file(path: &Path, name: &str, heads: &[&Head], all: &mut Chained) -> Result<(), CohortError> {
    let mut reader = BufReader::with_capacity(1 << 16, fs_err::File::open(path)?);
    let (mut previous, mut sealed) = (String::new(), false);
    let mut without = Vec::new();
    let mut line = Vec::new();
    let mut whole = 0;
    for number in 1_u64.. {
        line.clear();
        reader.read_until(b'\n', &mut line)?;
        if line.pop_if(|last| *last == b'\n').is_none() {
            break;
        }
        whole = number;
        let Some((text, written)) = split(&line) else {
            without.push(number);
            continue;
        };
        let found = digest(&previous, text);
        // Digests that were computed anew fit together, but not to what an addition saw.
        let seen = heads.iter().find(|head| head.lines == number && head.chain != written);
        let (expected, found) = match seen {
            Some(head) if found == written => (head.chain.as_str(), written.to_owned()),
            _ => (written, found),
        };
        if found != expected {
            all.differences.push(Difference {
                name: format!("{name}, line {number}"),
                expected: Some(expected.to_owned()),
                found: Some(found),
            });
        }
        // What follows was written after the digest that stands here: one edit is one difference.
        written.clone_into(&mut previous);
        sealed = true;
    }
    let most = heads.iter().map(|head| head.lines).max().unwrap_or_default();
    if whole < most {
        all.differences.push(Difference {
            name: name.to_owned(),
            expected: Some(lines(most)),
            found: Some(lines(whole)),
        });
    }
    all.sealed |= sealed;
    if sealed {
        // One program wrote the file, and it gave every line a digest.
        all.differences.extend(without.iter().map(|number| Difference {
            name: format!("{name}, line {number}"),
            expected: Some("a digest of the line".to_owned()),
            found: None,
        }));
    } else {
        all.without += without.len() as u64;
    }
    Ok(())
}

/// A line without its newline, in two: what the digest covers, and the digest.
fn split(line: &[u8]) -> Option<(&[u8], &str)> {
    let rest = line.strip_suffix(END)?;
    let (text, digest) = rest.split_at_checked(rest.len().checked_sub(DIGITS)?)?;
    let is_hex = digest.iter().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
    let digest = std::str::from_utf8(digest).ok().filter(|_| is_hex)?;
    Some((text.strip_suffix(KEY)?, digest))
}

fn digest(previous: &str, text: &[u8]) -> String {
    let mut hasher = Hasher::new();
    hasher.update(previous.as_bytes());
    hasher.update(text);
    let mut digest = hasher.finish();
    digest.truncate(DIGITS);
    digest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::digest::sha256_hex;

    #[test]
    fn a_line_keeps_its_text_and_gets_the_digest_of_all_before() {
        let mut line = b"{\"a\":1}\n".to_vec();
        let first = seal("", &mut line);
        assert_eq!(first, sha256_hex(b"{\"a\":1")[..16]);
        assert_eq!(line, format!("{{\"a\":1,\"chain\":\"{first}\"}}\n").into_bytes());
        let mut line = b"{\"b\":2}\n".to_vec();
        let second = seal(&first, &mut line);
        assert_eq!(second, sha256_hex(format!("{first}{{\"b\":2").as_bytes())[..16]);
        line.pop();
        assert_eq!(split(&line), Some((&b"{\"b\":2"[..], second.as_str())));
        for other in [
            &b"{\"b\":2}"[..],
            b"",
            b"{\"chain\":\"0123456789abcde\"}",
            b"x,\"chain\":\"0123456789ABCDEF\"}",
        ] {
            assert_eq!(split(other), None);
        }
    }
}
