//! The grammars of DuckDB and Spark, with what the parser's own lack or read otherwise than the engines do.

use std::any::TypeId;

use sqlparser::ast::{BinaryOperator, Expr};
use sqlparser::dialect::{DatabricksDialect, Dialect, DuckDbDialect};
use sqlparser::keywords::Keyword;
use sqlparser::parser::{Parser, ParserError};

/// Methods without arguments that answer yes.
macro_rules! yes {
    ($($name:ident),* $(,)?) => {
        $(fn $name(&self) -> bool {
            true
        })*
    };
}

/// The grammar of DuckDB. In arguments of a function `a = b` compares; only table functions read it as a name, and none of those that
/// take names pass.
#[derive(Debug)]
pub(crate) struct DuckDb;

impl Dialect for DuckDb {
    fn dialect(&self) -> TypeId {
        TypeId::of::<DuckDbDialect>()
    }

    fn is_identifier_start(&self, letter: char) -> bool {
        letter.is_alphabetic() || letter == '_' || !letter.is_ascii()
    }

    fn is_identifier_part(&self, letter: char) -> bool {
        letter.is_alphanumeric() || matches!(letter, '$' | '_') || !letter.is_ascii()
    }

    fn identifier_quote_style(&self, _identifier: &str) -> Option<char> {
        Some('"')
    }

    yes! {
        allow_extract_single_quotes,
        support_map_literal_syntax,
        supports_array_typedef_with_brackets,
        supports_bitwise_shift_operators,
        supports_comma_separated_trim,
        supports_dictionary_syntax,
        supports_filter_during_aggregation,
        supports_from_first_select,
        supports_group_by_expr,
        supports_lambda_functions,
        supports_named_fn_args_with_assignment_operator,
        supports_nested_comments,
        supports_notnull_operator,
        supports_order_by_all,
        supports_select_wildcard_exclude,
        supports_select_wildcard_replace,
        supports_string_escape_constant,
        supports_trailing_commas,
    }
}

/// The grammar of Spark and Databricks.
#[derive(Debug)]
pub(crate) struct Spark;

impl Dialect for Spark {
    fn dialect(&self) -> TypeId {
        TypeId::of::<DatabricksDialect>()
    }

    fn is_delimited_identifier_start(&self, letter: char) -> bool {
        letter == '`'
    }

    fn is_identifier_start(&self, letter: char) -> bool {
        letter.is_ascii_alphabetic() || letter == '_'
    }

    fn is_identifier_part(&self, letter: char) -> bool {
        letter.is_ascii_alphanumeric() || letter == '_'
    }

    fn identifier_quote_style(&self, _identifier: &str) -> Option<char> {
        Some('`')
    }

    yes! {
        supports_bang_not_operator,
        supports_cte_without_as,
        supports_filter_during_aggregation,
        supports_group_by_expr,
        supports_group_by_with_modifier,
        supports_lambda_functions,
        supports_nested_comments,
        supports_order_by_all,
        supports_pipe_operator,
        supports_select_item_multi_column_alias,
        supports_select_wildcard_except,
        supports_string_literal_backslash_escape,
        supports_struct_literal,
        supports_table_versioning,
        supports_values_as_table_factor,
    }

    /// `a DIV b` divides without a fraction.
    fn parse_infix(&self, parser: &mut Parser, left: &Expr, precedence: u8) -> Option<Result<Expr, ParserError>> {
        parser.parse_keyword(Keyword::DIV).then(|| {
            let right = Box::new(parser.parse_subexpr(precedence)?);
            Ok(Expr::BinaryOp { left: Box::new(left.clone()), op: BinaryOperator::MyIntegerDivide, right })
        })
    }
}
