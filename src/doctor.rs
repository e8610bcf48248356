//! `layout-sweep doctor`: what this machine can measure.

use clap::Args;
use coordinator::ExitCode;
use coordinator::host::read_host;
use coordinator::machine::MachineError;
use serde::Serialize;
use target_api::{Host, Machine, Options};

use crate::failure::Failure;
use crate::output::{Format, print, print_json, table};
use crate::planning::{MachineOrFailure, machine, machine_failure};
use crate::registry::TARGETS;

/// Arguments of `doctor`.
#[derive(Args)]
pub(crate) struct Arguments {
    /// Measure again, even if this machine was measured before.
    #[arg(long)]
    refresh: bool,
    /// How to print.
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
}

#[derive(Serialize)]
struct Finding {
    target: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    machine: Option<Machine>,
    #[serde(skip_serializing_if = "Option::is_none")]
    missing: Option<String>,
    report: Vec<(String, String)>,
}

#[derive(Serialize)]
struct Diagnosis {
    host: Host,
    targets: Vec<Finding>,
}

/// Measures this machine for every target, and says what is missing.
pub(crate) fn execute(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let host = read_host().map_err(|error| Failure::because(ExitCode::Failure, "this host can't be read", error))?;
    let mut code = ExitCode::Done;
    let mut targets = Vec::new();
    for target in TARGETS {
        let finding = match machine(*target, &Options::new(), arguments.refresh) {
            Ok(machine) => {
                let report = target.describe(&machine);
                Finding {
                    target: target.id(),
                    machine: Some(machine),
                    missing: None,
                    report,
                }
            }
            // Some targets are described by their definitions alone.
            Err(MachineOrFailure::Machine(MachineError::Option(_))) => Finding {
                target: target.id(),
                machine: None,
                missing: None,
                report: vec![("needs".to_owned(), "what its definition names".to_owned())],
            },
            Err(error) => {
                let failure = machine_failure(error, None);
                code = failure.code;
                Finding {
                    target: target.id(),
                    machine: None,
                    missing: Some(failure.to_string()),
                    report: Vec::new(),
                }
            }
        };
        targets.push(finding);
    }
    let diagnosis = Diagnosis { host, targets };
    if arguments.format == Format::Json {
        print_json(&diagnosis)?;
    } else {
        show(&diagnosis);
    }
    Ok(code)
}

fn show(diagnosis: &Diagnosis) {
    let host = &diagnosis.host;
    let cores: Vec<String> = host.cores.iter().map(ToString::to_string).collect();
    let mut rows = vec![
        vec![
            "processor".to_owned(),
            format!("{} ({})", host.cpu_model, host.architecture),
        ],
        vec!["distinct cores".to_owned(), cores.join(", ")],
        vec![
            "governor".to_owned(),
            host.governor
                .clone()
                .unwrap_or_else(|| "none that the system tells".to_owned()),
        ],
        vec!["kernel".to_owned(), host.kernel.clone()],
    ];
    for (name, bytes) in &host.caches {
        rows.push(vec![format!("{name} by the system"), format!("{} KiB", bytes / 1024)]);
    }
    print(&table(&["host", ""], rows));
    for finding in &diagnosis.targets {
        print("");
        let mut rows: Vec<Vec<String>> = Vec::new();
        if let Some(machine) = &finding.machine {
            for tool in &machine.tools {
                rows.push(vec![tool.name.clone(), format!("{} ({})", tool.path, tool.version)]);
            }
        }
        rows.extend(
            finding
                .report
                .iter()
                .map(|(name, text)| vec![name.clone(), text.clone()]),
        );
        if let Some(missing) = &finding.missing {
            rows.push(vec!["missing".to_owned(), missing.clone()]);
        }
        print(&table(&[&format!("target {}", finding.target), ""], rows));
    }
}
