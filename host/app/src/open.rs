//! The registry of backends: which database a URL means, which provider a name means. Nowhere else is one named.

use std::sync::Arc;

use secrecy::SecretString;
use syrch_core::ports::{CellIndex, Database, ModelProvider};
use syrch_layers::GrantedIndex;
use syrch_llm::{OfflineConfig, OfflineProvider, OpenAiConfig, OpenAiProvider};
use syrch_sqlite::{SqliteConfig, SqliteDatabase};

use crate::{Error, Provider, Settings};

/// Opens the database of the settings. It is never created and never written.
///
/// # Errors
/// When it is missing, is something else, or cannot be read.
pub async fn open_database(settings: &Settings) -> Result<Arc<dyn Database>, Error> {
    let url = settings.database.trim();
    if url.is_empty() {
        return Err(Error::Config("no database is named".to_owned()));
    }
    let path = match url.split_once(':') {
        Some(("sqlite", path)) => path.strip_prefix("//").unwrap_or(path),
        // A single letter is a drive, and a name with a separator before the colon is a path.
        Some((scheme, _)) if scheme.len() > 1 && scheme.chars().all(|c| c.is_ascii_alphanumeric() || c == '+') => {
            return Err(Error::Config(format!("no executor for `{scheme}:` databases; this host reads sqlite:PATH")));
        }
        _ => url,
    };
    let config =
        SqliteConfig { tables: settings.tables.clone(), limits: settings.limits.clone(), ..SqliteConfig::new(path) };
    let database = tokio::task::spawn_blocking(move || SqliteDatabase::open(config))
        .await
        .map_err(|error| Error::Internal(error.to_string()))??;
    Ok(Arc::new(database))
}

/// Opens the model provider of the settings; nothing is sent yet.
pub(crate) fn open_model(settings: &Settings, database: &Arc<dyn Database>) -> Result<Arc<dyn ModelProvider>, Error> {
    let model = &settings.model;
    match model.provider {
        Provider::Offline => {
            let cells: Arc<dyn CellIndex> =
                Arc::new(GrantedIndex { index: Arc::clone(database) as _, grant: settings.rows });
            let mut config = OfflineConfig::default();
            if let Some(threshold) = model.offline_threshold {
                config.threshold = threshold;
            }
            Ok(Arc::new(OfflineProvider::new(Some(cells), config)))
        }
        Provider::Openai => {
            let api_key: Option<SecretString> = model.api_key.clone();
            let config = OpenAiConfig {
                api_key,
                temperature: Some(model.temperature),
                max_tokens: model.max_tokens,
                timeout: model.timeout,
                limits: settings.limits.clone(),
                ..OpenAiConfig::new(&model.base_url, &model.model)
            };
            let provider = OpenAiProvider::new(config).map_err(|error| Error::Config(error.to_string()))?;
            Ok(Arc::new(provider))
        }
    }
}
