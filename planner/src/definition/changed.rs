//! What changed between two texts of a definition.

/// The first line that differs: its number (from 1), the old line and the new one; a missing line is empty. `None` when
/// all lines are the same.
#[must_use]
pub fn changed_line(old: &str, new: &str) -> Option<(usize, String, String)> {
    let (mut before, mut after) = (old.lines(), new.lines());
    for number in 1.. {
        match (before.next(), after.next()) {
            (None, None) => return None,
            (a, b) if a == b => {}
            (a, b) => {
                return Some((
                    number,
                    a.unwrap_or_default().to_owned(),
                    b.unwrap_or_default().to_owned(),
                ));
            }
        }
    }
    None
}
