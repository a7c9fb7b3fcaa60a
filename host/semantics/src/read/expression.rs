//! The SQL of a file: parsed by a neutral grammar within bounds, and admitted by lists of what may
//! stand in an expression, so that the same row always answers alike and nothing else is read.

use sqlparser::ast::{
    BinaryOperator, CastKind, CeilFloorKind, DataType, DateTimeField, DuplicateTreatment, Expr,
    ExtractSyntax, Function, FunctionArg, FunctionArgExpr, FunctionArgumentList, FunctionArguments,
    Ident, ObjectName, TimezoneInfo, TypedString, UnaryOperator, Value,
};
use sqlparser::dialect::GenericDialect;
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::{Token, TokenWithSpan, Tokenizer};

use super::document::parse_day;
use super::names::Names;
use super::problem::unknown;
use crate::Aggregate;

/// The limits on an expression: its bytes, its tokens, the depth of parentheses, and that of its
/// tree.
const BYTES: usize = 4_000;
const TOKENS: usize = 1_000;
const PARENTHESES: usize = 16;
const DEPTH: usize = 64;

/// The recursion limit of the parser, which counts several steps for each parenthesis.
const RECURSION: usize = 120;

/// The functions that may be called: those that nearly every engine has, and the usual ones over
/// dates. Which of them an engine has is found when a metric is run.
pub const FUNCTIONS: &[&str] = &[
    "abs",
    "ceil",
    "ceiling",
    "char_length",
    "coalesce",
    "concat",
    "date",
    "date_part",
    "date_trunc",
    "datediff",
    "day",
    "exp",
    "floor",
    "greatest",
    "hour",
    "ifnull",
    "instr",
    "julianday",
    "least",
    "left",
    "length",
    "ln",
    "log",
    "lower",
    "ltrim",
    "minute",
    "mod",
    "month",
    "nullif",
    "power",
    "quarter",
    "replace",
    "right",
    "round",
    "rtrim",
    "sign",
    "sqrt",
    "strftime",
    "substr",
    "substring",
    "trim",
    "upper",
    "year",
];

/// The aggregate functions, by their names.
const AGGREGATES: &[(&str, Aggregate)] = &[
    ("sum", Aggregate::Sum),
    ("count", Aggregate::Count),
    ("avg", Aggregate::Avg),
    ("min", Aggregate::Min),
    ("max", Aggregate::Max),
];

/// The words that engines read as the current time where a date is expected.
const CLOCK: &[&str] = &["now", "today", "tomorrow", "yesterday"];

