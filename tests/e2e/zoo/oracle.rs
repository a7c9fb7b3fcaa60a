//! The common oracle of the hostile cases: the end that the table names, in time, and a search
//! afterwards that is byte for byte what it was before.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Map, Value};
use syrch::settings::PluginSource;
use syrch::syrch_core::roles::Role;
use syrch::syrch_core::{Limits, Problem};
use syrch::{Error, Host, Observer, SearchEvent, SearchReport, Settings, Shared, Stop};
use syrch_kit::{repository, zoo};

use super::cases::{Case, Run, cases};

const QUESTION: &str = "How many customers are there?";
/// The limit of CPU time of a call, and of idling, in these tests.
const LIMIT: Duration = Duration::from_secs(2);
/// The time beyond the limit in which a case must have ended.
const GRACE: Duration = Duration::from_secs(1);
/// Repetitions of each cheap case, and those after which memory and descriptors are measured.
const TIMES: usize = 100;
const WARM: usize = 20;
/// Bytes that the process may grow by between the two measurements: what the allocator holds back.
const GROWTH: u64 = 32 << 20;

/// The remarks of a search.
#[derive(Default)]
struct Notes(Mutex<Vec<String>>);

impl Observer for Notes {
    fn event(&self, event: &SearchEvent) {
        if let SearchEvent::Note { message, .. } = event {
            self.0.lock().unwrap().push(message.clone());
        }
    }
}

/// A shop, and what the searches over it share.
struct World {
    _folder: tempfile::TempDir,
    settings: Settings,
    shared: Arc<Shared>,
}

impl World {
    fn new() -> Self {
        let folder = syrch_kit::scratch();
        let database = crate::shop(folder.path()).display().to_string();
        let limits = Limits { cpu_per_call: LIMIT, idle: LIMIT, ..Limits::default() };
        let settings = Settings { database, limits, ..Settings::default() };
        Self { _folder: folder, settings, shared: Shared::new() }
    }

    /// The same with a worker process for the plugin.
    #[cfg(target_os = "linux")]
    fn with_worker() -> Self {
        let mut world = Self::new();
        world.settings.compile.worker = Some(crate::isolate::worker());
        // A guest is suspended in each call of a port, for which it pays.
        world.settings.limits.cpu_per_call = LIMIT * 8;
        world
    }

    /// Searches with the hostile plugin in a role.
    async fn search(
        &self,
        role: &str,
        behaviour: &str,
        notes: &Arc<Notes>,
    ) -> Result<SearchReport, Error> {
        let mut settings = self.settings.clone();
        let role: Role = serde_json::from_value(role.into()).unwrap();
        settings.strategy.roles.insert(role, PluginSource::File(zoo::hostile()));
        let config = Map::from_iter([("behaviour".to_owned(), behaviour.into())]);
        settings.strategy.config.insert(role, config);
        let host = Host::open_beside(settings, &self.shared, notes.as_ref()).await?;
        host.search(Problem::new(QUESTION.to_owned()), Arc::clone(notes) as _, None, &Stop::new())
            .await
    }

    /// The end of a search in words, with its remarks.
    async fn end(&self, role: &str, behaviour: &str) -> String {
        let notes = Arc::new(Notes::default());
        let end = match self.search(role, behaviour, &notes).await {
            Ok(report) => format!("{:?} {:?}", report.outcome, report.document.warnings),
            Err(error) => error.to_string(),
        };
        format!("{end} {:?}", notes.0.lock().unwrap())
    }

    /// The document of a search in which nothing is hostile, without what is another each time.
    async fn good(&self) -> String {
        let report = self.search("planner", "none", &Arc::default()).await.unwrap();
        let mut document: Value = serde_json::to_value(&report.document).unwrap();
        for changing in ["run", "time_ms", "plugins"] {
            document.as_object_mut().unwrap().remove(changing).unwrap();
        }
        document.to_string()
    }
}

/// The CPU time of this process so far, where the system tells it.
fn cpu_time() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/self/stat").ok()?;
    let fields: Vec<&str> = text.rsplit(") ").next()?.split(' ').collect();
    let ticks: u64 = fields.get(11)?.parse::<u64>().ok()? + fields.get(12)?.parse::<u64>().ok()?;
    Some(Duration::from_millis(ticks * 10))
}

/// The resident bytes and the open descriptors of this process, where the system tells them.
fn measure() -> Option<(u64, usize)> {
    let text = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = text.split(' ').nth(1)?.parse().ok()?;
    Some((pages * 4_096, std::fs::read_dir("/proc/self/fd").ok()?.count()))
}

/// The searches of the table, each once.
fn list_runs() -> Vec<Run> {
    let mut all: Vec<Run> = Vec::new();
    for run in cases().into_iter().filter_map(|case| case.runs) {
        if all.iter().all(|known| known.behaviour != run.behaviour) {
            all.push(run);
        }
    }
    all
}

