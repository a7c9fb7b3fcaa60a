//! The size of a request in tokens, where no tokenizer counts them.

use syrch_core::ports::{Request, Shape};

/// Bytes of a prompt to one token, at least: the tokens of a prompt are never estimated too low.
const BYTES_PER_TOKEN: u64 = 3;

/// Tokens of the prompt at most, one for every three bytes. Chat templates add some to them.
#[must_use]
pub fn prompt_tokens(request: &Request) -> u64 {
    (request.prompt_bytes() as u64).div_ceil(BYTES_PER_TOKEN)
}

/// Output tokens of a statement or a word, with some prose around it.
const STATEMENT: u32 = 512;
/// Output tokens of a plan, a verdict or another document.
const DOCUMENT: u32 = 1_024;

/// Output tokens of a request: what it asks for, else what its shape needs, at least 1 and at most
/// `most`, which the user allows.
#[must_use]
pub fn output_tokens(request: &Request, most: u32) -> u32 {
    let usual = match request.expect {
        Shape::Sql | Shape::Choice(_) => STATEMENT,
        Shape::Json(_) | Shape::Yaml(_) => DOCUMENT,
        Shape::Text | Shape::Vectors | Shape::Other(_) => most,
    };
    request.max_tokens.unwrap_or(usual).clamp(1, most.max(1))
}
