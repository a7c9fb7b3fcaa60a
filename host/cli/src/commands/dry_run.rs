//! `search --dry-run`: the requests that a search would send to a model, as they would be sent.
//! Nothing is.

use std::sync::Arc;

use serde_json::{Map, Value, json};
use syrch::Host;
use syrch::syrch_core::Problem;
use syrch::syrch_core::ports::Preview;

use super::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::sink::{Format, Grid, terminal};

/// Prints the requests that a search would send, in the configured format.
pub(super) async fn run(context: &Context, host: &Arc<Host>, problem: Problem) -> Outcome {
    show(context, &host.preview(problem).await?)
}

/// Prints requests in the configured format.
pub(super) fn show(context: &Context, previews: &[Preview]) -> Outcome {
    context.console.clear();
    match context.format {
        Format::Auto | Format::Table => {
            context.output.write(&context.scrubber.text(&text(previews)?))?
        }
        Format::Json => context.document(previews.iter().map(document).collect())?,
        _ => context.rows(grid(previews), || Value::Null)?,
    }
    Ok(Exit::Answered)
}

/// Requests as they go over the wire, but for the body, which is indented.
pub(super) fn text(previews: &[Preview]) -> Outcome<String> {
    if previews.is_empty() {
        return Ok("nothing would be sent\n".to_owned());
    }
    let requests = previews.iter().map(request).collect::<Outcome<Vec<_>>>()?;
    Ok(requests.join("\n"))
}

fn request(preview: &Preview) -> Outcome<String> {
    let body =
        serde_json::to_string_pretty(&preview.body).map_err(|error: serde_json::Error| {
            Failure::new(Exit::Unexpected, format!("a request: {error}"))
        })?;
    let headers: String = preview
        .headers
        .iter()
        .map(|(name, value): &(String, String)| {
            format!("{}\n", terminal::line(&format!("{name}: {value}")))
        })
        .collect();
    let address = format!("{} {}", preview.method, preview.url);
    Ok(format!("{}\n{headers}\n{}\n", terminal::line(&address), terminal::block(&body)))
}

fn document(preview: &Preview) -> Value {
    let Preview { method, url, headers, body } = preview;
    let headers: Map<String, Value> =
        headers.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
    json!({"method": method, "url": url, "headers": headers, "body": body})
}

fn grid(previews: &[Preview]) -> Grid {
    let mut grid = Grid::new(["method", "url", "headers", "body"]);
    let names = ["method", "url", "headers", "body"];
    grid.rows = previews
        .iter()
        .map(|preview| names.map(|name| document(preview)[name].clone()).to_vec())
        .collect();
    grid
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_reads_as_it_is_sent() {
        let preview = Preview {
            method: "POST".into(),
            url: "http://localhost:1/v1/chat/completions".into(),
            headers: vec![("authorization".into(), "***".into())],
            body: json!({"model": "m\u{1b}[2J"}),
        };
        let shown = text(std::slice::from_ref(&preview)).unwrap();
        let head =
            "POST http://localhost:1/v1/chat/completions\nauthorization: ***\n\n{\n  \"model\": ";
        assert!(shown.starts_with(head) && !shown.contains('\u{1b}'), "{shown}");
        assert_eq!(document(&preview)["headers"], json!({"authorization": "***"}));
        assert_eq!(text(&[]).unwrap(), "nothing would be sent\n");
    }
}
