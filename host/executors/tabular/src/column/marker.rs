//! Texts that stand for an absent value.

/// Texts that are NULL in a column whose other values are of one type.
pub(super) const MARKERS: [&str; 14] = [
    "NA", "N/A", "n/a", "NULL", "null", "None", "NaN", "nan", "\\N", "#N/A", "-", "\u{2013}", ".",
    "?",
];

/// The markers that are hardly anything else, of which a column of texts has a note.
pub(super) const PLAIN: usize = 10;

/// The place of a marker in [`MARKERS`].
pub(super) fn find(text: &str) -> Option<usize> {
    let may_be = text.len() <= 4
        && matches!(
            text.as_bytes().first(),
            Some(b'N' | b'n' | b'\\' | b'#' | b'-' | b'.' | b'?' | 0xe2)
        );
    may_be.then(|| MARKERS.iter().position(|marker| *marker == text))?
}

/// Counts of each marker.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Counts([u64; MARKERS.len()]);

impl Counts {
    pub(super) fn add(&mut self, at: usize) {
        self.0[at] += 1;
    }

    /// The markers that occur among the first so many, with their number: ``2 values `NA` ``, or of
    /// several ``3 values (2 `NA`, 1 `-`)``.
    pub(super) fn list_markers(&self, most: usize) -> Option<String> {
        let found = MARKERS.iter().zip(self.0).take(most).filter(|(_, count)| *count > 0);
        let found: Vec<(&str, u64)> = found.map(|(marker, count)| (*marker, count)).collect();
        match found.as_slice() {
            [] => None,
            [(marker, count)] => Some(format!("{} `{marker}`", values(*count))),
            several => {
                let each: Vec<String> =
                    several.iter().map(|(marker, count)| format!("{count} `{marker}`")).collect();
                let sum = several.iter().map(|(_, count)| count).sum();
                Some(format!("{} ({})", values(sum), each.join(", ")))
            }
        }
    }

    /// The first marker that occurs.
    pub(super) fn first(&self) -> Option<&'static str> {
        MARKERS.iter().zip(self.0).find(|(_, count)| *count > 0).map(|(marker, _)| *marker)
    }

    pub(super) fn sum(&self) -> u64 {
        self.0.iter().sum()
    }
}

/// A number of values in words.
pub(super) fn values(count: u64) -> String {
    syrch_core::text::count(count, "value")
}
