//! The grammars of SQLite, PostgreSQL, DuckDB and Spark: the parser's own, but for what they lack
//! or read otherwise than the engines do.

use std::any::TypeId;

use sqlparser::ast::{
    BinaryOperator, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArgumentList,
    FunctionArguments, Ident, LambdaFunction, LambdaFunctionParameter, LambdaSyntax, ObjectName,
    OneOrManyWithParens,
};
use sqlparser::dialect::{
    DatabricksDialect, Dialect, DuckDbDialect, PostgreSqlDialect, Precedence, SQLiteDialect,
};
use sqlparser::keywords::{Keyword, RESERVED_FOR_TABLE_ALIAS};
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::{Token, TokenWithSpan};

use crate::carry;
use crate::read::POWER;

/// Methods without arguments that answer yes.
macro_rules! yes {
    ($($name:ident),* $(,)?) => {
        $(fn $name(&self) -> bool {
            true
        })*
    };
}

/// Reads a name, a number or a string at once. The parser would first take each for a type with a
/// string behind it, as in `DATE '2024-01-01'`, and make an error message to find that it is none.
fn parse_plain(parser: &mut Parser) -> Option<Result<Expr, ParserError>> {
    let [first, second, third] = parser.peek_tokens_ref();
    match &first.token {
        Token::Number(..) | Token::SingleQuotedString(_) => {
            Some(parser.parse_value().map(Expr::Value))
        }
        Token::Word(word) if word.keyword == Keyword::NoKeyword => {
            let ends = match &second.token {
                Token::Word(next) => {
                    next.keyword != Keyword::NoKeyword && third.token != Token::Arrow
                }
                next => matches!(
                    next,
                    Token::Period
                        | Token::Comma
                        | Token::RParen
                        | Token::Eq
                        | Token::Neq
                        | Token::Lt
                        | Token::LtEq
                        | Token::Gt
                        | Token::GtEq
                        | Token::Plus
                        | Token::Minus
                        | Token::Mul
                        | Token::Div
                        | Token::EOF
                ),
            };
            ends.then(|| parser.parse_identifier().map(Expr::Identifier))
        }
        _ => None,
    }
}

/// Reads sets of groups within sets of groups, where the parser expects expressions alone.
fn sets(parser: &mut Parser) -> Option<Result<Expr, ParserError>> {
    let [first, second, third] = parser.peek_tokens_ref();
    fn is_keyword(token: &TokenWithSpan, keyword: Keyword) -> bool {
        matches!(&token.token, Token::Word(word) if word.keyword == keyword)
    }
    let make = if is_keyword(first, Keyword::GROUPING)
        && is_keyword(second, Keyword::SETS)
        && third.token == Token::LParen
    {
        parser.next_token();
        Expr::GroupingSets
    } else if is_keyword(first, Keyword::ROLLUP) && second.token == Token::LParen {
        Expr::Rollup
    } else if is_keyword(first, Keyword::CUBE) && second.token == Token::LParen {
        Expr::Cube
    } else {
        return None;
    };
    parser.next_token();
    Some(parser.expect_token(&Token::LParen).and_then(|_| {
        let sets = parser.parse_comma_separated(|parser| {
            if !parser.consume_token(&Token::LParen) {
                return parser.parse_expr().map(|expr| vec![expr]);
            }
            let set = parser.parse_comma_separated0(Parser::parse_expr, Token::RParen)?;
            parser.expect_token(&Token::RParen).map(|_| set)
        })?;
        parser.expect_token(&Token::RParen).map(|_| make(sets))
    }))
}

