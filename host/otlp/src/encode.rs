//! Spans in the words of the protocol.

use std::time::SystemTime;

use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value as Any;
use opentelemetry_proto::tonic::common::v1::{
    AnyValue, ArrayValue, InstrumentationScope, KeyValue,
};
use opentelemetry_proto::tonic::resource::v1::Resource;
use opentelemetry_proto::tonic::trace::v1 as proto;
use opentelemetry_proto::tonic::trace::v1::span::SpanKind as Kind;
use opentelemetry_proto::tonic::trace::v1::status::StatusCode;

use syrch_spans::{Link, Span, SpanKind, Value};

/// One request for all of them.
pub(super) fn request(spans: &[Span]) -> ExportTraceServiceRequest {
    let version = env!("CARGO_PKG_VERSION");
    let known = [("service.name", "syrch-host"), ("service.version", version)];
    let resource = Resource {
        attributes: known.map(|(name, value)| attribute(name, &value.into())).into(),
        ..Resource::default()
    };
    let scope = InstrumentationScope {
        name: "syrch".to_owned(),
        version: version.to_owned(),
        ..InstrumentationScope::default()
    };
    let scope_spans = proto::ScopeSpans {
        scope: Some(scope),
        spans: spans.iter().map(span).collect(),
        ..proto::ScopeSpans::default()
    };
    let resource_spans = proto::ResourceSpans {
        resource: Some(resource),
        scope_spans: vec![scope_spans],
        ..proto::ResourceSpans::default()
    };
    ExportTraceServiceRequest { resource_spans: vec![resource_spans] }
}

fn span(span: &Span) -> proto::Span {
    let kind = match span.kind {
        SpanKind::Internal => Kind::Internal,
        SpanKind::Client => Kind::Client,
    };
    // What failed is in `error.type`; a message might quote what a span must not hold.
    let status = span
        .error
        .map(|_| proto::Status { code: StatusCode::Error.into(), ..proto::Status::default() });
    proto::Span {
        trace_id: span.trace.into(),
        span_id: span.id.into(),
        parent_span_id: span.parent.map(Vec::from).unwrap_or_default(),
        name: span.name.clone(),
        kind: kind.into(),
        start_time_unix_nano: nanos(span.start),
        end_time_unix_nano: nanos(span.end),
        attributes: span.attributes.iter().map(|(name, value)| attribute(name, value)).collect(),
        links: span
            .links
            .iter()
            .map(|link: &Link| proto::span::Link {
                trace_id: span.trace.into(),
                span_id: link.span.into(),
                attributes: vec![attribute("syrch.task", &link.task.as_str().into())],
                ..proto::span::Link::default()
            })
            .collect(),
        status,
        ..proto::Span::default()
    }
}

fn attribute(name: &str, value: &Value) -> KeyValue {
    let text = |text: &String| Any::StringValue(text.clone());
    let value = match value {
        Value::Text(value) => text(value),
        Value::Whole(number) => Any::IntValue(*number),
        Value::Number(number) => Any::DoubleValue(*number),
        Value::Flag(flag) => Any::BoolValue(*flag),
        Value::Texts(texts) => {
            let values = texts.iter().map(|value| AnyValue { value: Some(text(value)) }).collect();
            Any::ArrayValue(ArrayValue { values })
        }
    };
    KeyValue {
        key: name.to_owned(),
        value: Some(AnyValue { value: Some(value) }),
        ..KeyValue::default()
    }
}

fn nanos(time: SystemTime) -> u64 {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}
