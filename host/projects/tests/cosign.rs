//! Bundles of others, verified against the trust root of the public instance.

#![cfg(feature = "cosign")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::{Value, json};
use syrch::lock::Signer;
use syrch_projects::{Bundle, CosignKey};

/// Bytes of a bundle or a trust root at most.
const LONGEST: usize = 1 << 20;

const ROOT: &[u8] = include_bytes!("cosign/trusted_root.json");
const WHEEL: &[u8] = include_bytes!("cosign/wheel.whl");
const WHEEL_BUNDLE: &str = include_str!("cosign/wheel.sigstore.json");
const TEXT: &[u8] = include_bytes!("cosign/a.txt");
const KEY_BUNDLE: &str = include_str!("cosign/key.sigstore.json");
const PROVENANCE: &str = include_str!("cosign/provenance.sigstore.json");
const ISSUER: &str = "https://token.actions.githubusercontent.com";
const WORKFLOW: &str = "https://github.com/trailofbits/rfc8785.py/.github/workflows/\
    release.yml@refs/tags/v0.1.2";
const BEACON: &str = "https://github.com/sigstore-conformance/\
    extremely-dangerous-public-oidc-beacon/.github/workflows/\
    extremely-dangerous-oidc-beacon.yml@refs/heads/main";
const CERTIFICATE: &str = "/verificationMaterial/certificate/rawBytes";
const ENTRIES: &str = "/verificationMaterial/tlogEntries";

/// The place of a part of the log entry.
fn entry(part: &str) -> String {
    format!("{ENTRIES}/0/{part}")
}

fn identity(identity: &str, issuer: &str) -> Signer {
    let [identity, issuer] = [identity, issuer].map(|text| Some(text.to_owned()));
    Signer { identity, issuer, ..Signer::default() }
}

fn key() -> Signer {
    let key: CosignKey = include_str!("cosign/key.pub").parse().unwrap();
    Signer { key: Some(key.to_string()), ..Signer::default() }
}

fn parse(text: &str) -> Bundle {
    Bundle::parse(text.as_bytes()).unwrap()
}

/// A bundle or a trust root with one value of it changed.
fn change(text: &str, pointer: &str, value: Value) -> String {
    let mut document: Value = serde_json::from_str(text).unwrap();
    let place = document.pointer_mut(pointer);
    *place.unwrap_or_else(|| panic!("nothing is at {pointer}")) = value;
    document.to_string()
}

/// The text at a place of a document of base64, with one bit of one byte flipped.
fn flip(text: &str, pointer: &str) -> String {
    let document: Value = serde_json::from_str(text).unwrap();
    let mut bytes = BASE64.decode(document.pointer(pointer).unwrap().as_str().unwrap()).unwrap();
    let last = bytes.last_mut().unwrap();
    *last ^= 1;
    change(text, pointer, json!(BASE64.encode(bytes)))
}

#[test]
fn a_bundle_of_a_workflow_is_verified_against_the_public_trust_root() {
    let signer = identity(WORKFLOW, ISSUER);
    let verified = parse(WHEEL_BUNDLE).verify(WHEEL, &signer, Some(ROOT)).unwrap();
    assert!(verified.is_same(&signer));
    assert_eq!(verified.logged.as_deref(), Some("2024-03-19T22:41:16Z"));
    assert_eq!(verified.root.as_deref().map(str::len), Some(64));
    // A statement on where a file was built is a signature of it.
    let signer = identity(BEACON, ISSUER);
    let verified = parse(PROVENANCE).verify(TEXT, &signer, Some(ROOT)).unwrap();
    assert_eq!(verified.logged.as_deref(), Some("2024-12-16T18:42:56Z"));
}

