//! The keys by which recorded requests are found.

use syrch_core::ports::{Message, Request, RequestKey, Speaker};

fn content<'a>(request: &'a Request, default: Option<&String>) -> RequestKey<'a> {
    let key = request.key();
    // To name the default is to name none.
    RequestKey {
        model: key.model.filter(|name| default.is_none_or(|default| default.as_str() != *name)),
        ..key
    }
}

fn text(key: &RequestKey<'_>) -> String {
    // A value of texts and numbers always has its JSON.
    serde_json::to_string(key).unwrap_or_default()
}

/// The key of a request, which is equal for equal requests. `default` is the model of requests that
/// name none.
pub(super) fn key(request: &Request, default: Option<&String>) -> String {
    text(&content(request, default))
}

/// The key without the output limit, since a budget tries several limits.
pub(super) fn key_of_any_length(request: &Request, default: Option<&String>) -> String {
    text(&RequestKey { max_tokens: None, ..content(request, default) })
}

/// The fields other than the messages with their names, for messages to the user.
pub(super) fn fields(request: &Request) -> [(&'static str, String); 10] {
    fn show_number<T: ToString>(value: Option<T>) -> String {
        value.map_or_else(|| "unset".to_owned(), |value| value.to_string())
    }
    [
        ("purpose", request.purpose.name().to_owned()),
        ("model", request.model.clone().unwrap_or_else(|| "the default".to_owned())),
        ("expected shape", serde_json::to_string(&request.expect).unwrap_or_default()),
        ("temperature", show_number(request.temperature)),
        ("top-p", show_number(request.top_p)),
        ("max-tokens", show_number(request.max_tokens)),
        ("stop", request.stop.join(" ")),
        ("logprobs", request.logprobs.to_string()),
        ("sample", request.sample.to_string()),
        ("seed", request.seed.to_string()),
    ]
}

/// The name of the speaker of a message.
pub(super) fn speaker(message: &Message) -> &'static str {
    match message.speaker {
        Speaker::System => "system",
        Speaker::User => "user",
        Speaker::Assistant => "assistant",
    }
}

#[cfg(test)]
pub(super) mod fixture {
    use syrch_core::ports::{Purpose, Shape};

    use super::*;

    /// A request with these messages, system and user in turn.
    pub(in crate::replay) fn request<const N: usize>(
        purpose: Purpose,
        texts: [&str; N],
    ) -> Request {
        let speakers = [Speaker::System, Speaker::User].into_iter().cycle();
        Request::new(
            purpose,
            speakers
                .zip(texts)
                .map(|(speaker, text): (Speaker, &str)| Message { speaker, text: text.to_owned() })
                .collect(),
            Shape::Text,
        )
    }
}

#[cfg(test)]
mod tests {
    use syrch_core::ports::{Purpose, Shape};

    use super::fixture::request;
    use super::*;

    type Change = fn(&mut Request);

    #[test]
    fn whatever_is_sent_makes_another_request() {
        let plain = request(Purpose::Generate, ["Rules.", "Count the orders."]);
        let changes: [Change; 12] = [
            |request| request.purpose = Purpose::Repair,
            |request| request.messages[1].text.push(' '),
            |request| request.messages[1].speaker = Speaker::Assistant,
            |request| request.expect = Shape::Sql,
            |request| request.model = Some("strong".to_owned()),
            |request| request.temperature = Some(0.0),
            |request| request.top_p = Some(f32::NAN),
            |request| request.max_tokens = Some(64),
            |request| request.stop = vec![";".to_owned()],
            |request| request.logprobs = true,
            |request| request.sample = 1,
            |request| request.seed = 1,
        ];
        let changed = changes.map(|change| {
            let mut request = plain.clone();
            change(&mut request);
            key(&request, None)
        });
        assert!(changed.iter().all(|other| *other != key(&plain, None)));
        let distinct: std::collections::BTreeSet<&String> = changed.iter().collect();
        assert_eq!(distinct.len(), changed.len());
    }

    #[test]
    fn what_is_not_sent_does_not() {
        let plain = request(Purpose::Generate, ["Rules."]);
        let mut same = Request { subjects: vec!["SELECT 1".to_owned()], ..plain.clone() };
        assert_eq!(key(&same, None), key(&plain, None));
        let default = "default".to_owned();
        same.model = Some(default.clone());
        assert_eq!(key(&same, Some(&default)), key(&plain, Some(&default)));
        same.max_tokens = Some(9);
        assert_eq!(
            key_of_any_length(&same, Some(&default)),
            key_of_any_length(&plain, Some(&default))
        );
    }
}
