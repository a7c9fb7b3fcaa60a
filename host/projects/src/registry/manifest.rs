//! The documents of a plugin in a registry, as the layout of Wasm artifacts of the CNCF has them: a
//! manifest with a configuration and one layer, the component.

use std::collections::BTreeMap;

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::json;
use sha2::{Digest as _, Sha256};
use syrch::syrch_core::Grants;
use wasmparser::{Encoding, Parser, Payload};

use super::reference::is_digest;
use crate::Package;

/// The media types of a manifest, of its configuration and of its layer.
pub(super) const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
const CONFIG: &str = "application/vnd.wasm.config.v0+json";
const COMPONENT: &str = "application/wasm";
/// Bytes of a component at most.
const LARGEST: u64 = 128 << 20;
/// The annotations of a manifest that hold the text of a signature, that of a bundle of Sigstore,
/// and the grants that a plugin asks for, as JSON. Tools that expect one layer accept these.
const SIGNATURE: &str = "io.github.syrch.signature";
const BUNDLE: &str = "io.github.syrch.bundle";
const WANTS: &str = "io.github.syrch.wants";
/// The annotation of a layer that names its file.
const TITLE: &str = "org.opencontainers.image.title";
/// The time in each configuration, so that a component has one manifest.
const CREATED: &str = "1970-01-01T00:00:00Z";

/// The digest of content, as registries write it.
pub(super) fn digest(content: &[u8]) -> String {
    format!("sha256:{}", syrch::syrch_core::text::hex(Sha256::digest(content)))
}

/// An entry of a manifest about other content.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Descriptor {
    media_type: String,
    pub(super) digest: String,
    pub(super) size: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    annotations: Option<BTreeMap<String, String>>,
}

impl Descriptor {
    fn new(media_type: &str, content: &[u8]) -> Self {
        Self {
            media_type: media_type.to_owned(),
            digest: digest(content),
            size: content.len() as u64,
            annotations: None,
        }
    }
}

/// A manifest.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Manifest {
    schema_version: u32,
    #[serde(default)]
    media_type: Option<String>,
    config: Descriptor,
    layers: Vec<Descriptor>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    annotations: Option<BTreeMap<String, String>>,
    /// The list of an index: a document that is both means other things to other tools.
    #[serde(default, skip_serializing)]
    manifests: Option<IgnoredAny>,
}

impl Manifest {
    /// Makes the manifest of a package, and its configuration.
    ///
    /// # Errors
    /// When it has no component, or a bundle that is no text.
    pub(super) fn from_package(package: &Package) -> Result<(Self, Vec<u8>), String> {
        let config = configuration(&package.component)?;
        let mut layer = Descriptor::new(COMPONENT, &package.component);
        let file = format!("{}.wasm", package.name);
        layer.annotations = Some(BTreeMap::from([(TITLE.to_owned(), file)]));
        let signature = package.signature.as_ref().map(|one| (SIGNATURE.to_owned(), one.to_text()));
        let wants =
            package.wants.as_ref().map(|wants| (WANTS.to_owned(), json!(wants).to_string()));
        let bundle = package.bundle.clone().map(String::from_utf8).transpose();
        let bundle = bundle.map_err(|_| "has a bundle that is no UTF-8".to_owned())?;
        let bundle = bundle.map(|text| (BUNDLE.to_owned(), text));
        let annotations: BTreeMap<_, _> =
            signature.into_iter().chain(bundle).chain(wants).collect();
        let manifest = Self {
            schema_version: 2,
            media_type: Some(MANIFEST.to_owned()),
            config: Descriptor::new(CONFIG, &config),
            layers: vec![layer],
            annotations: Some(annotations).filter(|annotations| !annotations.is_empty()),
            manifests: None,
        };
        Ok((manifest, config))
    }

