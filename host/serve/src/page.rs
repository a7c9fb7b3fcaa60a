//! The files of the page, as they were built from `page/src`, and pages that stand alone with them.

use axum::extract::Request;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use syrch::syrch_core::text::escape::{clip_with_remark, is_dangerous};

const SCRIPT: &str = include_str!("../page/dist/app.js");
const STYLE: &str = include_str!("../page/dist/app.css");
/// The limit on the characters of a text in a page that stands alone.
const LONGEST: usize = 20_000;
/// The digests of these files in the form of a content security policy, as `npm run build` writes
/// them.
const POLICY: &str = include_str!("../page/dist/policy");

/// A file of the page.
struct File {
    path: &'static str,
    kind: &'static str,
    content: &'static str,
}

const FILES: [File; 3] = [
    File {
        path: "/",
        kind: "text/html; charset=utf-8",
        content: include_str!("../page/dist/index.html"),
    },
    File { path: "/app.js", kind: "text/javascript; charset=utf-8", content: SCRIPT },
    File { path: "/app.css", kind: "text/css; charset=utf-8", content: STYLE },
];

/// Returns a file of the page. It holds nothing of the database, so that it needs no session.
pub(crate) async fn file(request: Request) -> Response {
    let path = request.uri().path();
    match FILES.iter().find(|file| file.path == path) {
        Some(file) => {
            let kind = HeaderValue::from_static(file.kind);
            // Another version of the program may serve another file at the same address.
            let cache = HeaderValue::from_static("no-cache");
            ([(header::CONTENT_TYPE, kind), (header::CACHE_CONTROL, cache)], file.content)
                .into_response()
        }
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

/// Makes a page that shows a document and loads nothing: a file that is opened from a disk. `view`
/// names the component that shows it: `trace`, `report` or `parts`.
#[must_use]
pub fn static_page(title: &str, view: &str, document: &Value) -> String {
    let mut document = json!({"view": view, "title": title, "document": document});
    cut_texts(&mut document);
    let data = escape(&document.to_string());
    let policy = POLICY.trim();
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>syrch-host</title>\n<style>{STYLE}</style>\n</head>\n<body>\n\
         <div id=\"page\"></div>\n<noscript>The page needs JavaScript.</noscript>\n\
         <script type=\"application/json\" id=\"document\">{data}</script>\n\
         <script type=\"module\">{SCRIPT}</script>\n</body>\n</html>\n"
    )
}

/// Cuts the long texts of a document, of which the page shows no more. A part of a picture would be
/// none.
fn cut_texts(document: &mut Value) {
    match document {
        Value::String(long) if long.chars().nth(LONGEST).is_some() => {
            *long = clip_with_remark(long, LONGEST).into_owned();
        }
        Value::Array(items) => items.iter_mut().for_each(cut_texts),
        Value::Object(members) => {
            let texts = members.iter_mut().filter(|(name, _)| *name != "svg");
            texts.for_each(|(_, member)| cut_texts(member));
        }
        _ => {}
    }
}

/// Writes a JSON document so that nothing in it ends its element, and no character in it changes
/// how an editor or a terminal shows the file.
fn escape(document: &str) -> String {
    let mut escaped = String::with_capacity(document.len());
    for letter in document.chars() {
        if !matches!(letter, '<' | '>' | '&') && !is_dangerous(letter) {
            escaped.push(letter);
            continue;
        }
        for unit in letter.encode_utf16(&mut [0; 2]) {
            escaped.push_str(&format!("\\u{unit:04x}"));
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::{Path, PathBuf};

    use sha2::{Digest, Sha256};

    use super::*;

    #[test]
    fn long_texts_are_cut_and_pictures_are_not() {
        let long = "x".repeat(LONGEST + 1);
        let page = static_page("", "report", &json!({"text": long, "svg": long}));
        assert!(page.contains(&format!("\"svg\":\"{long}\"")));
        assert!(!page.contains(&format!("\"text\":\"{long}")));
    }

    #[test]
    fn hostile_documents_stay_data() {
        let texts = ["</script><img src=x>", "<!--<script>", "\u{202e}\u{1b}[2J\u{2028}", "&lt;"];
        let document = json!({"texts": texts});
        let page = static_page("</title>", "trace", &document);
        let (_, rest) = page.split_once("id=\"document\">").unwrap();
        let (data, _) = rest.split_once("</script>").unwrap();
        for raw in ['<', '>', '&', '\u{202e}', '\u{1b}', '\u{2028}'] {
            assert!(!data.contains(raw), "{raw:?}");
        }
        let read: Value = serde_json::from_str(data).unwrap();
        assert_eq!((&read["document"], &read["title"]), (&document, &json!("</title>")));
    }

    #[test]
    fn a_page_that_stands_alone_allows_its_own_files_only() {
        for (directive, content) in [("script-src", SCRIPT), ("style-src", STYLE)] {
            let digest = encode_base64(&Sha256::digest(content));
            let allowed = format!("{directive} 'sha256-{digest}'");
            assert!(POLICY.contains(&allowed), "{allowed}: {POLICY}");
            assert!(!content.contains("</"), "the content would end its element");
        }
        assert!(POLICY.starts_with("default-src 'none'; ") && !POLICY.contains("unsafe"));
    }

    fn encode_base64(bytes: &[u8]) -> String {
        const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        let mut text = String::new();
        for three in bytes.chunks(3) {
            let bits = three.iter().fold(0_u32, |bits, byte| (bits << 8) | u32::from(*byte));
            let bits = bits << (8 * (3 - three.len()));
            for place in 0..=three.len() {
                text.push(char::from(DIGITS[((bits >> (18 - 6 * place)) & 63) as usize]));
            }
            text.push_str(&"=".repeat(3 - three.len()));
        }
        text
    }

    fn page() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("page")
    }

    fn files(folder: &Path, found: &mut BTreeSet<String>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                files(&path, found);
            } else if !path.ends_with("dist/digests") {
                let below = path.strip_prefix(page()).unwrap();
                found.insert(below.to_str().unwrap().to_owned());
            }
        }
    }

    /// `npm run build` writes the digests of the sources and of what it built from them.
    #[test]
    fn the_built_page_is_that_of_its_sources() {
        let digests = fs::read_to_string(page().join("dist/digests")).unwrap();
        let mut listed = BTreeSet::new();
        for line in digests.lines() {
            let (digest, path) = line.split_once("  ").unwrap();
            let file = page().join(path);
            let own = syrch_kit::sha256(&file);
            assert_eq!(
                own, digest,
                "{path} changed: run `npm install && npm run build` in host/serve/page"
            );
            listed.insert(path.to_owned());
        }
        let mut there = BTreeSet::new();
        for folder in ["src", "dist"] {
            files(&page().join(folder), &mut there);
        }
        let missing: Vec<&String> = there.difference(&listed).collect();
        assert!(missing.is_empty(), "not in the digests: {missing:?}");
    }
}
