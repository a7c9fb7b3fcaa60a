//! Pages that stand alone: no script, no request, and one escape. What is no constant of this program comes in as text or as a number, so
//! that none of it can become markup.

use syrch::syrch_core::text::escape::{clipped, html as escape};

/// Characters of one text at most; the other formats keep them all.
const LONGEST: usize = 20_000;

/// What the browser is told to allow: the page's own style and nothing else.
const POLICY: &str = "<meta http-equiv=\"Content-Security-Policy\" \
    content=\"default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'\">\n";

/// HTML under way.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Html(String);

impl Html {
    /// Adds markup, which only a constant can be.
    pub(crate) fn raw(&mut self, markup: &'static str) -> &mut Self {
        self.0.push_str(markup);
        self
    }

    /// Adds a text, escaped; of a very long one the beginning.
    pub(crate) fn text(&mut self, text: &str) -> &mut Self {
        self.0.push_str(&escape(&clipped(text, LONGEST)));
        self
    }

    /// Adds a whole number.
    pub(crate) fn number(&mut self, number: impl Into<u64>) -> &mut Self {
        self.0.push_str(&number.into().to_string());
        self
    }

    /// Adds a number with that many decimals; none for what is no number.
    pub(crate) fn decimal(&mut self, number: f64, places: usize) -> &mut Self {
        if number.is_finite() {
            self.0.push_str(&format!("{number:.places$}"));
        }
        self
    }

    /// Adds other HTML.
    pub(crate) fn add(&mut self, other: &Self) -> &mut Self {
        self.0.push_str(&other.0);
        self
    }

    /// Adds a tag around a text.
    pub(crate) fn tagged(&mut self, open: &'static str, text: &str, close: &'static str) -> &mut Self {
        self.raw(open).text(text).raw(close)
    }

    /// The page around this.
    pub(crate) fn page(&self, title: &str, style: &'static str) -> String {
        let mut page = Self::default();
        page.raw("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n").raw(POLICY);
        page.raw("<meta name=\"referrer\" content=\"no-referrer\">\n");
        page.raw("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
        page.tagged("<title>", title, "</title>\n").raw("<style>\n").raw(style).raw("</style>\n</head>\n<body>\n");
        page.add(self).raw("</body>\n</html>\n");
        page.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_numbers() {
        let mut html = Html::default();
        html.decimal(f64::NAN, 2).decimal(0.256, 2).number(7_u32);
        assert_eq!(html.0, "0.267");
    }

    #[test]
    fn a_long_text_is_cut() {
        let mut html = Html::default();
        html.text(&"é".repeat(1_000_000));
        assert!(html.0.ends_with("é… (cut)") && html.0.chars().count() < LONGEST + 20);
    }

    #[test]
    fn a_page_allows_its_own_style_only() {
        let page = Html::default().page("a </title> b", "p { color: red }");
        assert!(page.contains("default-src 'none'; style-src 'unsafe-inline'"));
        assert!(page.contains("<title>a &lt;/title&gt; b</title>"), "{page}");
    }
}
