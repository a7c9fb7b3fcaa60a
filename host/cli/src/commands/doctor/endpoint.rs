//! The model endpoint. It is contacted only on this machine: elsewhere a request could cost money
//! or disclose data.

use std::path::Path;
use std::time::Duration;

use reqwest::{Client, Response, StatusCode, Url};
use serde_json::Value;
use syrch::models::{
    count_simulated_questions, is_exposed, is_loopback, recording_models, resolve_locally,
};
use syrch::secrecy::ExposeSecret;
use syrch::settings::ModelSettings;
use syrch::{Provider, Settings};

use super::Check;
use crate::failure::EXPOSED;

const NAME: &str = "endpoint";
/// The time that the endpoint may take.
const PATIENCE: Duration = Duration::from_secs(3);
/// Bytes of its list of models that are read.
const LARGEST: usize = 1 << 20;
/// Models that are named.
const SHOWN: usize = 5;
/// The command that gives a key.
const GIVE_KEY: &str = "export SYRCH_API_KEY=…";

/// The flags that name a model, and what is enough to choose one.
pub(super) const NAME_MODEL: &str = "add --llm openai --base-url http://localhost:11434/v1 \
    --model NAME with the address of your server, or export SYRCH_API_KEY=…";

/// Checks whether the endpoints on this machine answer: the default one and those of further
/// models. For a recording or a simulated model, checks whether its file can be used.
pub(super) async fn check_endpoints(settings: &Settings) -> Vec<Check> {
    let model = &settings.model;
    if let Some(path) = &model.replay {
        return vec![match recording_models(settings) {
            Ok(names) => Check::ok(NAME, recording(path, &names.unwrap_or_default())),
            Err(error) => Check::from_failure(NAME, error.into()),
        }];
    }
    if let Some(simulated) = &model.simulated {
        return vec![match count_simulated_questions(settings) {
            Ok(count) => Check::ok(NAME, suite(&simulated.suite, count.unwrap_or_default())),
            Err(error) => Check::from_failure(NAME, error.into()),
        }];
    }
    let mut checks = vec![check(model).await];
    for (name, endpoint) in &model.endpoints {
        let route = model.models.values().find(|route| route.endpoint.as_ref() == Some(name));
        let Some(route) = route else {
            checks.push(Check::warn(
                NAME,
                format!("`{name}`: no model is at it"),
                "add one under `llm.models`",
            ));
            continue;
        };
        let own = ModelSettings {
            provider: endpoint.provider,
            base_url: endpoint.base_url.clone(),
            api_key: endpoint.api_key.clone(),
            model: route.model.clone(),
            ..model.clone()
        };
        let found = check(&own).await;
        checks.push(Check { detail: format!("`{name}`: {}", found.detail), ..found });
    }
    checks
}

fn recording(path: &Path, models: &[String]) -> String {
    let models: Vec<String> = models.iter().take(SHOWN).map(|name| format!("`{name}`")).collect();
    format!("no endpoint is needed: `{}` answers for {}", path.display(), models.join(", "))
}

fn suite(path: &Path, count: usize) -> String {
    format!(
        "no endpoint is needed: a simulated model answers the {} of `{}`",
        syrch::syrch_core::text::count(count, "question"),
        path.display()
    )
}

/// Checks whether one endpoint answers, when it is on this machine.
async fn check(model: &ModelSettings) -> Check {
    if model.provider == Provider::OFFLINE {
        let detail = "the offline rules answer, no endpoint is needed";
        return Check::ok(NAME, format!("{detail}; for a model {NAME_MODEL}"));
    }
    let Some(target) = models_of(model.provider, &model.base_url) else {
        // A wrong URL may hold a key: it is not shown.
        return Check::fail(
            NAME,
            "the base URL is none, or holds more than an address",
            "syrch-host config --origin",
        );
    };
    if is_loopback(&target) {
        return match ask(&target, model).await {
            Ok(response) => check_response(&target, response, &model.model).await,
            Err(error) => no_response(&target, &error),
        };
    }
    let detail = format!("{}: not contacted, not on this machine", display_url(&target));
    match model.api_key {
        Some(_) if is_exposed(&target) && !model.insecure_endpoint => Check::fail(
            NAME,
            format!("{}: the key would go there over plain http", display_url(&target)),
            EXPOSED,
        ),
        Some(_) => Check::ok(NAME, detail),
        None => Check::warn(NAME, format!("{detail}; no key is configured for it"), GIVE_KEY),
    }
}

/// Returns the URL of the list of models; `None` if a search would refuse the base URL, too.
pub(super) fn models_of(provider: Provider, base: &str) -> Option<Url> {
    let url = Url::parse(&provider.endpoint()?.list(base, None).url).ok()?;
    let is_plain = ["http", "https"].contains(&url.scheme())
        && url.username().is_empty()
        && url.password().is_none()
        && !base.contains(['?', '#']);
    (is_plain && url.host_str().is_some()).then_some(url)
}

/// The base URL as people know it.
fn display_url(target: &Url) -> &str {
    target.as_str().trim_end_matches("/models")
}

/// Requests the list of models. Nothing leaves the machine: names are not resolved, no proxy is
/// used, and no redirect is followed.
async fn ask(target: &Url, model: &ModelSettings) -> reqwest::Result<Response> {
    // Another part of the process may have chosen a provider already; either will do.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut builder = Client::builder()
        .no_proxy()
        .redirect(reqwest::redirect::Policy::none())
        .referer(false)
        .timeout(PATIENCE);
    if target.scheme() == "http" {
        builder = builder.tls_certs_only([]);
    }
    let mut request = resolve_locally(builder, target).build()?.get(target.clone());
    if let (Some(endpoint), Some(key)) = (model.provider.endpoint(), &model.api_key) {
        for (name, value) in endpoint.list(&model.base_url, Some(key.expose_secret())).headers {
            request = request.header(name, value);
        }
    }
    request.send().await
}

