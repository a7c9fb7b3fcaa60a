//! `serve`: the HTTP interface as its clients use it, through the binary. The page has tests of its
//! own in a browser (`tests/page`).

mod access;
mod answers;
mod client;
mod comparisons;
mod ends;
mod mcp;
mod page;
