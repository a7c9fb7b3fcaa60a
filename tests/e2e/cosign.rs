//! `plugin add` with bundles of Sigstore: of a key that is made here, and of a workflow that the
//! public instance has logged.

use std::fs;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use ring::digest;
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair, KeyPair};
use serde_json::{Value, json};
use syrch_kit::registry::{Guarded, Registry};

use crate::locked::{Place, component};

/// The bytes before a public key of ECDSA P-256, in its form of PEM.
const SPKI: &[u8] = b"\x30\x59\x30\x13\x06\x07\x2a\x86\x48\xce\x3d\x02\x01\x06\x08\x2a\x86\x48\xce\
                      \x3d\x03\x01\x07\x03\x42\x00";
const ISSUER: &str = "https://token.actions.githubusercontent.com";
const WORKFLOW: &str = "https://github.com/trailofbits/rfc8785.py/.github/workflows/\
    release.yml@refs/tags/v0.1.2";

/// A key as `cosign generate-key-pair` makes one.
struct Author(EcdsaKeyPair);

impl Author {
    fn new() -> Self {
        let random = SystemRandom::new();
        let algorithm = &ECDSA_P256_SHA256_ASN1_SIGNING;
        let document = EcdsaKeyPair::generate_pkcs8(algorithm, &random).unwrap();
        Self(EcdsaKeyPair::from_pkcs8(algorithm, document.as_ref(), &random).unwrap())
    }

    /// The base64 of `cosign.pub`.
    fn key(&self) -> String {
        BASE64.encode([SPKI, self.0.public_key().as_ref()].concat())
    }

    /// The bundle of `cosign sign-blob --key --bundle` without a log.
    fn sign(&self, component: &[u8]) -> Value {
        let digest = digest::digest(&digest::SHA256, component);
        let signature = self.0.sign(&SystemRandom::new(), component).unwrap();
        json!({
            "mediaType": "application/vnd.dev.sigstore.bundle.v0.3+json",
            "verificationMaterial": {"publicKey": {"hint": "author"}, "tlogEntries": []},
            "messageSignature": {
                "messageDigest": {"algorithm": "SHA2_256", "digest": BASE64.encode(digest)},
                "signature": BASE64.encode(signature),
            },
        })
    }
}

fn fixture(name: &str) -> Vec<u8> {
    let folder = syrch_kit::repository().join("host/projects/tests/cosign");
    fs::read(folder.join(name)).unwrap()
}

#[test]
fn a_bundle_passes_through_a_registry_with_its_component() {
    let registry = Registry::start(Guarded::Open);
    let place = Place::new();
    let author = Author::new();
    let own = author.key();
    let pem = format!("-----BEGIN PUBLIC KEY-----\n{own}\n-----END PUBLIC KEY-----\n");
    fs::write(place.path("cosign.pub"), pem).unwrap();
    fs::write(place.path("votes.wasm"), component(1)).unwrap();
    let address = format!("oci://{}/me/votes:1", registry.host());
    let push = ["plugin", "push", "votes.wasm", &address];
    let bundle = place.path("votes.wasm.sigstore.json");
    fs::write(&bundle, author.sign(&component(2)).to_string()).unwrap();
    place.refuses(&push, 15, &["is not that of this component"]);
    fs::write(&bundle, author.sign(&component(1)).to_string()).unwrap();
    let pushed = place.run(&push);
    assert_eq!(pushed.code, 0, "{}", pushed.all());

    let add = ["plugin", "add", &address, "--yes"];
    let added = place.run(&[&add[..], &["--cosign-key", "cosign.pub"]].concat());
    assert_eq!(added.code, 0, "{}", added.all());
    assert_eq!(place.entry("votes")["signer"], json!({"key": own}));
    // A registry that keeps the bundle back, or has another one.
    let whole = registry.manifest("me/votes:1").unwrap();
    let mut manifest: Value = serde_json::from_slice(&whole).unwrap();
    manifest["annotations"]["io.github.syrch.bundle"] = json!("{}");
    registry.set_manifest("me/votes:1", manifest.to_string().as_bytes());
    place.refuses(&add, 15, &["is no bundle"]);
    manifest["annotations"].as_object_mut().unwrap().remove("io.github.syrch.bundle");
    registry.set_manifest("me/votes:1", manifest.to_string().as_bytes());
    place.refuses(&add, 15, &["it has no bundle"]);
}

