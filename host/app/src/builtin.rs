//! The built-in plugins: the bytes of ordinary components, put into the binary by the build script.

include!(concat!(env!("OUT_DIR"), "/builtins.rs"));

/// The component of that name.
pub(crate) fn find(name: &str) -> Option<&'static [u8]> {
    BUILTINS.iter().find(|(known, _)| *known == name).map(|(_, bytes)| *bytes)
}

/// The names, sorted.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    BUILTINS.iter().map(|(name, _)| *name)
}
