//! `plugin review`: compares an added plugin with what it was added from.

use clap::Args;
use serde_json::json;
use syrch::settings::PluginSource;
use syrch::syrch_core::text::escape::escape_quotation;

use super::locked::{self, RegistryArgs};
use super::sheet::inspect_plugin;
use super::signed::BundleArgs;
use super::{Context, Run};
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::sink::{Format, Grid};

#[derive(Args)]
pub(crate) struct ReviewArgs {
    /// The name of an added plugin
    name: String,
    #[command(flatten)]
    bundle: BundleArgs,
    #[command(flatten)]
    registry: RegistryArgs,
}

impl Run for ReviewArgs {
    async fn run(self, context: Context) -> Outcome {
        let lock = locked::lock(&context)?;
        let old = locked::find(&lock, &self.name)?;
        // The component in the store has to be the one that was added.
        inspect_plugin(&context, &PluginSource::Builtin(self.name.clone())).await?;
        let name = Some(self.name.as_str());
        let (_, mut new, _staged) =
            locked::examine(&context, &old.source, name, None, &self.bundle, &self.registry)
                .await?;
        new.granted = old.granted.narrow(&new.wanted).map_err(Failure::config)?;
        context.console.clear();
        let lines = locked::describe(&self.name, Some(old), &new);
        if lines.is_empty() && matches!(context.format, Format::Auto | Format::Table) {
            let name = &self.name;
            let text = format!("{name} is as it was added: nothing has changed\n");
            context.output.write(&context.scrubber.text(&text))?;
            return Ok(Exit::Answered);
        }
        let mut grid = Grid::new(["change"]);
        grid.rows = lines.iter().map(|line| vec![json!(line)]).collect();
        context.rows(grid, || {
            json!({
                "schema": "syrch.review/1",
                "changes": lines,
                "old": locked::sheet(&self.name, old),
                "new": locked::sheet(&self.name, &new),
            })
        })?;
        if lines.is_empty() {
            return Ok(Exit::Answered);
        }
        let source = quote_for_shell(&old.source.display().to_string());
        let name = quote_for_shell(&self.name);
        context.console.note(&format!(
            "the plugin is used as it was added; `syrch-host plugin add {source} --name {name}` \
             accepts the new one"
        ));
        Ok(Exit::Gate)
    }
}

/// A word as a shell takes it, whatever is in it; what a terminal would obey stands there as its
/// code.
fn quote_for_shell(word: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "/._-".contains(letter);
    if !word.is_empty() && !word.starts_with('-') && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", escape_quotation(&word.replace('\'', "'\\''")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_one_word_of_a_shell() {
        for (path, word) in [
            ("/home/me/votes.tar", "/home/me/votes.tar"),
            ("/tmp/a b; rm -rf $HOME", "'/tmp/a b; rm -rf $HOME'"),
            ("/tmp/it's", "'/tmp/it'\\''s'"),
            ("/tmp/a\nb", "'/tmp/a\\nb'"),
        ] {
            assert_eq!(quote_for_shell(path), word);
        }
    }
}
