//! Access to a server: names, origins, links, tokens, and bounds on what a client takes.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;

use serde_json::json;
use syrch_kit::scratch;

use super::client::{Response, Server, TOKEN, serve, serve_with, slow_model};
use crate::{host, shop};

fn get_status(server: &Server, path: &str, headers: &[(&str, &str)]) -> u16 {
    server.send("GET", path, headers, "").status
}

fn open_session(server: &Server, code: &str) -> Response {
    let headers = [("Host", server.address.as_str()), ("Content-Type", "application/json")];
    server.send("POST", "/api/v1/session", &headers, &json!({"code": code}).to_string())
}

/// The exit code and the message of a server with these flags, which does not start.
fn refuse(folder: &Path, more: &[&str]) -> (i32, String) {
    let mut command = host();
    command.env("SYRCH_STATE_DIR", folder.join("state")).args(["serve", "--db"]);
    let output = command.arg(shop(folder)).args(more).output().unwrap();
    (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap())
}

#[test]
fn foreign_names_and_foreign_pages_do_not_reach_a_server() {
    let folder = scratch();
    let server = Server::start(serve(&shop(folder.path()), folder.path()));
    let own = server.address.clone();
    let bearer = format!("Bearer {TOKEN}");
    let api = "/api/v1/server";
    assert_eq!(get_status(&server, api, &[("Host", &own), ("Authorization", &bearer)]), 200);
    assert_eq!(get_status(&server, api, &[("Host", &own)]), 401);
    assert_eq!(get_status(&server, api, &[("Host", &own), ("Authorization", "Bearer wrong")]), 401);
    assert_eq!(get_status(&server, api, &[("Host", &own), ("Cookie", "syrch-1=x")]), 401);
    // A name of an attacker that leads to this machine: DNS rebinding.
    for path in ["/", api] {
        for name in ["evil.example", "evil.example:80", "127.0.0.1:1", "localhost", ""] {
            assert_eq!(
                get_status(&server, path, &[("Host", name), ("Authorization", &bearer)]),
                421,
                "{name}"
            );
        }
        assert_eq!(get_status(&server, path, &[("Host", &own), ("Host", "evil.example")]), 421);
    }
    // A page of another origin: CSRF.
    for origin in ["http://evil.example", "null", "http://127.0.0.1:1", &format!("https://{own}")] {
        let headers = [("Host", own.as_str()), ("Authorization", &bearer), ("Origin", origin)];
        assert_eq!(get_status(&server, api, &headers), 403, "{origin}");
    }
    let cross =
        [("Host", own.as_str()), ("Authorization", &bearer), ("Sec-Fetch-Site", "cross-site")];
    assert_eq!(get_status(&server, api, &cross), 403);
    let same = format!("http://{own}");
    assert_eq!(
        get_status(&server, api, &[("Host", &own), ("Authorization", &bearer), ("Origin", &same)]),
        200
    );
    // What a form of a foreign page could send.
    for kind in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"] {
        let headers = [("Host", own.as_str()), ("Authorization", &bearer), ("Content-Type", kind)];
        assert_eq!(
            server.send("POST", "/api/v1/sql", &headers, "{\"sql\": \"SELECT 1\"}").status,
            415
        );
    }
    let page = server.send("GET", "/", &[("Host", &own)], "");
    assert_eq!(page.status, 200);
    let policy = page.header("content-security-policy");
    assert!(policy.contains("default-src 'none'") && !policy.contains("unsafe"), "{policy}");
    assert_eq!(page.header("x-content-type-options"), "nosniff");
    assert_eq!(page.header("access-control-allow-origin"), "");
}

