//! The parts that the commands on added plugins share: examining a component before it is added,
//! the grants of flags, and what changes in words.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use syrch::lock::{Lock, Locked, Staged};
use syrch::plugins::{self, Inspection};
use syrch::settings::PluginSource;
use syrch::syrch_core::text::escape::escape_quotation;
use syrch::syrch_core::text::nearest;
use syrch::syrch_core::{CONTRACT_VERSION, Grants};
use syrch_projects::{Credentials, Name, Package, PublicKey, Reference};

use super::Context;
use super::sheet::inspect_plugin;
use super::signed::{BundleArgs, cite};
use crate::exit::Exit;
use crate::failure::{Failure, Outcome, alternatives};
use crate::sink::Grid;

/// The word that stands for no plugin in the flags of roles.
const NO_PLUGIN: &str = "none";

// Flags that change grants.
#[derive(clap::Args)]
pub(super) struct GrantArgs {
    /// Grant a port, or a limit in one search: llm, inspect, sql, rows, cells, evaluate, retrieval,
    /// rows=GRANT, reads=GRANT, sends=GRANT, tables=GLOB,…, model-calls=N, tokens=N, usd=X,
    /// statements=N, retrievals=N; memory=BYTES and seconds=X of CPU in one call. May be given
    /// several times
    #[arg(long, value_name = "GRANT")]
    pub(super) allow: Vec<String>,
    /// Take a port away. May be given several times
    #[arg(long, value_name = "PORT")]
    pub(super) deny: Vec<String>,
}

impl GrantArgs {
    /// Changes grants within those that the plugin asks for. `starts` is true for a new plugin, of
    /// which only the ports that are named are granted, if any is.
    pub(super) fn change(
        &self,
        wanted: &Grants,
        granted: &mut Grants,
        starts: bool,
    ) -> Outcome<()> {
        let usage = |why: String| {
            let list = wanted.list_words().join(", ");
            Failure::usage(why).hint(format!("the plugin asks for {list}"))
        };
        let is_port = |word: &&String| !word.contains('=');
        if starts && self.allow.iter().any(|word| is_port(&word)) {
            granted.ports.clear();
        }
        for word in &self.allow {
            granted.allow(word).map_err(usage)?;
        }
        let more = self.allow.iter().filter(is_port).find(|port| !wanted.has(port));
        if let Some(port) = more {
            return Err(usage(format!("the plugin does not ask for `{port}`")));
        }
        self.deny.iter().try_for_each(|port| granted.deny(port)).map_err(usage)?;
        *granted = granted.narrow(wanted).map_err(usage)?;
        Ok(())
    }
}

// The flags of a registry.
#[derive(clap::Args)]
pub(super) struct RegistryArgs {
    /// A config.json of docker with your name and password at the registry [default: that in
    /// DOCKER_CONFIG or ~/.docker, if it is there]
    #[arg(long, value_name = "FILE")]
    auth_file: Option<PathBuf>,
}

impl RegistryArgs {
    /// The user's credentials at a registry, which are sent if it asks for them.
    pub(super) fn credentials(
        &self,
        context: &Context,
        reference: &Reference,
    ) -> Outcome<Option<Credentials>> {
        let usual = context.environment.registry_credentials().filter(|path| path.exists());
        let path = self.auth_file.clone().or(usual);
        let read = path.map(|path| Credentials::read(&path, reference)).transpose()?;
        Ok(read.flatten())
    }
}

/// The lock that the configuration names, or that of the user's own folder.
pub(super) fn lock(context: &Context) -> Outcome<Lock> {
    let lock = Lock::clone(&context.config.effective.settings.lock);
    if lock.path().as_os_str().is_empty() {
        return Err(Failure::config("there is no folder for a lock of plugins")
            .hint("name its file by SYRCH_LOCK, or set HOME"));
    }
    Ok(lock)
}

/// The added plugin of a name.
pub(super) fn find<'a>(lock: &'a Lock, name: &str) -> Outcome<&'a Locked> {
    lock.find(name).map_err(|error| {
        let near = alternatives(&nearest(name, lock.plugins().keys().map(String::as_str)));
        Failure::from(error).hint(match near {
            Some(names) => format!("did you mean {names}?"),
            None => "`syrch-host plugin grants` lists the added plugins".to_owned(),
        })
    })
}