/// The names that an expression may use.
#[derive(Clone, Copy)]
pub(crate) enum Scope<'a> {
    /// Columns as `table.column`, and of the table `own` also as `column`.
    Columns { tables: &'a Names, own: Option<&'a str> },
    /// Columns of one table alone, as `column` or `table.column`.
    Table(&'a str),
    /// Metrics, as they stand in a derived metric.
    Metrics(&'a Names),
}

/// An admitted expression with the names of the tables that it uses, each once, or of its metrics,
/// each as often as it stands there.
#[derive(Debug)]
pub(crate) struct Admitted {
    pub(crate) tree: Expr,
    pub(crate) names: Vec<String>,
}

/// The aggregate of a measure.
#[derive(Debug)]
pub(crate) struct AdmittedMeasure {
    pub(crate) aggregate: Aggregate,
    /// The argument; `None` for a count of rows.
    pub(crate) argument: Option<Admitted>,
    /// The table of `count(table.*)`.
    pub(crate) counted: Option<String>,
}

/// Reads an expression without an aggregate.
pub(crate) fn admit(text: &str, scope: Scope<'_>) -> Result<Admitted, String> {
    admit_tree(parse(text)?, scope)
}

/// Reads the one aggregate of a measure.
pub(crate) fn admit_measure(text: &str, scope: Scope<'_>) -> Result<AdmittedMeasure, String> {
    let mut tree = parse(text)?;
    while let Expr::Nested(inner) = tree {
        tree = *inner;
    }
    let Expr::Function(function) = tree else { return Err(NO_AGGREGATE.to_owned()) };
    let name = plain_name(&function.name).unwrap_or_default().to_lowercase();
    let Some((_, aggregate)) = AGGREGATES.iter().find(|(known, _)| *known == name) else {
        return Err(NO_AGGREGATE.to_owned());
    };
    let Function { args: FunctionArguments::List(list), .. } = &function else {
        return Err(NO_AGGREGATE.to_owned());
    };
    if function.filter.is_some() {
        return Err("FILTER (WHERE …) is not read; set the key `filter` of the metric".to_owned());
    }
    check_is_plain_call(&function)?;
    let is_distinct = list.duplicate_treatment == Some(DuplicateTreatment::Distinct);
    let aggregate = match (aggregate, is_distinct) {
        (Aggregate::Count, true) => Aggregate::CountDistinct,
        (_, true) => return Err(format!("only count may have DISTINCT, not {name}")),
        (aggregate, false) => *aggregate,
    };
    let [FunctionArg::Unnamed(argument)] = list.args.as_slice() else {
        return Err(format!("{name} takes one argument"));
    };
    match argument {
        FunctionArgExpr::Expr(argument) => {
            let argument = Some(admit_tree(argument.clone(), scope)?);
            Ok(AdmittedMeasure { aggregate, argument, counted: None })
        }
        FunctionArgExpr::Wildcard if aggregate == Aggregate::Count => {
            Ok(AdmittedMeasure { aggregate, argument: None, counted: None })
        }
        FunctionArgExpr::QualifiedWildcard(table) if aggregate == Aggregate::Count => {
            let table = plain_name(table).unwrap_or_default();
            let counted = Some(resolve_table(table, scope)?);
            Ok(AdmittedMeasure { aggregate, argument: None, counted })
        }
        _ => Err(format!("{name}(*) is not read; name what is aggregated")),
    }
}

const NO_AGGREGATE: &str = "a measure is one aggregate (sum, count, avg, min or max) around an \
                            expression, such as `sum(orders.amount)`; arithmetic over metrics \
                            stands in `derived`";

fn admit_tree(mut tree: Expr, scope: Scope<'_>) -> Result<Admitted, String> {
    let mut walk = Walk { scope, names: Vec::new() };
    walk.expression(&mut tree, 0)?;
    Ok(Admitted { tree, names: walk.names })
}

/// Parses an expression within bounds, whatever it is made of.
pub(crate) fn parse(text: &str) -> Result<Expr, String> {
    if text.len() > BYTES {
        return Err(format!("the expression is longer than {BYTES} bytes"));
    }
    let tokens = Tokenizer::new(&GenericDialect {}, text)
        .tokenize_with_location()
        .map_err(|error| format!("the expression cannot be read: {}", error.message))?;
    check_size(&tokens)?;
    let mut parser = Parser::new(&GenericDialect {})
        .with_recursion_limit(RECURSION)
        .with_tokens_with_locations(tokens);
    let tree = parser.parse_expr().map_err(|error| match error {
        ParserError::RecursionLimitExceeded => TOO_DEEP.to_owned(),
        ParserError::ParserError(reason) | ParserError::TokenizerError(reason) => {
            format!("the expression cannot be read: {reason}")
        }
    })?;
    match parser.peek_token().token {
        Token::EOF => Ok(tree),
        rest => Err(format!("the expression ends before `{rest}`, which is no part of it")),
    }
}

const TOO_DEEP: &str = "the expression is nested too deep; use IN (…) for a long row of OR, and \
                        split what remains into several metrics";

fn check_size(tokens: &[TokenWithSpan]) -> Result<(), String> {
    let mut count = 0;
    let mut depth = 0_usize;
    for token in tokens {
        match &token.token {
            Token::Whitespace(_) => continue,
            Token::LParen | Token::LBracket | Token::LBrace => depth += 1,
            Token::RParen | Token::RBracket | Token::RBrace => depth = depth.saturating_sub(1),
            Token::Placeholder(_) => return Err("parameters are not read".to_owned()),
            Token::SemiColon => return Err("`;` is no part of an expression".to_owned()),
            _ => {}
        }
        count += 1;
        if depth > PARENTHESES {
            return Err(TOO_DEEP.to_owned());
        }
    }
    match count {
        0 => Err("the expression is empty".to_owned()),
        count if count > TOKENS => {
            Err(format!("the expression has more than {TOKENS} words and signs"))
        }
        _ => Ok(()),
    }
}

fn plain_name(name: &ObjectName) -> Option<&str> {
    match name.0.as_slice() {
        [part] => part.as_ident().map(|ident| ident.value.as_str()),
        _ => None,
    }
}

fn resolve_table(name: &str, scope: Scope<'_>) -> Result<String, String> {
    match scope {
        Scope::Columns { tables, .. } => match tables.spelling(name) {
            Some(declared) => Ok(declared.to_owned()),
            None => Err(unknown("table", name, tables.iter())),
        },
        Scope::Table(own) if own.to_lowercase() == name.to_lowercase() => Ok(own.to_owned()),
        Scope::Table(own) => Err(format!(
            "`{name}` is another table; what stands at `{own}` uses its own columns alone"
        )),
        Scope::Metrics(_) => Err(format!(
            "`{name}.…` is a column; `derived` computes with metrics, and a `measure` with columns"
        )),
    }
}

/// Returns an error unless a call is a name with arguments and nothing else.
fn check_is_plain_call(function: &Function) -> Result<(), String> {
    let Function {
        name,
        uses_odbc_syntax,
        parameters,
        args: _,
        within_group,
        filter,
        null_treatment,
        over,
    } = function;
    let is_plain = !uses_odbc_syntax
        && matches!(parameters, FunctionArguments::None)
        && within_group.is_empty()
        && filter.is_none()
        && null_treatment.is_none()
        && over.is_none();
    if is_plain {
        return Ok(());
    }
    Err(match over {
        Some(_) => format!("{name} OVER (…) is a window, which an expression cannot have"),
        None => format!("{name} has more than arguments in parentheses, which is not read"),
    })
}

/// The walk that admits a tree and writes out the tables of its columns.
struct Walk<'a> {
    scope: Scope<'a>,
    names: Vec<String>,
}

