//! Records as they are written: what is new since the last look.

use std::collections::BTreeMap;
use std::io::{Read, Seek, SeekFrom};

use crate::error::CohortError;
use crate::paths::CohortDir;
use crate::record::Record;
use crate::records::{check_line, record_files};

/// Follows all record files of a cohort, those that appear later as well. Each byte is read once.
#[derive(Debug, Default)]
pub struct RecordTail {
    /// Writer -> how far its file was read.
    read: BTreeMap<String, Place>,
}

/// How far a file was read, in whole lines.
#[derive(Debug, Default, Clone, Copy)]
struct Place {
    bytes: u64,
    lines: u64,
}

impl RecordTail {
    /// Follows from the beginning.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Whole lines that were written since the last call, by writer. A line that is still being written is left for the
    /// next call.
    ///
    /// # Errors
    ///
    /// A line that is no record, as [`crate::read_records`] has it.
    pub fn next(&mut self, dir: &CohortDir) -> Result<Vec<Record>, CohortError> {
        let mut new = Vec::new();
        for writer in record_files(dir)? {
            let path = dir.record_file(&writer);
            let place = self.read.entry(writer.clone()).or_default();
            let mut file = fs_err::File::open(&path)?;
            if file.metadata()?.len() <= place.bytes {
                continue;
            }
            file.seek(SeekFrom::Start(place.bytes))?;
            let mut bytes = Vec::new();
            file.read_to_end(&mut bytes)?;
            let whole = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
            for line in bytes[..whole].split_inclusive(|&byte| byte == b'\n') {
                new.push(check_line(&path, &writer, place.lines, line.trim_ascii_end())?);
                place.lines += 1;
                place.bytes += line.len() as u64;
            }
        }
        Ok(new)
    }
}
