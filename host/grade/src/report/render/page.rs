//! Pages that stand alone: no script, no request, and one escape. What is no constant of this program comes in as text, so that none of it
//! can become markup.

use serde_json::Value;
use syrch_core::text::escape::{clipped, html as escape};

use super::text::Table;
use crate::picture::{self, Picture};

/// Characters of one text at most; the JSON keeps them all.
const LONGEST: usize = 5_000;
/// What the browser is told to allow: the page's own style and nothing else.
const POLICY: &str = "<meta http-equiv=\"Content-Security-Policy\" \
    content=\"default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'\">\n";
const STYLE: &str = include_str!("page.css");

/// HTML under way.
#[derive(Debug, Default)]
pub(crate) struct Html {
    text: String,
    pictures: u32,
}

impl Html {
    /// Adds markup, which only a constant can be.
    pub(crate) fn raw(&mut self, markup: &'static str) -> &mut Self {
        self.text.push_str(markup);
        self
    }

    /// Adds a text, escaped; of a very long one the beginning.
    pub(crate) fn text(&mut self, text: &str) -> &mut Self {
        self.text.push_str(&escape(&clipped(text, LONGEST)));
        self
    }

    /// Adds a tag around a text.
    pub(crate) fn tagged(&mut self, open: &'static str, text: &str, close: &'static str) -> &mut Self {
        self.raw(open).text(text).raw(close)
    }

    /// How long it is by now, in bytes.
    pub(crate) fn len(&self) -> usize {
        self.text.len()
    }

    /// Adds a picture with its caption, and the tables that its numbers are from, folded below it.
    pub(crate) fn figure(&mut self, picture: &Picture, tables: &[&Table]) -> &mut Self {
        self.pictures += 1;
        self.raw("<figure>\n");
        self.text.push_str(&picture.element(&format!("p{}", self.pictures)));
        self.tagged("<figcaption><strong>", &picture.title, "</strong><br>").text(&picture.description);
        self.raw("</figcaption>\n");
        for table in tables {
            self.fold(&table.title, |html| _ = html.table(table));
        }
        self.raw("</figure>\n")
    }

    /// Adds what is shown when its title is opened.
    pub(crate) fn fold(&mut self, title: &str, body: impl FnOnce(&mut Self)) -> &mut Self {
        self.tagged("<details><summary>", title, "</summary>\n");
        body(self);
        self.raw("</details>\n")
    }

    /// Adds a table.
    pub(crate) fn table(&mut self, table: &Table) -> &mut Self {
        self.raw("<div class=\"wide\"><table><thead><tr>");
        for column in &table.columns {
            self.tagged("<th scope=\"col\">", column, "</th>");
        }
        self.raw("</tr></thead>\n<tbody>\n");
        for row in &table.rows {
            self.raw("<tr>");
            for cell in row {
                match cell {
                    Value::Null => self.raw("<td></td>"),
                    Value::String(text) => self.tagged("<td>", text, "</td>"),
                    other => self.tagged("<td class=\"number\">", &other.to_string(), "</td>"),
                };
            }
            self.raw("</tr>\n");
        }
        self.raw("</tbody></table></div>\n")
    }

    /// The page around this.
    pub(crate) fn page(&self, title: &str) -> String {
        let mut page = Self::default();
        page.raw("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n").raw(POLICY);
        page.raw("<meta name=\"referrer\" content=\"no-referrer\">\n");
        page.raw("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
        page.tagged("<title>", title, "</title>\n").raw("<style>\n").raw(STYLE).raw(picture::STYLE);
        page.raw("</style>\n</head>\n<body>\n");
        page.text.push_str(&self.text);
        page.raw("</body>\n</html>\n");
        page.text
    }
}
