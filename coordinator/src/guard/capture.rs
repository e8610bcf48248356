//! Keeping a command's output: up to a limit on disk, never in memory.

use std::io::{self, Read, Write};
use std::path::Path;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use fs_err::File;

/// What became of one stream.
#[derive(Debug, Default)]
pub(super) struct Kept {
    /// Bytes that came after the limit.
    pub(super) dropped: u64,
    /// Why it could not be written down, if so.
    pub(super) error: Option<String>,
}

/// Copies `from` into the file `to` in a thread of its own, at most `cap` bytes. It reads on after that, so that the
/// command neither blocks nor gets an error, and a last line says how much is missing.
pub(super) fn keep(mut from: impl Read + Send + 'static, to: &Path, cap: u64) -> io::Result<JoinHandle<Kept>> {
    let mut file = File::create(to)?;
    std::thread::Builder::new().spawn(move || {
        let mut kept = Kept::default();
        let mut left = usize::try_from(cap).unwrap_or(usize::MAX);
        let mut buffer = vec![0; 1 << 16];
        loop {
            let read = match from.read(&mut buffer) {
                Ok(0) => break,
                Ok(read) => read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => {
                    kept.error = Some(error.to_string());
                    break;
                }
            };
            let take = read.min(left);
            left -= take;
            kept.dropped += (read - take) as u64;
            if take > 0
                && kept.error.is_none()
                && let Err(error) = file.write_all(buffer.get(..take).unwrap_or_default())
            {
                kept.error = Some(error.to_string());
            }
        }
        if kept.dropped > 0
            && kept.error.is_none()
            && let Err(error) = writeln!(file, "\n[layout-sweep: {} further bytes were not kept]", kept.dropped)
        {
            kept.error = Some(error.to_string());
        }
        kept
    })
}

/// Waits for a copier. The pipe closes with the last process of the tree; one that could not be ended may hold it open.
pub(super) fn finish(copier: JoinHandle<Kept>) -> Kept {
    let deadline = Instant::now() + Duration::from_secs(2);
    while !copier.is_finished() {
        if Instant::now() > deadline {
            return Kept {
                dropped: 0,
                error: Some("the pipe is still held open".to_owned()),
            };
        }
        std::thread::sleep(Duration::from_micros(200));
    }
    copier.join().unwrap_or_else(|_| Kept {
        dropped: 0,
        error: Some("the thread that keeps the output panicked".to_owned()),
    })
}
