//! Plugins in a registry: pulls and pushes a package by the interface of the OCI distribution
//! specification.
//!
//! A client of its own, since it decides where a request goes: to the registry that was named, and
//! beyond it only for reading, to where that registry leads, encrypted, without credentials, within
//! bounds, and into no network that is narrower than the registry's. Whatever comes is compared
//! with its digest.

mod access;
mod exchange;
mod manifest;
mod reference;

pub use access::Credentials;
use exchange::{Action, Exchange};
use manifest::{Contents, MANIFEST, Manifest, digest};
pub use reference::Reference;

use crate::package::{check_bundle, parse_signature};
use crate::{Error, Package};

/// Bytes of a manifest at most.
const LARGEST: u64 = 4 << 20;

/// A package that was pulled.
#[derive(Debug)]
pub struct Pulled {
    /// The package, which has the last word of its repository's name.
    pub package: Package,
    /// The digest of its manifest, as `sha256:…`.
    pub manifest: String,
}

/// Pulls the package at an address.
///
/// # Errors
/// When the registry cannot be reached or refuses, there is no plugin at the address, or something
/// is too large or has another digest than it should.
pub async fn pull(
    reference: &Reference,
    credentials: Option<Credentials>,
) -> Result<Pulled, Error> {
    let mut exchange = Exchange::open(reference, Action::Pull, credentials).await?;
    let place = reference.digest().or(reference.tag()).unwrap_or_default();
    let text = exchange.get(&format!("manifests/{place}"), MANIFEST, LARGEST).await?;
    let found = digest(&text);
    if reference.digest().is_some_and(|wanted| wanted != found) {
        let why = format!("sent a manifest with another digest, {found}");
        return Err(Error::registry(reference.host(), why));
    }
    let read = Manifest::parse(&text).and_then(Manifest::read);
    let Contents { layer, signature, bundle, wants } =
        read.map_err(|why| Error::registry(reference.host(), why))?;
    let signature = signature.map(|text| parse_signature(text.as_bytes(), reference.to_string()));
    let signature = signature.transpose()?;
    let bundle = bundle.map(|text| check_bundle(text.into_bytes(), reference.to_string()));
    let bundle = bundle.transpose()?;
    let path = format!("blobs/{}", layer.digest);
    let component = exchange.get(&path, "application/octet-stream", layer.size).await?;
    if component.len() as u64 != layer.size || digest(&component) != layer.digest {
        let why = "sent another component than its manifest names".to_owned();
        return Err(Error::registry(reference.host(), why));
    }
    let name = reference.last_word().to_owned();
    let package = Package { component, name, wants, signature, bundle };
    Ok(Pulled { package, manifest: found })
}

/// Pushes a package to an address, and returns the digest of its manifest, as `sha256:…`.
///
/// # Errors
/// When the address has a digest instead of a tag, the registry cannot be reached or refuses, or
/// the package has no component.
pub async fn push(
    package: &Package,
    reference: &Reference,
    credentials: Option<Credentials>,
) -> Result<String, Error> {
    let Some(tag) = reference.tag() else {
        let why = "a push goes to a tag, and the registry makes the digest".to_owned();
        return Err(Error::Address { text: reference.to_string(), why });
    };
    let name = format!("{}.wasm", package.name);
    let made = Manifest::from_package(package);
    let (manifest, config) = made.map_err(|why| Error::file(name.as_ref(), why))?;
    let text = serde_json::to_vec(&manifest).map_err(|error| Error::file(name.as_ref(), error))?;
    let mut exchange = Exchange::open(reference, Action::Push, credentials).await?;
    for blob in [&config, &package.component] {
        exchange.upload(blob, &digest(blob)).await?;
    }
    exchange.put(&format!("manifests/{tag}"), MANIFEST, &text).await?;
    Ok(digest(&text))
}
