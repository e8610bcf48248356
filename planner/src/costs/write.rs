//! Writing tables as people read them.

use std::fmt::Write;

use super::family::Arguments;
use super::table::{CostTable, SourceOf};

impl CostTable {
    /// Its canonical text: equal tables give equal bytes. [`CostTable::parse`] gives the table back.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = String::new();
        // Writing into a text never fails.
        let _ = self.write(&mut text);
        text
    }

    fn write(&self, out: &mut String) -> std::fmt::Result {
        writeln!(out, "name = {}", quoted(&self.name))?;
        if !self.about.is_empty() {
            writeln!(out, "about = {}", quoted(&self.about))?;
        }
        if !self.unpublished.is_empty() {
            writeln!(out, "unpublished = {}", list(&self.unpublished))?;
        }
        if let Some(from) = &self.provenance {
            writeln!(out, "\n[provenance]")?;
            writeln!(out, "fitted_at = {}", quoted(&from.fitted_at))?;
            writeln!(out, "by = {}", quoted(&from.by))?;
            writeln!(out, "old = {}", source(&from.old))?;
            for (name, sources) in [("fit", &from.fit), ("holdout", &from.holdout)] {
                if name == "fit" || !sources.is_empty() {
                    let sources: Vec<String> = sources.iter().map(source).collect();
                    writeln!(out, "{name} = [{}]", sources.join(", "))?;
                }
            }
            for (name, table) in [("machine", &from.machine), ("figures", &from.figures)] {
                if !table.is_empty() {
                    writeln!(out, "\n[provenance.{name}]")?;
                    for (key, value) in table {
                        writeln!(out, "{} = {}", bare(key), quoted(value))?;
                    }
                }
            }
        }
        for (name, family) in &self.families {
            writeln!(out, "\n[{}]", bare(name))?;
            if !family.about.is_empty() {
                writeln!(out, "about = {}", quoted(&family.about))?;
            }
            if let Some(kernel) = &family.kernel {
                writeln!(out, "kernel = {}", quoted(kernel))?;
            }
            match &family.arguments {
                Arguments::Whole(names) => writeln!(out, "arguments = {}", list(names))?,
                Arguments::Kinds(_) => {
                    let kinds = family.arguments.kinds();
                    let kinds = kinds.iter().map(|(name, kind)| format!("{} = \"{kind}\"", bare(name)));
                    writeln!(out, "arguments = {{ {} }}", kinds.collect::<Vec<_>>().join(", "))?;
                }
            }
            if !family.non_negative {
                writeln!(out, "non_negative = false")?;
            }
            writeln!(out, "\n[{}.terms]", bare(name))?;
            for (name, term) in &family.terms {
                let known = if term.known { ", known = true" } else { "" };
                let (of, unit, coefficient) = (quoted(&term.of), bare(&term.unit), term.coefficient);
                writeln!(out, "{} = {{ of = {of}, {unit} = {coefficient}{known} }}", bare(name))?;
            }
        }
        Ok(())
    }
}

fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

fn bare(key: &str) -> String {
    let plain = !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    if plain { key.to_owned() } else { quoted(key) }
}

fn list(words: &[String]) -> String {
    let words: Vec<String> = words.iter().map(|word| quoted(word)).collect();
    format!("[{}]", words.join(", "))
}

fn source(source: &SourceOf) -> String {
    format!(
        "{{ path = {}, sha256 = {} }}",
        quoted(&source.path),
        quoted(&source.sha256)
    )
}
