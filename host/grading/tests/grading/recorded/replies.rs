//! Tests how recorded answers reach a search, and what happens if there are none.

use syrch::journal::Journal;
use syrch::settings::read_settings;
use syrch::{Error, Host, Outcome, Silent};

use super::world::{QUESTION, ask, search, settings, suite};

/// The number in the answer, which differs from system to system.
async fn number(database: &str, seed: u64, tweak: impl FnOnce(&mut syrch::Settings)) -> i64 {
    let folder = syrch_kit::scratch();
    let recorded = suite(folder.path());
    let mut settings = settings(&folder.path().join(format!("{database}.sqlite")), &recorded);
    settings.seed = seed;
    tweak(&mut settings);
    let report = search(settings, QUESTION).await.unwrap();
    assert_eq!(report.outcome, Outcome::Answered);
    assert_eq!((report.document.cost.input_tokens, report.document.cost.usd), (0, Some(0.0)));
    report.document.answer.unwrap().rows[0][0].as_i64().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_is_that_of_the_database_and_the_seed_decides_whose() {
    // With two rows each, the systems say 12, 13, 14 of the farm and 22, 23, 24 of the shop.
    let mut said = Vec::new();
    for seed in 0..8 {
        let farm = number("farm", seed, |_| ()).await;
        let shop = number("shop", seed, |_| ()).await;
        assert!((12..15).contains(&farm) && (22..25).contains(&shop), "{farm} {shop}");
        said.push(farm);
    }
    assert_eq!(number("farm", 3, |_| ()).await, said[3]);
    said.sort_unstable();
    said.dedup();
    assert_eq!(said, [12, 13, 14]);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_cache_serves_no_answer_of_another_seed_or_recording() {
    let cache = syrch_kit::scratch();
    for seed in (0..8).chain(0..8) {
        let cached =
            number("farm", seed, |settings| settings.cache.folder = Some(cache.path().to_owned()))
                .await;
        assert_eq!(cached, number("farm", seed, |_| ()).await);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_without_answers_ends_the_search_and_names_the_nearest() {
    let folder = syrch_kit::scratch();
    let recorded = suite(folder.path());
    let settings = settings(&folder.path().join("farm.sqlite"), &recorded);
    let error = search(settings, "How many were there?").await.unwrap_err();
    let expected = "the recorded answers have none to this question over `farm`; the nearest is \
                    `f` over `farm`: How many are there?";
    assert!(matches!(&error, Error::Replay(message) if message == expected), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_cannot_be_used_is_refused_before_anything_is_asked() {
    let folder = syrch_kit::scratch();
    let recorded = suite(folder.path());
    let settings = settings(&folder.path().join("farm.sqlite"), &recorded);
    let good = std::fs::read_to_string(&recorded).unwrap();
    std::fs::write(
        &recorded,
        good.replace("\"sql\":\"SELECT COUNT(*) + 22", "\"text\":\"SELECT COUNT(*) + 22"),
    )
    .unwrap();
    let error = Host::open(settings.clone(), &Silent).await.map(drop).unwrap_err();
    assert!(
        matches!(&error, Error::Unfit(text) if text.contains("line 2: missing field `sql`")),
        "{error}"
    );
    std::fs::write(&recorded, good).unwrap();
    std::fs::remove_file(folder.path().join("questions.jsonl")).unwrap();
    let error = Host::open(settings.clone(), &Silent).await.map(drop).unwrap_err();
    assert!(
        matches!(&error, Error::Unfit(text) if text.contains("no file `questions.jsonl`")),
        "{error}"
    );
    std::fs::write(&recorded, "{\"id\": 1}\n").unwrap();
    let error = Host::open(settings.clone(), &Silent).await.map(drop).unwrap_err();
    assert!(
        matches!(
            &error, Error::Unfit(text) if text.contains("recorded answers (`id` and `candidates`")
        ),
        "{error}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_is_repeated_from_its_journal_without_the_recording() {
    let folder = syrch_kit::scratch();
    let recorded = suite(folder.path());
    let mut settings = settings(&folder.path().join("farm.sqlite"), &recorded);
    settings.journal.folder = Some(folder.path().join("runs"));
    settings.seed = 5;
    let host = Host::open(settings.clone(), &Silent).await.unwrap();
    let live = ask(&host, QUESTION).await.unwrap();
    std::fs::remove_file(&recorded).unwrap();
    std::fs::remove_file(folder.path().join("farm.sqlite")).unwrap();
    let path =
        std::fs::read_dir(folder.path().join("runs")).unwrap().next().unwrap().unwrap().path();
    let journal = Journal::read(&path).unwrap();
    assert_eq!(read_settings(&journal.header, &settings).unwrap().seed, 5);
    let host = Host::of_journal(&journal.header, &settings, &Silent).await.unwrap();
    let again = host.replay(journal, std::sync::Arc::new(Silent)).await.unwrap();
    assert_eq!(again.document, live.document);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dry_run_sends_nothing() {
    let folder = syrch_kit::scratch();
    let recorded = suite(folder.path());
    let host =
        Host::open(settings(&folder.path().join("farm.sqlite"), &recorded), &Silent).await.unwrap();
    let previews =
        std::sync::Arc::new(host).preview(syrch::syrch_core::Problem::new(QUESTION)).await.unwrap();
    assert_eq!(previews, []);
}