/// Reads a plugin from where it comes, checks it as a search would, and returns its name, its entry
/// without grants, and its component. It has to be signed by the key that is named, or by the one
/// that was pinned when a plugin of this name was added.
pub(super) async fn examine(
    context: &Context,
    source: &Path,
    name: Option<&str>,
    key: Option<PublicKey>,
    bundle: &BundleArgs,
    registry: &RegistryArgs,
) -> Outcome<(String, Locked, Staged)> {
    let lock = lock(context)?;
    let Fetched { package, source, manifest } = fetch(context, source, registry).await?;
    let name = Name::new(name.unwrap_or(&package.name))?;
    let name = name.as_str().to_owned();
    if plugins::builtins().iter().any(|builtin| builtin.name == name) {
        let message = format!("`{name}` is the name of a built-in plugin");
        return Err(Failure::usage(message).hint("give another one by --name"));
    }
    // `--linker none` stands for no plugin.
    if name == NO_PLUGIN {
        return Err(Failure::usage(format!("`{name}` stands for no plugin"))
            .hint("give another name by --name"));
    }
    let old = lock.plugins().get(&name);
    let key = check_signature(&name, &package, key, old.and_then(|old| old.key.clone()))?;
    let signer = bundle.check(&name, &package, old.and_then(|old| old.signer.as_ref()))?;
    let (found, staged) = stage(context, &package, &source).await?;
    let ports = Grants::for_ports(found.imports.iter().map(String::as_str));
    let wanted = match package.wants {
        Some(wants) => wants.narrow(&ports).map_err(Failure::config)?,
        None => ports,
    };
    let locked = Locked {
        digest: found.digest,
        bytes: found.bytes,
        source,
        manifest,
        roles: found.roles,
        contract: CONTRACT_VERSION.to_owned(),
        key,
        signer,
        granted: Grants::default(),
        wanted,
    };
    Ok((name, locked, staged))
}

/// A package, with the place that it came from.
struct Fetched {
    package: Package,
    /// The absolute path, or the address in a registry.
    source: PathBuf,
    /// The digest of its manifest in a registry.
    manifest: Option<String>,
}

async fn fetch(context: &Context, source: &Path, registry: &RegistryArgs) -> Outcome<Fetched> {
    let Some(reference) = Reference::from_source(source)? else {
        let source = std::path::absolute(source)
            .map_err(|error| Failure::config(format!("`{}`: {error}", source.display())))?;
        return Ok(Fetched { package: Package::read(&source)?, source, manifest: None });
    };
    let credentials = registry.credentials(context, &reference)?;
    let pulled = syrch_projects::pull(&reference, credentials).await?;
    let manifest = Some(pulled.manifest);
    Ok(Fetched { package: pulled.package, source: source.to_owned(), manifest })
}

/// Puts the component of a package into the store under a name of its own, and loads it there as a
/// search would.
pub(super) async fn stage(
    context: &Context,
    package: &Package,
    source: &Path,
) -> Outcome<(Inspection, Staged)> {
    let staged = lock(context)?.stage(&package.component)?;
    let found = inspect_plugin(context, &PluginSource::File(staged.path().to_owned())).await;
    let found = found.map_err(|mut failure| {
        let staged = staged.path().display().to_string();
        failure.message = failure.message.replace(&staged, &source.display().to_string());
        failure
    })?;
    Ok((found, staged))
}

/// Checks the signature of a package by the key that it is to have, and returns that key. A
/// signature of nobody known says nothing, but a wrong one is refused.
pub(super) fn check_signature(
    name: &str,
    package: &Package,
    key: Option<PublicKey>,
    pinned: Option<String>,
) -> Outcome<Option<String>> {
    let signature = package.signature.as_ref();
    let signer = signature.map(|signature| signature.verify(&package.component));
    let found = match signer {
        None => "it has no signature".to_owned(),
        Some(None) => "its signature is not that of this component".to_owned(),
        Some(Some(signer)) => format!("it is signed by {signer}"),
    };
    let refuse = |wanted: &str| {
        let message = format!("`{name}` has to be signed by {wanted}: {found}");
        Failure::new(Exit::Denied, message)
    };
    let named = key.map(|key| key.to_string());
    let signer = signer.flatten().map(|signer| signer.to_string());
    match (pinned, named) {
        (Some(pinned), Some(named)) if named != pinned => {
            let message =
                format!("the key of `{name}` is pinned, {pinned}: {named} cannot take its place");
            Err(Failure::new(Exit::Denied, message)
                .hint(format!("`syrch-host plugin remove {name}` forgets the key with the plugin")))
        }
        (Some(pinned), _) if signer.as_ref() != Some(&pinned) => {
            Err(refuse(&format!("the key that was pinned, {pinned}")).hint(format!(
                "ask its author; `syrch-host plugin remove {name}` forgets the key with the plugin"
            )))
        }
        (None, Some(named)) if signer.as_ref() != Some(&named) => {
            Err(refuse(&named).hint("`syrch-host plugin sign` of its author makes a signature"))
        }
        (None, None) if signature.is_some() && signer.is_none() => {
            Err(refuse("the key that its signature names").hint("ask its author for a whole copy"))
        }
        (pinned, named) => Ok(pinned.or(named)),
    }
}