impl Walk<'_> {
    fn expression(&mut self, tree: &mut Expr, depth: usize) -> Result<(), String> {
        if depth > DEPTH {
            return Err(TOO_DEEP.to_owned());
        }
        let depth = depth + 1;
        match tree {
            Expr::Identifier(name) => {
                let column = name.clone();
                *tree = self.plain_column(column)?;
                Ok(())
            }
            Expr::CompoundIdentifier(names) => self.column(names),
            Expr::Value(value) => check_value(&value.value),
            Expr::TypedString(constant) => check_constant(constant),
            Expr::Nested(inner)
            | Expr::IsNull(inner)
            | Expr::IsNotNull(inner)
            | Expr::IsTrue(inner)
            | Expr::IsNotTrue(inner)
            | Expr::IsFalse(inner)
            | Expr::IsNotFalse(inner) => self.expression(inner, depth),
            Expr::UnaryOp { op, expr } => {
                if !matches!(op, UnaryOperator::Plus | UnaryOperator::Minus | UnaryOperator::Not) {
                    return Err(format!("the operator {op} is not read"));
                }
                self.expression(expr, depth)
            }
            Expr::BinaryOp { left, op, right } => {
                check_operator(op)?;
                self.expression(left, depth)?;
                self.expression(right, depth)
            }
            Expr::Between { expr, negated: _, low, high } => {
                self.expression(expr, depth)?;
                self.expression(low, depth)?;
                self.expression(high, depth)
            }
            Expr::InList { expr, list, negated: _ } => {
                self.expression(expr, depth)?;
                list.iter_mut().try_for_each(|item| self.expression(item, depth))
            }
            Expr::Like { negated: _, any: false, expr, pattern, escape_char } => {
                self.expression(expr, depth)?;
                self.expression(pattern, depth)?;
                self.optional(escape_char, depth)
            }
            Expr::ILike { .. } => {
                Err("few engines have ILIKE; write `lower(column) LIKE 'text%'`".to_owned())
            }
            Expr::Case { operand, conditions, else_result, .. } => {
                self.optional(operand, depth)?;
                for branch in conditions {
                    self.expression(&mut branch.condition, depth)?;
                    self.expression(&mut branch.result, depth)?;
                }
                self.optional(else_result, depth)
            }
            Expr::Cast {
                kind: kind @ (CastKind::Cast | CastKind::DoubleColon),
                expr,
                data_type,
                format: None,
            } => {
                *kind = CastKind::Cast;
                check_type(data_type)?;
                check_is_no_clock(expr)?;
                self.expression(expr, depth)
            }
            Expr::Extract { field, syntax: ExtractSyntax::From, expr } => {
                check_field(field)?;
                self.expression(expr, depth)
            }
            Expr::Ceil { expr, field } | Expr::Floor { expr, field } => match field {
                CeilFloorKind::DateTimeField(DateTimeField::NoDateTime) => {
                    self.expression(expr, depth)
                }
                _ => Err("CEIL and FLOOR take one argument".to_owned()),
            },
            Expr::Substring { expr, substring_from, substring_for, .. } => {
                self.expression(expr, depth)?;
                self.optional(substring_from, depth)?;
                self.optional(substring_for, depth)
            }
            Expr::Trim { trim_where: _, trim_what, expr, trim_characters: None } => {
                self.optional(trim_what, depth)?;
                self.expression(expr, depth)
            }
            Expr::Function(function) => self.call(function, depth),
            other => Err(format!(
                "`{}` may not stand here; an expression is made of columns, constants, operators, \
                 CASE, IN, BETWEEN, LIKE, IS NULL, CAST and functions such as round",
                syrch_core::text::clip(&show_tree(other), 60)
            )),
        }
    }

    fn optional(&mut self, tree: &mut Option<Box<Expr>>, depth: usize) -> Result<(), String> {
        tree.as_mut().map_or(Ok(()), |tree| self.expression(tree, depth))
    }

    /// A name alone: a metric, or a column of the table whose block this is.
    fn plain_column(&mut self, name: Ident) -> Result<Expr, String> {
        check_ident(&name)?;
        let own = match self.scope {
            Scope::Metrics(metrics) => {
                let Some(declared) = metrics.spelling(&name.value) else {
                    return Err(unknown("metric", &name.value, metrics.iter()));
                };
                let declared = declared.to_owned();
                self.record(&declared);
                return Ok(Expr::Identifier(Ident::new(declared)));
            }
            Scope::Table(own) | Scope::Columns { own: Some(own), .. } => own.to_owned(),
            Scope::Columns { own: None, .. } => {
                return Err(format!(
                    "`{0}` stands without its table; write `table.{0}`",
                    name.value
                ));
            }
        };
        self.record(&own);
        Ok(Expr::CompoundIdentifier(vec![Ident::new(own), name]))
    }

    fn column(&mut self, names: &mut [Ident]) -> Result<(), String> {
        let [table, column] = names else {
            return Err("a column is written `table.column`, with the table's name in the file \
                        and no schema before it"
                .to_owned());
        };
        check_ident(table)?;
        check_ident(column)?;
        let declared = resolve_table(&table.value, self.scope)?;
        self.record(&declared);
        *table = Ident::new(declared);
        Ok(())
    }

    /// Records a table once, and a metric as often as it stands there.
    fn record(&mut self, name: &str) {
        let is_metric = matches!(self.scope, Scope::Metrics(_));
        if is_metric || !self.names.iter().any(|known| known == name) {
            self.names.push(name.to_owned());
        }
    }

    fn call(&mut self, function: &mut Function, depth: usize) -> Result<(), String> {
        let name = plain_name(&function.name).unwrap_or_default().to_lowercase();
        if AGGREGATES.iter().any(|(known, _)| *known == name) {
            return Err(format!(
                "the aggregate {name} may only stand around the whole expression of a `measure`"
            ));
        }
        if name.starts_with("current_") || name == "localtime" || name == "now" {
            return Err(format!(
                "{name} answers differently each day; a request states its period itself"
            ));
        }
        if !FUNCTIONS.contains(&name.as_str()) {
            let name = function.name.to_string();
            let message = unknown("function", &name, FUNCTIONS.iter().copied());
            return Err(format!("{message}; the documents list those that may be used"));
        }
        check_is_plain_call(function)?;
        let FunctionArguments::List(FunctionArgumentList { duplicate_treatment, args, clauses }) =
            &mut function.args
        else {
            return Err(format!("{name} needs arguments in parentheses"));
        };
        if duplicate_treatment.is_some() || !clauses.is_empty() || args.is_empty() {
            return Err(format!("{name} needs arguments in parentheses, and nothing but them"));
        }
        for argument in args {
            let FunctionArg::Unnamed(FunctionArgExpr::Expr(argument)) = argument else {
                return Err(format!("the arguments of {name} must be expressions"));
            };
            check_is_no_clock(argument)?;
            self.expression(argument, depth)?;
        }
        // SQLite's strftime('%Y') is that of the clock.
        let needed = if name == "strftime" { 2 } else { 1 };
        let FunctionArguments::List(list) = &function.args else { return Ok(()) };
        match list.args.len() < needed {
            true => Err(format!("{name} needs a date as its last argument")),
            false => Ok(()),
        }
    }
}

