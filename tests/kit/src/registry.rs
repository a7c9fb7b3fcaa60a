//! A registry on loopback, to the OCI distribution specification: blobs, uploads, manifests and
//! tags, open or for those alone who have a password or a token. A test may put anything into it.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::thread::JoinHandle;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{DefaultBodyLimit, State};
use axum::http::{HeaderMap, Method, StatusCode, Uri, header};
use axum::response::Response;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use futures::stream;
use serde_json::json;
use sha2::Digest as _;
use tokio::net::TcpListener;
use tokio::sync::oneshot;

/// The name and the password of its user.
const USER: &str = "ada:open sesame";
/// The token that its realm gives.
const TOKEN: &str = "a-token-of-the-realm";

/// Those who may use a registry.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Guarded {
    /// Everybody may.
    #[default]
    Open,
    /// Those who send the password with each request.
    Basic,
    /// Those who have a token, of a realm at this URL; the registry's own without one.
    Token(Option<String>),
}

/// The program `wkg` that `tests/oci/install.sh` installs, in the folder that `SYRCH_TEST_OCI`
/// names, else in `target/oci`. If it is not there, this is reported and counted as
/// [`crate::skip`] does it.
///
/// # Panics
/// If it is not there and `SYRCH_REQUIRE_OCI` is 1.
#[must_use]
#[allow(clippy::disallowed_methods, reason = "tests are told by their environment")]
pub fn find_wkg() -> Option<PathBuf> {
    let folder = std::env::var_os("SYRCH_TEST_OCI").map(PathBuf::from);
    let folder = folder.unwrap_or_else(|| crate::repository().join("target/oci"));
    let program = folder.join("bin/wkg");
    if program.exists() {
        return Some(program);
    }
    let is_required = std::env::var_os("SYRCH_REQUIRE_OCI").is_some_and(|value| value == "1");
    assert!(!is_required, "there is no wkg: run tests/oci/install.sh");
    crate::skip("there is no wkg: `make test-oci` builds and runs it");
    None
}

/// A request as a registry saw it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// The method, the path and the query.
    pub line: String,
    /// The header `Authorization`; empty if there is none.
    pub authorization: String,
}

/// An answer that stands at a path, whatever the registry has.
#[derive(Debug, Clone)]
pub enum Planted {
    /// A document.
    Content(Vec<u8>),
    /// A redirect to a URL.
    Redirect(String),
    /// A body that does not end.
    Endless,
}

#[derive(Default)]
struct Content {
    guarded: Guarded,
    /// The beginning of each `Location` of an upload.
    uploads: String,
    /// The bytes of each upload so far.
    parts: BTreeMap<String, Vec<u8>>,
    blobs: BTreeMap<String, Bytes>,
    /// Manifests by repository and tag or digest, such as `a/votes:1`.
    manifests: BTreeMap<String, Bytes>,
    planted: BTreeMap<String, Planted>,
    requests: Vec<Request>,
    host: String,
}

