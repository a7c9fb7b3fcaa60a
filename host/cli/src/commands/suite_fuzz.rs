//! `suite fuzz`: makes variants of the databases of a suite, on which answers that are right by
//! luck give wrong results.

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use serde_json::json;
use syrch::databases::suite_databases;
use syrch_grading::{FuzzManifest, FuzzObserver, FuzzOptions, fuzz, read_suite};

use super::Context;
use super::graded::{DATABASE, databases, databases_flag};
use crate::config::flags::Flags;
use crate::console::Console;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::sink::Grid;

#[derive(Args)]
#[command(mut_arg(DATABASE, databases))]
pub(crate) struct FuzzArgs {
    /// The suite: JSON lines, a JSON array (also BIRD's and Spider's), or CSV
    #[arg(value_name = "SUITE")]
    pub(crate) suite: PathBuf,
    /// Make the fuzzed suite in this folder, a new or an empty one
    #[arg(short, long, value_name = "FOLDER")]
    pub(crate) output: PathBuf,
    /// Variants of each database
    #[arg(
        long, value_name = "N", default_value_t = 12,
        value_parser = clap::value_parser!(u32).range(1..=1_000)
    )]
    pub(crate) variants: u32,
    /// The seed of everything random: the same seed makes the same variants
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,
    /// The options of a database.
    #[command(flatten)]
    pub(crate) flags: Flags<false>,
}

/// Makes the variants and prints them.
pub(super) async fn run(context: &Context, arguments: FuzzArgs) -> Outcome {
    let FuzzArgs { suite: path, output, variants, seed, .. } = arguments;
    let suite = read_suite(&path).await?;
    let databases = suite_databases(&suite, databases_flag(context).as_ref())?;
    let options = FuzzOptions { variants, seed };
    let settings = &context.config.effective.settings;
    let watch = Watch(Arc::clone(&context.console));
    let is_taken = std::fs::read_dir(&output).is_ok_and(|mut entries| entries.next().is_some());
    let made = fuzz(&suite, &databases, &output, options, settings, &watch).await;
    context.console.clear();
    let manifest = made.map_err(|error| match is_taken {
        true => Failure::from(error).hint("-o names another folder, one that is not there yet"),
        false => error.into(),
    })?;
    show(context, &manifest)?;
    context.console.note(&summary(&manifest, &output.display().to_string()));
    Ok(Exit::Answered)
}

struct Watch(Arc<Console>);

impl FuzzObserver for Watch {
    fn on_variants_made(&self, done: u64, of: u64) {
        self.0.progress(&format!("{done}/{of} databases"));
    }
}

fn show(context: &Context, manifest: &FuzzManifest) -> Outcome<()> {
    let mut grid = Grid::new(["database", "variant", "rows", "golds with rows", "golds"]);
    for (name, database) in &manifest.databases {
        grid.rows.extend(database.variants.iter().map(|variant: &syrch_grading::FuzzedVariant| {
            vec![
                json!(name),
                json!(variant.file),
                json!(variant.rows),
                json!(variant.golds),
                json!(variant.of),
            ]
        }));
    }
    let document = serde_json::to_value(manifest).map_err(Failure::unwritable_document)?;
    context.rows(grid, || document)
}

/// Writes the number of variants that were made and dropped, on one line.
fn summary(manifest: &FuzzManifest, folder: &str) -> String {
    let databases = manifest.databases.len();
    let made: usize = manifest.databases.values().map(|database| database.variants.len()).sum();
    let dropped: u32 = manifest.databases.values().map(|database| database.dropped).sum();
    let made = syrch::syrch_core::text::count(made, "variant");
    let databases = syrch::syrch_core::text::count(databases, "database");
    let dropped = match dropped {
        0 => String::new(),
        dropped => {
            format!("; {dropped} dropped, on which most of the expected statements had no rows")
        }
    };
    format!("{made} of {databases} in {folder}{dropped}")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use syrch_grading::FuzzedDatabase;

    use super::*;

    #[test]
    fn the_summary_counts() {
        let database = FuzzedDatabase {
            source: String::new(),
            variants: Vec::new(),
            dropped: 2,
            skipped: Vec::new(),
        };
        let manifest = FuzzManifest {
            format: String::new(),
            host: String::new(),
            suite: String::new(),
            seed: 0,
            databases: BTreeMap::from([("shop".to_owned(), database)]),
        };
        let expected = "0 variants of 1 database in out; 2 dropped, on which most of the expected \
                        statements had no rows";
        assert_eq!(summary(&manifest, "out"), expected);
    }
}
