//! What calibrations say of a cohort, in that cohort's own report: a digest of each, and the way to the whole.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use calibrate::Calibration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::AnalyzeError;
use crate::format::{counted, name, or_dash, percent, significant, slug, table};
use crate::page::links::relative;

/// The file in a cohort's report folder.
const FILE: &str = "calibrations.json";

/// One coefficient.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TermLine {
    /// Its term.
    pub term: String,
    /// Before, in the family's unit.
    pub old: f64,
    /// After.
    pub new: f64,
    /// Its 95 % interval, where the samples decided it.
    pub interval: Option<[f64; 2]>,
    /// What became of it, in words.
    pub decision: String,
}

/// One family.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FamilyLine {
    /// Its name.
    pub family: String,
    /// Unit of its coefficients.
    pub unit: String,
    /// Keys that it was fitted on.
    pub keys: usize,
    /// Median of |predicted / measured - 1| by the old table.
    pub error_old: Option<f64>,
    /// The same by the new one.
    pub error_new: Option<f64>,
    /// Its coefficients.
    pub terms: Vec<TermLine>,
    /// Pictures in the calibration's folder, predicted against measured first, then residuals against each argument.
    pub pictures: Vec<String>,
}

/// A calibration that a cohort had a part in.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OfCohort {
    /// `fit`, or `held out`.
    pub side: String,
    /// The new table's file.
    pub table: String,
    /// The folder of the calibration's report, from the folder of the cohort's report, as in a URL.
    pub folder: String,
    /// The estimate that counts, and its regret on held-out plans before and after.
    pub headline: Option<(String, f64, f64)>,
    /// What the held-out plans say.
    pub verdict: String,
    /// Samples that were left out of the fit: why -> how many.
    pub excluded: BTreeMap<String, u64>,
    /// Families that were fitted.
    pub families: Vec<FamilyLine>,
}

impl OfCohort {
    /// The digest of a calibration whose report lies in `folder`, for the report in `report`; both are there.
    pub fn new(calibration: &Calibration, side: &str, folder: &Path, report: &Path) -> Result<Self, AnalyzeError> {
        let (from, to) = (fs_err::canonicalize(report)?, fs_err::canonicalize(folder)?);
        let families = calibration.families.iter().filter(|family| family.keys > 0);
        let families = families.map(|family| {
            let stem = slug(&family.family);
            let arguments = family
                .points
                .first()
                .into_iter()
                .flat_map(|point| point.arguments.keys());
            let residuals = arguments.map(|argument| format!("residuals-{stem}-{}.svg", slug(argument)));
            let pictures = std::iter::once(format!("predicted-{stem}.svg")).chain(residuals);
            FamilyLine {
                family: family.family.clone(),
                unit: family.unit.clone(),
                keys: family.keys,
                error_old: family.error_old,
                error_new: family.error_new,
                terms: family
                    .terms
                    .iter()
                    .map(|term| TermLine {
                        term: term.term.clone(),
                        old: term.old,
                        new: term.new,
                        interval: term.interval(),
                        decision: term.decision.words(),
                    })
                    .collect(),
                pictures: pictures.filter(|file| folder.join(file).is_file()).collect(),
            }
        });
        Ok(Self {
            side: side.to_owned(),
            table: calibration.new.file.clone(),
            folder: relative(&from, &to),
            headline: calibration
                .headline
                .as_ref()
                .map(|headline| (headline.estimate.clone(), headline.before, headline.after)),
            verdict: calibration.verdict.words().to_owned(),
            excluded: calibration.excluded.clone(),
            families: families.collect(),
        })
    }

    /// Regret before and after, and what it means.
    fn words(&self) -> String {
        let headline = self.headline.as_ref();
        let regret = headline.map_or(String::new(), |(estimate, before, after)| {
            format!("regret {before:.3} -> {after:.3} by {estimate}: ")
        });
        format!("{regret}{}", self.verdict)
    }

    /// Rows of the families' table.
    fn family_rows(&self, write: &dyn Fn(&str) -> String) -> Vec<Vec<String>> {
        let row = |family: &FamilyLine| {
            vec![
                write(&family.family),
                family.keys.to_string(),
                or_dash(family.error_old, percent),
                or_dash(family.error_new, percent),
            ]
        };
        self.families.iter().map(row).collect()
    }

