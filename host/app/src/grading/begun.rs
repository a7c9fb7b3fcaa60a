//! What a run over a suite is begun with: its arms with their plugins, their settings and the content of the files that they name.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::{Map, Value, json};
use syrch_grade::run::{Arm, PluginOfArm};
use syrch_grade::suite;

use super::arena::Arena;
use super::content::content;
use crate::knowledge::Knowledge;
use crate::open::asks_endpoint;
use crate::{Error, Host, Settings, open_database, record};

/// What a run's header says of its arms; their plugins are loaded for it.
///
/// The first `own` of the names are the arms' own; after them come the same again, under further seeds.
pub(super) async fn arms_of(names: &[String], own: usize, arena: &Arena) -> Result<Vec<Arm>, Error> {
    let db = arena.names().next().ok_or_else(|| Error::Config("the suite has no questions".to_owned()))?;
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

/// Where the digests of what an arm reads stand in its settings.
const INPUTS: &str = "inputs";

/// The first arm, of those before this one, that reads the same files of the same tables.
fn reads_as(arms: &[Settings], at: usize) -> Option<usize> {
    let read = |arm: &Settings| {
        let simulated = arm.model.simulated.as_ref().map(|simulated| simulated.suite.clone());
        (arm.model.replay.clone(), simulated)
    };
    let own = arms.get(at)?;
    let is_same =
        |other: &Settings| other.retrieval == own.retrieval && other.tables == own.tables && read(other) == read(own);
    arms.iter().take(at).position(is_same)
}

/// The digests of the recording, of the simulated model's suite, and of what retrieval knows of each database.
async fn inputs(settings: &Settings, arena: &Arena) -> Result<Map<String, Value>, Error> {
    let mut inputs = Map::new();
    if let Some(path) = settings.model.replay.clone() {
        let shown = path.display().to_string();
        let digest = aside(move || content(&path)).await?;
        let digest =
            digest.map_err(|error| Error::Unfit(format!("the recording `{shown}` cannot be read: {error}")))?;
        inputs.insert("replay".to_owned(), digest.into());
    }
    if let Some(path) = settings.model.simulated.as_ref().map(|simulated| simulated.suite.clone()) {
        let read = aside(move || suite::read(&path)).await??;
        inputs.insert("simulated".to_owned(), read.digest.into());
    }
    let knowledge = knowledge(settings, arena).await?;
    if !knowledge.is_empty() {
        inputs.insert("knowledge".to_owned(), json!(knowledge));
    }
    Ok(inputs)
}

/// What tells the notes, examples and index of each database from others; of those that have any.
async fn knowledge(settings: &Settings, arena: &Arena) -> Result<BTreeMap<String, String>, Error> {
    let retrieval = &settings.retrieval;
    let is_some = retrieval.notes.is_some() || retrieval.examples.is_some();
    if !is_some && !retrieval.folder.as_ref().is_some_and(|folder| folder.exists()) {
        return Ok(BTreeMap::new());
    }
    let mut all = BTreeMap::new();
    for db in arena.names() {
        let (database, tables) = (arena.path(db)?, settings.tables.clone());
        let limits = settings.limits.clone();
        let database = open_database(&Settings { database, tables, limits, ..Settings::default() }).await?;
        let (catalog, retrieval) = (database.catalog().await?, retrieval.clone());
        let (knowledge, _) = aside(move || Knowledge::read(&retrieval, &catalog)).await??;
        all.extend(knowledge.digest().map(|digest| (db.clone(), digest)));
    }
    Ok(all)
}

/// Work that reads for long, where it keeps nobody waiting.
async fn aside<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, Error> {
    tokio::task::spawn_blocking(work).await.map_err(|error| Error::Internal(error.to_string()))
}

fn arm(name: &str, host: &Host) -> Arm {
    let plugin = |configured: &syrch_runtime::Configured| {
        let source = host.settings.strategy.roles.get(&configured.role());
        PluginOfArm {
            role: configured.role().name().to_owned(),
            source: source.map(ToString::to_string).unwrap_or_default(),
            digest: configured.plugin().digest().to_owned(),
        }
    };
    let mut settings = record::lasting(&host.written);
    let mut shift = |pointer: &str, keys: &[&str]| {
        if let Some(settings) = settings.pointer_mut(pointer).and_then(Value::as_object_mut) {
            keys.iter().for_each(|key| drop(settings.shift_remove(*key)));
        }
    };
    // Who plays is told by the plugins, and what retrieval knows, for each database.
    shift("/strategy", &["roles"]);
    shift("/retrieval", &["digest"]);
    if !asks_endpoint(&host.settings.model) {
        shift("/model", &["model", "base_url", "temperature"]);
    }
    Arm {
        name: name.to_owned(),
        strategy: host.settings.strategy.name.clone(),
        plugins: host.cast.all().map(plugin).collect(),
        settings,
        again: None,
    }
}

/// The files that these settings name, with what they are.
pub(super) fn files(settings: &Settings) -> Vec<(&'static str, PathBuf)> {
    let (model, retrieval) = (&settings.model, &settings.retrieval);
    let plugins = settings.strategy.roles.values().filter_map(|source| match source {
        crate::PluginSource::File(path) => Some(("a plugin of the run", path.clone())),
        crate::PluginSource::Builtin(_) => None,
    });
    let named = [
        ("a strategy file in use", &settings.strategy.file),
        ("the notes", &retrieval.notes),
        ("the solved examples", &retrieval.examples),
        ("the recording that answers", &model.replay),
        ("the recording that is made", &model.record),
    ];
    let named = named.into_iter().filter_map(|(what, path)| Some((what, path.clone()?)));
    let simulated = model.simulated.as_ref().map(|simulated| ("the simulated model's suite", simulated.suite.clone()));
    named.chain(simulated).chain(plugins).collect()
}

/// The files below a folder, with what they are part of. What cannot be read is passed over.
pub(super) fn below(folder: &std::path::Path, what: &'static str) -> Vec<(&'static str, PathBuf)> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let of = |entry: std::fs::DirEntry| match entry.file_type() {
        Ok(kind) if kind.is_dir() => below(&entry.path(), what),
        _ => vec![(what, entry.path())],
    };
    entries.flat_map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SimulatedSettings;

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
