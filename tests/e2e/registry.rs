//! `plugin push` and `plugin add oci://…`: a plugin that passes through a registry, one that asks
//! for a password or a token, and one that is hostile.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};
use syrch_kit::registry::{Guarded, Planted, Registry, credentials, digest, find_wkg};

use crate::endpoint::Said;
use crate::locked::{Place, component};

const DEFINITION: &str = "name: votes\nlanguage: c\nroles: [solver]\n\
    wants: [llm, inspect, sql, rows, cells, evaluate, model-calls=50]\n";

/// Writes the folder of a project that is built, and returns the path of its component.
fn write_project(place: &Place, sections: usize) -> String {
    fs::create_dir_all(place.path("votes/build")).unwrap();
    fs::write(place.path("votes/plugin.yml"), DEFINITION).unwrap();
    fs::write(place.path("votes/build/votes.wasm"), component(sections)).unwrap();
    "votes/build/votes.wasm".to_owned()
}

fn add(place: &Place, address: &str, more: &[&str]) -> Said {
    place.run(&[&["plugin", "add", address, "--yes", "--name", "votes"][..], more].concat())
}

fn push(place: &Place, address: &str) -> Value {
    let pushed = place.run(&["plugin", "push", "votes", address, "--format", "json"]);
    assert_eq!(pushed.code, 0, "{}", pushed.all());
    pushed.document(0)
}

/// A `config.json` of docker with credentials for one host.
fn write_credentials(host: &str, auth: &str) -> String {
    json!({"auths": {host: {"auth": auth}}}).to_string()
}

fn run_wkg(wkg: &Path, place: &Place, registry: &Registry, words: &[&str]) {
    let mut command = Command::new(wkg);
    command.current_dir(place.path("")).arg("oci").args(words);
    let output = command.args(["--insecure", &registry.host()]).output().unwrap();
    assert!(output.status.success(), "{words:?}: {output:?}");
}

#[test]
fn a_plugin_is_pushed_added_used_updated_and_refused() {
    let registry = Registry::start(Guarded::Open);
    let place = Place::new();
    let file = write_project(&place, 1);
    let words = ["plugin", "sign", &file, "--key", "own.pem", "--new-key", "--format", "json"];
    let key = place.run(&words).document(0)["key"].as_str().unwrap().to_owned();
    let address = format!("oci://{}/me/votes:1", registry.host());
    let first = push(&place, &address);
    assert_eq!(first["manifest"], digest(&registry.manifest("me/votes:1").unwrap()));
    assert_eq!(push(&place, &address), first, "a component has one manifest");

    // Its signature and what it asks for come with it.
    let added = add(&place, &address, &["--key", &key]);
    assert_eq!(added.code, 0, "{}", added.all());
    let entry = place.entry("votes");
    assert_eq!((&entry["manifest"], &entry["digest"]), (&first["manifest"], &first["digest"]));
    assert_eq!((&entry["source"], &entry["key"]), (&json!(address), &json!(key)));
    assert!(entry["wanted"].to_string().contains("model-calls=50"), "{entry}");
    assert_eq!(place.ask("votes", &[]).code, 0);
    assert_eq!(place.run(&["plugin", "review", "votes"]).code, 0);

    // Somebody moves the tag, which changes nothing until it is reviewed and added again.
    write_project(&place, 2);
    fs::remove_file(place.path("votes/build/votes.wasm.sig")).unwrap();
    let unsigned = push(&place, &address);
    place.refuses(&["plugin", "review", "votes"], 15, &["it has no signature"]);
    assert_eq!(add(&place, &address, &[]).code, 15);
    assert_eq!(place.run(&["plugin", "sign", &file, "--key", "own.pem"]).code, 0);
    let second = push(&place, &address);
    assert_ne!(second["manifest"], unsigned["manifest"]);
    assert_eq!((place.entry("votes"), place.ask("votes", &[]).code), (entry.clone(), 0));
    let review = place.run(&["plugin", "review", "votes"]);
    let becomes = format!("becomes {}", second["manifest"].as_str().unwrap());
    assert!(review.code == 5 && review.stdout.contains(&becomes), "{}", review.all());
    assert_eq!(add(&place, &address, &[]).code, 0);
    assert_eq!(place.entry("votes")["manifest"], second["manifest"]);

    // A digest is the plugin that it was, whatever the tag is now.
    let pinned = format!("{address}@{}", first["manifest"].as_str().unwrap());
    assert_eq!(add(&place, &pinned, &[]).code, 0);
    assert_eq!(place.entry("votes")["digest"], first["digest"]);
    place.refuses(&["plugin", "push", "votes", &pinned], 2, &["a push goes to a tag"]);
    place.refuses(&["plugin", "add", "oci://h/../x:1"], 2, &["no address of a registry"]);

    // Nothing of it needs the registry any more.
    drop(registry);
    assert_eq!(place.ask("votes", &[]).code, 0);
    place.refuses(&["plugin", "review", "votes"], 10, &["cannot be reached"]);
}