    /// Rows of the coefficients' table.
    fn term_rows(&self, write: &dyn Fn(&str) -> String) -> Vec<Vec<String>> {
        let number = |value: f64| significant(value, 5);
        let of = |family: &FamilyLine| -> Vec<Vec<String>> {
            let row = |term: &TermLine| {
                vec![
                    write(&family.family),
                    write(&term.term),
                    family.unit.clone(),
                    number(term.old),
                    number(term.new),
                    or_dash(term.interval, |[lower, upper]| {
                        format!("[{}, {}]", number(lower), number(upper))
                    }),
                    term.decision.clone(),
                ]
            };
            family.terms.iter().map(row).collect()
        };
        self.families.iter().flat_map(of).collect()
    }
}

const FAMILIES: [&str; 4] = ["family", "keys", "error before", "after"];
const TERMS: [&str; 7] = ["family", "term", "unit", "old", "new", "95 % interval", "decision"];

/// Puts a calibration into a cohort's report folder, in the place of an earlier one of the same table; the next analysis
/// shows it.
pub fn put(report: &Path, one: OfCohort) -> Result<(), AnalyzeError> {
    let mut all = read(report)?;
    all.retain(|other| other.table != one.table);
    all.push(one);
    let json = serde_json::to_string_pretty(&all)?;
    cohort::write_atomic(&report.join(FILE), json.as_bytes()).map_err(std::io::Error::other)?;
    Ok(())
}

/// The calibrations that a report folder knows of, the latest last; none where there are none.
pub fn read(report: &Path) -> Result<Vec<OfCohort>, AnalyzeError> {
    let path = report.join(FILE);
    if !path.is_file() {
        return Ok(Vec::new());
    }
    let text = fs_err::read_to_string(&path)?;
    serde_json::from_str(&text).map_err(|source| AnalyzeError::Calibrations { path, source })
}

/// The section of `report.md`; nothing without calibrations.
pub(crate) fn markdown(out: &mut String, all: &[OfCohort]) {
    if all.is_empty() {
        return;
    }
    out.push_str("## Calibration\n\n");
    for one in all {
        let _ = writeln!(
            out,
            "[{}]({}/calibration.md), this cohort {}: {}.\n",
            one.table.replace(['[', ']'], ""),
            one.folder,
            if one.side == "fit" { "fitted" } else { "held out" },
            one.words()
        );
        table(out, &FAMILIES, &one.family_rows(&name));
        table(out, &TERMS, &one.term_rows(&name));
        for (why, samples) in &one.excluded {
            let _ = writeln!(out, "- left out of the fit: {} {why}", counted(samples, "sample"));
        }
        for picture in one.families.iter().flat_map(|family| &family.pictures) {
            let _ = writeln!(out, "\n![{picture}]({}/{picture})", one.folder);
        }
        out.push('\n');
    }
}

/// The section of the page; nothing without calibrations. `escape` makes text of HTML.
pub(crate) fn html(out: &mut String, all: &[OfCohort], escape: &dyn Fn(&str) -> String) {
    if all.is_empty() {
        return;
    }
    out.push_str("<section id=\"calibration\"><h2>Calibration</h2>");
    for one in all {
        let (table, side) = (escape(&one.table), escape(&one.side));
        let _ = write!(
            out,
            "<h3>{table}</h3><p>This cohort: {side}. {}. The whole: <a href=\"{}/calibration.md\">calibration.md</a>.</p>",
            escape(&one.words()),
            one.folder
        );
        rows(out, &FAMILIES, &one.family_rows(&|text| escape(text)));
        rows(out, &TERMS, &one.term_rows(&|text| escape(text)));
        for (why, samples) in &one.excluded {
            let _ = write!(
                out,
                "<p class=\"note\">Left out of the fit: {} {}.</p>",
                counted(samples, "sample"),
                escape(why)
            );
        }
        for family in &one.families {
            let links = family
                .pictures
                .iter()
                .map(|file| format!("<a href=\"{}/{file}\">{file}</a>", one.folder));
            let links: Vec<String> = links.collect();
            let _ = write!(
                out,
                "<p class=\"note\">{}: {}</p>",
                escape(&family.family),
                links.join(", ")
            );
        }
    }
    out.push_str("</section>\n");
}

fn rows(out: &mut String, head: &[&str], rows: &[Vec<String>]) {
    out.push_str("<div class=\"scroll\"><table class=\"plain\"><thead><tr>");
    for cell in head {
        let _ = write!(out, "<th scope=\"col\">{cell}</th>");
    }
    out.push_str("</tr></thead><tbody>");
    for row in rows {
        let cells: Vec<String> = row.iter().map(|cell| format!("<td>{cell}</td>")).collect();
        let _ = write!(out, "<tr>{}</tr>", cells.concat());
    }
    out.push_str("</tbody></table></div>");
}
