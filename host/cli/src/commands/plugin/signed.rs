//! The signers of bundles of Sigstore, by whom the user wants a plugin to be signed.

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use syrch::lock::{Locked, Signer};
use syrch::syrch_core::text::escape::escape_quotation;
use syrch_projects::{Bundle, CosignKey, Package};

use crate::exit::Exit;
use crate::failure::{Failure, Outcome};

/// Bytes of the file of a trust root or a key at most.
const LONGEST: u64 = 1 << 20;

// The signer whose bundle of Sigstore stands beside the component, in FILE.sigstore.json.
#[derive(clap::Args, Default)]
pub(super) struct BundleArgs {
    /// The public key by which its bundle of Sigstore, FILE.sigstore.json, has to be signed, as
    /// cosign writes it: whatever takes its place has to be signed by it, too
    #[arg(long, value_name = "FILE", conflicts_with = "identity")]
    cosign_key: Option<PathBuf>,
    /// The identity to which the bundle's certificate has to be given, exactly, such as the address
    /// of a workflow
    #[arg(long, value_name = "TEXT", requires = "issuer", requires = "trust_root")]
    identity: Option<String>,
    /// The issuer that has to have vouched for the identity, exactly, such as
    /// https://token.actions.githubusercontent.com
    #[arg(long, value_name = "URL", requires = "identity")]
    issuer: Option<String>,
    /// The trust root against which the bundle is verified: trusted_root.json of Sigstore or of
    /// your own instance
    #[arg(long, value_name = "FILE")]
    trust_root: Option<PathBuf>,
}

impl BundleArgs {
    /// The signer that is named.
    fn signer(&self) -> Outcome<Option<Signer>> {
        let Some(path) = &self.cosign_key else {
            let identity = self.identity.clone();
            let issuer = self.issuer.clone();
            let named = identity.is_some();
            return Ok(named.then(|| Signer { identity, issuer, ..Signer::default() }));
        };
        let text = String::from_utf8_lossy(&read_small(path)?).into_owned();
        let key = text.parse::<CosignKey>();
        let key = key.map_err(|why| unreadable(path, why))?;
        Ok(Some(Signer { key: Some(key.to_string()), ..Signer::default() }))
    }

    /// Verifies the bundle of a package by the signer that it is to have, and returns that signer.
    /// A bundle says nothing where nobody is named, but one of something else is refused.
    pub(super) fn check(
        &self,
        name: &str,
        package: &Package,
        pinned: Option<&Signer>,
    ) -> Outcome<Option<Signer>> {
        let forget = format!("`syrch-host plugin remove {name}` forgets it with the plugin");
        let named = self.signer()?;
        if let (Some(pinned), Some(named)) = (pinned, &named)
            && !pinned.is_same(named)
        {
            let [pinned, named] = [pinned, named].map(quote);
            let message = format!(
                "the signer of `{name}` is pinned, {pinned}: {named} cannot take its place"
            );
            return Err(Failure::new(Exit::Denied, message).hint(forget));
        }
        let bundle = package.bundle.as_deref().map(Bundle::parse).transpose();
        let bundle = bundle.map_err(|why| refuse_bundle(name, &why))?;
        let Some(wanted) = pinned.or(named.as_ref()) else {
            if self.trust_root.is_some() {
                return Err(Failure::usage("a trust root alone says nothing about the signer")
                    .hint("name the one you expect by --identity and --issuer, or --cosign-key"));
            }
            return match bundle {
                Some(bundle) if !bundle.names(&package.component) => {
                    Err(refuse_bundle(name, "is not that of this component"))
                }
                _ => Ok(None),
            };
        };
        let root = self.trust_root.as_deref().map(read_small).transpose()?;
        let verified = match bundle {
            None => Err("it has no bundle".to_owned()),
            Some(_) if root.is_none() && wanted.root.is_some() => {
                Err("its bundle is verified against a trust root, by --trust-root".to_owned())
            }
            Some(bundle) => bundle.verify(&package.component, wanted, root.as_deref()),
        };
        verified.map(Some).map_err(|why| {
            let wanted = quote(wanted);
            let why = escape_quotation(&why);
            let message = format!("`{name}` has to be signed by {wanted}: {why}");
            Failure::new(Exit::Denied, message).hint(match pinned {
                Some(_) => format!("ask its author; {forget}"),
                None => "ask its author for the bundle, FILE.sigstore.json".to_owned(),
            })
        })
    }
}

fn refuse_bundle(name: &str, why: &str) -> Failure {
    let message = format!("the bundle of `{name}` {}", escape_quotation(why));
    Failure::new(Exit::Denied, message).hint("ask its author for a whole copy")
}

fn unreadable(path: &Path, error: impl std::fmt::Display) -> Failure {
    Failure::config(format!("`{}`: {error}", path.display()))
}

/// Reads a small file that the user names.
fn read_small(path: &Path) -> Outcome<Vec<u8>> {
    let data = fs::metadata(path).map_err(|error| unreadable(path, error))?;
    if !data.is_file() || data.len() > LONGEST {
        return Err(unreadable(path, format!("is no plain file of at most {LONGEST} bytes")));
    }
    let mut bytes = Vec::new();
    let read = fs::File::open(path).and_then(|file| file.take(LONGEST).read_to_end(&mut bytes));
    read.map_err(|error| unreadable(path, error))?;
    Ok(bytes)
}

fn quote(signer: &Signer) -> String {
    escape_quotation(&signer.to_string()).into_owned()
}

/// A signer, with the time at which a log had the signature.
pub(super) fn cite(signer: &Signer) -> String {
    let text = quote(signer);
    match &signer.logged {
        Some(logged) => format!("{text}, logged at {}", escape_quotation(logged)),
        None => text,
    }
}

/// Those who have signed an added plugin, as far as they are pinned.
pub(super) fn list_signers(locked: &Locked) -> Vec<String> {
    locked.key.iter().cloned().chain(locked.signer.as_ref().map(cite)).collect()
}
