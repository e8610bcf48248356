//! Files.

use std::path::Path;

use calibrate::Calibration;

use super::markdown::render;
use super::pictures::{against_argument, predicted};
use crate::error::AnalyzeError;
use crate::format::slug;

/// The JSON schema of `calibration.json`.
#[must_use]
pub fn schema() -> serde_json::Value {
    schemars::schema_for!(Calibration).to_value()
}

/// Writes the report of a calibration into `folder`, which is made if it is not there; files of an earlier one are
/// replaced.
pub fn write(calibration: &Calibration, folder: &Path) -> Result<(), AnalyzeError> {
    fs_err::create_dir_all(folder)?;
    let mut pictures = Vec::new();
    for family in calibration.families.iter().filter(|family| !family.points.is_empty()) {
        let mut own = Vec::new();
        let stem = slug(&family.family);
        if let Some(picture) = predicted(family) {
            own.push((format!("predicted-{stem}.svg"), picture));
        }
        let arguments = family
            .points
            .first()
            .into_iter()
            .flat_map(|point| point.arguments.keys());
        for argument in arguments {
            if let Some(picture) = against_argument(family, argument) {
                own.push((format!("residuals-{stem}-{}.svg", slug(argument)), picture));
            }
        }
        let mut names = Vec::new();
        for (name, picture) in own {
            let svg = picture.svg().map_err(|message| AnalyzeError::Plot {
                file: name.clone(),
                message,
            })?;
            fs_err::write(folder.join(&name), svg)?;
            names.push((name, picture.title));
        }
        pictures.push((family.family.clone(), names));
    }
    let json = serde_json::to_string_pretty(calibration)?;
    fs_err::write(folder.join("calibration.json"), json)?;
    fs_err::write(folder.join("calibration.md"), render(calibration, &pictures))?;
    Ok(())
}
