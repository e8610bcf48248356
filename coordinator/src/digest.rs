//! SHA-256 as lower-case hex.

use std::fmt::Write as _;
use std::io::{self, Read};
use std::path::Path;

use sha2::{Digest, Sha256};

/// Digest of some bytes, 64 hex digits.
#[must_use]
pub(crate) fn sha256_hex(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// Digest and length of a file; its content is never in memory as a whole.
pub(crate) fn sha256_file(path: &Path) -> io::Result<(String, u64)> {
    let mut file = fs_err::File::open(path)?;
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 1 << 18];
    let mut length = 0;
    loop {
        let read = file.read(&mut buffer)?;
        if read == 0 {
            return Ok((hex(&hash.finalize()), length));
        }
        hash.update(buffer.get(..read).unwrap_or_default());
        length += read as u64;
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes
        .iter()
        .fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        })
}
