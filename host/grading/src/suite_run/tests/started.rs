//! The digests in a run's header: they change with the content of a file, and not with its time.

use std::time::{Duration, SystemTime};

use futures::StreamExt;
use syrch::internal::{BuiltIndex, TermsOf};
use syrch::settings::{PluginSource, SimulatedSettings};
use syrch_core::roles::Role;
use syrch_journal::Recording;

use super::*;

/// A recording of calls to that model, of which there are none.
fn recording(home: &Home, model: &str) -> Vec<u8> {
    let path = home.path(&format!("of-{model}.jsonl"));
    drop(Recording::open(&path, &[model.to_owned()]).unwrap());
    std::fs::read(path).unwrap()
}

/// Writes an index with that term, and returns the path of its file.
async fn index(home: &Home, term: &str) -> PathBuf {
    let settings = Settings {
        database: home.path("shop.sqlite").display().to_string(),
        ..Settings::default()
    };
    let catalog =
        syrch::databases::open_database(&settings).await.unwrap().catalog().await.unwrap();
    let reported =
        TermsOf { table: "customers".into(), column: "name".into(), terms: vec![term.into()] };
    BuiltIndex::new(&catalog, vec![reported]).write(&home.path("index"), &catalog).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn each_file_that_an_arm_reads_counts_by_its_content_and_not_by_its_time() {
    let home = Home::new();
    let mut settings = home.settings();
    settings.retrieval.notes = Some(home.file("notes.txt", "ids begin at 1\n"));
    settings.retrieval.examples =
        Some(home.file("examples.jsonl", "{\"question\": \"And?\", \"sql\": \"SELECT 1\"}\n"));
    settings.retrieval.folder = Some(home.path("index"));
    settings.model.replay = Some(home.file("recording.jsonl", recording(&home, "m")));
    let solver = home.file("solver.wasm", syrch::plugins::builtin_component("refine").unwrap());
    settings.strategy.roles.insert(Role::Solver, PluginSource::File(solver.clone()));
    let index = index(&home, "client").await;
    let renamed = std::fs::read_to_string(&index).unwrap().replace("client", "buyer");
    let database = syrch_kit::sqlite(home.path("other.sqlite"), &SHOP.replace("'Ben'", "'Bob'"));
    let changes = [
        ("recording.jsonl", recording(&home, "n"), "the setting inputs.replay of `arm0`"),
        ("notes.txt", b"ids begin at 2\n".to_vec(), "the setting inputs.knowledge.shop of `arm0`"),
        ("examples.jsonl", Vec::new(), "the setting inputs.knowledge.shop of `arm0`"),
        (
            index.to_str().unwrap(),
            renamed.into_bytes(),
            "the setting inputs.knowledge.shop of `arm0`",
        ),
        (
            "solver.wasm",
            syrch::plugins::builtin_component("consistency").unwrap(),
            "the plugin of the solver of `arm0`",
        ),
        ("shop.sqlite", std::fs::read(database).unwrap(), "the database `shop`"),
    ];
    let before = home.header(settings.clone()).await;
    assert_eq!(
        (
            before.arms[0].plugins.iter().filter(|plugin| plugin.digest.len() == 64).count(),
            before.databases["shop"].len()
        ),
        (before.arms[0].plugins.len(), 64)
    );
    for (name, _, _) in &changes {
        let file = std::fs::File::options().write(true).open(home.path(name)).unwrap();
        file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000)).unwrap();
    }
    assert_eq!(run::find_changes(&before, &home.header(settings.clone()).await), [""; 0]);
    for (name, content, reported) in changes {
        let was = std::fs::read(home.path(name)).unwrap();
        assert_ne!(was, content, "{name}");
        home.file(name, content);
        let said = run::find_changes(&before, &home.header(settings.clone()).await);
        assert!(said.len() == 1 && said[0].starts_with(reported), "{name}: {said:?}");
        home.file(name, was);
    }
    assert_eq!(home.header(settings).await, before);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_simulated_models_suite_counts_by_what_it_asks_and_expects() {
    let home = Home::new();
    let text = std::fs::read_to_string(home.path("suite.jsonl")).unwrap();
    let mut settings = home.settings();
    settings.model.simulated = Some(SimulatedSettings::new(home.file("simulated.jsonl", &text)));
    let before = home.header(settings.clone()).await;
    home.file("simulated.jsonl", text.replace(", ", " ,  ").replace('\n', "\n\n"));
    assert_eq!(run::find_changes(&before, &home.header(settings.clone()).await), [""; 0]);
    home.file("simulated.jsonl", text.replace("MAX(id)", "MAX(name)"));
    let said = run::find_changes(&before, &home.header(settings).await);
    assert!(
        said.len() == 1 && said[0].starts_with("the setting inputs.simulated of `arm0`"),
        "{said:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_count_by_their_content() {
    let home = Home::new();
    let header = async |text: &str| {
        let answers = vec![home.file("answers.jsonl", text)];
        let options = SuiteOptions { answers, ..home.options() };
        home.open(vec![home.settings()], options).await.unwrap().header
    };
    let before = header("{\"id\": \"q0\", \"sql\": \"SELECT 2\"}\n").await;
    assert_eq!(before, header("{\"id\": \"q0\", \"sql\": \"SELECT 2\"}\n").await);
    let said =
        run::find_changes(&before, &header("{\"id\": \"q0\", \"sql\": \"SELECT 3\"}\n").await);
    assert!(said.len() == 1 && said[0].starts_with("the setting answers of `answers`"), "{said:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn given_answers_bear_the_label_that_their_lines_have_and_no_other() {
    let home = Home::new();
    let suite = home.path("suite.jsonl");
    let mut settings = home.settings();
    settings.model.simulated = Some(SimulatedSettings::new(&suite));
    let label = home.header(settings.clone()).await.simulated.unwrap();
    assert!(label.starts_with("simulated, "), "{label}");
    let observer: Arc<dyn SearchObserver> = Arc::new(Silent);
    let of_batch =
        Settings { database: home.path("shop.sqlite").display().to_string(), ..settings.clone() };
    let batch = syrch::batch::Batch::open(of_batch, syrch::batch::Options::default(), &observer)
        .await
        .unwrap();
    let asked = b"{\"id\": \"q0\", \"question\": \"What is it (q0)?\"}";
    let lines = [asked.as_slice(), b"{oops"].map(|line| syrch::batch::Line::read(1, line).unwrap());
    let replies: Vec<_> = batch.answers(futures::stream::iter(lines), &Stop::new()).collect().await;
    let labels: Vec<_> = replies.iter().map(|reply| reply.simulated.as_ref()).collect();
    assert_eq!(labels, [Some(&label), None]);
    let simulated = serde_json::to_string(&replies[0]).unwrap();
    let real = "{\"id\": \"q1\", \"sql\": \"SELECT 2\"}";
    for (lines, expected) in [(vec![simulated.as_str(), real], Some(&label)), (vec![real], None)] {
        let answers = vec![home.file("answers.jsonl", lines.join("\n"))];
        let options = SuiteOptions { answers, ..home.options() };
        let header = home.open(vec![settings.clone()], options).await.unwrap().header;
        assert_eq!(header.simulated.as_ref(), expected);
    }
}