#[tokio::test(flavor = "multi_thread")]
async fn each_case_ends_as_the_table_says_and_the_next_search_is_the_same() {
    let world = World::new();
    let before = world.good().await;
    for Run { role, behaviour, words, .. } in list_runs() {
        let cpu = cpu_time();
        let start = Instant::now();
        let end = world.end(&role, &behaviour).await;
        let took = start.elapsed();
        assert!(end.contains(&words), "{role}.{behaviour}: `{words}` is not in {end}");
        // A limit of CPU time is one of CPU time, also where other processes take the machine.
        let spent = cpu.and_then(|cpu| Some(cpu_time()? - cpu)).unwrap_or(took);
        if words == "`cpu-per-call`" {
            assert!(spent <= LIMIT + GRACE, "{role}.{behaviour} took {spent:?} of CPU time");
        }
        assert_eq!(world.good().await, before, "after {role}.{behaviour}");
    }
    for behaviour in ["sleep", "naps"] {
        let start = Instant::now();
        let end = world.end("planner", behaviour).await;
        assert!(end.contains("`idle`"), "{behaviour}: {end}");
        assert!(start.elapsed() <= LIMIT + GRACE * 2, "{behaviour} took {:?}", start.elapsed());
        assert_eq!(world.good().await, before, "after {behaviour}");
    }
}

/// As in the host's process, down to the words.
#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread")]
async fn each_case_ends_as_the_table_says_in_a_worker_process() {
    let world = World::with_worker();
    let before = world.good().await;
    assert_eq!(before, World::new().good().await);
    for Run { role, behaviour, words, .. } in list_runs() {
        let end = world.end(&role, &behaviour).await;
        assert!(end.contains(&words), "{role}.{behaviour}: `{words}` is not in {end}");
        assert_eq!(world.good().await, before, "after {role}.{behaviour}");
    }
}

/// 64 searches at once, a third of them with the plugin in a hostile mood, in both places. One
/// process serves all of the isolated ones.
#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread")]
async fn good_searches_beside_hostile_ones_are_the_same_in_both_places() {
    const SEARCHES: usize = 64;
    let hostile: Vec<Run> =
        list_runs().into_iter().filter(|run| run.cheap || run.behaviour == "spin").collect();
    assert!(hostile.iter().any(|run| run.words == "`cpu-per-call`"), "{hostile:?}");
    let alone = World::new().good().await;
    let mut isolated = World::with_worker();
    isolated.settings.limits.cpu_per_call = LIMIT * 2;
    for world in [World::new(), isolated] {
        let mut moods = hostile.iter().cycle();
        let searches = (0..SEARCHES).map(|number| {
            let run = (number % 3 == 0).then(|| moods.next().unwrap());
            let world = &world;
            let alone = &alone;
            async move {
                match run {
                    None => assert_eq!(&world.good().await, alone, "search {number}"),
                    Some(Run { role, behaviour, words, .. }) => {
                        let end = world.end(role, behaviour).await;
                        assert!(end.contains(words), "{role}.{behaviour}: {end}");
                    }
                }
            }
        });
        futures::future::join_all(searches).await;
        assert_eq!(world.good().await, alone);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn cheap_cases_leave_neither_memory_nor_descriptors_behind() {
    let world = World::new();
    let before = world.good().await;
    let cheap: Vec<Run> = list_runs().into_iter().filter(|run| run.cheap).collect();
    assert!(cheap.len() >= 12, "{cheap:?}");
    let mut first = None;
    for number in 0..TIMES {
        for Run { role, behaviour, words, .. } in &cheap {
            let end = world.end(role, behaviour).await;
            assert!(end.contains(words), "{role}.{behaviour}: `{words}` is not in {end}");
        }
        if number == WARM {
            first = measure();
        }
    }
    assert_eq!(world.good().await, before);
    let (Some((bytes, files)), Some((bytes_now, files_now))) = (first, measure()) else { return };
    let growth = bytes_now.saturating_sub(bytes);
    println!("{} cases {TIMES} times: {growth} bytes more, {files_now} descriptors", cheap.len());
    assert!(growth <= GROWTH, "the process has grown by {growth} bytes");
    assert!(files_now <= files, "{files} descriptors became {files_now}");
}

/// Each of 115 cases has its row, once; a test that proves a row exists.
#[test]
fn no_case_lacks_a_row() {
    let cases = cases();
    let ids: Vec<String> = (1..=115).map(|number| format!("Z{number:03}")).collect();
    assert_eq!(
        cases.iter().map(|case| &case.id).collect::<Vec<_>>(),
        ids.iter().collect::<Vec<_>>()
    );
    for Case { id, does, end, runs, tests, never } in cases {
        let ways = [runs.is_some(), tests.is_some(), never.is_some()];
        assert_eq!(ways.iter().filter(|way| **way).count(), 1, "{id}");
        assert!(!does.is_empty() && !end.is_empty(), "{id}");
        for test in tests.iter().flatten() {
            let (file, name) = test.split_once("::").unwrap();
            let text = std::fs::read_to_string(repository().join(file));
            let text = text.unwrap_or_else(|error| panic!("{id}: {file}: {error}"));
            assert!(text.contains(&format!("fn {name}(")), "{id}: no {test}");
        }
        assert_ne!(tests.map(|tests| tests.len()), Some(0), "{id}");
        assert!(never.is_none_or(|why| why.len() > 40), "{id}");
    }
}

/// The list of cases is that of the shared test data, where they are.
#[test]
fn the_rows_are_those_of_the_shared_list() {
    let Some(root) = syrch_kit::data_root() else { return };
    let text = std::fs::read_to_string(root.join("zoo.jsonl")).unwrap();
    let listed = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let listed: Vec<Value> = listed.map(|case| case["id"].clone()).collect();
    assert_eq!(cases().into_iter().map(|case| Value::from(case.id)).collect::<Vec<_>>(), listed);
}
