//! The arms of a graded run as its manifest holds them: their plugins, their settings, and the
//! digests of the files that they read.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::{Map, Value, json};
use syrch::databases::{content_digest, open_database};
use syrch::internal::asks_endpoint;
use syrch::knowledge::Knowledge;
use syrch::settings::PluginSource;
use syrch::{Error, Host, Settings, internal};
use syrch_core::roles::Role;
use syrch_grade::run::{Arm, PluginOfArm};
use syrch_grade::suite;

use super::arena::Arena;

/// The arms as the header of a run holds them. Their plugins are loaded.
///
/// The first `own` arms are the run's own. After them come the same arms again, under further
/// seeds.
pub(super) async fn arms_of(
    names: &[String],
    own: usize,
    arena: &Arena,
) -> Result<Vec<Arm>, Error> {
    let db = arena
        .names()
        .next()
        .ok_or_else(|| Error::Config("the suite has no questions".to_owned()))?;
    let mut arms: Vec<Arm> = Vec::new();
    for (at, (name, settings)) in names.iter().zip(arena.arms()).enumerate() {
        let host = arena.host(at, db).await?;
        let mut arm = arm(name, &host);
        let again = at.checked_rem(own).and_then(|first| arms.get(first)).filter(|_| at >= own);
        arm.again = again.map(|again| again.name.clone());
        let known = reads_as(arena.arms(), at).and_then(|known| arms.get(known));
        let inputs = match known {
            Some(known) => known.settings.get(INPUTS).cloned().unwrap_or_else(|| json!({})),
            None => Value::Object(inputs(settings, arena).await?),
        };
        if let Some(settings) = arm.settings.as_object_mut().filter(|_| inputs != json!({})) {
            settings.insert(INPUTS.to_owned(), inputs);
        }
        arms.push(arm);
    }
    Ok(arms)
}

/// The key of an arm's settings that holds the digests of the files that it reads.
const INPUTS: &str = "inputs";

/// The first of the arms before this one that reads the same files for the same tables.
fn reads_as(arms: &[Settings], at: usize) -> Option<usize> {
    let read = |arm: &Settings| {
        let simulated = arm.model.simulated.as_ref().map(|simulated| simulated.suite.clone());
        (arm.model.replay.clone(), simulated)
    };
    let own = arms.get(at)?;
    arms.iter().take(at).position(|other: &Settings| {
        other.retrieval == own.retrieval && other.tables == own.tables && read(other) == read(own)
    })
}

/// The digests of the recording, of the simulated model's suite, and of the notes, examples and
/// index of each database.
async fn inputs(settings: &Settings, arena: &Arena) -> Result<Map<String, Value>, Error> {
    let mut inputs = Map::new();
    if let Some(path) = settings.model.replay.clone() {
        let shown = path.display().to_string();
        let digest = blocking(move || content_digest(&[path], &[])).await?;
        let digest = digest.map_err(|error| {
            Error::Unfit(format!("the recording `{shown}` cannot be read: {error}"))
        })?;
        inputs.insert("replay".to_owned(), digest.into());
    }
    if let Some(path) = settings.model.simulated.as_ref().map(|simulated| simulated.suite.clone()) {
        let read = blocking(move || suite::read(&path)).await??;
        inputs.insert("simulated".to_owned(), read.digest.into());
    }
    let knowledge = knowledge(settings, arena).await?;
    if !knowledge.is_empty() {
        inputs.insert("knowledge".to_owned(), json!(knowledge));
    }
    Ok(inputs)
}

/// A digest of the notes, examples and index of each database that has any.
async fn knowledge(settings: &Settings, arena: &Arena) -> Result<BTreeMap<String, String>, Error> {
    let retrieval = &settings.retrieval;
    let is_some = retrieval.notes.is_some() || retrieval.examples.is_some();
    if !is_some && !retrieval.folder.as_ref().is_some_and(|folder| folder.exists()) {
        return Ok(BTreeMap::new());
    }
    let mut all = BTreeMap::new();
    for db in arena.names() {
        let tables = settings.tables.clone();
        let database =
            open_database(&Settings { tables, ..settings.for_database(arena.url(db)?) }).await?;
        let catalog = database.catalog().await?;
        let retrieval = retrieval.clone();
        let (knowledge, _) = blocking(move || Knowledge::read(&retrieval, &catalog)).await??;
        all.extend(knowledge.digest().map(|digest| (db.clone(), digest)));
    }
    Ok(all)
}