    /// Reads the manifest of a plugin.
    ///
    /// # Errors
    /// When it is another document.
    pub(super) fn parse(text: &[u8]) -> Result<Self, String> {
        let manifest: Self = serde_json::from_slice(text)
            .map_err(|_| "has no manifest of a component there".to_owned())?;
        let is_manifest = manifest.media_type.as_deref().is_none_or(|one| one == MANIFEST);
        if manifest.schema_version != 2 || !is_manifest || manifest.manifests.is_some() {
            return Err("has another document there than a manifest of a component".to_owned());
        }
        if manifest.config.media_type != CONFIG {
            return Err(format!("has something else there than a component: no {CONFIG}"));
        }
        Ok(manifest)
    }

    /// Reads the parts of a plugin.
    ///
    /// # Errors
    /// When there are other layers, the component is too large or has no digest of SHA-256, or the
    /// annotation of its grants is damaged.
    pub(super) fn read(self) -> Result<Contents, String> {
        let count = self.layers.len();
        let layer = self.layers.into_iter().next().filter(|_| count == 1);
        let layer =
            layer.ok_or_else(|| format!("has {count} layers there, and a plugin has one"))?;
        if layer.media_type != COMPONENT {
            return Err(format!("has a layer there that is no {COMPONENT}"));
        }
        if layer.size > LARGEST {
            return Err(format!("has a component of more than {LARGEST} bytes there"));
        }
        if !is_digest(&layer.digest) {
            return Err("has a component there whose digest is none of SHA-256".to_owned());
        }
        let mut annotations = self.annotations.unwrap_or_default();
        let signature = annotations.remove(SIGNATURE);
        let bundle = annotations.remove(BUNDLE);
        let wants = annotations.get(WANTS).map(|text| serde_json::from_str(text));
        let wants = wants
            .transpose()
            .map_err(|_| format!("has the annotation {WANTS} there, which has no grants"))?;
        Ok(Contents { layer, signature, bundle, wants })
    }
}

/// The parts of a plugin that its manifest has.
#[derive(Debug)]
pub(super) struct Contents {
    /// The component.
    pub(super) layer: Descriptor,
    /// The text of its signature, which nobody has read; `None` if there is none.
    pub(super) signature: Option<String>,
    /// The text of its bundle of Sigstore, which nobody has read; `None` if there is none.
    pub(super) bundle: Option<String>,
    /// The grants that it asks for; `None` if it does not say.
    pub(super) wants: Option<Grants>,
}

/// The configuration of a component: what it imports and exports.
fn configuration(component: &[u8]) -> Result<Vec<u8>, String> {
    let names = list_names(component)?;
    let document = json!({
        "created": CREATED,
        "author": null,
        "architecture": "wasm",
        "os": "wasip2",
        "layerDigests": [digest(component)],
        "component": names,
    });
    Ok(document.to_string().into_bytes())
}

/// The names that a component imports and exports.
#[derive(Debug, Default, Serialize)]
struct Names {
    exports: Vec<String>,
    imports: Vec<String>,
    /// The world that it was made for, which the component does not say.
    target: Option<String>,
}

fn list_names(component: &[u8]) -> Result<Names, String> {
    let mut names = Names::default();
    // Components and modules inside of it have sections of their own.
    let mut depth = 0_u32;
    for payload in Parser::new(0).parse_all(component) {
        match payload.map_err(explain_defect)? {
            Payload::Version { encoding: Encoding::Module, .. } if depth == 0 => {
                return Err("is a module and no component".to_owned());
            }
            Payload::ModuleSection { .. } | Payload::ComponentSection { .. } => depth += 1,
            Payload::End(_) => depth = depth.saturating_sub(1),
            Payload::ComponentImportSection(section) if depth == 0 => {
                for import in section {
                    names.imports.push(import.map_err(explain_defect)?.name.name.to_owned());
                }
            }
            Payload::ComponentExportSection(section) if depth == 0 => {
                for export in section {
                    names.exports.push(export.map_err(explain_defect)?.name.name.to_owned());
                }
            }
            _ => {}
        }
    }
    Ok(names)
}

