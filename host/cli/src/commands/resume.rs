//! `search --resume`: continues a run that was killed, with its recorded settings.

use std::path::PathBuf;

use syrch::journal::{Folder, Journal};
use syrch::settings::{ModelSettings, ServerSettings, read_settings};
use syrch::syrch_core::DatabaseUrl;

use super::Context;
use super::asking::SearchArgs;
use crate::config::provider::vendor_key;
use crate::config::spec::TRUST;
use crate::config::{Config, Origin};
use crate::environment::KEY;
use crate::failure::{Failure, Outcome};
use crate::shell;

/// The options of a resumed run that come from the current configuration and not from the journal:
/// keys and addresses, whom the user trusts, whether to ask the user, the cache, and telemetry.
const TODAY: [&str; 8] = [
    "llm.api_key",
    "llm.base_url",
    "llm.insecure_endpoint",
    TRUST,
    "execution.interactive",
    "cache.enabled",
    "telemetry.otlp_endpoint",
    "telemetry.otlp_sql",
];

/// Puts the recorded settings of a run in force. Returns the file of its journal.
pub(super) fn settle(context: &mut Context, run: &str, arguments: &SearchArgs) -> Outcome<PathBuf> {
    let other = arguments.flags.entries().find(|(spec, ..)| !TODAY.contains(&spec.key));
    if let Some((_, _, origin)) = other {
        return Err(Failure::usage(format!("{origin} does not go with --resume")).hint(
            "a resumed run has the settings that it began with; start another search for others",
        ));
    }
    if let Some(parameter) = arguments.parameters.first() {
        return Err(Failure::usage(format!("-P {} does not go with --resume", parameter.key))
            .hint(
                "a resumed run has the settings that it began with; start another \
                 search for others",
            ));
    }
    let folder = folder(&context.config)?;
    // A run is named by its id only: a file from elsewhere could send the user's key to another
    // endpoint.
    let path = Folder::new(folder).find(run).map_err(syrch::Error::from)?.path;
    let header = Journal::read_header(&path).map_err(syrch::Error::from)?;
    let today = &context.config.effective.settings;
    let mut settings = read_settings(&header, today)?;
    settings.database = with_secrets(&settings.database, &today.database)?;
    give_keys(&mut settings.model, &today.model, context)?;
    settings.model.insecure_endpoint = today.model.insecure_endpoint;
    settings.cache.folder.clone_from(&today.cache.folder);
    settings.cache.shared.clone_from(&today.cache.shared);
    settings.imports = today.imports.with_options_of(&settings.imports);
    settings.journal.folder.clone_from(&today.journal.folder);
    settings.retrieval.folder.clone_from(&today.retrieval.folder);
    settings.spans.clone_from(&today.spans);
    // The run is the user's own, and so is its database.
    settings.servers =
        ServerSettings { named: Some(settings.database.clone()), ..today.servers.clone() };
    context.config.effective.settings = settings;
    Ok(path)
}

/// The address of a run's database with the passwords of today's, which no journal holds.
pub(crate) fn with_secrets(recorded: &str, today: &str) -> Outcome<String> {
    let [url, today] = [recorded, today].map(DatabaseUrl::parse);
    if url.secrets().is_empty() {
        return Ok(recorded.to_owned());
    }
    match today.to_string() == recorded {
        true => Ok(today.expose().to_owned()),
        false => Err(Failure::config(format!(
            "the password of `{recorded}` is not known: journals hold none"
        ))
        .hint(
            "name the run's database with its password by SYRCH_DB or `execution: {db_path: …}`",
        )),
    }
}

/// Gives the run's endpoints the keys of today, each only where it may go: a vendor's to the
/// vendor, the user's to the endpoint that it is configured for.
fn give_keys(
    recorded: &mut ModelSettings,
    today: &ModelSettings,
    context: &Context,
) -> Outcome<()> {
    let is_vendors =
        matches!(context.config.origin("llm.api_key"), Origin::Environment(name) if name != KEY);
    if today.api_key.is_some() && !is_vendors && today.base_url.trim() != recorded.base_url.trim() {
        let asked = &recorded.base_url;
        return Err(Failure::config(format!(
            "the run asked `{asked}`, and the key is for another endpoint"
        ))
        .hint(format!("if the key may go there, say so by --base-url {}", shell::quote(asked))));
    }
    recorded.api_key = match &today.api_key {
        Some(key) if !is_vendors => Some(key.clone()),
        _ => vendor_key(&context.environment, recorded.provider, &recorded.base_url)
            .map(|(_, key)| key),
    };
    for (name, endpoint) in &mut recorded.endpoints {
        let same =
            today.endpoints.get(name).filter(|one| one.base_url.trim() == endpoint.base_url.trim());
        endpoint.api_key = same.and_then(|one| one.api_key.clone()).or_else(|| {
            vendor_key(&context.environment, endpoint.provider, &endpoint.base_url)
                .map(|(_, key)| key)
        });
    }
    Ok(())
}

/// The folder of the journals of runs.
pub(crate) fn folder(config: &Config) -> Outcome<PathBuf> {
    config.runs.clone().ok_or_else(|| {
        Failure::config("there is no folder for journals")
            .hint("set SYRCH_STATE_DIR to a folder of yours")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_that_of_today_for_the_same_database_only() {
        let recorded = "postgres://ann:***@h/shop";
        assert_eq!(
            with_secrets(recorded, "postgres://ann:pw@h/shop"),
            Ok("postgres://ann:pw@h/shop".to_owned())
        );
        assert!(with_secrets(recorded, "postgres://ann:pw@h/bank").is_err());
        assert_eq!(
            with_secrets("shop.sqlite", "postgres://ann:pw@h/bank"),
            Ok("shop.sqlite".to_owned())
        );
    }
}
