//! The languages of projects.

/// A language in which a plugin can be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Language {
    /// Rust, built by cargo.
    Rust,
    /// Python, built by componentize-py.
    Python,
    /// JavaScript, built by componentize-qjs or componentize-js.
    Js,
    /// TypeScript, built as JavaScript.
    Ts,
    /// Go, built by its own compiler.
    Go,
    /// C, built by clang.
    C,
}

impl Language {
    /// Every language that a project can be written in.
    pub const ALL: [Self; 6] = [Self::Rust, Self::Python, Self::Js, Self::Ts, Self::Go, Self::C];

    /// The language's name in flags and in `plugin.yml`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Rust => "rust",
            Self::Python => "python",
            Self::Js => "js",
            Self::Ts => "ts",
            Self::Go => "go",
            Self::C => "c",
        }
    }

    /// The language of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|language| language.name() == name)
    }

    /// The main source file of a project; `None` where the language's own tool knows it.
    #[must_use]
    pub fn entry(self) -> Option<&'static str> {
        match self {
            Self::Rust | Self::Go => None,
            Self::Python => Some("plugin.py"),
            Self::Js => Some("plugin.js"),
            Self::Ts => Some("plugin.ts"),
            Self::C => Some("plugin.c"),
        }
    }

    /// The folder of its SDK in the pack. JavaScript and TypeScript share one.
    pub(crate) fn sdk(self) -> &'static str {
        match self {
            Self::Ts => "js",
            other => other.name(),
        }
    }
}

impl std::fmt::Display for Language {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}
