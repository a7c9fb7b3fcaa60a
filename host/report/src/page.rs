//! HTML pages that stand alone, for reports on optimized statements: no script, no request, one
//! style sheet, one content security policy and one escape. Whatever is no constant of this program
//! is added as text or as a number, so none of it can become markup.

use syrch_core::text::escape::{clip_with_remark, html as escape};

use crate::picture::{self, Picture};
use crate::{Grid, Table, plain};

/// Characters of one text at most; the JSON documents hold all of them.
const LONGEST: usize = 20_000;
/// The content security policy: the browser may load the style of the page itself and nothing else.
const POLICY: &str = "<meta http-equiv=\"Content-Security-Policy\" \
    content=\"default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; \
    form-action 'none'\">\n";
/// The style of all pages; that of the pictures follows it.
const STYLE: &str = include_str!("page.css");

/// The content of a page, or a part of one, to which markup and texts are added one after the
/// other.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Html {
    text: String,
    pictures: u32,
}

impl Html {
    /// Adds markup, which only a constant can be.
    pub fn raw(&mut self, markup: &'static str) -> &mut Self {
        self.text.push_str(markup);
        self
    }

    /// Adds a text, escaped; a text of more than 20,000 characters is cut.
    pub fn text(&mut self, text: &str) -> &mut Self {
        self.text.push_str(&escape(&clip_with_remark(text, LONGEST)));
        self
    }

    /// Adds a text, escaped, between two pieces of markup, usually the tags around it.
    pub fn wrap_text(&mut self, open: &'static str, text: &str, close: &'static str) -> &mut Self {
        self.raw(open).text(text).raw(close)
    }

    /// Adds a text as a paragraph of a class of the style; of none if it is empty.
    pub fn paragraph(&mut self, class: &'static str, text: &str) -> &mut Self {
        match class {
            "" => self.raw("<p>"),
            class => self.raw("<p class=\"").raw(class).raw("\">"),
        };
        self.text(text).raw("</p>\n")
    }

    /// Adds a text as it is spaced, such as a statement.
    pub fn code(&mut self, text: &str) -> &mut Self {
        self.wrap_text("<pre>", text, "</pre>\n")
    }

    /// Adds a whole number.
    pub fn number(&mut self, number: impl Into<u64>) -> &mut Self {
        self.text.push_str(&number.into().to_string());
        self
    }

    /// Adds a number with that many decimals. Adds nothing for NaN and the infinities.
    pub fn decimal(&mut self, number: f64, places: usize) -> &mut Self {
        if number.is_finite() {
            self.text.push_str(&format!("{number:.places$}"));
        }
        self
    }

    /// Adds another part, such as a drawing that was made apart. It must hold no pictures: their
    /// ids are unique within one part only.
    pub fn add(&mut self, other: &Self) -> &mut Self {
        self.text.push_str(&other.text);
        self
    }

    /// The length of the markup in bytes, by which long lists decide where to end.
    #[must_use]
    pub fn size(&self) -> usize {
        self.text.len()
    }

    /// Adds a picture with its caption, and below it, folded, the tables that hold its numbers.
    pub fn figure(&mut self, picture: &Picture, tables: &[Table]) -> &mut Self {
        self.pictures += 1;
        self.raw("<figure>\n");
        self.text.push_str(&picture.element(&format!("p{}", self.pictures)));
        self.wrap_text("<figcaption><strong>", &picture.title, "</strong><br>")
            .text(&picture.description);
        self.raw("</figcaption>\n");
        for table in tables {
            self.fold(&table.title, |html| _ = html.table(&table.grid));
        }
        self.raw("</figure>\n")
    }

    /// Adds content that the reader sees after a click on its title.
    pub fn fold(&mut self, title: &str, body: impl FnOnce(&mut Self)) -> &mut Self {
        self.wrap_text("<details><summary>", title, "</summary>\n");
        body(self);
        self.raw("</details>\n")
    }

    /// Adds a table. Numbers are aligned to the right.
    pub fn table(&mut self, grid: &Grid) -> &mut Self {
        self.raw("<div class=\"wide\"><table><thead><tr>");
        for column in &grid.columns {
            self.wrap_text("<th scope=\"col\">", column, "</th>");
        }
        self.raw("</tr></thead>\n<tbody>\n");
        for row in &grid.rows {
            self.raw("<tr>");
            for cell in row {
                let open = if cell.is_number() { "<td class=\"number\">" } else { "<td>" };
                self.wrap_text(open, &plain(cell), "</td>");
            }
            self.raw("</tr>\n");
        }
        self.raw("</tbody></table></div>\n")
    }

    /// The whole page with this content: a document of its own that needs no other file.
    #[must_use]
    pub fn page(&self, title: &str) -> String {
        let mut page = Self::default();
        page.raw("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n")
            .raw(POLICY);
        page.raw("<meta name=\"referrer\" content=\"no-referrer\">\n");
        page.raw("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
        page.wrap_text("<title>", title, "</title>\n")
            .raw("<style>\n")
            .raw(STYLE)
            .raw(picture::STYLE);
        page.raw("</style>\n</head>\n<body>\n").add(self).raw("</body>\n</html>\n");
        page.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_numbers() {
        let mut html = Html::default();
        html.decimal(f64::NAN, 2).decimal(0.256, 2).number(7_u32);
        assert_eq!(html.text, "0.267");
    }

    #[test]
    fn a_long_text_is_cut() {
        let mut html = Html::default();
        html.text(&"é".repeat(1_000_000));
        assert!(html.text.ends_with("é… (cut)") && html.text.chars().count() < LONGEST + 20);
    }

    #[test]
    fn a_page_allows_its_own_style_only() {
        let page = Html::default().page("a </title> b");
        assert!(page.contains("default-src 'none'; style-src 'unsafe-inline'"));
        assert!(page.contains("<title>a &lt;/title&gt; b</title>"), "{page}");
    }
}