/// Returns true if a text reads as the column of that name.
pub(crate) fn is_plain_column(text: &str) -> bool {
    let column = admit(text, Scope::Table("t")).map(|admitted| admitted.tree);
    match column {
        Ok(Expr::CompoundIdentifier(names)) => names.last().is_some_and(|name| name.value == text),
        _ => false,
    }
}

/// The arguments of an admitted call.
pub(crate) fn arguments(function: &Function) -> Vec<&Expr> {
    let FunctionArguments::List(list) = &function.args else { return Vec::new() };
    list.args
        .iter()
        .filter_map(|argument| match argument {
            FunctionArg::Unnamed(FunctionArgExpr::Expr(argument)) => Some(argument),
            _ => None,
        })
        .collect()
}

/// The text of a tree that is not admitted. Its depth is bounded by the parser's recursion limit
/// and the number of tokens.
fn show_tree(tree: &Expr) -> String {
    match tree {
        Expr::Subquery(_) | Expr::Exists { .. } | Expr::InSubquery { .. } => "a subquery".into(),
        other => other.to_string(),
    }
}

fn check_ident(name: &Ident) -> Result<(), String> {
    let is_word = name.value.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '$');
    let is_quoted = name.quote_style.is_some();
    if name.value.is_empty() || (!is_word && !is_quoted) {
        return Err(format!("`{name}` is no name; put it in double quotes if it is one"));
    }
    Ok(())
}

