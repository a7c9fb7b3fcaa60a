//! Tests of what is sent to a model: nothing without consent, and exactly what was shown.

use std::path::Path;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use syrch::syrch_core::ports::Preview;
use syrch::{Error, Host};
use syrch_core::ports::{Message, Plan, Purpose, Request, Shape, Speaker};
use syrch_core::roles::{Attempt, Call, Proposal, Rewriter};
use syrch_core::{Catalog, RoleError};
use syrch_kit::{MockEndpoint, Reply, Script as Replies};
use syrch_optimizing::{AskConsent, Optimize, Optimizes, Outcome};

use crate::fake::{FakeDatabase, ORIGINAL, builder, proposal};
use crate::runs::script;

/// Asks the model from the call of that number on, and proposes what does not work until then.
struct Asks {
    from: usize,
}

fn request(text: String) -> Request {
    Request {
        purpose: Purpose::Generate,
        messages: vec![Message { speaker: Speaker::User, text }],
        expect: Shape::Text,
        model: None,
        subjects: Vec::new(),
        temperature: None,
        top_p: None,
        max_tokens: None,
        stop: Vec::new(),
        logprobs: false,
        sample: 0,
        seed: 0,
    }
}

#[async_trait]
impl Rewriter for Asks {
    async fn rewrite(
        &self,
        call: Call,
        original: &str,
        _: &str,
        plan: &Plan,
        _: &Catalog,
        history: &[Attempt],
    ) -> Result<Option<Proposal>, RoleError> {
        if history.len() < self.from {
            return Ok(Some(proposal("SELECT a FROM t LIMIT 1")));
        }
        if history.len() > self.from {
            return Ok(None);
        }
        let text = format!(
            "rewrite {original}, whose plan is {}, seed {}",
            plan.text,
            call.ports.run.seed()
        );
        let reply = call.ports.llm.issue(1, request(text)).await.await;
        Ok(Some(proposal(
            &reply.map(|reply| reply.text).unwrap_or_else(|error| format!("LIMIT {error}")),
        )))
    }
}

/// Answers always the same, and notes what it was asked.
#[derive(Clone)]
struct User {
    agrees: bool,
    asked: Arc<Mutex<Vec<Vec<Preview>>>>,
}

#[async_trait]
impl AskConsent for User {
    async fn agrees(&self, requests: &[Preview]) -> bool {
        self.asked.lock().unwrap().push(requests.to_vec());
        self.agrees
    }
}

fn endpoint() -> MockEndpoint {
    MockEndpoint::start(Replies::always(Reply::text("SELECT fast FROM t")))
}

async fn host(endpoint: &MockEndpoint, journal: &Path) -> Host {
    let database = FakeDatabase::new(script());
    builder(&database).base_url(endpoint.url()).model("mock").journal(journal).open().await.unwrap()
}

fn optimize(host: &Host, from: usize) -> Optimize {
    host.optimize(ORIGINAL).rewriter(Arc::new(Asks { from }))
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_sent_without_consent_and_what_is_sent_is_what_was_shown() {
    let endpoint = endpoint();
    let folder = syrch_kit::scratch();
    let host = host(&endpoint, folder.path()).await;
    let previews = optimize(&host, 0).preview().await.unwrap();
    assert_eq!((previews.len(), endpoint.count()), (1, 0));
    let error = optimize(&host, 0).run().await.unwrap_err();
    assert!(matches!(&error, Error::Consent(shown) if *shown == previews), "{error}");
    assert_eq!((error.class(), endpoint.count()), ("denied", 0));

    let user = User { agrees: false, asked: Arc::default() };
    let error = optimize(&host, 0).consent(user.clone()).run().await.unwrap_err();
    assert!(matches!(error, Error::Consent(_)) && endpoint.count() == 0);
    assert_eq!(user.asked.lock().unwrap().as_slice(), std::slice::from_ref(&previews));

    let user = User { agrees: true, asked: Arc::default() };
    let report = optimize(&host, 0).consent(user.clone()).run().await.unwrap().report;
    assert_eq!((report.outcome, report.best.as_str()), (Outcome::Optimized, "SELECT fast FROM t"));
    let sent = endpoint.requests();
    assert_eq!((sent.len(), user.asked.lock().unwrap().len()), (1, 1));
    assert_eq!(sent[0].body.to_string(), previews[0].body.to_string());

    let report = optimize(&host, 0).accept_data_sent(true).run().await.unwrap().report;
    assert_eq!((report.outcome, endpoint.count()), (Outcome::Optimized, 2));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rewriter_that_asks_later_needs_consent_then() {
    let endpoint = endpoint();
    let folder = syrch_kit::scratch();
    let host = host(&endpoint, folder.path()).await;
    assert!(optimize(&host, 2).preview().await.unwrap().is_empty());
    let error = optimize(&host, 2).run().await.unwrap_err();
    assert!(matches!(error, Error::Consent(_)) && endpoint.count() == 0);
    let user = User { agrees: true, asked: Arc::default() };
    let report = optimize(&host, 2).consent(user.clone()).run().await.unwrap().report;
    assert_eq!((report.outcome, report.iterations.len()), (Outcome::Optimized, 3));
    let shown = user.asked.lock().unwrap()[0][0].body.clone();
    assert_eq!(endpoint.requests()[0].body, shown, "the third call's seed included");
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_is_asked_when_nothing_would_be_sent() {
    let endpoint = endpoint();
    let folder = syrch_kit::scratch();
    let host = host(&endpoint, folder.path()).await;
    let user = User { agrees: false, asked: Arc::default() };
    let optimize = host
        .optimize(ORIGINAL)
        .rewriter(Arc::new(crate::fake::Scripted(vec!["SELECT fast FROM t"])));
    let report = optimize.consent(user.clone()).run().await.unwrap().report;
    assert_eq!(report.outcome, Outcome::Optimized);
    assert!(user.asked.lock().unwrap().is_empty() && endpoint.count() == 0);
}