/// A running registry, with a thread and a runtime of its own. Dropping it stops both.
pub struct Registry {
    address: SocketAddr,
    content: Arc<Mutex<Content>>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

fn lock(content: &Mutex<Content>) -> MutexGuard<'_, Content> {
    content.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Registry {
    /// Starts an empty registry on a free port of loopback.
    ///
    /// # Panics
    /// When the machine gives no port or no thread.
    #[must_use]
    pub fn start(guarded: Guarded) -> Self {
        let content = Arc::new(Mutex::new(Content { guarded, ..Content::default() }));
        let (stop, stopped) = oneshot::channel();
        let (bound, address) = mpsc::channel();
        let shared = Arc::clone(&content);
        let thread = std::thread::Builder::new()
            .name("registry".into())
            .spawn(move || serve(shared, &bound, stopped))
            .expect("a thread can be started");
        let address: SocketAddr = address.recv().expect("the registry is listening");
        lock(&content).host = address.to_string();
        Self { address, content, stop: Some(stop), thread: Some(thread) }
    }

    /// Its host with the port, as addresses have it.
    #[must_use]
    pub fn host(&self) -> String {
        self.address.to_string()
    }

    /// Lets uploads go to places that begin so, instead of its own.
    pub fn send_uploads_to(&self, base: &str) {
        lock(&self.content).uploads = base.to_owned();
    }

    /// Puts an answer at a path.
    pub fn plant(&self, path: &str, planted: Planted) {
        lock(&self.content).planted.insert(path.to_owned(), planted);
    }

    /// The manifest of a repository and a tag, such as `votes:1`.
    #[must_use]
    pub fn manifest(&self, name: &str) -> Option<Vec<u8>> {
        lock(&self.content).manifests.get(name).map(|text| text.to_vec())
    }

    /// Puts a manifest at a tag.
    pub fn set_manifest(&self, name: &str, text: &[u8]) {
        lock(&self.content).manifests.insert(name.to_owned(), Bytes::copy_from_slice(text));
    }

    /// The requests so far, in order.
    #[must_use]
    pub fn requests(&self) -> Vec<Request> {
        lock(&self.content).requests.clone()
    }
}

impl Drop for Registry {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(());
        }
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn serve(
    content: Arc<Mutex<Content>>,
    bound: &mpsc::Sender<SocketAddr>,
    stopped: oneshot::Receiver<()>,
) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime can be made");
    runtime.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("loopback has a free port");
        let address = listener.local_addr().expect("a bound port has an address");
        let router =
            Router::new().fallback(answer).layer(DefaultBodyLimit::disable()).with_state(content);
        bound.send(address).expect("the test waits for the address");
        tokio::select! {
            _ = axum::serve(listener, router) => {}
            _ = stopped => {}
        }
    });
    runtime.shutdown_background();
}

async fn answer(
    State(content): State<Arc<Mutex<Content>>>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let mut content = lock(&content);
    let authorization = headers.get(header::AUTHORIZATION);
    let authorization = authorization.and_then(|value| value.to_str().ok()).unwrap_or_default();
    let authorization = authorization.to_owned();
    let line = format!("{method} {uri}");
    content.requests.push(Request { line, authorization: authorization.clone() });
    if uri.path() == "/token" {
        return give_token(&authorization);
    }
    if let Some(refused) = refuse(&content, &authorization) {
        return refused;
    }
    match content.planted.get(uri.path()) {
        Some(Planted::Content(bytes)) => return reply(StatusCode::OK, &[], bytes.clone()),
        Some(Planted::Redirect(place)) => {
            return reply(
                StatusCode::TEMPORARY_REDIRECT,
                &[("location", place.as_str())],
                Vec::new(),
            );
        }
        Some(Planted::Endless) => {
            let chunks = stream::repeat_with(|| {
                Ok::<_, std::convert::Infallible>(Bytes::from_static(&[b' '; 1 << 16]))
            });
            return Response::new(Body::from_stream(chunks));
        }
        None => {}
    }
    let Some(rest) = uri.path().strip_prefix("/v2/") else {
        return reply(StatusCode::NOT_FOUND, &[], Vec::new());
    };
    if let Some(upload) = rest.split_once("/blobs/uploads/") {
        return take_upload(&mut content, &method, upload, uri.query().unwrap_or_default(), body);
    }
    if let Some((_, digest)) = rest.split_once("/blobs/") {
        return give(content.blobs.get(digest), "application/octet-stream", &method);
    }
    match rest.split_once("/manifests/") {
        Some((name, tag)) if method == Method::PUT => {
            let found = digest(&body);
            content.manifests.insert(format!("{name}:{tag}"), body.clone());
            content.manifests.insert(format!("{name}:{found}"), body);
            let place = format!("/v2/{name}/manifests/{found}");
            let headers = [("location", place.as_str()), ("docker-content-digest", found.as_str())];
            reply(StatusCode::CREATED, &headers, Vec::new())
        }
        Some((name, tag)) => {
            let found = content.manifests.get(&format!("{name}:{tag}"));
            give(found, "application/vnd.oci.image.manifest.v1+json", &method)
        }
        None => reply(StatusCode::OK, &[], Vec::new()),
    }
}