/// Runs work that reads for long on a thread that may block.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Error> {
    tokio::task::spawn_blocking(work).await.map_err(|error| Error::Internal(error.to_string()))
}

fn arm(name: &str, host: &Host) -> Arm {
    let mut settings = internal::lasting_settings(&internal::journal_settings(host.settings()));
    let mut shift = |pointer: &str, keys: &[&str]| {
        if let Some(settings) = settings.pointer_mut(pointer).and_then(Value::as_object_mut) {
            keys.iter().for_each(|key| drop(settings.shift_remove(*key)));
        }
    };
    // The list of plugins has the roles, and the digests of each database have what retrieval
    // reads.
    shift("/strategy", &["roles"]);
    shift("/retrieval", &["digest"]);
    if !asks_endpoint(&host.settings().model) {
        shift("/model", &["model", "base_url", "temperature"]);
    }
    Arm {
        name: name.to_owned(),
        strategy: host.settings().strategy.name.clone(),
        plugins: host
            .plugins()
            .map(|(role, digest): (Role, &str)| {
                let source = host.settings().strategy.roles.get(&role);
                PluginOfArm {
                    role: role.name().to_owned(),
                    source: source.map(ToString::to_string).unwrap_or_default(),
                    digest: digest.to_owned(),
                }
            })
            .collect(),
        settings,
        again: None,
    }
}

/// The files that these settings name, each with what it is.
pub(super) fn files(settings: &Settings) -> Vec<(&'static str, PathBuf)> {
    let model = &settings.model;
    let retrieval = &settings.retrieval;
    let plugins = settings.strategy.roles.values().filter_map(|source| match source {
        PluginSource::File(path) => Some(("a plugin of the run", path.clone())),
        PluginSource::Builtin(_) => None,
    });
    let named = [
        ("a strategy file in use", &settings.strategy.file),
        ("the notes", &retrieval.notes),
        ("the solved examples", &retrieval.examples),
        ("the recording that answers", &model.replay),
        ("the recording that is made", &model.record),
    ];
    let named = named.into_iter().filter_map(|(what, path)| Some((what, path.clone()?)));
    let simulated = model
        .simulated
        .as_ref()
        .map(|simulated| ("the simulated model's suite", simulated.suite.clone()));
    named.chain(simulated).chain(plugins).collect()
}

/// The files below a folder, each with `what`. Folders that cannot be read are skipped.
pub(super) fn files_below(
    folder: &std::path::Path,
    what: &'static str,
) -> Vec<(&'static str, PathBuf)> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .flat_map(|entry: std::fs::DirEntry| match entry.file_type() {
            Ok(kind) if kind.is_dir() => files_below(&entry.path(), what),
            _ => vec![(what, entry.path())],
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use syrch::settings::SimulatedSettings;

    #[test]
    fn arms_that_read_the_same_are_read_for_once() {
        let base = Settings { tables: vec!["a".to_owned()], ..Settings::default() };
        let with = |change: fn(&mut Settings)| {
            let mut settings = base.clone();
            change(&mut settings);
            settings
        };
        let arms = [
            base.clone(),
            with(|arm| (arm.seed, arm.policy.max_attempts) = (7, 9)),
            with(|arm| arm.retrieval.notes = Some("notes.txt".into())),
            with(|arm| arm.tables.clear()),
            with(|arm| arm.model.replay = Some("recording.jsonl".into())),
            with(|arm| arm.model.simulated = Some(SimulatedSettings::new("suite.jsonl"))),
            with(|arm| {
                arm.model.simulated = Some(SimulatedSettings::new("suite.jsonl"));
                arm.seed = 7;
            }),
            with(|arm| arm.model.simulated = Some(SimulatedSettings::new("other.jsonl"))),
            base.clone(),
        ];
        let read: Vec<Option<usize>> = (0..arms.len()).map(|at| reads_as(&arms, at)).collect();
        assert_eq!(read, [None, Some(0), None, None, None, None, Some(5), None, Some(0)]);
    }
}
