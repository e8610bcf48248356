//! Freeze, build, lock, run, resume.