/// Reads `[a FOR x IN l IF b]` as the calls that DuckDB makes of it.
fn comprehension(parser: &mut Parser) -> Option<Result<Expr, ParserError>> {
    let is_mark = matches!(
        &parser.peek_token_ref().token, Token::Word(word) if word.value == carry::COMPREHENSION
    );
    is_mark.then(|| {
        parser.next_token();
        let body = parser.parse_expr()?;
        parser.expect_keyword_is(Keyword::FOR)?;
        let params = parser.parse_comma_separated(Parser::parse_identifier)?;
        parser.expect_keyword_is(Keyword::IN)?;
        let mut list = parser.parse_expr()?;
        if parser.parse_keyword(Keyword::IF) {
            if params.len() > 1 {
                let message = "not supported: IF in a list comprehension with an index";
                return Err(ParserError::ParserError(message.to_owned()));
            }
            let condition = parser.parse_expr()?;
            list = call("list_filter", vec![list, lambda(&params, condition)]);
        }
        parser.expect_token(&Token::RBracket)?;
        Ok(call("list_transform", vec![list, lambda(&params, body)]))
    })
}

fn lambda(params: &[Ident], body: Expr) -> Expr {
    let params =
        params.iter().map(|name| LambdaFunctionParameter { name: name.clone(), data_type: None });
    let params = OneOrManyWithParens::Many(params.collect());
    Expr::Lambda(LambdaFunction {
        params,
        body: Box::new(body),
        syntax: LambdaSyntax::LambdaKeyword,
    })
}

fn call(name: &str, args: Vec<Expr>) -> Expr {
    let args =
        args.into_iter().map(|arg| FunctionArg::Unnamed(FunctionArgExpr::Expr(arg))).collect();
    Expr::Function(Function {
        name: ObjectName::from(vec![Ident::new(name)]),
        uses_odbc_syntax: false,
        parameters: FunctionArguments::None,
        args: FunctionArguments::List(FunctionArgumentList {
            duplicate_treatment: None,
            args,
            clauses: Vec::new(),
        }),
        filter: None,
        null_treatment: None,
        over: None,
        within_group: Vec::new(),
    })
}

/// The collation behind an expression, where the parser reads none.
fn collation(parser: &mut Parser, left: &Expr) -> Option<Result<Expr, ParserError>> {
    parser.parse_keyword(Keyword::COLLATE).then(|| {
        let collation = parser.parse_object_name(false)?;
        Ok(Expr::Collate { expr: Box::new(left.clone()), collation })
    })
}

/// The grammar of SQLite.
#[derive(Debug)]
pub(crate) struct Sqlite;

impl Dialect for Sqlite {
    fn dialect(&self) -> TypeId {
        TypeId::of::<SQLiteDialect>()
    }

    fn identifier_quote_style(&self, identifier: &str) -> Option<char> {
        SQLiteDialect {}.identifier_quote_style(identifier)
    }

    fn is_delimited_identifier_start(&self, letter: char) -> bool {
        SQLiteDialect {}.is_delimited_identifier_start(letter)
    }

    fn is_identifier_start(&self, letter: char) -> bool {
        SQLiteDialect {}.is_identifier_start(letter)
    }

    fn is_identifier_part(&self, letter: char) -> bool {
        SQLiteDialect {}.is_identifier_part(letter)
    }

    fn parse_prefix(&self, parser: &mut Parser) -> Option<Result<Expr, ParserError>> {
        parse_plain(parser)
    }

    fn parse_infix(
        &self,
        parser: &mut Parser,
        left: &Expr,
        precedence: u8,
    ) -> Option<Result<Expr, ParserError>> {
        SQLiteDialect {}.parse_infix(parser, left, precedence)
    }

    yes! {
        supports_comma_separated_trim,
        supports_dollar_placeholder,
        supports_filter_during_aggregation,
        supports_in_empty_list,
        supports_limit_comma,
        supports_notnull_operator,
        supports_numeric_literal_underscores,
    }
}

/// The grammar of PostgreSQL.
#[derive(Debug)]
pub(crate) struct Postgres;

impl Dialect for Postgres {
    fn dialect(&self) -> TypeId {
        TypeId::of::<PostgreSqlDialect>()
    }

    fn identifier_quote_style(&self, identifier: &str) -> Option<char> {
        PostgreSqlDialect {}.identifier_quote_style(identifier)
    }

    fn is_delimited_identifier_start(&self, letter: char) -> bool {
        PostgreSqlDialect {}.is_delimited_identifier_start(letter)
    }

