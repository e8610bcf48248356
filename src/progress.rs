//! What a person sees while a sweep goes on: a bar in a terminal, plain lines elsewhere.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use cohort::{BuildOutcome, Difference, RunOutcome};
use coordinator::lock::Holder;
use coordinator::{Event, Progress};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use planner::{counted, grouped};

use crate::output::narrate;

/// Without a terminal a line about progress is written this often at most.
const LINE_EVERY: Duration = Duration::from_secs(10);

/// Words for an accepted difference and the cases that are measured in spite of it.
type Accepted = dyn Fn(&Difference, &[&str]) -> String;

/// Shows progress on stderr.
pub(crate) struct Display {
    bar: Option<ProgressBar>,
    last_line: Instant,
    repeat: Box<dyn Fn(&str) -> String>,
    /// What to say of a difference that was accepted, and of the cases that are measured in spite of it.
    accepted: Box<Accepted>,
    running: Option<String>,
    /// Whom it waits for now.
    waiting: Option<String>,
    built: u64,
}

impl Display {
    /// `repeat` gives the line that repeats a case.
    pub(crate) fn new(repeat: impl Fn(&str) -> String + 'static) -> Self {
        let bar = std::io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::stderr());
            let style = ProgressStyle::with_template("{prefix:>9} [{bar:24}] {pos}/{len} {wide_msg}");
            bar.set_style(
                style
                    .unwrap_or_else(|_| ProgressStyle::default_bar())
                    .progress_chars("=> "),
            );
            bar
        });
        Self {
            bar,
            last_line: Instant::now(),
            repeat: Box::new(repeat),
            accepted: Box::new(|difference, _| difference.to_string()),
            running: None,
            waiting: None,
            built: 0,
        }
    }

    /// Says of accepted differences what `accepted` says.
    pub(crate) fn accepting(mut self, accepted: impl Fn(&Difference, &[&str]) -> String + 'static) -> Self {
        self.accepted = Box::new(accepted);
        self
    }

    /// Shows `event`.
    pub(crate) fn show(&mut self, event: &Event<'_>, progress: &Progress) {
        match event {
            Event::Verified { accepted, cases, gone } => {
                for difference in *accepted {
                    self.say(&format!("accepted: {}", (self.accepted)(difference, cases)));
                }
                if let Some(first) = gone.first() {
                    self.say(&lacking(first, gone.len()));
                }
            }
            Event::Unlike { differences } => {
                let words: Vec<String> = differences.iter().map(ToString::to_string).collect();
                self.say(&format!(
                    "another kind of machine, measured apart from the frozen one: {}",
                    words.join("; ")
                ));
            }
            Event::WrongAccepted { case } => {
                self.say(&format!("accepted: the wrong result of `{case}`; the sweep goes on"));
            }
            Event::CohortBusy { holder } => {
                self.say(&format!(
                    "waiting for another coordinator of this cohort: {}",
                    held_by(*holder)
                ));
            }
            // Everything is there already, or the cases need no build.
            Event::Building { units: 0, .. } => {}
            Event::Building { units, cases } => {
                let (units, cases) = (counted(*units as u64, "object"), counted(*cases as u64, "case"));
                self.say(&format!("building {units} for {cases}"));
            }
            Event::Rebuilding { unit, why } => self.say(&format!("building {} again: {why}", short(unit))),
            Event::CacheUnused { unit, why } => {
                self.say(&format!("building {} without the build cache: {why}", short(unit)));
            }
            Event::Built { case, outcome } => {
                self.waiting = None;
                self.built(case, outcome);
            }
            Event::Waiting { what, holder } => {
                self.waiting = Some(waits_for(*holder));
                self.say(&format!(
                    "waiting for the device ({}): {}",
                    short(what),
                    held_by(*holder)
                ));
            }
            Event::BuiltElsewhere { unit, holder } => {
                self.say(&format!(
                    "waiting for the build of {}: {}",
                    short(unit),
                    held_by(*holder)
                ));
            }
            Event::RoundBegan { case, round } => {
                self.waiting = None;
                self.running = Some(format!("{case} (round {})", round + 1));
            }
            Event::RoundDone { case, outcome, .. } => self.ended(case, outcome),
            Event::Recovered { case, round } => {
                self.say(&format!(
                    "{case}: round {} had ended well before the kill; it is taken from its log",
                    round + 1
                ));
            }
            Event::Doubted { case, round, why } => self.say(&format!(
                "{case}: round {} had ended before the kill, but is not taken from its log: {why}; it is measured again",
                round + 1
            )),
            Event::Missing { case, what } => self.say(&format!("missing: `{case}` counts without {what}")),
            Event::Grown { reason } => self.say(reason),
            Event::Note { text } => self.say(text),
            Event::Finishing => self.say("interrupted: finishing what runs (Ctrl-C again ends it at once)"),
            Event::TimeOver => self.say("the time limit is over"),
        }
        self.draw(progress);
    }

    /// Takes the bar away.
    pub(crate) fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }

    fn built(&mut self, case: &str, outcome: &BuildOutcome) {
        match outcome {
            BuildOutcome::Built { .. } => self.built += 1,
            BuildOutcome::Rejected { reason } => self.say(&format!("rejected: `{case}`: {reason}")),
            BuildOutcome::BuildFailed { reason } => self.failed("build-failed", case, reason),
            BuildOutcome::TimedOut { reason } => self.failed("timed-out", case, reason),
        }
    }

    fn ended(&self, case: &str, outcome: &RunOutcome) {
        match outcome {
            RunOutcome::Correct { .. } => {}
            RunOutcome::Incorrect { reason, .. } => self.failed("incorrect", case, reason),
            RunOutcome::Rejected { reason } => self.say(&format!("rejected: `{case}`: {reason}")),
            RunOutcome::RunFailed { reason } => self.failed("run-failed", case, reason),
            RunOutcome::TimedOut { reason } => self.failed("timed-out", case, reason),
        }
    }

    fn failed(&self, word: &str, case: &str, reason: &str) {
        let repeat = (self.repeat)(case);
        let case = shell_word(case);
        self.say(&format!("{word}: {case}: {reason}\n  to repeat it: {repeat}"));
    }

    fn say(&self, line: &str) {
        match &self.bar {
            Some(bar) => bar.suspend(|| narrate(line)),
            None => narrate(line),
        }
    }

    fn draw(&mut self, progress: &Progress) {
        let building = progress.builds_done < progress.builds;
        let (word, done, all) = if building {
            ("building", progress.builds_done, progress.builds)
        } else {
            ("measuring", progress.rounds_done, progress.rounds)
        };
        let mut message: Vec<String> = progress
            .left
            .map(|left| format!("{} left", minutes(left)))
            .into_iter()
            .collect();
        if progress.failed > 0 {
            message.push(format!("{} failed", progress.failed));
        }
        if self.built > 0 {
            message.push(format!("{} built", counted(self.built, "case")));
        }
        if let Some(bar) = &self.bar {
            match (&self.waiting, &self.running) {
                // First: what does not fit into the terminal is cut off at its end, and the whole was said above.
                (Some(holder), _) => message.insert(0, holder.clone()),
                (None, Some(running)) if !building => message.push(running.clone()),
                _ => {}
            }
            bar.set_prefix(word);
            bar.set_length(all);
            bar.set_position(done);
            bar.set_message(message.join(", "));
        } else if self.last_line.elapsed() >= LINE_EVERY && all > 0 {
            self.last_line = Instant::now();
            narrate(&format!("{word} {done}/{all} {}", message.join(", ")));
        }
    }
}