/// The check when there was no response.
fn no_response(target: &Url, error: &reqwest::Error) -> Check {
    let base = display_url(target);
    if error.is_timeout() {
        let detail =
            format!("{base} took a connection and did not answer within {} s", PATIENCE.as_secs());
        return Check::fail(
            NAME,
            detail,
            "start the server anew, or answer without a model by --llm offline",
        );
    }
    if error.is_connect() {
        let fix = "start the server (for example `ollama serve`), or answer without a model by \
                   --llm offline";
        return Check::fail(NAME, format!("nothing listens at {base}"), fix);
    }
    Check::fail(
        NAME,
        format!("{base} did not answer as a web server does"),
        "check --base-url and the key",
    )
}

/// The check by the response of the endpoint.
async fn check_response(target: &Url, response: Response, wanted: &str) -> Check {
    let base = display_url(target);
    match response.status() {
        status if status.is_success() => match names(response).await {
            Some(names) => check_model(base, &names, wanted),
            None => Check::ok(NAME, format!("{base} answers, without a list of models")),
        },
        status @ (StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) => Check::fail(
            NAME,
            format!("{base} answers, but refuses the key, or the lack of one ({status})"),
            GIVE_KEY,
        ),
        StatusCode::NOT_FOUND if base.ends_with("/v1") => {
            Check::ok(NAME, format!("{base} answers, without a list of models (404 Not Found)"))
        }
        StatusCode::NOT_FOUND => Check::warn(
            NAME,
            format!("{base} answers, but has no list of models there (404 Not Found)"),
            "check that the base URL goes up to and including /v1",
        ),
        status => {
            Check::fail(NAME, format!("{base} answers {status}"), "read the log of the server")
        }
    }
}

/// The models that `{"data": [{"id": …}]}` lists.
async fn names(response: Response) -> Option<Vec<String>> {
    let document = body_of(response).await?;
    let ids =
        document.get("data")?.as_array()?.iter().filter_map(|model| model.get("id")?.as_str());
    Some(ids.map(str::to_owned).collect())
}

/// The document at an address on this machine; `None` if there is none.
pub(super) async fn document(target: &Url, model: &ModelSettings) -> Option<Value> {
    body_of(ask(target, model).await.ok().filter(|response| response.status().is_success())?).await
}

async fn body_of(mut response: Response) -> Option<Value> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.ok()? {
        body.extend_from_slice(&chunk);
        if body.len() > LARGEST {
            return None;
        }
    }
    serde_json::from_slice(&body).ok()
}

fn check_model(base: &str, names: &[String], wanted: &str) -> Check {
    if names.iter().any(|name| name == wanted) {
        return Check::ok(NAME, format!("{base} answers and has the model `{wanted}`"));
    }
    let some: Vec<String> = names.iter().take(SHOWN).map(|name| format!("`{name}`")).collect();
    let more = if names.len() > SHOWN { ", …" } else { "" };
    let has = if some.is_empty() {
        "no model at all".to_owned()
    } else {
        format!("{}{more}", some.join(", "))
    };
    let detail = format!("{base} answers, but does not list the model `{wanted}`; it has {has}");
    Check::warn(NAME, detail, "name one of them by --model or SYRCH_MODEL")
}

#[cfg(test)]
mod tests {
    use super::super::State;
    use super::*;

    fn url(base: &str) -> Url {
        models_of(Provider::OPENAI, base).unwrap()
    }

    #[test]
    fn a_base_url_is_an_address_and_no_more() {
        assert_eq!(
            url("http://localhost:1/v1/chat/completions/ ").as_str(),
            "http://localhost:1/v1/models"
        );
        assert_eq!(display_url(&url("http://localhost:1/v1/")), "http://localhost:1/v1");
        for base in ["https://localhost", "https://localhost/v1/", "https://localhost/v1/messages"]
        {
            assert_eq!(
                models_of(Provider::ANTHROPIC, base).unwrap().as_str(),
                "https://localhost/v1/models"
            );
        }
        for wrong in [
            "",
            "localhost:1/v1",
            "ftp://localhost",
            "http://user:pass@localhost/v1",
            "http://localhost/?k=1",
        ] {
            assert_eq!(models_of(Provider::OPENAI, wrong), None, "{wrong}");
        }
    }

    #[tokio::test]
    async fn elsewhere_nothing_is_asked() {
        let mut model = ModelSettings { provider: Provider::OPENAI, ..ModelSettings::default() };
        let check = super::check(&model).await;
        let detail = "https://api.openai.com/v1: not contacted, not on this machine; no key is \
                      configured for it";
        assert_eq!((check.state, check.detail.as_str()), (State::Warn, detail));
        model.api_key = Some("sk-canary".to_owned().into());
        assert_eq!(super::check(&model).await.state, State::Ok);
    }

    #[test]
    fn a_model_that_is_not_listed_is_a_warning() {
        let names = ["a", "b", "c", "d", "e", "f"].map(str::to_owned);
        assert_eq!(check_model("x", &names, "f").state, State::Ok);
        let check = check_model("x", &names, "g");
        assert!(check.detail.ends_with("it has `a`, `b`, `c`, `d`, `e`, …"), "{}", check.detail);
        assert!(check_model("x", &[], "g").detail.ends_with("no model at all"));
    }
}
