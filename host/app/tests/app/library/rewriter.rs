//! The rewriter of a strategy: no search needs it, so that opening a host does not load it.

use syrch::settings::PluginSource;
use syrch::syrch_core::roles::Role;
use syrch::{Error, Host, Settings, Silent};

use super::shop::shop;

fn settings(folder: &std::path::Path, rewriter: Option<PluginSource>) -> Settings {
    let mut settings =
        Settings { database: shop(folder).display().to_string(), ..Settings::default() };
    settings.strategy.roles.extend(rewriter.map(|source| (Role::Rewriter, source)));
    settings
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rewriter_is_loaded_when_it_is_asked_for_and_not_before() {
    let folder = syrch_kit::scratch();
    let hostile = PluginSource::File(syrch_kit::zoo::hostile());
    let named = settings(folder.path(), Some(hostile.clone()));
    let host = Host::open(named.clone(), &Silent).await.unwrap();
    let roles = |host: &Host| host.plugins().map(|(role, _)| role).collect::<Vec<_>>();
    assert!(!roles(&host).contains(&Role::Rewriter));
    let host = host.with_rewriter(&Silent).await.unwrap();
    assert_eq!(roles(&host).last(), Some(&Role::Rewriter));
    let inspection = syrch::plugins::inspect(&hostile, &named, &Silent).await.unwrap();
    assert_eq!(host.plugins().last(), Some((Role::Rewriter, inspection.digest.as_str())));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_strategy_without_a_rewriter_and_one_that_is_refused_search_all_the_same() {
    let folder = syrch_kit::scratch();
    let open =
        async |rewriter| Host::open(settings(folder.path(), rewriter), &Silent).await.unwrap();
    let none = open(None).await.with_rewriter(&Silent).await.map(drop).unwrap_err();
    assert!(
        matches!(&none, Error::Config(text) if text.contains("no plugin for the role rewriter")),
        "{none}"
    );
    // A built-in plugin of another role.
    let host = open(Some(PluginSource::Builtin("refine".into()))).await;
    let found = host.query("How many customers are there?").run().await.unwrap();
    assert!(found.answer.contains('3'), "{}", found.answer);
    let wrong = host.with_rewriter(&Silent).await.map(drop).unwrap_err().to_string();
    assert!(wrong.contains("does not implement the role rewriter"), "{wrong}");
}
