//! `plugin build`: makes the component of a project with the tools of its language.

use clap::Args;
use serde_json::{Value, json};
use syrch_projects::Project;

use super::project::{self, Finished, ProjectArgs};
use super::sheet::{roles, sheet};
use super::{Context, Run};
use crate::exit::Exit;
use crate::failure::Outcome;
use crate::sink::{Format, Grid, terminal};

#[derive(Args)]
pub(crate) struct BuildArgs {
    #[command(flatten)]
    project: ProjectArgs,
}

impl Run for BuildArgs {
    fn ends_interrupts(&self) -> bool {
        true
    }

    async fn run(self, context: Context) -> Outcome {
        context.interrupt.listen_to_ends();
        let project = Project::read(&self.project.folder)?;
        let finished = project::build(&context, &self.project, &project).await?;
        if matches!(context.format, Format::Auto | Format::Table) {
            context.output.write(&format!("{}\n", line(&finished)))?;
            return Ok(Exit::Answered);
        }
        let document = document(&finished);
        let mut grid = Grid::new(["property", "value"]);
        if let Value::Object(properties) = &document {
            grid.rows = properties
                .iter()
                .skip(1)
                .map(|(name, value)| vec![json!(name), value.clone()])
                .collect();
        }
        context.rows(grid, || document)?;
        Ok(Exit::Answered)
    }
}

/// Writes the result of a build in a line.
pub(super) fn line(finished: &Finished) -> String {
    let Finished { path, plugin, seconds } = finished;
    let imports =
        if plugin.imports.is_empty() { "no ports".to_owned() } else { plugin.imports.join(", ") };
    let kib = plugin.bytes.div_ceil(1024);
    let roles = roles(plugin).join(", ");
    let path = path.display().to_string();
    format!("{}: {kib} KiB, {roles} with {imports}, {seconds:.1} s", terminal::line(&path))
}

/// The same as the document `syrch.build/1`.
fn document(finished: &Finished) -> Value {
    let mut document = json!({
        "schema": "syrch.build/1",
        "path": finished.path.display().to_string(),
        "seconds": finished.seconds,
    });
    let Value::Object(properties) = sheet(&finished.plugin) else { return document };
    for key in ["name", "version", "digest", "bytes", "roles", "imports"] {
        if let (Some(value), Value::Object(document)) = (properties.get(key), &mut document) {
            document.insert(key.to_owned(), value.clone());
        }
    }
    document
}
