//! The toolchain that made a WebAssembly file, as far as the file names it: hints can then name the author's own tool.

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

impl Toolchain {
    /// The toolchain of a component or a module. The sections of a file are what its author wrote, so this is good for hints only.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        let contains = |name: &str| memchr::memmem::find(bytes, name.as_bytes()).is_some();
        // These carry an interpreter, which is written in another language.
        if contains("libcomponentize_py_runtime") {
            return Self::Python;
        }
        if contains("componentize_qjs_runtime") || contains("StarlingMonkey") || contains("ComponentizeJS") {
            return Self::JavaScript;
        }
        let mut found = Self::Unknown;
        for payload in Parser::new(0).parse_all(bytes) {
            let Ok(payload) = payload else { break };
            let Payload::CustomSection(section) = payload else { continue };
            if section.name() != "producers" {
                continue;
            }
            let reader = wasmparser::BinaryReader::new(section.data(), section.data_offset());
            let made = ProducersSectionReader::new(reader).map_or(Self::Unknown, produced);
            // The adapters between a module and WASI are written in Rust.
            found = match (found, made) {
                (found, Self::Unknown) => found,
                (Self::Unknown | Self::Rust, made) => made,
                (Self::C, made @ Self::Go) => made,
                (found, _) => found,
            };
        }
        found
    }
}

fn produced(section: ProducersSectionReader<'_>) -> Toolchain {
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
