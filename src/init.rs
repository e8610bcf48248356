//! `layout-sweep init`.

use std::path::{Path, PathBuf};

use clap::Args;
use coordinator::ExitCode;

use crate::failure::Failure;
use crate::output::{narrate, print, table};

/// Arguments of `init`.
#[derive(Args)]
pub(crate) struct Arguments {
    /// Name of the example; without it the examples are listed.
    name: Option<String>,
    /// Folder that it is written to, with what it needs beside it.
    #[arg(long, default_value = "cohorts")]
    to: PathBuf,
}

/// A definition that is inside the binary, and the files that it needs beside it: path below its folder, text.
struct Example {
    name: &'static str,
    about: &'static str,
    text: &'static str,
    beside: &'static [(&'static str, &'static str)],
}

/// Every example, the shortest first.
static EXAMPLES: &[Example] = &[
    Example {
        name: "quick-gemm-cpu",
        about: "a small matrix product on this machine's CPU, within seconds",
        text: include_str!("../cohorts/quick-gemm-cpu.toml"),
        beside: &[],
    },
    Example {
        name: "siglip-mlp-cpu",
        about: "an MLP on this machine's CPU, within minutes",
        text: include_str!("../cohorts/siglip-mlp-cpu.toml"),
        beside: &[],
    },
    Example {
        name: "matmul-command",
        about: "a C program with two free parameters, built and run by command lines",
        text: include_str!("../cohorts/matmul-command.toml"),
        beside: &[("kernels/matmul.c", include_str!("../cohorts/kernels/matmul.c"))],
    },
    Example {
        name: "siglip-mlp-ipu21",
        about: "the same MLP on a 1,472-tile machine in software",
        text: include_str!("../cohorts/siglip-mlp-ipu21.toml"),
        beside: &[],
    },
    Example {
        name: "sdxl-attention-kohaku",
        about: "attention on clusters and vector cores in software",
        text: include_str!("../cohorts/sdxl-attention-kohaku.toml"),
        beside: &[],
    },
];

/// Lists the examples, or writes one. Nothing that is there is overwritten.
pub(crate) fn execute(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let Some(name) = &arguments.name else {
        let rows = EXAMPLES
            .iter()
            .map(|e| vec![e.name.to_owned(), e.about.to_owned()])
            .collect();
        print(&table(&["example", "what it sweeps"], rows));
        return Ok(ExitCode::Done);
    };
    let example = EXAMPLES.iter().find(|example| example.name == name).ok_or_else(|| {
        let names: Vec<&str> = EXAMPLES.iter().map(|example| example.name).collect();
        Failure::usage(format!("no example is called `{name}`; there are {}", names.join(", ")))
    })?;
    let definition = arguments.to.join(format!("{name}.toml"));
    let beside = example
        .beside
        .iter()
        .map(|(path, text)| (arguments.to.join(path), *text));
    let files: Vec<(PathBuf, &str)> = std::iter::once((definition.clone(), example.text))
        .chain(beside)
        .collect();
    if let Some((there, _)) = files.iter().find(|(path, _)| path.exists()) {
        let message = format!("`{}` is there already and is not overwritten", there.display());
        return Err(Failure::usage(message).help("`--to FOLDER` writes elsewhere"));
    }
    for (path, text) in &files {
        write(path, text).map_err(|error| Failure::because(ExitCode::Usage, "the example can't be written", error))?;
        narrate(&format!("wrote `{}`", path.display()));
    }
    print(&format!("layout-sweep sweep {}", definition.display()));
    Ok(ExitCode::Done)
}

fn write(path: &Path, text: &str) -> std::io::Result<()> {
    if let Some(folder) = path.parent() {
        fs_err::create_dir_all(folder)?;
    }
    fs_err::write(path, text)
}
