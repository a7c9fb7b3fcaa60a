//! The built-in plugins: ordinary components, and the code that the build script compiled from
//! them. In the binary the components are packed, and so is the code of those that the default
//! strategy does not use; that of the others is run where it lies.

use syrch_runtime::Precompiled;

/// A component that came with the host.
pub(crate) struct Builtin {
    pub(crate) name: &'static str,
    /// Bytes of the component.
    pub(crate) size: usize,
    /// Its sha256, in hex.
    pub(crate) digest: &'static str,
    component: &'static [u8],
    /// The code for any machine of the architecture. `None` if the build script could not compile
    /// for it.
    code: Option<Code>,
}

#[derive(Clone, Copy)]
enum Code {
    Plain(&'static [u8]),
    Packed(&'static [u8]),
}

/// Begins with a page of memory, as code must that is run where it lies.
#[cfg_attr(target_arch = "x86_64", repr(align(0x1000)))]
#[cfg_attr(not(target_arch = "x86_64"), repr(align(0x10000)))]
struct Pages<const SIZE: usize>([u8; SIZE]);

include!(concat!(env!("OUT_DIR"), "/builtins.rs"));

impl Builtin {
    pub(crate) fn component(&self) -> Vec<u8> {
        // The build script wrote it; an empty component would be refused like any other file that
        // is none.
        zstd::bulk::decompress(self.component, self.size).unwrap_or_default()
    }

    /// Returns its code, where the build script could compile it.
    pub(crate) fn to_precompiled(&self) -> Option<Precompiled> {
        let code = match self.code? {
            Code::Plain(code) => syrch_runtime::Code::Plain(code),
            Code::Packed(packed) => syrch_runtime::Code::Written(Box::new(move |code| {
                zstd::stream::copy_decode(packed, code)
            })),
        };
        // SAFETY: the build script compiled it with the runtime's own settings from the component
        // of that digest, and it lay in the binary since.
        #[allow(unsafe_code)]
        Some(unsafe { Precompiled::new(self.digest, self.size as u64, code) })
    }
}

/// The component of the hostile plugin of the tests, which is no built-in plugin and has no name
/// here; `None` in a build without plugins.
pub(crate) fn hostile_component() -> Option<Vec<u8>> {
    HOSTILE.and_then(|(packed, size)| zstd::bulk::decompress(packed, size).ok())
}

/// The plugin of that name.
pub(crate) fn find(name: &str) -> Option<&'static Builtin> {
    BUILTINS.iter().find(|known| known.name == name)
}

/// The plugin of that identity.
pub(crate) fn find_by_digest(digest: &str) -> Option<&'static Builtin> {
    BUILTINS.iter().find(|known| known.digest == digest)
}

/// All of them, sorted by name.
pub(crate) fn all() -> impl Iterator<Item = &'static Builtin> {
    BUILTINS.iter()
}

/// The names of the built-in plugins, sorted.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    all().map(|known| known.name)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use crate::settings::{PluginSource, Strategy};
    use crate::{Observer, SearchEvent, Settings, plugins};

    struct Compilations(AtomicU32);

    impl Observer for Compilations {
        fn event(&self, event: &SearchEvent) {
            self.0.fetch_add(
                u32::from(matches!(event, SearchEvent::Compiling { .. })),
                Ordering::Relaxed,
            );
        }
    }

    /// The code in the binary is that of the component beside it, and fits the engine that runs it:
    /// the first of a process, and a further one.
    #[tokio::test]
    async fn nothing_built_in_is_compiled_when_it_is_used() {
        let compiled = Compilations(AtomicU32::new(0));
        let settings = Settings::default();
        let runtimes = [(); 2].map(|()| plugins::runtime(&settings).unwrap());
        let mut loaded = Vec::new();
        for known in super::all() {
            let source = PluginSource::Builtin(known.name.to_owned());
            for runtime in &runtimes {
                let plugin = plugins::load(runtime, &source, &compiled).await.unwrap();
                assert_eq!(
                    (plugin.identity().name.as_str(), plugin.size()),
                    (known.name, known.size as u64)
                );
                assert_eq!(plugin.digest(), syrch_runtime::digest(&known.component()));
                // Its schema is one, and demands no setting: without settings it is not compiled.
                assert_eq!(plugin.identity().config_schema.get("required"), None);
                let unknown =
                    serde_json::Map::from_iter([("no_such_setting".to_owned(), true.into())]);
                let refused = plugin.configure(plugin.roles()[0], &unknown).await;
                assert!(
                    matches!(
                        &refused, Err(
                            syrch_runtime::LoadError::Config(why)
                        ) if why.contains("no_such_setting")
                    ),
                    "{}",
                    known.name
                );
                loaded.push(plugin);
            }
        }
        assert_eq!(compiled.0.into_inner(), 0);
    }

    /// A search by the default strategy unpacks nothing.
    #[test]
    fn the_code_of_the_default_strategy_lies_as_it_runs() {
        for (role, source) in Strategy::default().roles {
            let PluginSource::Builtin(name) = source else { panic!("{role}: {source}") };
            assert!(
                matches!(super::find(&name).unwrap().code, Some(super::Code::Plain(_))),
                "{role}: {name}"
            );
        }
    }
}
