//! How a command fails: one message, its causes, what to do next, and an exit code.

use std::error::Error;
use std::fmt;

use coordinator::ExitCode;

/// A command that could not do what it was asked for.
#[derive(Debug)]
pub(crate) struct Failure {
    /// What the process exits with.
    pub(crate) code: ExitCode,
    message: String,
    source: Option<Box<dyn Error + 'static>>,
    help: Option<String>,
}

impl Failure {
    /// A failure with a message of its own.
    pub(crate) fn new(code: ExitCode, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            source: None,
            help: None,
        }
    }

    /// A wrong use or definition.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::new(ExitCode::Usage, message)
    }

    /// A failure caused by `source`; its own chain of causes is printed below the message.
    pub(crate) fn because(code: ExitCode, message: impl Into<String>, source: impl Error + 'static) -> Self {
        Self {
            code,
            message: message.into(),
            source: Some(Box::new(source)),
            help: None,
        }
    }

    /// Adds what to do next.
    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error: {}", self.message)?;
        let mut cause = self.source.as_deref();
        while let Some(error) = cause {
            write!(f, "\n  caused by: {error}")?;
            cause = error.source();
        }
        if let Some(help) = &self.help {
            write!(f, "\nhelp: {help}")?;
        }
        Ok(())
    }
}
