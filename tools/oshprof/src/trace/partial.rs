//! What a collector says that it has left out of what it has taken.

use opentelemetry_http::{Bytes, Response};
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceResponse;
use prost::Message;

/// Over several answers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Partial {
    /// Spans that it has rejected.
    pub(super) rejected: u64,
    /// Why; or a remark on what it has taken. What was said first.
    pub(super) why: String,
}

impl Partial {
    /// Adds what an answer says.
    pub(super) fn add(&mut self, answer: &Response<Bytes>) {
        let kind = answer.headers().get("content-type").and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        let said =
            if kind.starts_with("application/json") { in_json(answer.body()) } else { in_protobuf(answer.body()) };
        let Some((spans, why)) = said else { return };
        self.rejected = self.rejected.saturating_add(u64::try_from(spans).unwrap_or(0));
        if self.why.is_empty() {
            self.why = why;
        }
    }
}

fn in_protobuf(body: &[u8]) -> Option<(i64, String)> {
    let partial = ExportTraceServiceResponse::decode(body).ok()?.partial_success?;
    Some((partial.rejected_spans, partial.error_message))
}

/// JSON has 64-bit integers as text; some collectors write them as numbers.
fn in_json(body: &[u8]) -> Option<(i64, String)> {
    let answer: serde_json::Value = serde_json::from_slice(body).ok()?;
    let partial = answer.get("partialSuccess")?;
    let spans = &partial["rejectedSpans"];
    let spans = spans.as_i64().or_else(|| spans.as_str()?.parse().ok()).unwrap_or(0);
    Some((spans, partial["errorMessage"].as_str().unwrap_or_default().to_owned()))
}

#[cfg(test)]
mod tests {
    use opentelemetry_proto::tonic::collector::trace::v1::ExportTracePartialSuccess;

    use super::*;

    #[test]
    fn answers_add_up() {
        let mut all = Partial::default();
        let mut answer = |kind: &str, body: &[u8]| {
            let body = Bytes::copy_from_slice(body);
            all.add(&Response::builder().header("Content-Type", kind).body(body).unwrap());
            (all.rejected, all.why.clone())
        };
        let protobuf = |rejected_spans, error_message: &str| {
            let partial_success =
                Some(ExportTracePartialSuccess { rejected_spans, error_message: error_message.into() });
            ExportTraceServiceResponse { partial_success }.encode_to_vec()
        };
        let none = (0, String::new());
        assert_eq!(answer("application/x-protobuf", b""), none);
        assert_eq!(answer("application/x-protobuf", b"\xff\xff"), none);
        assert_eq!(answer("application/json", b"{}"), none);
        assert_eq!(answer("application/json", b"nonsense"), none);
        assert_eq!(answer("application/x-protobuf", &protobuf(3, "too old")), (3, "too old".into()));
        let json = br#"{"partialSuccess":{"rejectedSpans":"4","errorMessage":"too many"}}"#;
        assert_eq!(answer("application/json; charset=utf-8", json), (7, "too old".into()));
        assert_eq!(answer("application/x-protobuf", &protobuf(-1, "")), (7, "too old".into()));
    }
}
