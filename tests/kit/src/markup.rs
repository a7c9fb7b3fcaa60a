//! A reader of the markup that reports are made of: strict, so that nothing but what was meant
//! becomes an element.

use std::collections::BTreeMap;

const VOID: [&str; 3] = ["meta", "br", "!doctype"];

/// An element's name and its attributes.
pub type Element = (String, BTreeMap<String, String>);

/// All elements of a page or picture, in their order.
///
/// # Panics
/// When a tag is not closed, closed twice, or has an attribute without quotes.
#[must_use]
pub fn elements(markup: &str) -> Vec<Element> {
    let mut all = Vec::new();
    let mut open = Vec::new();
    let mut rest = markup;
    while let Some(at) = rest.find('<') {
        assert!(!rest[..at].contains('>'), "a bare > in {:?}", &rest[..at]);
        let end = rest[at..].find('>').map(|end| at + end).expect("a tag that ends");
        let inside = &rest[at + 1..end];
        rest = &rest[end + 1..];
        if let Some(name) = inside.strip_prefix('/') {
            assert_eq!(open.pop().as_deref(), Some(name), "closed where it was not open");
            continue;
        }
        let (inside, is_closed) =
            inside.strip_suffix('/').map_or((inside, false), |inside| (inside, true));
        let (name, attributes) = inside.split_once(' ').unwrap_or((inside, ""));
        if name == "style" {
            rest = &rest[rest.find("</style>").expect("the style's end")..];
        }
        if !is_closed && !VOID.contains(&name) {
            open.push(name.to_owned());
        }
        let attributes = if name == "!doctype" { BTreeMap::new() } else { read(attributes) };
        all.push((name.to_owned(), attributes));
    }
    assert!(open.is_empty(), "not closed: {open:?}");
    all
}

fn read(mut text: &str) -> BTreeMap<String, String> {
    let mut attributes = BTreeMap::new();
    while !text.trim().is_empty() {
        let (name, rest) = text.trim_start().split_once("=\"").expect("a quoted attribute");
        let (value, rest) = rest.split_once('"').expect("the quote's end");
        assert!(name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == ':'), "{name}");
        assert!(attributes.insert(name.to_owned(), unescape(value)).is_none(), "{name} twice");
        text = rest;
    }
    attributes
}

/// The text that a reader of markup shows for it.
#[must_use]
pub fn unescape(text: &str) -> String {
    let named = [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&#39;", "'"),
        ("&#10;", "\n"),
        ("&#9;", "\t"),
    ];
    named
        .iter()
        .fold(text.to_owned(), |text, (name, sign)| text.replace(name, sign))
        .replace("&amp;", "&")
}

/// The elements that have an attribute.
#[must_use]
pub fn with(elements: &[Element], attribute: &str) -> Vec<BTreeMap<String, String>> {
    elements
        .iter()
        .filter(|(_, all)| all.contains_key(attribute))
        .map(|(_, all)| all.clone())
        .collect()
}
