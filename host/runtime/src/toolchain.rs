//! The toolchain that made a WebAssembly file, as far as the file names it: hints can then name the
//! author's own tool.

use syrch_core::text::clip;
use wasmparser::{Parser, Payload, ProducersSectionReader};

/// A toolchain that makes components.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Toolchain {
    /// The Rust compiler, `rustc`.
    Rust,
    /// Clang, or another C compiler.
    C,
    /// The Go compiler, or TinyGo.
    Go,
    /// The tool componentize-py, which embeds CPython.
    Python,
    /// The tool componentize-qjs, or ComponentizeJS.
    JavaScript,
    /// The file does not name it.
    #[default]
    Unknown,
}

/// Entries of the sections in which a file names its tools that are read.
const ENTRIES: usize = 16;
/// Bytes that are shown of the name and of the version of a tool.
const ENTRY: usize = 64;

/// The name of the crate in the names of the functions of the adapter between a module and WASI,
/// which is written in Rust whatever the module is written in.
const ADAPTER: &[u8] = b"_22wasi_snapshot_preview1";

/// The sections `producers` of a file, those of adapters left out.
fn sections(bytes: &[u8]) -> Vec<ProducersSectionReader<'_>> {
    let mut found = Vec::new();
    // For each module or component that is open: its section, and whether it is an adapter.
    let mut open: Vec<(Vec<ProducersSectionReader<'_>>, bool)> = Vec::new();
    for payload in Parser::new(0).parse_all(bytes) {
        let Ok(payload) = payload else { break };
        match payload {
            Payload::Version { .. } => open.push((Vec::new(), false)),
            Payload::End(_) => {
                let (own, is_adapter) = open.pop().unwrap_or_default();
                found.extend(own.into_iter().filter(|_| !is_adapter));
            }
            Payload::CustomSection(section) => {
                let Some((own, is_adapter)) = open.last_mut() else { continue };
                match section.name() {
                    "name" => {
                        *is_adapter |= memchr::memmem::find(section.data(), ADAPTER).is_some()
                    }
                    "producers" => {
                        let reader =
                            wasmparser::BinaryReader::new(section.data(), section.data_offset());
                        own.extend(ProducersSectionReader::new(reader));
                    }
                    _ => {}
                }
            }
            _ => {}
        }
    }
    // A file that ends too early names what it names.
    found.extend(open.into_iter().flat_map(|(own, _)| own));
    found
}

/// The languages and tools that a file names in its sections `producers`, such as `rustc 1.95.0`,
/// each once. They are what its author wrote.
#[must_use]
pub fn producers(bytes: &[u8]) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let fields = sections(bytes).into_iter().flat_map(|section| section.into_iter().flatten());
    for value in fields.flat_map(|field| field.values.into_iter().flatten()) {
        let named =
            format!("{} {}", clip(value.name, ENTRY), clip(value.version, ENTRY)).trim().to_owned();
        if !named.is_empty() && !found.contains(&named) {
            found.push(named);
        }
        if found.len() == ENTRIES {
            break;
        }
    }
    found
}

impl Toolchain {
    /// The language that the toolchain is for; `None` if it is not known.
    #[must_use]
    pub fn language(self) -> Option<&'static str> {
        match self {
            Self::Rust => Some("Rust"),
            Self::C => Some("C"),
            Self::Go => Some("Go"),
            Self::Python => Some("Python"),
            Self::JavaScript => Some("JavaScript"),
            Self::Unknown => None,
        }
    }

    /// The toolchain of a component or a module. The sections of a file are what its author wrote,
    /// so this is good for hints only.
    #[must_use]
    pub fn detect(bytes: &[u8]) -> Self {
        fn contains(bytes: &[u8], name: &str) -> bool {
            memchr::memmem::find(bytes, name.as_bytes()).is_some()
        }
        // These carry an interpreter, which is written in another language.
        if contains(bytes, "libcomponentize_py_runtime") {
            return Self::Python;
        }
        if contains(bytes, "componentize_qjs_runtime")
            || contains(bytes, "StarlingMonkey")
            || contains(bytes, "ComponentizeJS")
        {
            return Self::JavaScript;
        }
        let made = sections(bytes).into_iter().map(toolchain_from_producers);
        let found = made.fold(Self::Unknown, |found, made| match (found, made) {
            (found, Self::Unknown) => found,
            (Self::Unknown | Self::Rust, made) => made,
            (Self::C, made @ Self::Go) => made,
            (found, _) => found,
        });
        // Of the compilers whose modules need an adapter, only those of C write no name when they
        // strip a module.
        match found {
            Self::Unknown if contains(bytes, "wit-component:adapter:wasi_snapshot_preview1") => {
                Self::C
            }
            found => found,
        }
    }
}

fn toolchain_from_producers(section: ProducersSectionReader<'_>) -> Toolchain {
    let mut found = Toolchain::Unknown;
    for field in section.into_iter().flatten() {
        for value in field.values.into_iter().flatten() {
            let made = match value.name {
                "Rust" | "rustc" | "wit-bindgen-rust" => Toolchain::Rust,
                "Go" | "TinyGo" | "Go cmd/compile" => Toolchain::Go,
                "wit-bindgen-c" | "clang" | "C11" | "C99" | "C17" => Toolchain::C,
                _ => continue,
            };
            // wit-bindgen for Rust uses the C bindings, and TinyGo clang.
            found = match (found, made) {
                (Toolchain::Unknown | Toolchain::C, made) => made,
                (found, _) => found,
            };
        }
    }
    found
}
