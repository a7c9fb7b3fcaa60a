//! The digest of a suite: of its questions and expected answers in their order, whatever the
//! format.

use std::path::Path;

use sha2::{Digest, Sha256};

use super::{Gold, Question};

/// A digest to which questions are added. Every text is preceded by its length, so that different
/// suites give different bytes.
pub(super) struct Hasher(Sha256);

impl Hasher {
    pub(super) fn new() -> Self {
        Self(Sha256::new())
    }

    fn count(&mut self, count: usize) {
        self.0.update((count as u64).to_le_bytes());
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.count(bytes.len());
        self.0.update(bytes);
    }

    fn option(&mut self, text: Option<&str>) {
        self.0.update([u8::from(text.is_some())]);
        self.bytes(text.unwrap_or_default().as_bytes());
    }

    /// Adds a question; `content` is the digest of a file's content.
    pub(super) fn question(
        &mut self,
        question: &Question,
        content: impl Fn(&Path) -> Option<[u8; 32]>,
    ) {
        let Question { conversation, fields, golds, .. } = question;
        let Question { id, db, engine, question, evidence, ordered, as_of, .. } = question;
        // Without an engine a question has the digest that it had when only SQLite was known.
        let engine = engine.as_deref().unwrap_or("sqlite");
        [id, db, engine, question].into_iter().for_each(|text| self.bytes(text.as_bytes()));
        [evidence, as_of].into_iter().for_each(|text| self.option(text.as_deref()));
        self.0.update([u8::from(*ordered)]);
        self.count(golds.len());
        for gold in golds {
            match gold {
                Gold::Sql(sql) => {
                    self.0.update(b"s");
                    self.bytes(sql.as_bytes());
                }
                Gold::Csv(path) => {
                    self.0.update(b"c");
                    self.bytes(&content(path).unwrap_or_default());
                }
                Gold::Text(text) => {
                    self.0.update(b"t");
                    self.bytes(text.as_bytes());
                }
                Gold::End(end) => {
                    self.0.update(b"e");
                    self.bytes(end.name().as_bytes());
                }
            }
        }
        // A question by itself has the digest that it had before there were conversations.
        for earlier in conversation.iter().flat_map(|turn| &turn.earlier) {
            self.bytes(earlier.question.as_bytes());
            for text in [&earlier.evidence, &earlier.as_of] {
                self.option(text.as_deref());
            }
        }
        self.count(fields.len());
        for (name, value) in fields {
            self.bytes(name.as_bytes());
            self.bytes(value.as_bytes());
        }
    }

    /// The digest in hexadecimal digits.
    pub(super) fn finish(self) -> String {
        syrch_core::text::hex(self.0.finalize())
    }
}