#[test]
fn a_plugin_whose_bundle_is_of_a_pinned_key_is_replaced_by_nobody_else() {
    let place = Place::new();
    let author = Author::new();
    let own = author.key();
    let pem = format!("-----BEGIN PUBLIC KEY-----\n{own}\n-----END PUBLIC KEY-----\n");
    fs::write(place.path("cosign.pub"), pem).unwrap();
    let write = |bytes: &[u8], bundle: &str| {
        fs::write(place.path("votes.wasm"), bytes).unwrap();
        fs::write(place.path("votes.wasm.sigstore.json"), bundle).unwrap();
    };
    let add = ["plugin", "add", "votes.wasm", "--yes", "--name", "votes"];
    let pin = [&add[..], &["--cosign-key", "cosign.pub"]].concat();
    let first = author.sign(&component(1)).to_string();
    let deep = "[".repeat(100_000);
    let other_component = author.sign(&component(2)).to_string();
    let huge = " ".repeat(10 << 20);
    for (bundle, why) in [
        ("", "is no bundle"),
        (deep.as_str(), "is no bundle"),
        (huge.as_str(), "is too long for a bundle"),
        (other_component.as_str(), "is not that of this component"),
    ] {
        write(&component(1), bundle);
        place.refuses(&pin, 15, &[why]);
        // So it is where nobody is named.
        place.refuses(&add, 15, &[why]);
    }
    let other = Author::new();
    write(&component(1), &other.sign(&component(1)).to_string());
    place.refuses(&pin, 15, &[&own, "signature is wrong"]);
    fs::remove_file(place.path("votes.wasm.sigstore.json")).unwrap();
    place.refuses(&pin, 15, &["it has no bundle"]);
    assert!(!place.lock().exists(), "nothing was added");
    fs::write(place.path("bad.pub"), "ed25519:AA").unwrap();
    for (flags, code, why) in [
        (vec!["--identity", "me@example.org"], 2, "--issuer"),
        (vec!["--identity", "a", "--issuer", "b"], 2, "--trust-root"),
        (vec!["--trust-root", "cosign.pub"], 2, "a trust root alone"),
        (vec!["--cosign-key", "none.pub"], 10, "none.pub"),
        (vec!["--cosign-key", "bad.pub"], 10, "is no public key"),
    ] {
        place.refuses(&[&add[..], &flags].concat(), code, &[why]);
    }

    write(&component(1), &first);
    assert_eq!(place.run(&pin).code, 0);
    assert_eq!(place.entry("votes")["signer"], json!({"key": own}));
    assert_eq!(place.ask("votes", &[]).code, 0);
    let listed = place.run(&["plugin", "list"]).stdout;
    assert!(listed.contains("signed by") && listed.contains(&own[..20]), "{listed}");
    let listed = place.run(&["plugin", "list", "--format", "json"]).document(0);
    let mut plugins = listed["plugins"].as_array().unwrap().iter();
    let votes = plugins.find(|one| one["name"] == "votes").unwrap();
    assert_eq!(votes["signed_by"], json!([format!("the key {own}")]));

    let before = place.entry("votes");
    let foreign = other.sign(&component(2)).to_string();
    for (bundle, why) in [(&first, "not that of this component"), (&foreign, "signature is wrong")]
    {
        write(&component(2), bundle);
        place.refuses(&add, 15, &[&own, why, "plugin remove votes"]);
        place.refuses(&["plugin", "review", "votes"], 15, &[why]);
    }
    let forged = format!("-----BEGIN PUBLIC KEY-----\n{}\n-----END PUBLIC KEY-----\n", other.key());
    fs::write(place.path("other.pub"), forged).unwrap();
    let replace = [&add[..], &["--cosign-key", "other.pub"]].concat();
    place.refuses(&replace, 15, &["is pinned", "cannot take its place"]);
    assert_eq!(place.entry("votes"), before);
    write(&component(2), &author.sign(&component(2)).to_string());
    assert_eq!(place.run(&["plugin", "review", "votes"]).code, 5);
    assert_eq!(place.run(&add).code, 0);
    assert_eq!(place.entry("votes")["signer"], json!({"key": own}));

    // An identity in the lock is one that was verified.
    let text = fs::read_to_string(place.lock()).unwrap();
    let mut document: Value = serde_json::from_str(&text).unwrap();
    for (signer, why) in [
        (json!({"identity": WORKFLOW, "issuer": ISSUER}), "the signer of `votes` is none"),
        (json!({"identity": WORKFLOW, "key": own}), "the signer of `votes` is none"),
        (json!({}), "the signer of `votes` is none"),
        (json!({"identity": WORKFLOW, "issuer": ISSUER, "root": "00"}), "--trust-root"),
    ] {
        document["plugins"]["votes"]["signer"] = signer;
        fs::write(place.lock(), document.to_string()).unwrap();
        let said = place.run(&["plugin", "review", "votes"]);
        assert!(said.code != 0 && said.stderr.contains(why), "{}", said.all());
    }
}

/// The wheel of the workflow is no plugin: behind its bundle the component is refused.
#[test]
fn a_bundle_of_a_workflow_is_verified_offline_before_its_component_is_read() {
    let place = Place::new();
    fs::write(place.path("wheel.wasm"), fixture("wheel.whl")).unwrap();
    fs::write(place.path("wheel.wasm.sigstore.json"), fixture("wheel.sigstore.json")).unwrap();
    fs::write(place.path("root.json"), fixture("trusted_root.json")).unwrap();
    let add = |identity: &str, issuer: &str, root: &str, code: i32, why: &str| {
        let words = ["plugin", "add", "wheel.wasm", "--yes", "--identity", identity];
        let more = ["--issuer", issuer, "--trust-root", root];
        place.refuses(&[&words[..], &more].concat(), code, &[why]);
        assert!(!place.lock().exists());
    };
    add(WORKFLOW, ISSUER, "root.json", 13, "wheel.wasm");
    add("me@example.org", ISSUER, "root.json", 15, "identity mismatch");
    add(WORKFLOW, "https://example.org", "root.json", 15, "issuer mismatch");
    add(WORKFLOW, ISSUER, "wheel.wasm", 15, "its trust root");
    fs::write(place.path("root.json"), fixture("trusted_root.json").repeat(200)).unwrap();
    add(WORKFLOW, ISSUER, "root.json", 10, "is no plain file of at most");
    let root = String::from_utf8(fixture("trusted_root.json")).unwrap();
    let mut root: Value = serde_json::from_str(&root).unwrap();
    root["certificateAuthorities"] = json!([]);
    fs::write(place.path("root.json"), root.to_string()).unwrap();
    add(WORKFLOW, ISSUER, "root.json", 15, "has to be signed by");
    fs::write(place.path("wheel.wasm"), fixture("a.txt")).unwrap();
    fs::write(place.path("root.json"), fixture("trusted_root.json")).unwrap();
    add(WORKFLOW, ISSUER, "root.json", 15, "not that of this component");
}
