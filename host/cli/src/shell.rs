//! Words of the commands that hints name, which people paste into a shell.

use std::fmt::Display;

use syrch::syrch_core::text::escape::escape_quotation;

/// Returns a word as a shell takes it, whatever is in it; what a terminal would obey stands there
/// as its code.
pub(crate) fn quote(word: &(impl Display + ?Sized)) -> String {
    let word = word.to_string();
    let is_plain = |letter: char| letter.is_alphanumeric() || "/._-:@+".contains(letter);
    if !word.is_empty() && !word.starts_with('-') && word.chars().all(is_plain) {
        return word;
    }
    format!("'{}'", escape_quotation(&word.replace('\'', "'\\''")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_one_word_of_a_shell() {
        for (path, word) in [
            ("/home/me/votes.tar", "/home/me/votes.tar"),
            ("oci://127.0.0.1:5000/votes:1.0", "oci://127.0.0.1:5000/votes:1.0"),
            ("größe/x.wasm", "größe/x.wasm"),
            ("~root/x.wasm", "'~root/x.wasm'"),
            ("/tmp/a b; rm -rf $HOME", "'/tmp/a b; rm -rf $HOME'"),
            ("/tmp/it's", "'/tmp/it'\\''s'"),
            ("/tmp/a\nb", "'/tmp/a\\nb'"),
            ("-x", "'-x'"),
            ("", "''"),
        ] {
            assert_eq!(quote(path), word);
        }
    }
}