#[test]
fn a_bundle_of_a_key_is_verified_with_its_log_and_without() {
    let bundle = parse(KEY_BUNDLE);
    let verified = bundle.verify(TEXT, &key(), Some(ROOT)).unwrap();
    assert_eq!(verified.logged.as_deref(), Some("2025-12-18T17:04:39Z"));
    let verified = bundle.verify(TEXT, &key(), None).unwrap();
    assert_eq!((verified.logged, verified.root), (None, None));
    // Where nothing is asked of the log, nothing in the bundle about it counts.
    let bare = change(KEY_BUNDLE, ENTRIES, json!([]));
    assert!(parse(&bare).verify(TEXT, &key(), None).is_ok());
    assert!(parse(&bare).verify(TEXT, &key(), Some(ROOT)).is_err());
    for signature in [flip(KEY_BUNDLE, "/messageSignature/signature"), WHEEL_BUNDLE.to_owned()] {
        assert!(parse(&signature).verify(TEXT, &key(), None).is_err());
        assert!(parse(&signature).verify(TEXT, &key(), Some(ROOT)).is_err());
    }
    let other = "MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=";
    let other = Signer { key: Some(other.to_owned()), ..Signer::default() };
    for root in [None, Some(ROOT)] {
        assert!(bundle.verify(TEXT, &other, root).is_err());
        assert!(bundle.verify(b"other", &key(), root).is_err());
        assert!(bundle.verify(TEXT, &identity(WORKFLOW, ISSUER), root).is_err());
        assert!(bundle.verify(TEXT, &Signer::default(), root).is_err());
    }
}

#[test]
fn another_artefact_identity_issuer_or_root_is_refused() {
    let bundle = parse(WHEEL_BUNDLE);
    let near = WORKFLOW.strip_suffix('2').unwrap();
    let longer = format!("{WORKFLOW}3");
    for (artefact, who, issuer, why) in [
        (TEXT, WORKFLOW, ISSUER, "not that of this component"),
        (WHEEL, near, ISSUER, "identity mismatch"),
        (WHEEL, longer.as_str(), ISSUER, "identity mismatch"),
        (WHEEL, "", ISSUER, "identity mismatch"),
        (WHEEL, WORKFLOW, "https://accounts.google.com", "issuer mismatch"),
        (WHEEL, WORKFLOW, "", "issuer mismatch"),
    ] {
        let error = bundle.verify(artefact, &identity(who, issuer), Some(ROOT)).unwrap_err();
        assert!(error.contains(why), "{who} {issuer}: {error}");
    }
    assert!(bundle.names(WHEEL) && !bundle.names(TEXT));
    let signer = identity(WORKFLOW, ISSUER);
    assert!(bundle.verify(WHEEL, &signer, None).unwrap_err().contains("trust root alone"));
    assert!(bundle.verify(WHEEL, &key(), Some(ROOT)).is_err());
    let root = std::str::from_utf8(ROOT).unwrap();
    let ended = json!({"start": "2022-04-13T20:06:15.000Z", "end": "2023-01-01T00:00:00Z"});
    let none = json!([]);
    for (pointer, value) in [
        ("/certificateAuthorities/1/validFor", ended.clone()),
        ("/certificateAuthorities", none.clone()),
        ("/tlogs/0/publicKey/validFor", ended.clone()),
        ("/tlogs", none),
        ("/ctlogs/1/publicKey/validFor", ended),
    ] {
        let root = change(root, pointer, value);
        let verified = bundle.verify(WHEEL, &signer, Some(root.as_bytes()));
        assert!(verified.is_err(), "{pointer} is not needed");
    }
    let document: Value = serde_json::from_str(root).unwrap();
    let other = document.pointer("/ctlogs/0/publicKey/rawBytes").unwrap().clone();
    let root = change(root, "/tlogs/0/publicKey/rawBytes", other);
    assert!(bundle.verify(WHEEL, &signer, Some(root.as_bytes())).is_err());
    for root in ["", "[]", "{}", "\u{0}", &"[".repeat(100_000), &" ".repeat(LONGEST + 1)] {
        let error = bundle.verify(WHEEL, &signer, Some(root.as_bytes())).unwrap_err();
        assert!(error.contains("trust root"), "{error}");
    }
}

