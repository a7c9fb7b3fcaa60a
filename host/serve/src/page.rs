//! The files of the page, as they were built from `page/src`.

use axum::extract::Request;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};

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
    File {
        path: "/app.js",
        kind: "text/javascript; charset=utf-8",
        content: include_str!("../page/dist/app.js"),
    },
    File {
        path: "/app.css",
        kind: "text/css; charset=utf-8",
        content: include_str!("../page/dist/app.css"),
    },
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::{Path, PathBuf};

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
                "{path} changed: run `npm ci && npm run build` in host/serve/page"
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
