//! Drawn text for a terminal: parts with a style each, lines no wider than the terminal.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Characters of one text at most; the JSON document has all.
const LONGEST: usize = 500;

/// Columns below which a line is not broken further.
const NARROWEST: usize = 20;

/// The style of a part where colours are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// As the terminal writes.
    Plain,
    /// Bold.
    Strong,
    /// Faint.
    Dim,
    /// Green.
    Good,
    /// Red.
    Bad,
    /// Yellow.
    Doubtful,
    /// Cyan.
    Mark,
}

const RESET: &str = "\u{1b}[0m";

impl Style {
    fn code(self) -> &'static str {
        match self {
            Self::Plain => "",
            Self::Strong => "\u{1b}[1m",
            Self::Dim => "\u{1b}[2m",
            Self::Good => "\u{1b}[32m",
            Self::Bad => "\u{1b}[31m",
            Self::Doubtful => "\u{1b}[33m",
            Self::Mark => "\u{1b}[36m",
        }
    }
}

/// A picture that is being drawn.
#[derive(Debug)]
pub struct Picture {
    width: Option<usize>,
    text: String,
    /// The style that the text is in at its end.
    current: Style,
}

impl Picture {
    /// An empty picture of at most that many columns; of any width if it is `None`.
    #[must_use]
    pub fn new(width: Option<u16>) -> Self {
        Self {
            width: width.map(|width| usize::from(width).max(40)),
            text: String::new(),
            current: Style::Plain,
        }
    }

    /// Adds an empty line.
    pub fn gap(&mut self) {
        self.part(Style::Plain, "\n");
    }

    /// Adds parts as one line or, where they are too wide, as several: the first begins with
    /// `first`, the others with `next`.
    pub fn line(&mut self, first: &str, next: &str, parts: &[(Style, String)]) {
        let most = self
            .width
            .map_or(usize::MAX, |width| width.saturating_sub(first.width()).max(NARROWEST));
        let mut used = 0;
        let mut is_first = true;
        self.part(Style::Dim, first);
        for (style, text) in parts.iter().filter(|(_, text)| !text.is_empty()) {
            for word in words(&clip(text)) {
                let wide = word.width();
                let gap = usize::from(!is_first);
                if used > 0 && used + gap + wide > most {
                    self.gap();
                    self.part(Style::Dim, next);
                    (used, is_first) = (0, true);
                }
                if !is_first {
                    self.text.push(' ');
                    used += 1;
                }
                is_first = false;
                for piece in pieces(&word, most) {
                    if used > 0 && used + piece.width() > most {
                        self.text.push('\n');
                        self.part(Style::Dim, next);
                        used = 0;
                    }
                    used += piece.width();
                    self.part(*style, &piece);
                }
            }
        }
        self.gap();
    }

    fn part(&mut self, style: Style, text: &str) {
        if text.is_empty() {
            return;
        }
        if style != self.current {
            if self.current != Style::Plain {
                self.text.push_str(RESET);
            }
            self.text.push_str(style.code());
            self.current = style;
        }
        self.text.push_str(text);
    }

    /// Adds what has been drawn and escaped.
    pub fn push_raw(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// The text, with colours.
    #[must_use]
    pub fn finish(self) -> String {
        self.text
    }
}

/// Of a long text, the beginning; nothing in it is obeyed by a terminal.
fn clip(text: &str) -> String {
    let short = match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    };
    // White space in it only parts words.
    let spaced: String =
        short.chars().map(|c| if matches!(c, '\n' | '\r' | '\t') { ' ' } else { c }).collect();
    super::line(&spaced).into_owned()
}

fn words(text: &str) -> Vec<String> {
    text.split(' ').filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

/// A word that is wider than a line, in pieces.
fn pieces(word: &str, most: usize) -> Vec<String> {
    let mut pieces = vec![String::new()];
    let mut used = 0;
    for c in word.chars() {
        let wide = c.width().unwrap_or(0);
        if used + wide > most {
            pieces.push(String::new());
            used = 0;
        }
        used += wide;
        if let Some(piece) = pieces.last_mut() {
            piece.push(c);
        }
    }
    pieces
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn draw_line(width: u16, text: &str) -> String {
        let mut picture = Picture::new(Some(width));
        picture.line("├─ ", "│  ", &[(Style::Plain, "A".into()), (Style::Bad, text.into())]);
        anstream::adapter::strip_str(&picture.finish()).to_string()
    }

    #[test]
    fn a_long_line_goes_on_below_its_branch() {
        let text = draw_line(40, "one two three four five six seven eight nine");
        assert_eq!(text, "├─ A one two three four five six seven\n│  eight nine\n");
        assert_eq!(draw_line(40, "a\nb\u{1b}[2J"), "├─ A a b\\u{1b}[2J\n");
    }

    #[test]
    fn every_line_ends_plain() {
        let mut picture = Picture::new(Some(40));
        picture.line(
            "",
            "",
            &[(Style::Bad, "red words ".repeat(9)), (Style::Good, "green".into())],
        );
        let text = picture.finish();
        assert!(text.lines().all(|line| line.ends_with(RESET)), "{text:?}");
        assert_eq!(text.matches(RESET).count(), text.lines().count() + 1);
    }

    proptest! {
        #[test]
        fn no_line_is_too_wide_or_obeyed(text in any::<String>(), width in 40_u16..120) {
            for line in draw_line(width, &text).lines() {
                prop_assert!(line.width() <= usize::from(width), "{}", line);
                prop_assert!(!line.chars().any(super::super::is_dangerous));
            }
        }
    }
}
