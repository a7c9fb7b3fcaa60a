//! Tests of the messages that a collector receives, read with the protocol's own types.

use std::sync::Mutex;
use std::time::SystemTime;

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap as Headers, StatusCode};
use axum::routing::post;
use opentelemetry_proto::tonic::collector::trace::v1::{
    ExportTracePartialSuccess, ExportTraceServiceRequest,
};
use opentelemetry_proto::tonic::common::v1::any_value::Value as Any;
use opentelemetry_proto::tonic::trace::v1 as proto;

use super::*;
use syrch_spans::{Link, SpanKind, Value};

const LONG: Duration = Duration::from_secs(60);

#[derive(Clone)]
struct Collector {
    requests: Arc<Mutex<Vec<(Headers, ExportTraceServiceRequest)>>>,
    says: StatusCode,
    rejects: i64,
    hangs: bool,
}

impl Collector {
    fn new() -> Self {
        Self { requests: Arc::default(), says: StatusCode::OK, rejects: 0, hangs: false }
    }

    /// Serves on a free port and returns the base URL.
    async fn start(&self) -> String {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let router = Router::new().route("/v1/traces", post(receive)).with_state(self.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        url
    }

    fn spans(&self) -> Vec<proto::Span> {
        let requests = self.requests.lock().unwrap();
        let all = requests
            .iter()
            .flat_map(|(_, request)| &request.resource_spans)
            .flat_map(|all| &all.scope_spans);
        all.flat_map(|scope| scope.spans.clone()).collect()
    }
}

async fn receive(
    State(collector): State<Collector>,
    headers: Headers,
    body: Bytes,
) -> (StatusCode, Vec<u8>) {
    let request = ExportTraceServiceRequest::decode(body).unwrap();
    collector.requests.lock().unwrap().push((headers, request));
    if collector.hangs {
        std::future::pending::<()>().await;
    }
    let partial = ExportTracePartialSuccess {
        rejected_spans: collector.rejects,
        error_message: "secret".to_owned(),
    };
    let reply =
        ExportTraceServiceResponse { partial_success: (collector.rejects > 0).then_some(partial) };
    (collector.says, reply.encode_to_vec())
}

fn settings(endpoint: &str) -> OtlpSettings {
    OtlpSettings { endpoint: endpoint.to_owned(), headers: Vec::new(), insecure: false, sql: false }
}

fn span(number: u8) -> Span {
    let start = SystemTime::UNIX_EPOCH + Duration::from_nanos(1_000_000_007);
    Span {
        trace: [7; 16],
        id: [number; 8],
        parent: Some([9; 8]),
        name: "chat m".to_owned(),
        kind: SpanKind::Client,
        links: vec![Link { span: [5; 8], task: "A".to_owned() }],
        attributes: vec![
            ("text", "a".into()),
            ("whole", Value::Whole(-3)),
            ("number", Value::Number(0.5)),
            ("flag", true.into()),
            ("texts", Value::Texts(vec!["stop".to_owned()])),
        ],
        start,
        end: start + Duration::from_nanos(5),
        error: Some("unavailable"),
    }
}

#[tokio::test]
async fn a_span_arrives_whole() {
    let collector = Collector::new();
    let headers = vec![("authorization".to_owned(), SecretString::from("Basic abc"))];
    let otlp = Otlp::open(&OtlpSettings { headers, ..settings(&collector.start().await) }).unwrap();
    otlp.take(span(1));
    otlp.take(Span {
        parent: None,
        kind: SpanKind::Internal,
        error: None,
        links: Vec::new(),
        ..span(2)
    });
    assert_eq!(otlp.flush(LONG).await, None);

    let [first, second] = collector.spans().try_into().unwrap();
    assert_eq!(
        (first.trace_id, first.span_id, first.parent_span_id),
        (vec![7; 16], vec![1; 8], vec![9; 8])
    );
    assert_eq!((first.name.as_str(), first.kind), ("chat m", proto::span::SpanKind::Client as i32));
    assert_eq!(
        (first.start_time_unix_nano, first.end_time_unix_nano),
        (1_000_000_007, 1_000_000_012)
    );
    assert_eq!(first.status.unwrap().code, proto::status::StatusCode::Error as i32);
    assert_eq!(
        (first.links[0].trace_id.clone(), first.links[0].span_id.clone()),
        (vec![7; 16], vec![5; 8])
    );
    let values: Vec<Any> =
        first.attributes.into_iter().map(|pair| pair.value.unwrap().value.unwrap()).collect();
    assert_eq!(values[..2], [Any::StringValue("a".to_owned()), Any::IntValue(-3)]);
    assert_eq!(values[2..4], [Any::DoubleValue(0.5), Any::BoolValue(true)]);
    assert!(matches!(&values[4], Any::ArrayValue(texts) if texts.values.len() == 1));
    assert!(second.parent_span_id.is_empty() && second.status.is_none());

    let requests = collector.requests.lock().unwrap();
    let (headers, request) = &requests[0];
    assert_eq!(
        (&headers["authorization"], &headers["content-type"]),
        (&"Basic abc".parse().unwrap(), &"application/x-protobuf".parse().unwrap())
    );
    let resource = request.resource_spans[0].resource.clone().unwrap();
    assert_eq!(resource.attributes[0].key, "service.name");
    assert_eq!(request.resource_spans[0].scope_spans[0].scope.as_ref().unwrap().name, "syrch");
}

#[tokio::test]
async fn many_spans_are_few_requests() {
    let collector = Collector::new();
    let otlp = Otlp::open(&settings(&format!("{}/v1/traces/", collector.start().await))).unwrap();
    (0..1_500).for_each(|_| otlp.take(span(1)));
    assert_eq!(otlp.flush(LONG).await, None);
    assert_eq!(collector.spans().len(), 1_500);
    assert_eq!(collector.requests.lock().unwrap().len(), 3);
}

#[tokio::test]
async fn what_is_lost_is_counted_once() {
    let refusing = Collector { says: StatusCode::SERVICE_UNAVAILABLE, ..Collector::new() };
    let otlp = Otlp::open(&settings(&refusing.start().await)).unwrap();
    otlp.take(span(1));
    otlp.take(span(2));
    let reported = otlp.flush(LONG).await.unwrap();
    assert_eq!(reported, "2 spans are not sent: the collector says 503 Service Unavailable");
    assert_eq!(otlp.flush(LONG).await, None);

    let picky = Collector { rejects: 1, ..Collector::new() };
    let otlp = Otlp::open(&settings(&picky.start().await)).unwrap();
    otlp.take(span(1));
    otlp.take(span(2));
    assert_eq!(
        otlp.flush(LONG).await.unwrap(),
        "1 spans are not sent: the collector rejected them"
    );

    let otlp = Otlp::open(&settings("http://127.0.0.1:9")).unwrap();
    otlp.take(span(1));
    assert_eq!(
        otlp.flush(LONG).await.unwrap(),
        "1 spans are not sent: the collector cannot be reached"
    );
}

#[tokio::test]
async fn a_collector_that_hangs_holds_nobody_up() {
    let collector = Collector { hangs: true, ..Collector::new() };
    let otlp = Otlp::open(&settings(&collector.start().await)).unwrap();
    // More than the queue and a batch hold: the rest is dropped, and nobody waits.
    (0..2 * QUEUE).for_each(|_| otlp.take(span(1)));
    let reported = otlp.flush(Duration::from_millis(50)).await.unwrap();
    assert!(reported.contains("took more than 0.05 s"), "{reported}");
    assert!(otlp.losses.lost.load(Ordering::Relaxed) >= (QUEUE - BATCH) as u64);
}

#[tokio::test]
async fn an_endpoint_is_a_plain_url() {
    let posted = |endpoint: &str| target(endpoint).map(|url| url.to_string()).ok();
    assert_eq!(posted("http://localhost:4318").unwrap(), "http://localhost:4318/v1/traces");
    assert_eq!(posted("https://collector/otlp/").unwrap(), "https://collector/otlp/v1/traces");
    assert_eq!(posted("http://collector/v1/traces").unwrap(), "http://collector/v1/traces");
    for wrong in
        ["", "localhost:4318", "ftp://a", "http://user:key@a", "http://a/?key=1", "http://"]
    {
        assert_eq!(posted(wrong), None, "{wrong}");
    }
    let headers = vec![("a b".to_owned(), SecretString::from("secret"))];
    let open = |endpoint: &str| {
        Otlp::open(&OtlpSettings { headers: headers.clone(), ..settings(endpoint) })
    };
    assert_eq!(open("https://a").unwrap_err().to_string(), "the OTLP header `a b` cannot be sent");
    assert!(open("http://a").unwrap_err().to_string().contains("would go over plain http to `a`"));
}
