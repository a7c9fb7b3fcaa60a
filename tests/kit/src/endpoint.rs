//! A model endpoint on loopback that speaks the documented protocols (chat completions, embeddings,
//! and Anthropic's Messages API) and answers by a script.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::thread::JoinHandle;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, Uri, header};
use axum::response::Response;
use axum::routing::{get, post};
use axum::serve::ListenerExt as _;
use futures::{StreamExt, stream};
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;

use crate::reply::Delivery;
use crate::{Recorded, Reply, Script};

/// A running endpoint. It has a thread and a runtime of its own, so that tests need none. Dropping
/// it stops both, also while requests hang.
pub struct MockEndpoint {
    address: SocketAddr,
    shared: Arc<Shared>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    script: Mutex<Script>,
    requests: Mutex<Vec<Recorded>>,
    /// The requests whose sender went away before they were answered, in that order.
    given_up: Mutex<Vec<Recorded>>,
    under_way: AtomicUsize,
    peak: AtomicUsize,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl MockEndpoint {
    /// Starts an endpoint on a free port of loopback.
    ///
    /// # Panics
    /// When the machine gives no port or no thread.
    ///
    /// # Panics
    /// When the machine gives no port or no thread.
    #[must_use]
    pub fn start(script: Script) -> Self {
        let shared = Arc::new(Shared {
            script: Mutex::new(script),
            requests: Mutex::default(),
            given_up: Mutex::default(),
            under_way: AtomicUsize::new(0),
            peak: AtomicUsize::new(0),
        });
        let (stop, stopped) = oneshot::channel();
        let (bound, address) = mpsc::channel();
        let state = Arc::clone(&shared);
        let thread = std::thread::Builder::new()
            .name("mock-endpoint".into())
            .spawn(move || serve(state, &bound, stopped))
            .expect("a thread can be started");
        let address = address.recv().expect("the mock endpoint is listening");
        Self { address, shared, stop: Some(stop), thread: Some(thread) }
    }

    /// The base URL as a user would configure it: `http://127.0.0.1:PORT/v1`.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// The requests so far, in the order in which they arrived.
    #[must_use]
    pub fn requests(&self) -> Vec<Recorded> {
        lock(&self.shared.requests).clone()
    }

    /// The requests whose sender went away before they were answered, in the order in which that
    /// was noticed.
    #[must_use]
    pub fn list_given_up(&self) -> Vec<Recorded> {
        lock(&self.shared.given_up).clone()
    }

    /// The number of requests so far.
    #[must_use]
    pub fn count(&self) -> usize {
        lock(&self.shared.requests).len()
    }

    /// The number of requests whose prompt contains this text, letter case aside.
    #[must_use]
    pub fn count_of(&self, text: &str) -> usize {
        let text = text.to_lowercase();
        lock(&self.shared.requests)
            .iter()
            .filter(|request| request.prompt().to_lowercase().contains(&text))
            .count()
    }

    /// Returns the number of times that each different request arrived, the most frequent first.
    #[must_use]
    pub fn repeats(&self) -> Vec<usize> {
        let mut counts = BTreeMap::<String, usize>::new();
        for request in lock(&self.shared.requests).iter() {
            *counts.entry(format!("{} {}", request.path, request.body)).or_default() += 1;
        }
        let mut counts: Vec<usize> = counts.into_values().collect();
        counts.sort_unstable_by(|a, b| b.cmp(a));
        counts
    }

    /// The most requests that were in flight at once.
    #[must_use]
    pub fn peak(&self) -> usize {
        self.shared.peak.load(Ordering::SeqCst)
    }
}

impl Drop for MockEndpoint {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(());
        }
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Serves until it is stopped; requests in flight are then dropped with the runtime.
fn serve(shared: Arc<Shared>, bound: &mpsc::Sender<SocketAddr>, stopped: oneshot::Receiver<()>) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime can be made");
    runtime.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("loopback has a free port");
        let address = listener.local_addr().expect("a bound port has an address");
        let router = Router::new()
            .route("/v1/chat/completions", post(complete))
            .route("/v1/messages", post(complete))
            .route("/v1/embeddings", post(embed))
            .route("/v1/models", get(models))
            .fallback(elsewhere)
            .with_state(shared);
        bound.send(address).expect("the test waits for the address");
        tokio::select! {
            _ = axum::serve(listener.tap_io(send_at_once), router) => {}
            _ = stopped => {}
        }
    });
    runtime.shutdown_background();
}

