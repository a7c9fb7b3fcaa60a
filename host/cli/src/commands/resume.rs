//! `search --resume`: goes on with a run that was killed, with the settings that it began with.

use std::path::PathBuf;

use syrch::journal::{Folder, Journal};
use syrch::recorded_settings;

use super::Context;
use crate::args::SearchArgs;
use crate::config::Config;
use crate::failure::{Failure, Outcome};

/// The options that a resumed run takes from today: who is asked for the user's part, and with which key.
const TODAY: [&str; 3] = ["llm.api_key", "llm.base_url", "execution.interactive"];

/// Puts the settings of the run in force; the file of its journal.
pub(super) fn settle(context: &mut Context, run: &str, arguments: &SearchArgs) -> Outcome<PathBuf> {
    let other = arguments.flags.entries().find(|(spec, ..)| !TODAY.contains(&spec.key));
    if let Some((_, _, origin)) = other {
        return Err(Failure::usage(format!("{origin} does not go with --resume"))
            .hint("a resumed run has the settings that it began with; start another search for others"));
    }
    if let Some(parameter) = arguments.parameters.first() {
        return Err(Failure::usage(format!("-P {} does not go with --resume", parameter.key))
            .hint("a resumed run has the settings that it began with; start another search for others"));
    }
    let folder = folder(&context.config)?;
    // A run is named by its id only: a file from elsewhere could send the user's key to another endpoint.
    let path = Folder::new(folder).find(run).map_err(syrch::Error::from)?.path;
    let header = Journal::read_header(&path).map_err(syrch::Error::from)?;
    let mut settings = recorded_settings(&header)?;
    let today = &context.config.effective.settings;
    if today.model.api_key.is_some() && today.model.base_url.trim() != settings.model.base_url.trim() {
        return Err(Failure::config(format!(
            "the run asked `{}`, and the key is for another endpoint",
            settings.model.base_url
        ))
        .hint(format!("if the key may go there, say so by --base-url {}", settings.model.base_url)));
    }
    settings.model.api_key.clone_from(&today.model.api_key);
    settings.cache_dir.clone_from(&today.cache_dir);
    settings.journal.folder.clone_from(&today.journal.folder);
    context.config.effective.settings = settings;
    Ok(path)
}

/// Where the journals of runs are.
pub(crate) fn folder(config: &Config) -> Outcome<PathBuf> {
    config.runs.clone().ok_or_else(|| {
        Failure::config("there is no folder for journals").hint("set SYRCH_STATE_DIR to a folder of yours")
    })
}