    fn is_identifier_start(&self, letter: char) -> bool {
        PostgreSqlDialect {}.is_identifier_start(letter)
    }

    fn is_identifier_part(&self, letter: char) -> bool {
        PostgreSqlDialect {}.is_identifier_part(letter)
    }

    fn is_custom_operator_part(&self, letter: char) -> bool {
        PostgreSqlDialect {}.is_custom_operator_part(letter)
    }

    fn is_reserved_for_identifier(&self, keyword: Keyword) -> bool {
        PostgreSqlDialect {}.is_reserved_for_identifier(keyword)
    }

    fn is_table_alias(&self, keyword: &Keyword, parser: &mut Parser) -> bool {
        PostgreSqlDialect {}.is_table_alias(keyword, parser)
    }

    fn get_next_precedence(&self, parser: &Parser) -> Option<Result<u8, ParserError>> {
        PostgreSqlDialect {}.get_next_precedence(parser)
    }

    fn prec_value(&self, precedence: Precedence) -> u8 {
        PostgreSqlDialect {}.prec_value(precedence)
    }

    fn parse_prefix(&self, parser: &mut Parser) -> Option<Result<Expr, ParserError>> {
        sets(parser).or_else(|| parse_plain(parser))
    }

    /// `a::text COLLATE "C"`
    fn parse_infix(
        &self,
        parser: &mut Parser,
        left: &Expr,
        _precedence: u8,
    ) -> Option<Result<Expr, ParserError>> {
        collation(parser, left)
    }

    // By default it is supported.
    fn supports_left_associative_joins_without_parens(&self) -> bool {
        false
    }

    yes! {
        allow_extract_custom,
        allow_extract_single_quotes,
        supports_aliased_function_args,
        supports_array_typedef_with_brackets,
        supports_bitwise_shift_operators,
        supports_comma_separated_trim,
        supports_comment_optimizer_hint,
        supports_empty_projections,
        supports_factorial_operator,
        supports_filter_during_aggregation,
        supports_from_first_insert,
        supports_geometric_types,
        supports_group_by_expr,
        supports_interval_options,
        supports_named_fn_args_with_colon_operator,
        supports_named_fn_args_with_expr_name,
        supports_nested_comments,
        supports_notnull_operator,
        supports_numeric_literal_underscores,
        supports_order_by_using_operator,
        supports_select_wildcard_with_alias,
        supports_string_escape_constant,
        supports_unicode_string_literal,
        supports_xml_expressions,
    }
}

