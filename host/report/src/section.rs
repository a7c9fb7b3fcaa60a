//! The sections of a report, declared once with the keys of the document that they show.

/// A section that knows which keys of the document it shows.
pub trait Keys {
    /// The top-level keys of the document that the section shows. Several sections may share a key.
    fn keys(self) -> &'static [&'static str];
}

/// Declares the sections of a report as an enumeration with `ALL`, in the order in which they are
/// shown, and [`Keys`]. Each renderer matches all of them, so the compiler names every place that a
/// new section needs.
///
/// ```
/// use syrch_report::Keys;
///
/// syrch_report::sections! {
///     /// A section of the report.
///     pub enum Section {
///         /// The main result.
///         Verdict: ["share"],
///         /// The limits of the figures.
///         Notes: ["warnings", "partial"],
///     }
/// }
/// assert_eq!(Section::ALL.len(), 2);
/// assert_eq!(Section::Notes.keys(), ["warnings", "partial"]);
/// ```
#[macro_export]
macro_rules! sections {
    (
        $(#[$about:meta])*
        $visible:vis enum $name:ident { $($(#[$doc:meta])* $section:ident: $keys:expr,)* }
    ) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        $visible enum $name {
            $($(#[$doc])* $section,)*
        }

        impl $name {
            /// All sections in the order in which they are shown.
            pub const ALL: &[Self] = &[$(Self::$section,)*];
        }

        impl $crate::Keys for $name {
            fn keys(self) -> &'static [&'static str] {
                match self {
                    $(Self::$section => &$keys,)*
                }
            }
        }
    };
}