/// The lines that say what a plugin is, or what changes where there is an old one.
pub(super) fn describe(name: &str, old: Option<&Locked>, new: &Locked) -> Vec<String> {
    let words = |grants: &Grants| match grants.list_words() {
        words if words.is_empty() => "nothing".to_owned(),
        words => words.join(", "),
    };
    let roles =
        |one: &Locked| one.roles.iter().map(|role| role.name()).collect::<Vec<_>>().join(", ");
    let short = |one: &Locked| one.digest.get(..12).unwrap_or_default().to_owned();
    let source = |one: &Locked| {
        let source = one.source.display().to_string();
        escape_quotation(&source).into_owned()
    };
    let Some(old) = old else {
        let mut lines = vec![
            format!("{name} is new: {}, {} bytes, for {}", short(new), new.bytes, roles(new)),
            format!("it comes from `{}`", source(new)),
            format!("it asks for {}", words(&new.wanted)),
            format!("it is granted {}", words(&new.granted)),
        ];
        lines.extend(new.manifest.as_ref().map(|digest| format!("its manifest is {digest}")));
        lines.extend(new.key.as_ref().map(|key| format!("it is signed by {key}")));
        lines.extend(new.signer.as_ref().map(|one| format!("it is signed by {}", cite(one))));
        return lines;
    };
    let mut lines = Vec::new();
    if old.digest != new.digest {
        let [before, after] = [old, new].map(|one| format!("{} ({} bytes)", short(one), one.bytes));
        lines.push(format!("{name}: component {before} becomes {after}"));
    }
    if let (None, Some(key)) = (&old.key, &new.key) {
        lines.push(format!("{name}: the key of its author is pinned, {key}"));
    }
    match (&old.signer, &new.signer) {
        (None, Some(signer)) => {
            lines.push(format!("{name}: its signer is pinned, {}", cite(signer)));
        }
        (Some(before), Some(after)) if cite(before) != cite(after) => {
            lines.push(format!("{name}: signature of {} becomes {}", cite(before), cite(after)));
        }
        _ => {}
    }
    if old.source != new.source {
        lines.push(format!("{name}: source `{}` becomes `{}`", source(old), source(new)));
    }
    if old.manifest != new.manifest {
        let [before, after] =
            [old, new].map(|one| one.manifest.as_deref().unwrap_or("none").to_owned());
        lines.push(format!("{name}: manifest {before} becomes {after}"));
    }
    if old.roles != new.roles {
        lines.push(format!("{name}: roles {} become {}", roles(old), roles(new)));
    }
    for (what, old, new) in
        [("asks for", &old.wanted, &new.wanted), ("is granted", &old.granted, &new.granted)]
    {
        let differences = old.list_differences(new);
        if !differences.is_empty() {
            lines.push(format!("{name}: what it {what} changes: {}", differences.join(", ")));
        }
    }
    lines
}

/// A plugin of the lock as a JSON object.
pub(super) fn sheet(name: &str, locked: &Locked) -> Value {
    json!({
        "name": name,
        "digest": locked.digest,
        "bytes": locked.bytes,
        "source": locked.source.display().to_string(),
        "manifest": locked.manifest,
        "roles": locked.roles.iter().map(|role| role.name()).collect::<Vec<_>>(),
        "contract": locked.contract,
        "key": locked.key,
        "signer": locked.signer,
        "wanted": locked.wanted,
        "granted": locked.granted,
    })
}

/// Writes one plugin of the lock: for people, a property a line.
pub(super) fn show(context: &Context, name: &str, locked: &Locked) -> Outcome<()> {
    let sheet = sheet(name, locked);
    let mut grid = Grid::new(["property", "value"]);
    let properties = sheet.as_object().into_iter().flatten();
    grid.rows = properties.map(|(name, value)| vec![json!(name), value.clone()]).collect();
    context.rows(grid, || {
        let mut document = json!({"schema": "syrch.locked/1"});
        if let (Value::Object(document), Value::Object(sheet)) = (&mut document, sheet.clone()) {
            document.extend(sheet);
        }
        document
    })
}