#[test]
fn a_registry_gets_the_credentials_that_it_asks_for_and_no_others() {
    let auth = credentials();
    for guarded in [Guarded::Basic, Guarded::Token(None)] {
        let registry = Registry::start(guarded.clone());
        let place = Place::new();
        write_project(&place, 1);
        let address = format!("oci://{}/me/votes:1", registry.host());
        let refused = ["plugin", "push", "votes", &address];
        place.refuses(&refused, 15, &["refuses the request", "--auth-file"]);
        fs::create_dir(place.path("docker")).unwrap();
        for (text, code) in [
            (write_credentials("127.0.0.1", &auth), 15),
            (write_credentials(&registry.host(), "YWRhOnRpcg=="), 15),
            (write_credentials(&registry.host(), "no base64"), 10),
            (write_credentials(&registry.host(), &auth), 0),
        ] {
            fs::write(place.path("docker/config.json"), text).unwrap();
            let pushed =
                place.run(&[&refused[..], &["--auth-file", "docker/config.json"]].concat());
            assert_eq!(pushed.code, code, "{guarded:?}: {}", pushed.all());
            assert!(!pushed.all().contains("sesame") && !pushed.all().contains(&auth));
        }
        assert_eq!(add(&place, &address, &[]).code, 15);
        let mut usual = place.host(&["plugin", "add", &address, "--yes"]);
        let added =
            Said::from_output(usual.env("DOCKER_CONFIG", place.path("docker")).output().unwrap());
        assert_eq!(added.code, 0, "{}", added.all());
        assert!(!fs::read_to_string(place.lock()).unwrap().contains(&auth));
        let requests = registry.requests();
        // Nothing is sent unasked, and the rights are those that are needed.
        assert_eq!(requests[0].authorization, "");
        let tokens = requests.iter().filter(|request| request.line.contains("/token"));
        let mut scopes: Vec<&str> =
            tokens.map(|request| request.line.split("scope=").nth(1).unwrap()).collect();
        scopes.dedup();
        let expected = ["repository%3Ame%2Fvotes%3Apull%2Cpush", "repository%3Ame%2Fvotes%3Apull"];
        match guarded {
            Guarded::Basic => assert!(scopes.is_empty()),
            _ => assert_eq!(scopes, expected),
        }
    }
    // A realm elsewhere without encryption is not asked.
    let realm = Guarded::Token(Some("http://192.0.2.1/token".to_owned()));
    let registry = Registry::start(realm);
    let place = Place::new();
    let address = format!("oci://{}/me/votes:1", registry.host());
    place.refuses(&["plugin", "add", &address], 10, &["neither https nor local"]);

    // A server of tokens that leads elsewhere is not followed, with the password or without.
    let elsewhere = Registry::start(Guarded::Open);
    let server = Registry::start(Guarded::Open);
    server.plant("/t", Planted::Redirect(format!("http://{}/token", elsewhere.host())));
    let registry = Registry::start(Guarded::Token(Some(format!("http://{}/t", server.host()))));
    let address = format!("oci://{}/me/votes:1", registry.host());
    fs::write(place.path("config.json"), write_credentials(&registry.host(), &auth)).unwrap();
    for more in [&[][..], &["--auth-file", "config.json"]] {
        let refused = place.run(&[&["plugin", "add", &address][..], more].concat());
        assert_eq!(refused.code, 10, "{}", refused.all());
        assert!(refused.stderr.contains("status 307"), "{}", refused.all());
    }
    assert_eq!((server.requests().len(), elsewhere.requests()), (2, Vec::new()));
}

#[test]
fn a_redirect_is_followed_without_credentials_and_never_in_the_clear() {
    let registry = Registry::start(Guarded::Basic);
    let storage = Registry::start(Guarded::Open);
    let place = Place::new();
    write_project(&place, 1);
    let address = format!("oci://{}/me/votes:1", registry.host());
    let text = write_credentials(&registry.host(), &credentials());
    fs::write(place.path("config.json"), text).unwrap();
    let auth = ["--auth-file", "config.json"];
    let pushed = place.run(&[&["plugin", "push", "votes", &address][..], &auth].concat());
    assert_eq!(pushed.code, 0, "{}", pushed.all());
    let blob = format!("/v2/me/votes/blobs/{}", digest(&component(1)));
    storage.plant("/blob", Planted::Content(component(1)));
    registry.plant(&blob, Planted::Redirect(format!("http://{}/blob", storage.host())));
    assert_eq!(add(&place, &address, &auth).code, 0);
    let seen = storage.requests();
    assert!(seen.len() == 1 && seen[0].authorization.is_empty(), "{seen:?}");
    for (place_of_blob, why) in [
        ("http://192.0.2.1/blob".to_owned(), "leads to another place"),
        ("file:///etc/passwd".to_owned(), "leads to another place"),
        (format!("http://me:x@{}/blob", storage.host()), "leads to another place"),
        (format!("http://{}{blob}", registry.host()), "redirects more than 5 times"),
    ] {
        registry.plant(&blob, Planted::Redirect(place_of_blob));
        let refused = add(&place, &address, &auth);
        assert!(refused.code == 10 && refused.stderr.contains(why), "{}", refused.all());
    }
    // The component goes to no host but the one that was named.
    registry.send_uploads_to(&format!("http://{}", storage.host()));
    write_project(&place, 2);
    let elsewhere = place.run(&[&["plugin", "push", "votes", &address][..], &auth].concat());
    assert!(elsewhere.stderr.contains("to go to another host"), "{}", elsewhere.all());
    assert_eq!((elsewhere.code, storage.requests().len()), (10, 1));
}

