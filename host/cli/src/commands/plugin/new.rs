//! `plugin new`: writes a project.

use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::json;
use syrch::syrch_core::roles::Role;
use syrch_projects::{Language, Name, new};

use super::agreed;
use super::project::{language_parser, role_parser};
use super::{Context, Run};
use crate::config::Given;
use crate::exit::Exit;
use crate::failure::Outcome;
use crate::shell;
use crate::sink::{Format, Grid};

#[derive(Args)]
pub(crate) struct NewArgs {
    /// The plugin's name: lower-case words with hyphens between them
    name: String,
    /// A role that it implements; several are allowed
    #[arg(
        long = "role", value_name = "ROLE", required = true, num_args = 1..,
        value_parser = role_parser()
    )]
    roles: Vec<Role>,
    /// The language that it is written in
    #[arg(long = "lang", value_name = "LANG", value_parser = language_parser())]
    language: Language,
    /// The folder of the project, which must be new or empty, instead of ./NAME
    #[arg(long, value_name = "DIR")]
    into: Option<PathBuf>,
}

impl Run for NewArgs {
    // A wrong configuration is no reason not to write files.
    fn config_flags(&self) -> Option<Given<'_>> {
        None
    }

    async fn run(mut self, context: Context) -> Outcome {
        self.roles.sort();
        self.roles.dedup();
        let name = Name::new(&self.name)?;
        let files = new::files(&name, self.language, &self.roles)?;
        let folder = self.into.unwrap_or_else(|| PathBuf::from(&self.name));
        new::write(&folder, &files)?;
        agreed::remember_own(&context, &folder);
        let next = next(&folder, &name, &self.roles);
        if matches!(context.format, Format::Auto | Format::Table) {
            let roles = self.roles.iter().map(|role| role.name()).collect::<Vec<_>>().join(", ");
            let count = files.len();
            let language = self.language;
            let folder = folder.display();
            context.output.write(&format!(
                "{count} files of a {roles} in {language} are in {folder}. Next:\n\n  {}\n",
                next.join("\n  ")
            ))?;
            return Ok(Exit::Answered);
        }
        let mut grid = Grid::new(["file", "bytes"]);
        grid.rows =
            files.iter().map(|(path, content)| vec![json!(path), json!(content.len())]).collect();
        context.rows(grid, || {
            json!({
                "schema": "syrch.project/1",
                "name": name.as_str(),
                "language": self.language.name(),
                "roles": self.roles,
                "folder": folder.display().to_string(),
                "files": files.keys().collect::<Vec<_>>(),
                "next": next,
            })
        })?;
        Ok(Exit::Answered)
    }
}

/// The commands that come next.
fn next(folder: &Path, name: &Name, roles: &[Role]) -> Vec<String> {
    let shown = folder.display().to_string();
    // Commands would read a name that begins so as a flag.
    let shown = if shown.starts_with('-') { format!("./{shown}") } else { shown };
    let shown = shell::quote(&shown);
    let component = format!("{shown}/build/{}.wasm", name.as_str());
    let mut next =
        vec![format!("syrch-host plugin build {shown}"), format!("syrch-host plugin test {shown}")];
    let flags: Vec<String> = roles
        .iter()
        .filter(|role| Role::SEARCH.contains(role))
        .map(|role| format!("--{role} {component}"))
        .collect();
    if !flags.is_empty() {
        next.push(format!("syrch-host {} -q \"…\" --db shop.sqlite", flags.join(" ")));
    }
    if roles.contains(&Role::Rewriter) {
        next.push(format!(
            "syrch-host optimize --rewriter {component} --db shop.sqlite \"SELECT …\""
        ));
    }
    next
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_commands_have_the_paths_and_the_roles() {
        let name = Name::new("mine").unwrap();
        let next = super::next(
            Path::new("my work/it's"),
            &name,
            &[Role::Solver, Role::Reward, Role::Rewriter],
        );
        assert_eq!(
            next,
            [
                r"syrch-host plugin build 'my work/it'\''s'",
                r"syrch-host plugin test 'my work/it'\''s'",
                r#"syrch-host --solver 'my work/it'\''s'/build/mine.wasm --reward 'my work/it'\''s'/build/mine.wasm -q "…" --db shop.sqlite"#,
                r#"syrch-host optimize --rewriter 'my work/it'\''s'/build/mine.wasm --db shop.sqlite "SELECT …""#,
            ]
        );
        let next = super::next(Path::new("-v"), &name, &[Role::Calibrator]);
        assert_eq!(next[0], "syrch-host plugin build ./-v");
    }
}
