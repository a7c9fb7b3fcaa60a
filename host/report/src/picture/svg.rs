//! Drawings as SVG. Markup is a constant of this program; everything else is added as text or as a
//! number.

use std::fmt::Write as _;

use syrch_core::text::escape::html as escape;

/// The style of all pictures.
const STYLE: &str = include_str!("style.css");

/// A finished drawing with its title and description.
#[derive(Debug, Clone, PartialEq)]
pub struct Picture {
    /// The title of the picture, a few words.
    pub title: String,
    /// A description of what the picture shows, and of how to read it.
    pub description: String,
    width: f64,
    height: f64,
    body: String,
}

impl Picture {
    /// A file of its own, its style inside.
    #[must_use]
    pub fn file(&self) -> String {
        format!(
            "<svg class=\"picture\" xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {w} {h}\" \
             width=\"{w}\" height=\"{h}\" role=\"img\" \
             aria-labelledby=\"picture-t picture-d\">\n\
             <style>\n{STYLE}</style>\n<title id=\"picture-t\">{}</title>\n\
             <desc id=\"picture-d\">{}</desc>\n{}</svg>\n",
            escape(&self.title),
            escape(&self.description),
            self.body,
            w = self.width,
            h = self.height,
        )
    }
}

/// A picture that is being drawn.
#[derive(Debug, Default)]
pub struct Svg {
    body: String,
}

/// An element whose attributes are being written.
#[derive(Debug)]
#[must_use]
pub struct Element<'a> {
    svg: &'a mut Svg,
    tag: &'static str,
}

impl Svg {
    /// Begins an element.
    pub fn element(&mut self, tag: &'static str) -> Element<'_> {
        self.body.push('<');
        self.body.push_str(tag);
        Element { svg: self, tag }
    }

    /// Adds a line.
    pub fn line(&mut self, class: &'static str, from: (f64, f64), to: (f64, f64)) {
        self.element("line")
            .class(class)
            .at("x1", from.0)
            .at("y1", from.1)
            .at("x2", to.0)
            .at("y2", to.1)
            .end();
    }

    /// Adds a text that begins, ends or has its middle at a place, as its class says.
    pub fn text(&mut self, class: &'static str, at: (f64, f64), text: &str) {
        self.element("text")
            .class(class)
            .at("x", at.0)
            .at("y", at.1)
            .text(&text.replace(['\n', '\t'], " "));
    }

    /// Opens a group with a title, which a browser shows beside the pointer; [`Svg::close`] ends
    /// it.
    pub fn open(&mut self, title: &str) {
        self.body.push_str("<g><title>");
        self.body.push_str(&escape(title));
        self.body.push_str("</title>\n");
    }

    /// Ends the group that was opened last.
    pub fn close(&mut self) {
        self.body.push_str("</g>\n");
    }

    /// The picture with its title, its description, and its width and height in pixels.
    pub fn finish(
        self,
        title: impl Into<String>,
        description: impl Into<String>,
        size: (f64, f64),
    ) -> Picture {
        Picture {
            title: title.into(),
            description: description.into(),
            width: size.0.ceil(),
            height: size.1.ceil(),
            body: self.body,
        }
    }
}

impl Element<'_> {
    fn attribute(self, name: &'static str, value: std::fmt::Arguments<'_>) -> Self {
        // Writing to a text does not fail.
        let _ = write!(self.svg.body, " {name}=\"{value}\"");
        self
    }

    /// Adds a class of the style; nothing if it is empty.
    pub fn class(self, class: &'static str) -> Self {
        if class.is_empty() { self } else { self.attribute("class", format_args!("{class}")) }
    }

    /// Adds two classes of the style.
    pub fn classes(self, classes: [&'static str; 2]) -> Self {
        self.attribute("class", format_args!("{} {}", classes[0], classes[1]))
    }

    /// Adds a place or size in pixels, to a hundredth.
    pub fn at(self, name: &'static str, value: f64) -> Self {
        self.attribute(name, format_args!("{}", hundredths(value)))
    }

    /// Adds an attribute whose value is a constant, so it needs no escaping.
    pub fn is(self, name: &'static str, value: &'static str) -> Self {
        self.attribute(name, format_args!("{value}"))
    }

    /// Adds a number of the document, whole as it is.
    pub fn data(self, name: &'static str, value: f64) -> Self {
        if value.is_finite() { self.attribute(name, format_args!("{value}")) } else { self }
    }

    /// Adds a number of the document, if it is known.
    pub fn data_if(self, name: &'static str, value: Option<f64>) -> Self {
        match value {
            Some(value) => self.data(name, value),
            None => self,
        }
    }

    /// Adds a count of the document.
    pub fn count(self, name: &'static str, value: u64) -> Self {
        self.attribute(name, format_args!("{value}"))
    }

    /// Adds a text of the document.
    pub fn text_attribute(self, name: &'static str, value: &str) -> Self {
        let value = escape(value).replace('\n', "&#10;").replace('\t', "&#9;");
        self.attribute(name, format_args!("{value}"))
    }

    /// Adds a list of places, as a path or a polygon has it.
    pub fn points(self, name: &'static str, points: &[(f64, f64)]) -> Self {
        let places: Vec<String> =
            points.iter().map(|(x, y)| format!("{},{}", hundredths(*x), hundredths(*y))).collect();
        self.attribute(name, format_args!("{}", places.join(" ")))
    }

    /// Ends the element.
    pub fn end(self) {
        self.svg.body.push_str("/>\n");
    }

    /// Ends it with what a browser shows beside the pointer.
    pub fn title(self, text: &str) {
        let tag = self.tag;
        let _ = writeln!(self.svg.body, "><title>{}</title></{tag}>", escape(text));
    }

    fn text(self, text: &str) {
        let tag = self.tag;
        let _ = writeln!(self.svg.body, ">{}</{tag}>", escape(text));
    }
}

/// To a hundredth, without −0.
fn hundredths(value: f64) -> f64 {
    if value.is_finite() { (value * 100.0).round() / 100.0 + 0.0 } else { 0.0 }
}