fn give_token(authorization: &str) -> Response {
    match authorization == basic() {
        true => reply(StatusCode::OK, &[], json!({"token": TOKEN}).to_string().into_bytes()),
        false => reply(StatusCode::UNAUTHORIZED, &[], Vec::new()),
    }
}

/// The credentials of its user, as a `config.json` of docker has them.
#[must_use]
pub fn credentials() -> String {
    BASE64.encode(USER)
}

/// The header of its user.
fn basic() -> String {
    format!("Basic {}", credentials())
}

fn refuse(content: &Content, authorization: &str) -> Option<Response> {
    let own = format!("http://{}/token", content.host);
    let challenge = match &content.guarded {
        Guarded::Open => return None,
        Guarded::Basic if authorization == basic() => return None,
        Guarded::Token(_) if authorization == format!("Bearer {TOKEN}") => return None,
        Guarded::Basic => "Basic realm=\"registry\"".to_owned(),
        Guarded::Token(realm) => {
            let realm = realm.as_ref().unwrap_or(&own);
            format!("Bearer realm=\"{realm}\",service=\"kit\",scope=\"repository:other:delete\"")
        }
    };
    Some(reply(StatusCode::UNAUTHORIZED, &[("www-authenticate", challenge.as_str())], Vec::new()))
}

/// Takes an upload, whole or in parts.
fn take_upload(
    content: &mut Content,
    method: &Method,
    (name, upload): (&str, &str),
    query: &str,
    body: Bytes,
) -> Response {
    if method == Method::POST {
        let upload = content.parts.len().to_string();
        content.parts.insert(upload.clone(), Vec::new());
        let place = format!("{}/v2/{name}/blobs/uploads/{upload}?state=x", content.uploads);
        return reply(StatusCode::ACCEPTED, &[("location", place.as_str())], Vec::new());
    }
    let Some(part) = content.parts.get_mut(upload) else {
        return reply(StatusCode::NOT_FOUND, &[], Vec::new());
    };
    part.extend_from_slice(&body);
    if method == Method::PATCH {
        let place = format!("/v2/{name}/blobs/uploads/{upload}?state=y");
        let range = format!("0-{}", part.len().saturating_sub(1));
        let headers = [("location", place.as_str()), ("range", range.as_str())];
        return reply(StatusCode::ACCEPTED, &headers, Vec::new());
    }
    let found = digest(part);
    let named = query.replace("%3A", ":");
    if !named.split('&').any(|pair| pair == format!("digest={found}")) {
        return reply(StatusCode::BAD_REQUEST, &[], Vec::new());
    }
    let place = format!("/v2/{name}/blobs/{found}");
    content.blobs.insert(found, Bytes::from(std::mem::take(part)));
    reply(StatusCode::CREATED, &[("location", place.as_str())], Vec::new())
}

fn give(bytes: Option<&Bytes>, media_type: &str, method: &Method) -> Response {
    let Some(bytes) = bytes else { return reply(StatusCode::NOT_FOUND, &[], Vec::new()) };
    let found = digest(bytes);
    let body = if method == Method::HEAD { Vec::new() } else { bytes.to_vec() };
    let headers = [("content-type", media_type), ("docker-content-digest", found.as_str())];
    reply(StatusCode::OK, &headers, body)
}

fn reply(status: StatusCode, headers: &[(&str, &str)], body: Vec<u8>) -> Response {
    let mut response = Response::builder().status(status);
    for (name, value) in headers {
        response = response.header(*name, *value);
    }
    response.body(Body::from(body)).expect("the headers are valid")
}

/// The digest of content, as registries write it.
#[must_use]
pub fn digest(content: &[u8]) -> String {
    let hex: String =
        sha2::Sha256::digest(content).iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256:{hex}")
}