#[test]
fn a_log_entry_that_was_changed_is_refused() {
    for (bundle, artefact, signer) in [
        (WHEEL_BUNDLE, WHEEL, identity(WORKFLOW, ISSUER)),
        (PROVENANCE, TEXT, identity(BEACON, ISSUER)),
        (KEY_BUNDLE, TEXT, key()),
    ] {
        assert!(parse(bundle).verify(artefact, &signer, Some(ROOT)).is_ok());
        let document: Value = serde_json::from_str(bundle).unwrap();
        let time = document.pointer(&entry("integratedTime")).unwrap().as_str().unwrap();
        let time: i64 = time.parse().unwrap();
        let content = match document.get("dsseEnvelope") {
            Some(_) => "/dsseEnvelope/signatures/0/sig",
            None => "/messageSignature/signature",
        };
        let envelope = "rekor.sigstore.dev\n1\nAA==\n";
        let mut wrong = vec![flip(bundle, content), change(bundle, ENTRIES, json!([]))];
        wrong.extend(
            [
                "canonicalizedBody",
                "inclusionPromise/signedEntryTimestamp",
                "inclusionProof/rootHash",
                "inclusionProof/hashes/0",
                "logId/keyId",
            ]
            .map(|part| flip(bundle, &entry(part))),
        );
        wrong.extend(
            [
                ("integratedTime", json!((time + 1).to_string())),
                ("integratedTime", json!((time + 1_000_000_000).to_string())),
                ("logIndex", json!("1")),
                ("inclusionProof/logIndex", json!("1")),
                ("inclusionProof/treeSize", json!("9")),
                ("inclusionProof/checkpoint/envelope", json!(envelope)),
                ("kindVersion/kind", json!("intoto")),
                ("inclusionProof", Value::Null),
            ]
            .map(|(part, value)| change(bundle, &entry(part), value)),
        );
        for wrong in wrong {
            let read = Bundle::parse(wrong.as_bytes());
            let verified = read.and_then(|wrong| wrong.verify(artefact, &signer, Some(ROOT)));
            assert!(verified.is_err(), "{wrong}");
        }
    }
    // A certificate needs a time that somebody has signed.
    let wrong = parse(&change(WHEEL_BUNDLE, &entry("inclusionPromise"), Value::Null));
    assert!(wrong.verify(WHEEL, &identity(WORKFLOW, ISSUER), Some(ROOT)).is_err());
    let wrong = parse(&flip(PROVENANCE, CERTIFICATE));
    assert!(wrong.verify(TEXT, &identity(BEACON, ISSUER), Some(ROOT)).is_err());
}

#[test]
fn a_statement_of_another_kind_is_no_signature() {
    let document: Value = serde_json::from_str(PROVENANCE).unwrap();
    let payload = document.pointer("/dsseEnvelope/payload").unwrap().as_str().unwrap();
    let payload = String::from_utf8(BASE64.decode(payload).unwrap()).unwrap();
    let other = payload.replace("https://slsa.dev/provenance/v1", "https://example.org/harmful");
    assert_ne!(other, payload);
    let other = change(PROVENANCE, "/dsseEnvelope/payload", json!(BASE64.encode(other)));
    let error = parse(&other).verify(TEXT, &identity(BEACON, ISSUER), Some(ROOT)).unwrap_err();
    assert!(error.contains("of another kind, `https://example.org/harmful`"), "{error}");
}

#[test]
fn files_that_hold_no_bundle_are_refused() {
    let deep = "[".repeat(500_000);
    let nested = format!("{}{}", "{\"a\":".repeat(100_000), "1");
    let long = " ".repeat(LONGEST + 1);
    let version = change(WHEEL_BUNDLE, "/mediaType", json!("application/vnd.other+json"));
    for text in ["", "{}", "null", "\u{feff}{}", &deep, &nested, &long, &version] {
        let error = Bundle::parse(text.as_bytes()).map(|_| ()).unwrap_err();
        assert!(error.contains("bundle"), "{error}");
        assert!(error.len() < 500, "{error}");
    }
    assert!(Bundle::parse(&[0xff; 100]).is_err());
    for text in ["", "-----BEGIN PUBLIC KEY-----\n!\n-----END PUBLIC KEY-----", "ed25519:AA"] {
        assert!(text.parse::<CosignKey>().is_err(), "{text}");
    }
}