#[test]
fn a_hostile_registry_adds_nothing() {
    let registry = Registry::start(Guarded::Open);
    let place = Place::new();
    write_project(&place, 1);
    let address = format!("oci://{}/me/votes:1", registry.host());
    push(&place, &address);
    let manifest: Value =
        serde_json::from_slice(&registry.manifest("me/votes:1").unwrap()).unwrap();
    let at_tag = "/v2/me/votes/manifests/1".to_owned();
    let at_blob = format!("/v2/me/votes/blobs/{}", digest(&component(1)));
    let mut index = manifest.clone();
    index["mediaType"] = json!("application/vnd.oci.image.index.v1+json");
    let mut image = manifest.clone();
    image["layers"][0]["mediaType"] = json!("application/vnd.oci.image.layer.v1.tar+gzip");
    let mut large = manifest.clone();
    large["layers"][0]["size"] = json!(u64::MAX);
    let mut leading = manifest.clone();
    leading["layers"][0]["digest"] = json!("sha256:../../../../etc/passwd");
    let mut short = manifest.clone();
    short["layers"][0]["size"] = json!(component(1).len() + 1);
    for (path, planted, why) in [
        (&at_tag, Planted::Endless, "sends more than"),
        (&at_tag, Planted::Content(vec![b' '; 100 << 20]), "sends more than"),
        (&at_tag, Planted::Content(b"<html>".to_vec()), "no manifest"),
        (&at_tag, Planted::Content(index.to_string().into_bytes()), "another document"),
        (&at_tag, Planted::Content(image.to_string().into_bytes()), "no application/wasm"),
        (&at_tag, Planted::Content(large.to_string().into_bytes()), "of more than"),
        (&at_tag, Planted::Content(leading.to_string().into_bytes()), "none of SHA-256"),
        (&at_tag, Planted::Content(short.to_string().into_bytes()), "another component"),
        (&at_blob, Planted::Endless, "sends more than"),
        (&at_blob, Planted::Content(component(2)), "sends more than"),
        (&at_blob, Planted::Content(component(0)), "another component"),
    ] {
        registry.plant(&at_tag, Planted::Content(manifest.to_string().into_bytes()));
        registry.plant(path, planted);
        let refused = add(&place, &address, &[]);
        assert!(refused.code == 10 && refused.stderr.contains(why), "{why}: {}", refused.all());
        assert!(!place.lock().exists(), "{why}");
    }
    let mut unreadable = manifest.clone();
    unreadable["annotations"]["io.github.syrch.signature"] = json!("mine");
    registry.plant(&at_tag, Planted::Content(unreadable.to_string().into_bytes()));
    place.refuses(&["plugin", "add", &address, "--yes"], 15, &[&address, "is no signature"]);
    let other = format!("sha256:{}", "0".repeat(64));
    let planted = Planted::Content(manifest.to_string().into_bytes());
    registry.plant(&format!("/v2/me/votes/manifests/{other}"), planted);
    let pinned = format!("{address}@{other}");
    place.refuses(&["plugin", "add", &pinned, "--yes"], 10, &["another digest"]);
    place.refuses(
        &["plugin", "add", &format!("oci://{}/me/votes:2", registry.host()), "--yes"],
        10,
        &["has no `oci://"],
    );
    // What is no plugin is not pushed.
    fs::write(place.path("none.wasm"), "no component").unwrap();
    place.refuses(&["plugin", "push", "none.wasm", &address], 13, &["none.wasm"]);
}

/// The tool of the Bytecode Alliance reads components that are pushed, and pushes others.
#[test]
fn wkg_reads_what_is_pushed_and_pushes_what_is_read() {
    let Some(wkg) = find_wkg() else { return };
    let registry = Registry::start(Guarded::Open);
    let place = Place::new();
    let file = write_project(&place, 1);
    assert_eq!(place.run(&["plugin", "sign", &file, "--key", "own.pem", "--new-key"]).code, 0);
    let ours = format!("{}/me/votes:1", registry.host());
    push(&place, &format!("oci://{ours}"));
    run_wkg(&wkg, &place, &registry, &["pull", &ours, "--output", "pulled.wasm"]);
    assert_eq!(fs::read(place.path("pulled.wasm")).unwrap(), component(1));
    fs::write(place.path("theirs.wasm"), component(2)).unwrap();
    let theirs = format!("{}/me/votes:2", registry.host());
    run_wkg(&wkg, &place, &registry, &["push", &theirs, "theirs.wasm"]);
    let added = add(&place, &format!("oci://{theirs}"), &[]);
    assert_eq!(added.code, 0, "{}", added.all());
    let entry = place.entry("votes");
    assert_eq!(entry["digest"], digest(&component(2))["sha256:".len()..]);
    assert_eq!(place.ask("votes", &[]).code, 0);
}