/// The grammar of DuckDB. In arguments of a function `a = b` compares; only table functions read it
/// as a name, and none of those that take names pass.
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

    // It carries POSITIONAL JOIN, which is no alias of the table before it.
    fn is_table_alias(&self, keyword: &Keyword, _parser: &mut Parser) -> bool {
        *keyword != Keyword::STRAIGHT_JOIN && !RESERVED_FOR_TABLE_ALIAS.contains(keyword)
    }

    fn parse_prefix(&self, parser: &mut Parser) -> Option<Result<Expr, ParserError>> {
        comprehension(parser).or_else(|| sets(parser)).or_else(|| parse_plain(parser))
    }

    fn get_next_precedence(&self, parser: &Parser) -> Option<Result<u8, ParserError>> {
        // Between `::` and the other operators.
        const COLLATE: u8 = 45;
        const POWERS: u8 = 42;
        match &parser.peek_token_ref().token {
            Token::CustomBinaryOperator(_) | Token::Caret => Some(Ok(POWERS)),
            Token::Word(word) if word.keyword == Keyword::GLOB => {
                Some(Ok(self.prec_value(Precedence::Like)))
            }
            Token::Word(word) if word.keyword == Keyword::COLLATE => Some(Ok(COLLATE)),
            _ => None,
        }
    }

    /// `a ** b`, `a GLOB b` and `a::text COLLATE nocase`
    fn parse_infix(
        &self,
        parser: &mut Parser,
        left: &Expr,
        precedence: u8,
    ) -> Option<Result<Expr, ParserError>> {
        let op = if parser.consume_token(&Token::CustomBinaryOperator(POWER.to_owned())) {
            BinaryOperator::Custom(POWER.to_owned())
        } else if parser.parse_keyword(Keyword::GLOB) {
            BinaryOperator::Glob
        } else {
            return collation(parser, left);
        };
        let right = parser.parse_subexpr(precedence);
        Some(right.map(|right| Expr::BinaryOp {
            left: Box::new(left.clone()),
            op,
            right: Box::new(right),
        }))
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
        supports_window_function_null_treatment_arg,
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

    fn parse_prefix(&self, parser: &mut Parser) -> Option<Result<Expr, ParserError>> {
        parse_plain(parser)
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
    fn parse_infix(
        &self,
        parser: &mut Parser,
        left: &Expr,
        precedence: u8,
    ) -> Option<Result<Expr, ParserError>> {
        parser.parse_keyword(Keyword::DIV).then(|| {
            let right = Box::new(parser.parse_subexpr(precedence)?);
            Ok(Expr::BinaryOp {
                left: Box::new(left.clone()),
                op: BinaryOperator::MyIntegerDivide,
                right,
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::sample::select;

    use super::*;

    /// Returns the tree of a text in a grammar; `None` if it has none.
    fn tree(grammar: &dyn Dialect, text: &str) -> Option<String> {
        Parser::parse_sql(grammar, text).ok().map(|statements| format!("{statements:?}"))
    }

    fn operand() -> impl Strategy<Value = &'static str> {
        select(vec![
            "a",
            "b.c",
            "\"d\"",
            "1",
            "2.5",
            ".5",
            "'x'",
            "'it''s'",
            "sum(a)",
            "f(1, 'x')",
            "(b)",
            "(1, a)",
            "a.*",
            "*",
            "date",
            "DATE '2024-01-01'",
            "INTERVAL '1 day'",
            "double precision '1'",
            "point '(1,2)'",
            "xml '<a/>'",
            "xml",
            "text",
            "_utf8 'x'",
            "current_date",
            "int '1'",
            "foo '1'",
            "foo[] '1'",
            "foo[1]",
            "foo(1)[2]",
            "foo(3) '1'",
            "ARRAY[1]",
            "EXISTS (SELECT 1)",
            "CASE WHEN a THEN 1 ELSE b END",
            "$1",
            "NOT a",
            "-b",
            "(SELECT a FROM t)",
            "a AS b",
            "a b",
            "a 'b'",
            "E'x'",
            "a::int",
            "a::foo(1)",
        ])
    }

    fn between() -> impl Strategy<Value = &'static str> {
        select(vec![
            "+",
            "-",
            "*",
            "/",
            "=",
            "<>",
            "<",
            ">=",
            "||",
            "::",
            "->",
            "->>",
            "AND",
            "OR",
            "IS NULL AND",
            "IN (1, a) OR",
            "BETWEEN 1 AND",
            "LIKE",
            "COLLATE \"C\" =",
            "AT TIME ZONE",
            "NOTNULL OR",
            "GLOB",
            "MATCH",
            "REGEXP",
            ",",
            "FROM t,",
            "FROM t WHERE",
            "FROM t GROUP BY",
            "FROM t ORDER BY",
            "FROM t LIMIT",
            "FROM t UNION SELECT",
            "(",
            ")",
            "",
        ])
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        #[test]
        fn the_shorter_way_finds_the_parsers_own_tree(
            pieces in prop::collection::vec((operand(), between()), 0..4), last in operand()
        ) {
            let pieces: String =
                pieces.iter().map(|(operand, between)| format!("{operand} {between} ")).collect();
            let text = format!("SELECT {pieces}{last}");
            // The parser lacks COLLATE behind `::`.
            let theirs = tree(&PostgreSqlDialect {}, &text);
            if theirs.is_some() || !text.contains("COLLATE") {
                prop_assert_eq!(tree(&Postgres, &text), theirs, "{}", text);
            }
            prop_assert_eq!(tree(&Sqlite, &text), tree(&SQLiteDialect {}, &text), "{}", text);
        }
    }
}