/// For whom one waits.
pub(crate) fn held_by(holder: Option<&Holder>) -> String {
    holder.map_or_else(
        || "its holder can't be told".to_owned(),
        |holder| format!("held by {holder}"),
    )
}

/// For whom one waits, for a bar in 80 columns: the process, and the last part of its cohort's path.
fn waits_for(holder: Option<&Holder>) -> String {
    const WIDEST: usize = 12;
    let Some(holder) = holder else {
        return "waits for the device".to_owned();
    };
    let name = holder
        .cohort
        .trim_end_matches('/')
        .rsplit('/')
        .next()
        .unwrap_or_default();
    let short = if name.chars().count() > WIDEST {
        format!("{}...", name.chars().take(WIDEST - 3).collect::<String>())
    } else {
        name.to_owned()
    };
    format!("waits for pid {} ({short})", holder.pid)
}

/// Artifacts of finished cases that are gone, as `run` and `verify` say it.
pub(crate) fn lacking(first: &std::path::Path, number: usize) -> String {
    let more = if number > 1 {
        format!(" and {} more", grouped(number - 1))
    } else {
        String::new()
    };
    format!(
        "gone: `{}`{more}: artifacts of finished cases; what was measured stands, and what is needed again is built from \
         the frozen sources and compared with its digest on record",
        first.display()
    )
}

/// `text` as one word of a POSIX shell.
pub(crate) fn shell_word(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,@%+".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

/// A digest by its beginning; other names whole.
fn short(what: &str) -> &str {
    if cohort::digest::is_sha256(what) {
        &what[..12]
    } else {
        what
    }
}

/// A time left, short.
pub(crate) fn minutes(left: Duration) -> String {
    let seconds = left.as_secs();
    if seconds >= 60 {
        format!("{} min {:02} s", seconds / 60, seconds % 60)
    } else {
        format!("{seconds} s")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_survive_a_shell() {
        assert_eq!(shell_word("up-03"), "up-03");
        assert_eq!(shell_word("it's a case"), r"'it'\''s a case'");
        assert_eq!(shell_word(""), "''");
    }

    #[test]
    fn a_bar_names_whom_it_waits_for_in_80_columns() {
        let holder = |cohort: &str| Holder {
            pid: 4_194_304,
            cohort: cohort.to_owned(),
            case: "a-case-with-a-long-name".to_owned(),
            since: None,
        };
        for (cohort, shown) in [
            (
                "/home/somebody/a/long/path/cohorts/quick",
                "waits for pid 4194304 (quick)",
            ),
            ("flock", "waits for pid 4194304 (flock)"),
            ("/c/siglip-mlp-on-a-cpu/", "waits for pid 4194304 (siglip-ml...)"),
        ] {
            let words = waits_for(Some(&holder(cohort)));
            assert_eq!(words, shown);
            // `measuring [========================] 123/456 ` stands before it.
            assert!(80 - 43 >= words.len(), "{words}");
        }
    }

    #[test]
    fn times_left_are_short() {
        assert_eq!(minutes(Duration::from_secs(59)), "59 s");
        assert_eq!(minutes(Duration::from_secs(125)), "2 min 05 s");
    }
}