fn explain_defect(error: wasmparser::BinaryReaderError) -> String {
    format!("is no component: {error}")
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::{Signature, SigningKey};

    /// A component with a module inside, which has an export of its own.
    fn component() -> Vec<u8> {
        let text = r#"(component
            (import "syrch:a/b@0.1.0" (instance))
            (core module (func (export "inner")))
            (instance (export "syrch:c/d@0.1.0")))"#;
        wat::parse_str(text).unwrap()
    }

    fn package() -> Package {
        let component = component();
        let (key, _) = SigningKey::generate().unwrap();
        let signature = Some(key.sign(&component));
        let words = vec!["llm".to_owned(), "tables=a,b".to_owned()];
        let wants = Some(words.try_into().unwrap());
        let bundle = Some(b"{}".to_vec());
        Package { component, name: "votes".to_owned(), wants, signature, bundle }
    }

    #[test]
    fn a_manifest_is_read_as_it_was_written() {
        let package = package();
        let (manifest, config) = Manifest::from_package(&package).unwrap();
        let text = serde_json::to_vec(&manifest).unwrap();
        let read = Manifest::parse(&text).and_then(Manifest::read).unwrap();
        assert_eq!(read.layer.digest, digest(&package.component));
        let signature = package.signature.as_ref().map(Signature::to_text);
        assert_eq!((read.signature, read.wants), (signature, package.wants.clone()));
        assert_eq!(read.bundle.as_deref(), Some("{}"));
        let unreadable = Package { bundle: Some(vec![0xff]), ..package.clone() };
        assert!(Manifest::from_package(&unreadable).is_err());
        let config: Value = serde_json::from_slice(&config).unwrap();
        let names = json!({
            "imports": ["syrch:a/b@0.1.0"], "exports": ["syrch:c/d@0.1.0"], "target": null
        });
        assert_eq!(config["component"], names);
        assert_eq!(config["layerDigests"], json!([digest(&package.component)]));
        let module = wat::parse_str("(module)").unwrap();
        for component in [module, b"no component".to_vec()] {
            assert!(Manifest::from_package(&Package { component, ..package.clone() }).is_err());
        }
    }

    fn change(whole: &Value, path: &str, value: Value) -> Value {
        let mut changed = whole.clone();
        *changed.pointer_mut(path).unwrap() = value;
        changed
    }

    #[test]
    fn other_documents_are_refused() {
        let (manifest, _) = Manifest::from_package(&package()).unwrap();
        let whole = json!(manifest);
        let mut both = whole.clone();
        both["manifests"] = json!([]);
        let layer = whole["layers"][0].clone();
        for (document, why) in [
            (json!([]), "no manifest"),
            (both, "another document"),
            (change(&whole, "/schemaVersion", json!(1)), "another document"),
            (
                change(&whole, "/mediaType", json!("application/vnd.oci.image.index.v1+json")),
                "another",
            ),
            (change(&whole, "/config/mediaType", json!("application/json")), "something else"),
            (change(&whole, "/layers", json!([])), "0 layers"),
            (change(&whole, "/layers", json!([layer, layer])), "2 layers"),
            (
                change(&whole, "/layers/0/mediaType", json!("application/x-tar")),
                "no application/wasm",
            ),
            (change(&whole, "/layers/0/size", json!(LARGEST + 1)), "more than"),
            (change(&whole, "/layers/0/size", json!(-1)), "no manifest"),
            (change(&whole, "/layers/0/digest", json!("sha256:../../x")), "none of SHA-256"),
            (change(&whole, "/layers/0/digest", json!("md5:00")), "none of SHA-256"),
            (
                change(&whole, "/annotations/io.github.syrch.wants", json!("[\"root\"]")),
                "no grants",
            ),
        ] {
            let read = Manifest::parse(document.to_string().as_bytes());
            let error = read.and_then(Manifest::read).unwrap_err();
            assert!(error.contains(why), "{why}: {error}");
        }
    }
}