#[test]
fn a_link_works_once_and_its_cookie_stays_on_the_site() {
    let folder = scratch();
    let mut server = Server::start(serve(&shop(folder.path()), folder.path()));
    let own = server.address.clone();
    let code = server.code.clone();
    assert_eq!(open_session(&server, "0000").status, 403);
    let opened = open_session(&server, &code);
    assert_eq!(opened.status, 204);
    let cookie = opened.header("set-cookie").to_owned();
    assert!(cookie.ends_with("; Path=/; HttpOnly; SameSite=Strict"), "{cookie}");
    assert_eq!(open_session(&server, &code).status, 403);
    let session = cookie.split(';').next().unwrap();
    let status =
        server.send("GET", "/api/v1/server", &[("Host", &own), ("Cookie", session)], "").status;
    assert_eq!(status, 200);
    // The next browser has a link of its own.
    server.read_link();
    assert_ne!(server.code, code);
    let next = server.code.clone();
    assert_eq!(open_session(&server, &next).status, 204);
}

#[test]
fn other_machines_need_a_token() {
    let folder = scratch();
    let database = shop(folder.path());
    let (code, said) = refuse(folder.path(), &["--listen", "0.0.0.0:0"]);
    assert_eq!(code, 2, "{said}");
    assert!(said.contains("no token") && said.contains("--token-file"), "{said}");
    let short = folder.path().join("short");
    std::fs::write(&short, "short").unwrap();
    let (code, said) = refuse(folder.path(), &["--token-file", short.to_str().unwrap()]);
    assert!(code == 2 && said.contains("no token can be read"), "{said}");
    let server = Server::start(serve(&database, folder.path()));
    let (code, said) = refuse(folder.path(), &["--listen", &server.address]);
    assert!(code == 2 && said.contains("cannot listen"), "{said}");
}

#[test]
fn a_token_file_that_is_missing_is_made() {
    let folder = scratch();
    let path = folder.path().join("made");
    let mut command = host();
    command.env("SYRCH_STATE_DIR", folder.path().join("state")).args(["serve", "--db"]);
    command.arg(shop(folder.path()));
    command.args(["--listen", "127.0.0.1:0", "--format", "jsonl", "--token-file"]).arg(&path);
    let server = Server::start(command);
    let token = std::fs::read_to_string(&path).unwrap();
    assert!(token.trim().len() >= 40, "{token}");
    let bearer = format!("Bearer {}", token.trim());
    let headers = [("Host", server.address.as_str()), ("Authorization", &bearer)];
    assert_eq!(server.send("GET", "/api/v1/server", &headers, "").status, 200);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }
}

#[test]
fn bodies_searches_and_the_queue_are_bounded() {
    let folder = scratch();
    let endpoint = slow_model(1_500);
    let mut command = serve_with(&endpoint, &shop(folder.path()), folder.path());
    command.args(["--searches", "1", "--queue", "1"]);
    let server = Server::start(command);
    let ask = json!({"question": "How many customers are there?"});
    let first = server.begin(&ask);
    let second = server.begin(&ask);
    let third = server.post("/ask", &ask, &[]);
    assert_eq!((third.status, &third.json()["class"]), (503, &json!("queue-full")));
    assert_eq!(third.header("retry-after"), "5");
    let about = server.get("/server").json();
    assert_eq!(about["running"].as_u64().unwrap() + about["waiting"].as_u64().unwrap(), 2);
    for run in [&first, &second] {
        let events = server.events(run, 0);
        assert_eq!(events.last().unwrap().1, "answer", "{events:?}");
    }

    let long = json!({"question": "x".repeat(1 << 20)});
    assert_eq!(server.post("/ask", &long, &[]).status, 413);
    let long = json!({"question": "x".repeat(160_000)});
    let refused = server.post("/ask", &long, &[]);
    assert_eq!((refused.status, &refused.json()["class"]), (413, &json!("too-large")));
    for wrong in
        [json!({}), json!({"question": " "}), json!([1]), json!({"question": "?", "as_of": "soon"})]
    {
        assert_eq!(server.post("/ask", &wrong, &[]).status, 400, "{wrong}");
    }
    // A head that never ends, or is too long, costs a connection for a while and no more.
    let mut stream = TcpStream::connect(&server.address).unwrap();
    let head = format!("GET / HTTP/1.1\r\nX: {}", "x".repeat(1 << 20));
    drop(stream.write_all(head.as_bytes()));
    drop(stream.read_to_end(&mut Vec::new()));
    assert_eq!(server.get("/server").status, 200);
}