fn check_value(value: &Value) -> Result<(), String> {
    match value {
        Value::Number(_, false) | Value::Boolean(_) | Value::Null => Ok(()),
        Value::SingleQuotedString(text) if text.contains(['\\', '\0']) => {
            Err("engines read `\\` in a text differently; leave it out".to_owned())
        }
        Value::SingleQuotedString(_) => Ok(()),
        other => Err(format!("the constant `{other}` is not read; texts stand in single quotes")),
    }
}

fn check_is_no_clock(tree: &Expr) -> Result<(), String> {
    let Expr::Value(value) = tree else { return Ok(()) };
    let Value::SingleQuotedString(text) = &value.value else { return Ok(()) };
    let text = text.trim().to_lowercase();
    match CLOCK.contains(&text.as_str()) {
        true => {
            Err(format!("'{text}' is another day each day; a request states its period itself"))
        }
        false => Ok(()),
    }
}

/// A date or a moment as a constant.
fn check_constant(constant: &TypedString) -> Result<(), String> {
    let TypedString { data_type, value, uses_odbc_syntax } = constant;
    let Value::SingleQuotedString(text) = &value.value else {
        return Err(format!("the constant `{constant}` is not read"));
    };
    let is_moment = match data_type {
        DataType::Date => parse_day(text).is_some(),
        DataType::Timestamp(None, TimezoneInfo::None) => {
            chrono::NaiveDateTime::parse_from_str(text, "%Y-%m-%d %H:%M:%S").is_ok()
        }
        _ => false,
    };
    match is_moment && !uses_odbc_syntax {
        true => Ok(()),
        false => Err(format!(
            "the constant `{constant}` is not read; write DATE '2025-06-30' or TIMESTAMP \
             '2025-06-30 12:00:00'"
        )),
    }
}

fn check_operator(operator: &BinaryOperator) -> Result<(), String> {
    match operator {
        BinaryOperator::Plus
        | BinaryOperator::Minus
        | BinaryOperator::Multiply
        | BinaryOperator::Divide
        | BinaryOperator::Modulo
        | BinaryOperator::StringConcat
        | BinaryOperator::Gt
        | BinaryOperator::Lt
        | BinaryOperator::GtEq
        | BinaryOperator::LtEq
        | BinaryOperator::Eq
        | BinaryOperator::NotEq
        | BinaryOperator::And
        | BinaryOperator::Or => Ok(()),
        other => Err(format!("the operator {other} is not read")),
    }
}

fn check_type(data_type: &DataType) -> Result<(), String> {
    match data_type {
        DataType::Char(_)
        | DataType::Varchar(_)
        | DataType::Text
        | DataType::Numeric(_)
        | DataType::Decimal(_)
        | DataType::Float(_)
        | DataType::Real
        | DataType::Double(_)
        | DataType::DoublePrecision
        | DataType::SmallInt(None)
        | DataType::Int(None)
        | DataType::Integer(None)
        | DataType::BigInt(None)
        | DataType::Boolean
        | DataType::Date
        | DataType::Timestamp(None, TimezoneInfo::None) => Ok(()),
        other => Err(format!(
            "CAST to {other} is not read; use INTEGER, BIGINT, REAL, DOUBLE PRECISION, NUMERIC, \
             VARCHAR, TEXT, BOOLEAN, DATE or TIMESTAMP"
        )),
    }
}

fn check_field(field: &DateTimeField) -> Result<(), String> {
    match field {
        DateTimeField::Year
        | DateTimeField::Quarter
        | DateTimeField::Month
        | DateTimeField::Day
        | DateTimeField::Hour
        | DateTimeField::Minute => Ok(()),
        other => Err(format!(
            "EXTRACT ({other} FROM …) is not read; use YEAR, QUARTER, MONTH, DAY, HOUR or MINUTE"
        )),
    }
}
