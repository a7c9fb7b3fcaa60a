//! The dialect of Snowflake.

use super::{Syntax, ansi};

pub(super) const SYNTAX: Syntax = ansi::SYNTAX;