/// Makes a connection send each write at once: without it, a reply of two writes waits 40 ms for
/// the acknowledgement of the first.
fn send_at_once(stream: &mut TcpStream) {
    let _ = stream.set_nodelay(true);
}

/// Counts a request as in flight until it is dropped.
struct UnderWay(Arc<Shared>);

impl UnderWay {
    fn new(shared: &Arc<Shared>) -> Self {
        let now = shared.under_way.fetch_add(1, Ordering::SeqCst) + 1;
        shared.peak.fetch_max(now, Ordering::SeqCst);
        Self(Arc::clone(shared))
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.0.under_way.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Notes a request as given up when it is dropped without an answer.
struct Open(Arc<Shared>, Option<Recorded>);

impl Drop for Open {
    fn drop(&mut self) {
        lock(&self.0.given_up).extend(self.1.take());
    }
}

/// Records a request, and returns it with its number from 1.
fn note(shared: &Shared, uri: &Uri, headers: &HeaderMap, body: &Bytes) -> (Recorded, usize) {
    let request = Recorded {
        path: uri.path().to_owned(),
        headers: headers
            .iter()
            .map(|(name, value)| {
                (name.as_str().to_owned(), String::from_utf8_lossy(value.as_bytes()).into_owned())
            })
            .collect(),
        body: serde_json::from_slice(body).unwrap_or(Value::Null),
    };
    let mut requests = lock(&shared.requests);
    requests.push(request.clone());
    (request, requests.len())
}

async fn complete(
    State(shared): State<Arc<Shared>>,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let _under_way = UnderWay::new(&shared);
    let (request, id) = note(&shared, &uri, &headers, &body);
    let reply = lock(&shared.script).answer(&request, id - 1);
    let mut open = Open(Arc::clone(&shared), Some(request.clone()));
    if !reply.delay.is_zero() {
        tokio::time::sleep(reply.delay).await;
    }
    let response = respond(&reply, &request, id).await;
    open.1 = None;
    response
}

async fn respond(reply: &Reply, request: &Recorded, id: usize) -> Response {
    let body = reply.body(request, id);
    let half = body.chars().take(body.chars().count() / 2).collect::<String>();
    let body = match reply.delivery {
        Delivery::Whole | Delivery::Events { .. } => Body::from(body),
        Delivery::Hang => std::future::pending().await,
        Delivery::Garbage => Body::from("\u{0}<html>\u{fffd} this is no JSON"),
        Delivery::HalfJson => Body::from(half),
        Delivery::CutStream => {
            let first = stream::once(async { Ok(Bytes::from(half)) });
            let broken = stream::once(async {
                // Time for the first half to leave before the connection goes.
                tokio::time::sleep(Duration::from_millis(50)).await;
                Err(std::io::Error::other("the connection breaks here"))
            });
            Body::from_stream(first.chain(broken))
        }
        Delivery::Flood(bytes) => {
            let chunk = Bytes::from(vec![b' '; 64 << 10]);
            let chunks =
                std::iter::repeat_n(chunk, bytes.div_ceil(64 << 10)).map(Ok::<_, Infallible>);
            Body::from_stream(stream::iter(chunks))
        }
    };
    let status = StatusCode::from_u16(reply.status).expect("a script's statuses are statuses");
    let mut response =
        Response::builder().status(status).header(header::CONTENT_TYPE, "application/json");
    for (name, value) in &reply.headers {
        response = response.header(name, value);
    }
    if status.is_redirection() {
        let nowhere = "http://127.0.0.1:9/elsewhere";
        response = response.header(header::LOCATION, reply.location.as_deref().unwrap_or(nowhere));
    }
    response.body(body).expect("a response can be built")
}

/// The name of the model for embeddings that never answers.
pub const HANGS: &str = "hangs";

/// Embeddings as OpenAI documents them: texts with common words have similar vectors.
async fn embed(
    State(shared): State<Arc<Shared>>,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let _under_way = UnderWay::new(&shared);
    let (request, _) = note(&shared, &uri, &headers, &body);
    if request.body["model"] == HANGS {
        return std::future::pending().await;
    }
    let texts: Vec<&str> =
        request.body["input"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let data: Vec<Value> = texts
        .iter()
        .enumerate()
        .map(|(index, text)| {
            json!({
                "object": "embedding", "index": index, "embedding": embedding(text)
            })
        })
        .collect();
    let tokens: usize = texts.iter().map(|text| text.len().div_ceil(4)).sum();
    let body = json!({"object": "list", "data": data, "model": request.body["model"],
        "usage": {"prompt_tokens": tokens, "total_tokens": tokens}});
    Response::new(Body::from(body.to_string()))
}

/// The number of times that each word occurs, by a hash of the word, and a constant, so that no
/// vector is zero.
fn embedding(text: &str) -> Vec<f64> {
    let mut vector = vec![0.0; 64];
    vector[0] = 0.01;
    let words = text.to_lowercase();
    for word in words.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
        let hash =
            word.bytes().fold(5_381_usize, |hash, byte| hash.wrapping_mul(33) ^ usize::from(byte));
        vector[1 + hash % 63] += 1.0;
    }
    vector
}

async fn models() -> Response {
    let list =
        json!({"object": "list", "data": [{"id": "mock", "object": "model", "owned_by": "kit"}]});
    Response::new(Body::from(list.to_string()))
}

async fn elsewhere(uri: Uri) -> Response {
    let body = json!({"error": {"message": format!("no route {}", uri.path())}}).to_string();
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = StatusCode::NOT_FOUND;
    response
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpStream;

    use super::*;

    fn send(endpoint: &MockEndpoint, prompt: &str) -> TcpStream {
        let body =
            json!({"model": "m", "messages": [{"role": "user", "content": prompt}]}).to_string();
        let mut stream = TcpStream::connect(endpoint.address).unwrap();
        let head = "POST /v1/chat/completions HTTP/1.1\r\nHost: mock\r\nConnection: close\r\n\
                    X-Test: yes\r\n";
        write!(stream, "{head}Content-Length: {}\r\n\r\n{body}", body.len()).unwrap();
        stream
    }

    fn ask(endpoint: &MockEndpoint, prompt: &str) -> String {
        let mut answer = Vec::new();
        // A connection that breaks off on purpose ends in an error after the bytes that arrived.
        let _ = send(endpoint, prompt).read_to_end(&mut answer);
        String::from_utf8_lossy(&answer).into_owned()
    }

    #[test]
    fn rules_answer_in_order_and_requests_are_recorded() {
        let script = Script::new()
            .once(["orders"], Reply::status(500, "out of memory"))
            .with(|_, before| (before == 1).then(|| Reply::text("second")))
            .on(["Orders", "sum"], Reply::sql("SELECT 1", 0.5));
        let endpoint = MockEndpoint::start(script);
        assert!(endpoint.url().ends_with("/v1"));
        let answers: Vec<String> = (0..3).map(|_| ask(&endpoint, "Sum of ORDERS")).collect();
        assert!(
            answers[0].starts_with("HTTP/1.1 500") && answers[0].contains("out of memory"),
            "{}",
            answers[0]
        );
        assert!(answers[1].contains("second") && answers[2].contains("SELECT 1"), "{answers:?}");
        assert!(ask(&endpoint, "something else").starts_with("HTTP/1.1 418"));
        assert_eq!((endpoint.count(), endpoint.count_of("orders"), endpoint.peak()), (4, 3, 1));
        let request = &endpoint.requests()[0];
        assert_eq!(
            (request.prompt().as_str(), request.headers["x-test"].as_str()),
            ("Sum of ORDERS", "yes")
        );
    }

    #[test]
    fn faults_are_faults() {
        let whole = ask(&MockEndpoint::start(Script::always(Reply::sql("SELECT 1", 0.9))), "q");
        let half = ask(&MockEndpoint::start(Script::always(Reply::half_json())), "q");
        let cut = ask(&MockEndpoint::start(Script::always(Reply::cut_stream())), "q");
        fn body(answer: &str) -> String {
            answer.split_once("\r\n\r\n").unwrap().1.to_owned()
        }
        assert!(serde_json::from_str::<Value>(&body(&whole)).is_ok());
        assert!(serde_json::from_str::<Value>(&body(&half)).is_err() && half.len() < whole.len());
        assert!(cut.contains("chunked") && !cut.ends_with("0\r\n\r\n"), "{cut}");
    }

    #[test]
    fn an_endpoint_stops_while_requests_hang() {
        let endpoint = MockEndpoint::start(Script::always(Reply::hang()));
        let mut waiting = send(&endpoint, "q");
        while endpoint.count() == 0 {
            std::thread::yield_now();
        }
        drop(endpoint);
        let mut answer = Vec::new();
        let _ = waiting.read_to_end(&mut answer);
        assert!(answer.is_empty());
    }
}
