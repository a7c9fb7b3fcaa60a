//! The report of a grid: the best cells on standard output, and its files.

use std::fs;
use std::path::Path;

use serde::Deserialize;
use serde_json::Value;
use syrch::syrch_core::text::few;
use syrch_grading::grade::report::render::{markdown, tables};
use syrch_grading::grade::report::{Cell, GridReport};
use syrch_report::words::count;

use crate::commands::Context;
use crate::commands::graded::Inputs;
use crate::commands::graded::text::describe_unfinished;
use crate::failure::{Failure, Outcome};
use crate::output::Output;
use crate::sink::{Format, json as sink, table, terminal};

/// The name of a file, and whether a text is the content of such a file.
type Known = (&'static str, fn(&str) -> bool);

/// The files of a grid, and how each is recognised.
const FILES: [Known; 4] = [
    ("config.json", |text| has_schema(text, "syrch.grid-config/")),
    ("results.json", |text| has_schema(text, "syrch.grid/")),
    ("best.json", is_best),
    ("summary.md", |text| text.starts_with("# Grid\n")),
];
/// Cells that a terminal is shown.
const SHOWN: usize = 15;

/// Checks the folder of `--out` before any work: only files of a grid may be replaced.
pub(super) fn check(folder: &Path) -> Outcome<()> {
    let wrong = |why: &str| Failure::usage(format!("--out `{}`: {why}", folder.display()));
    match fs::metadata(folder) {
        Ok(about) if !about.is_dir() => {
            return Err(wrong("is no folder").hint("--out takes a folder"));
        }
        Ok(_) => {}
        Err(_) => {
            let parent = folder
                .parent()
                .filter(|parent| !parent.as_os_str().is_empty())
                .unwrap_or(Path::new("."));
            return match parent.is_dir() && folder.file_name().is_some() {
                true => Ok(()),
                false => Err(wrong(&format!("there is no folder `{}`", parent.display()))
                    .hint("--out makes its own folder, and none above it")),
            };
        }
    }
    match FILES.iter().find(|(name, is_ours)| is_foreign(&folder.join(name), *is_ours)) {
        None => Ok(()),
        Some((name, _)) => {
            Err(wrong(&format!("its `{name}` is not that of a grid, and would be replaced"))
                .hint("name another folder, such as one that is not there yet"))
        }
    }
}

/// Returns true if the path holds something that no grid wrote.
fn is_foreign(path: &Path, is_ours: fn(&str) -> bool) -> bool {
    match fs::symlink_metadata(path) {
        Err(_) => false,
        Ok(about) if !about.is_file() => true,
        Ok(_) => !fs::read_to_string(path).is_ok_and(|text| is_ours(&text)),
    }
}

fn has_schema(text: &str, schema: &str) -> bool {
    /// The part of a document that names its format.
    #[derive(Deserialize)]
    struct Marked {
        schema: String,
    }
    serde_json::from_str::<Marked>(text).is_ok_and(|marked| marked.schema.starts_with(schema))
}

/// The document of the best cell has no schema of its own.
fn is_best(text: &str) -> bool {
    text.trim() == "null" || serde_json::from_str::<Cell>(text).is_ok()
}

/// Makes the folder of `--out`, or refuses one whose files the run reads. Called when all other
/// checks have passed.
pub(super) fn spare(folder: &Path, inputs: &Inputs) -> Outcome<()> {
    if !folder.is_dir() {
        return fs::create_dir(folder)
            .map_err(|error| Failure::usage(format!("--out `{}`: {error}", folder.display())));
    }
    FILES.iter().try_for_each(|(name, _)| {
        let spared = Output::open_flag("--out", &folder.join(name))?.refuse_input("--out", inputs);
        spared.map_err(|failure| {
            failure.hint("--out replaces what its files hold; name another folder")
        })
    })
}

/// The report as one JSON document.
pub(crate) fn json(report: &GridReport) -> Outcome<String> {
    Ok(sink::document(&serde_json::to_value(report).map_err(Failure::unwritable_document)?))
}

/// Prints the report in the chosen format, and its warnings on standard error.
pub(crate) fn print(context: &Context, report: &GridReport) -> Outcome<()> {
    match context.format {
        Format::Auto | Format::Table => {
            context.output.write(&render_best(report, context.output.width()))?
        }
        Format::Markdown => context.output.write(&markdown::grid(report))?,
        Format::Json => {
            context.document(serde_json::to_value(report).map_err(Failure::unwritable_document)?)?
        }
        Format::Jsonl | Format::Csv => context.rows(tables::grid(report).grid, || Value::Null)?,
    }
    report.basis.warnings.iter().for_each(|warning| context.console.warn(warning));
    Ok(())
}

/// The best cells, in words and as a table.
fn render_best(report: &GridReport, width: Option<u16>) -> String {
    let mut out = terminal::line(&headline(report)).into_owned() + "\n";
    out += &describe_unfinished(&report.basis);
    let mut grid = tables::grid(report).grid;
    let left = grid.rows.len().saturating_sub(SHOWN);
    grid.rows.truncate(SHOWN);
    out += &format!("\n{}", table::render(&grid, width));
    if left > 0 {
        out += &format!("and {left} more: results.json and --format json have them all\n");
    }
    out
}

fn headline(report: &GridReport) -> String {
    let simulated =
        report.basis.simulated.as_ref().map(|model| format!(" ({model})")).unwrap_or_default();
    let Some(best) = report.best_cell() else { return report.without_best().to_owned() };
    let how = match (best.share.of, best.mean_confidence) {
        (0, Some(confidence)) => format!("with confidence {confidence:.2}"),
        (0, None) => "without an answer".to_owned(),
        (of, _) => format!("with {} right of {of}", best.share.right),
    };
    let ties = match report.ties.len() {
        0 => String::new(),
        1 => "; 1 other is not significantly worse".to_owned(),
        many => format!("; {many} others are not significantly worse"),
    };
    let cells = count(report.cells.len() as u64, "cell");
    format!("best of {cells}: {} {how}{simulated}{ties}", best.name)
}

/// Writes `config.json`, `results.json`, `best.json` and `summary.md`, each as a whole or not at
/// all.
pub(super) fn files(context: &Context, report: &GridReport, folder: &Path) -> Outcome<()> {
    // Another program may have written there since.
    check(folder)?;
    let mut names = Vec::new();
    for (name, text) in report.files() {
        Output::open_flag("--out", &folder.join(name))?.write(&text)?;
        names.push(name);
    }
    context.console.note(&format!("{} are in {}", few(names), folder.display()));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exit::Exit;

    #[test]
    fn only_the_files_of_a_grid_are_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let put = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
        let refused = || check(folder.path()).err().map(|failure| (failure.exit, failure.message));
        assert_eq!(refused(), None);
        for (name, ours) in [
            ("config.json", "{\n  \"schema\": \"syrch.grid-config/1\"}"),
            ("results.json", "{\"schema\": \"syrch.grid/1\", \"cells\": []}"),
            ("best.json", "null\n"),
            ("summary.md", "# Grid\n\nNo cell was tried.\n"),
        ] {
            for theirs in ["", "{}", "[]", "# Notes\n", "{\"schema\": \"mine/1\"}"] {
                put(name, theirs);
                let (exit, message) = refused().unwrap();
                assert!(
                    exit == Exit::Usage
                        && message.contains(&format!("its `{name}` is not that of a grid")),
                    "{message}"
                );
            }
            put(name, ours);
            assert_eq!(refused(), None, "{name}");
        }
        let inputs = [("the suite", folder.path().join("results.json"))];
        let failure = spare(folder.path(), &inputs).unwrap_err();
        assert!(
            failure.message.starts_with("--out `") && failure.message.ends_with("is the suite"),
            "{}",
            failure.message
        );
        #[cfg(unix)]
        {
            fs::remove_file(folder.path().join("best.json")).unwrap();
            std::os::unix::fs::symlink("results.json", folder.path().join("best.json")).unwrap();
            assert!(refused().is_some());
        }
    }

    #[test]
    fn one_folder_is_made_and_none_above_it() {
        let folder = tempfile::tempdir().unwrap();
        let new = folder.path().join("new");
        let deep = folder.path().join("a/b");
        assert_eq!((check(&new), new.exists()), (Ok(()), false));
        assert_eq!((spare(&new, &[]), new.is_dir()), (Ok(()), true));
        assert!(check(&deep).unwrap_err().message.contains("there is no folder"));
        assert!(check(Path::new("..")).is_ok() && !folder.path().join("a").exists());
    }
}
