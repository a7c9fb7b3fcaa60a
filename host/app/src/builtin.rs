//! The built-in plugins: ordinary components, and the code that the build script compiled from them. In the binary the components are packed by
//! zstd, and the code, which a search unpacks before it begins, by LZ4.

use std::io::{self, Write};

use syrch_runtime::Precompiled;

/// A component that came with the host.
pub(crate) struct Builtin {
    pub(crate) name: &'static str,
    /// Bytes of the component.
    pub(crate) size: usize,
    /// Its sha256, in hex.
    pub(crate) digest: &'static str,
    component: &'static [u8],
    /// For any machine of the architecture, in pieces: each is the length of a block as a `u32` in little endian, and the block. Empty where the
    /// build script could not compile for it.
    code: &'static [u8],
}

include!(concat!(env!("OUT_DIR"), "/builtins.rs"));

impl Builtin {
    pub(crate) fn component(&self) -> Vec<u8> {
        // The build script wrote it; an empty component would be refused like any other file that is none.
        zstd::bulk::decompress(self.component, self.size).unwrap_or_default()
    }

    /// Its code, where the build script could compile it.
    pub(crate) fn precompiled(&self) -> Option<Precompiled> {
        let packed = Some(self.code).filter(|code| !code.is_empty())?;
        // SAFETY: the build script compiled it with the runtime's own settings from the component of that digest, and it lay in the binary since.
        #[allow(unsafe_code)]
        Some(unsafe { Precompiled::new(self.digest, self.size as u64, move |code| unpack(packed, code)) })
    }
}

/// Unpacks piece by piece, in the memory of one piece: fresh memory costs more time than unpacking.
fn unpack(mut packed: &[u8], code: &mut dyn Write) -> io::Result<()> {
    let mut piece = vec![0; PIECE];
    while let Some((length, rest)) = packed.split_first_chunk() {
        let cut = || io::Error::from(io::ErrorKind::UnexpectedEof);
        let (block, rest) = rest.split_at_checked(u32::from_le_bytes(*length) as usize).ok_or_else(cut)?;
        let bytes = lz4::block::decompress_to_buffer(block, None, &mut piece)?;
        code.write_all(piece.get(..bytes).ok_or_else(cut)?)?;
        packed = rest;
    }
    Ok(())
}

/// The plugin of that name.
pub(crate) fn find(name: &str) -> Option<&'static Builtin> {
    BUILTINS.iter().find(|known| known.name == name)
}

/// The plugin of that identity.
pub(crate) fn of_digest(digest: &str) -> Option<&'static Builtin> {
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

    use crate::settings::PluginSource;
    use crate::{Observer, SearchEvent, Settings, plugins};

    struct Compilations(AtomicU32);

    impl Observer for Compilations {
        fn event(&self, event: &SearchEvent) {
            self.0.fetch_add(u32::from(matches!(event, SearchEvent::Compiling { .. })), Ordering::Relaxed);
        }
    }

    /// The code in the binary is that of the component beside it, and fits the engine that runs it.
    #[tokio::test]
    async fn nothing_built_in_is_compiled_when_it_is_used() {
        let compiled = Compilations(AtomicU32::new(0));
        for known in super::all() {
            let source = PluginSource::Builtin(known.name.to_owned());
            let inspected = plugins::inspect(&source, &Settings::default(), &compiled).await.unwrap();
            assert_eq!((inspected.name.as_str(), inspected.bytes), (known.name, known.size as u64));
            assert_eq!(inspected.digest, syrch_runtime::digest(&known.component()));
        }
        assert_eq!(compiled.0.into_inner(), 0);
    }
}
