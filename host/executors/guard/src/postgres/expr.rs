//! The walk over expressions: which operators, functions, casts and literals pass.

use sqlparser::ast::{
    AccessExpr, Array, BinaryOperator, CaseWhen, CastKind, CeilFloorKind, DateTimeField, DuplicateTreatment, Expr,
    ExtractSyntax, Function, FunctionArg, FunctionArgExpr, FunctionArgOperator, FunctionArgumentClause,
    FunctionArgumentList, FunctionArguments, Ident, Interval, ObjectName, ObjectNamePart, Subscript, TypedString,
    UnaryOperator, Value, ValueWithSpan, WindowFrame, WindowFrameBound, WindowSpec, WindowType,
};
use sqlparser::tokenizer::Span;
use syrch_core::text::nearest;
use syrch_core::{SqlError, SqlErrorKind};

use super::functions::{BARE, LISTED, SIZED, is_listed};
use super::{AMPLIFICATION, Walk};

/// What EXTRACT may take out of a time.
const FIELDS: &[&str] = &[
    "century",
    "day",
    "decade",
    "dow",
    "doy",
    "epoch",
    "hour",
    "isodow",
    "isoyear",
    "julian",
    "microseconds",
    "millennium",
    "milliseconds",
    "minute",
    "month",
    "quarter",
    "second",
    "timezone",
    "timezone_hour",
    "timezone_minute",
    "week",
    "year",
];

/// Operators in letters that the parser does not know by name: differences and distances.
const CUSTOM: &[&str] = &["<->", "-|-", "@?", "!~~", "!~~*"];

impl Walk<'_> {
    pub(super) fn exprs(&mut self, exprs: &mut [Expr]) -> Result<(), SqlError> {
        exprs.iter_mut().try_for_each(|expr| self.expr(expr))
    }

    pub(super) fn optional(&mut self, expr: &mut Option<Expr>) -> Result<(), SqlError> {
        expr.as_mut().map_or(Ok(()), |expr| self.expr(expr))
    }

    fn boxed(&mut self, expr: &mut Option<Box<Expr>>) -> Result<(), SqlError> {
        expr.as_mut().map_or(Ok(()), |expr| self.expr(expr))
    }

    fn two(&mut self, left: &mut Expr, right: &mut Expr) -> Result<(), SqlError> {
        self.expr(left)?;
        self.expr(right)
    }

    pub(super) fn expr(&mut self, expr: &mut Expr) -> Result<(), SqlError> {
        match expr {
            Expr::Identifier(ident) => self.ident(ident),
            Expr::CompoundIdentifier(idents) => self.idents(idents),
            Expr::CompoundFieldAccess { root, access_chain } => {
                self.expr(root)?;
                access_chain.iter_mut().try_for_each(|access| self.access(access))
            }
            Expr::IsFalse(inner)
            | Expr::IsNotFalse(inner)
            | Expr::IsTrue(inner)
            | Expr::IsNotTrue(inner)
            | Expr::IsNull(inner)
            | Expr::IsNotNull(inner)
            | Expr::IsUnknown(inner)
            | Expr::IsNotUnknown(inner)
            | Expr::Nested(inner) => self.expr(inner),
            Expr::IsDistinctFrom(left, right) | Expr::IsNotDistinctFrom(left, right) => self.two(left, right),
            Expr::IsJson { expr, kind: _, unique_keys: _, negated: _ } => self.expr(expr),
            Expr::IsNormalized { expr, form: _, negated: _ } => self.expr(expr),
            Expr::InList { expr, list, negated: _ } => {
                self.expr(expr)?;
                self.exprs(list)
            }
            Expr::InSubquery { expr, subquery, negated: _ } => {
                self.expr(expr)?;
                self.subquery(subquery)
            }
            Expr::Between { .. } => self.between(expr),
            Expr::BinaryOp { left, op, right } => {
                self.operator(op)?;
                self.two(left, right)
            }
            Expr::Like { negated: _, any, expr, pattern, escape_char }
            | Expr::ILike { negated: _, any, expr, pattern, escape_char } => {
                self.absent(!*any, "LIKE ANY (…)")?;
                self.two(expr, pattern)?;
                self.boxed(escape_char)
            }
            Expr::SimilarTo { negated: _, expr, pattern, escape_char } => {
                self.two(expr, pattern)?;
                self.boxed(escape_char)
            }
            Expr::AnyOp { left, compare_op, right, is_some: _ } | Expr::AllOp { left, compare_op, right } => {
                self.operator(compare_op)?;
                self.two(left, right)
            }
            Expr::UnaryOp { op, expr } => self.unary(*op, expr),
            Expr::Cast { kind, expr, data_type, format } => {
                self.absent(matches!(kind, CastKind::Cast | CastKind::DoubleColon), "TRY_CAST")?;
                self.absent(format.is_none(), "FORMAT")?;
                self.expr(expr)?;
                self.data_type(data_type)
            }
            Expr::AtTimeZone { timestamp, time_zone } => self.two(timestamp, time_zone),
            Expr::Extract { field, syntax, expr } => {
                self.absent(matches!(syntax, ExtractSyntax::From), "EXTRACT (…, …)")?;
                self.field(field)?;
                self.called("extract");
                self.expr(expr)
            }
            Expr::Ceil { expr, field } | Expr::Floor { expr, field } => {
                let is_plain = matches!(field, CeilFloorKind::DateTimeField(DateTimeField::NoDateTime));
                self.absent(is_plain, "CEIL (… TO …)")?;
                self.expr(expr)
            }
            Expr::Position { expr, r#in } => self.two(expr, r#in),
            Expr::Substring { expr, substring_from, substring_for, special: _, shorthand: _ } => {
                self.called("substring");
                self.expr(expr)?;
                self.boxed(substring_from)?;
                self.boxed(substring_for)
            }
            Expr::Trim { trim_where: _, trim_what, expr, trim_characters } => {
                self.called("trim");
                self.boxed(trim_what)?;
                self.expr(expr)?;
                trim_characters.as_mut().map_or(Ok(()), |characters| self.exprs(characters))
            }
            Expr::Overlay { expr, overlay_what, overlay_from, overlay_for } => {
                self.expr(expr)?;
                self.two(overlay_what, overlay_from)?;
                self.boxed(overlay_for)
            }
            Expr::Collate { expr, collation } => {
                let is_one = matches!(self.object_name(collation)?[..], [_]);
                self.absent(is_one, "a collation of a schema")?;
                self.expr(expr)
            }
            Expr::Value(value) => self.value(value),
            Expr::TypedString(TypedString { data_type, value, uses_odbc_syntax }) => {
                self.absent(!*uses_odbc_syntax, "{d …}")?;
                self.data_type(data_type)?;
                self.value(value)
            }
            Expr::Function(function) => self.function(function),
            Expr::Case { case_token: _, end_token: _, operand, conditions, else_result } => {
                self.boxed(operand)?;
                for CaseWhen { condition, result } in conditions {
                    self.two(condition, result)?;
                }
                self.boxed(else_result)
            }
            Expr::Exists { subquery, negated: _ } | Expr::Subquery(subquery) => self.subquery(subquery),
            Expr::GroupingSets(sets) | Expr::Cube(sets) | Expr::Rollup(sets) => {
                sets.iter_mut().try_for_each(|set| self.exprs(set))
            }
            Expr::Tuple(items) => self.exprs(items),
            Expr::Array(Array { elem, named: _ }) => self.exprs(elem),
            Expr::Interval(interval) => self.interval(interval),
            // `(table).*` of a row.
            Expr::QualifiedWildcard(name, _) => self.object_name(name).map(|_| ()),
            Expr::Wildcard(_) => Ok(()),
            Expr::JsonAccess { .. }
            | Expr::InUnnest { .. }
            | Expr::RLike { .. }
            | Expr::Convert { .. }
            | Expr::Prefixed { .. }
            | Expr::Struct { .. }
            | Expr::Named { .. }
            | Expr::Dictionary(_)
            | Expr::Map(_)
            | Expr::MatchAgainst { .. }
            | Expr::OuterJoin(_)
            | Expr::Prior(_)
            | Expr::Lambda(_)
            | Expr::MemberOf(_) => {
                let shown = expr.to_string();
                let message = format!(
                    "`{}` is refused: statements may not use this form; write it another way",
                    syrch_core::text::clip(&shown, 64)
                );
                Err(self.refuse(SqlErrorKind::Denied, "clause", message, Span::empty()))
            }
        }
    }

    fn access(&mut self, access: &mut AccessExpr) -> Result<(), SqlError> {
        match access {
            AccessExpr::Dot(Expr::Identifier(ident)) => self.ident(ident),
            AccessExpr::Dot(Expr::Wildcard(_)) => Ok(()),
            AccessExpr::Dot(_) => self.absent(false, "a call after a dot"),
            AccessExpr::Subscript(Subscript::Index { index }) => self.expr(index),
            AccessExpr::Subscript(Subscript::Slice { lower_bound, upper_bound, stride }) => {
                self.absent(stride.is_none(), "[a:b:c]")?;
                self.optional(lower_bound)?;
                self.optional(upper_bound)
            }
        }
    }

    /// BETWEEN; where its lower bound has the mark of SYMMETRIC, the two ranges that it stands for.
    fn between(&mut self, expr: &mut Expr) -> Result<(), SqlError> {
        let Expr::Between { expr: value, negated, low, high } = expr else {
            return Ok(());
        };
        let is_symmetric = take_mark(low);
        self.expr(value)?;
        self.two(low, high)?;
        if is_symmetric {
            let between = |low: &Expr, high: &Expr| Expr::Between {
                expr: value.clone(),
                negated: false,
                low: Box::new(low.clone()),
                high: Box::new(high.clone()),
            };
            let (left, right) = (Box::new(between(low, high)), Box::new(between(high, low)));
            let either = Expr::Nested(Box::new(Expr::BinaryOp { left, op: BinaryOperator::Or, right }));
            *expr = match *negated {
                false => either,
                true => {
                    let not = Expr::UnaryOp { op: UnaryOperator::Not, expr: Box::new(either) };
                    Expr::Nested(Box::new(not))
                }
            };
        }
        Ok(())
    }

    fn unary(&mut self, op: UnaryOperator, expr: &mut Box<Expr>) -> Result<(), SqlError> {
        match op {
            UnaryOperator::Plus
            | UnaryOperator::Minus
            | UnaryOperator::Not
            | UnaryOperator::BitwiseNot
            | UnaryOperator::PGAbs
            | UnaryOperator::PGCubeRoot
            | UnaryOperator::PGSquareRoot => {}
            UnaryOperator::AtDashAt
            | UnaryOperator::BangNot
            | UnaryOperator::DoubleAt
            | UnaryOperator::Hash
            | UnaryOperator::PGPostfixFactorial
            | UnaryOperator::PGPrefixFactorial
            | UnaryOperator::QuestionDash
            | UnaryOperator::QuestionPipe => return Err(self.operator_refused(&op.to_string())),
        }
        self.expr(expr)?;
        // `- -1` would be written as `--1`, which begins a comment, and other pairs as one operator.
        let begins = expr.to_string();
        if begins.starts_with(|first: char| !first.is_alphanumeric() && !matches!(first, '(' | '\'' | '"' | '_')) {
            let inner = std::mem::replace(&mut **expr, Expr::Value(Value::Null.with_empty_span()));
            **expr = Expr::Nested(Box::new(inner));
        }
        Ok(())
    }

    fn operator(&self, op: &BinaryOperator) -> Result<(), SqlError> {
        use BinaryOperator as B;
        match op {
            B::Plus
            | B::Minus
            | B::Multiply
            | B::Divide
            | B::Modulo
            | B::StringConcat
            | B::Gt
            | B::Lt
            | B::GtEq
            | B::LtEq
            | B::Eq
            | B::NotEq
            | B::And
            | B::Or
            | B::BitwiseOr
            | B::BitwiseAnd
            | B::PGBitwiseXor
            | B::PGBitwiseShiftLeft
            | B::PGBitwiseShiftRight
            | B::PGExp
            | B::PGOverlap
            | B::PGRegexMatch
            | B::PGRegexIMatch
            | B::PGRegexNotMatch
            | B::PGRegexNotIMatch
            | B::PGLikeMatch
            | B::PGILikeMatch
            | B::PGNotLikeMatch
            | B::PGNotILikeMatch
            | B::PGStartsWith
            | B::Arrow
            | B::LongArrow
            | B::HashArrow
            | B::HashLongArrow
            | B::AtAt
            | B::AtArrow
            | B::ArrowAt
            | B::HashMinus
            | B::AtQuestion
            | B::Question
            | B::QuestionAnd
            | B::QuestionPipe
            | B::LtDashGt
            | B::AndLt
            | B::AndGt
            | B::Overlaps => Ok(()),
            B::Custom(name) if CUSTOM.contains(&name.as_str()) => Ok(()),
            B::Custom(_)
            | B::PGCustomBinaryOperator(_)
            | B::Spaceship
            | B::Xor
            | B::BitwiseXor
            | B::DuckIntegerDivide
            | B::MyIntegerDivide
            | B::Match
            | B::Regexp
            | B::Glob
            | B::DoubleHash
            | B::LtLtPipe
            | B::PipeGtGt
            | B::AndLtPipe
            | B::PipeAndGt
            | B::LtCaret
            | B::GtCaret
            | B::QuestionHash
            | B::QuestionDash
            | B::QuestionDashPipe
            | B::QuestionDoublePipe
            | B::At
            | B::TildeEq
            | B::Assignment => Err(self.operator_refused(&op.to_string())),
        }
    }

    fn operator_refused(&self, shown: &str) -> SqlError {
        let message = format!(
            "operator `{}` is refused: it is not among those that statements may use",
            syrch_core::text::clip(shown, 64)
        );
        self.refuse(SqlErrorKind::Denied, "operator", message, Span::empty())
    }

    fn field(&self, field: &DateTimeField) -> Result<(), SqlError> {
        let shown = field.to_string().to_lowercase();
        self.absent(FIELDS.contains(&shown.as_str()), &shown)
    }

    fn interval(&mut self, interval: &mut Interval) -> Result<(), SqlError> {
        let Interval { value, leading_field, leading_precision: _, last_field, fractional_seconds_precision: _ } =
            interval;
        for field in [leading_field, last_field].into_iter().flatten() {
            self.field(field)?;
        }
        self.absent(matches!(**value, Expr::Value(_)), "INTERVAL of an expression")?;
        self.expr(value)
    }

    pub(super) fn window(&mut self, spec: &mut WindowSpec) -> Result<(), SqlError> {
        let WindowSpec { window_name, partition_by, order_by, window_frame } = spec;
        window_name.as_mut().map_or(Ok(()), |name| self.ident(name))?;
        self.exprs(partition_by)?;
        self.order(order_by)?;
        if let Some(WindowFrame { units: _, start_bound, end_bound }) = window_frame {
            for bound in std::iter::once(start_bound).chain(end_bound) {
                match bound {
                    WindowFrameBound::CurrentRow => {}
                    WindowFrameBound::Preceding(offset) | WindowFrameBound::Following(offset) => self.boxed(offset)?,
                }
            }
        }
        Ok(())
    }

    fn called(&mut self, function: &str) {
        self.functions.insert(function.to_owned());
    }

    /// Checks the name of a function and writes it as the list does.
    pub(super) fn function_name(&mut self, name: &mut ObjectName) -> Result<(), SqlError> {
        let (shown, span) = match &name.0[..] {
            [.., ObjectNamePart::Identifier(ident)] => (name.to_string(), ident.span),
            _ => (name.to_string(), Span::empty()),
        };
        let plain = match self.object_name(name)?[..] {
            [plain] | ["pg_catalog", plain] if is_listed(plain) => plain.to_owned(),
            _ => {
                let near = nearest(&shown.to_lowercase(), LISTED.iter().copied());
                let message = format!(
                    "function `{}` is refused: it is not among those that statements may call",
                    syrch_core::text::clip(&shown, 64)
                );
                return Err(self.refuse(SqlErrorKind::FunctionRefused, "function", message, span).suggest(near));
            }
        };
        self.called(&plain);
        // Unquoted, since some of them are words of the grammar. The session searches functions in `pg_catalog` only.
        let ident = Ident { value: plain, quote_style: None, span };
        *name = ObjectName(vec![ObjectNamePart::Identifier(ident)]);
        Ok(())
    }

    fn function(&mut self, function: &mut Function) -> Result<(), SqlError> {
        let Function { name, uses_odbc_syntax, parameters, args, within_group, filter, null_treatment, over } =
            function;
        self.absent(!*uses_odbc_syntax, "{fn …}")?;
        self.absent(matches!(parameters, FunctionArguments::None), "parameters of a function")?;
        self.absent(null_treatment.is_none(), "IGNORE NULLS")?;
        match args {
            FunctionArguments::Subquery(query) => {
                let is_array = name.to_string().eq_ignore_ascii_case("array");
                self.absent(is_array, "a query as an argument")?;
                self.subquery(query)?;
            }
            FunctionArguments::None => {
                self.function_name(name)?;
                let shown = name.to_string();
                self.absent(BARE.contains(&shown.as_str()), &shown)?;
            }
            FunctionArguments::List(FunctionArgumentList { duplicate_treatment, args, clauses }) => {
                match duplicate_treatment {
                    None | Some(DuplicateTreatment::Distinct | DuplicateTreatment::All) => {}
                }
                let is_row = name.to_string().eq_ignore_ascii_case("row");
                if !is_row {
                    self.function_name(name)?;
                }
                self.arguments(&name.to_string(), args)?;
                for clause in clauses {
                    match clause {
                        FunctionArgumentClause::OrderBy(items) => self.order(items)?,
                        FunctionArgumentClause::IgnoreOrRespectNulls(_)
                        | FunctionArgumentClause::Where(_)
                        | FunctionArgumentClause::Limit(_)
                        | FunctionArgumentClause::OnOverflow(_)
                        | FunctionArgumentClause::Having(_)
                        | FunctionArgumentClause::Separator(_)
                        | FunctionArgumentClause::JsonNullClause(_)
                        | FunctionArgumentClause::JsonReturningClause(_) => {
                            self.absent(false, "a clause of a function")?;
                        }
                    }
                }
            }
        }
        self.order(within_group)?;
        self.boxed(filter)?;
        match over {
            None => Ok(()),
            Some(WindowType::WindowSpec(spec)) => self.window(spec),
            Some(WindowType::NamedWindow(name)) => self.ident(name),
        }
    }

    /// Checks the arguments of a function; sizes must be constants.
    pub(super) fn arguments(&mut self, function: &str, args: &mut [FunctionArg]) -> Result<(), SqlError> {
        if let Some((_, place)) = SIZED.iter().find(|(name, _)| *name == function) {
            self.size(function, args.get(*place))?;
        }
        if function == "format" {
            self.format(args.first())?;
        }
        for arg in args {
            let arg = match arg {
                FunctionArg::Unnamed(arg) => arg,
                FunctionArg::Named { name, arg, operator } => {
                    let is_listed =
                        matches!(operator, FunctionArgOperator::RightArrow | FunctionArgOperator::Assignment);
                    self.absent(is_listed, "an argument by name")?;
                    self.ident(name)?;
                    arg
                }
                FunctionArg::ExprNamed { name: _, arg: _, operator: _ } => {
                    return self.absent(false, "an argument by a computed name");
                }
            };
            match arg {
                FunctionArgExpr::Expr(expr) => self.expr(expr)?,
                FunctionArgExpr::QualifiedWildcard(name) => self.object_name(name).map(|_| ())?,
                FunctionArgExpr::Wildcard => {}
                FunctionArgExpr::WildcardWithOptions(options) => self.wildcard(options)?,
            }
        }
        Ok(())
    }

    /// A size is a constant, and those of a statement together multiply by at most [`AMPLIFICATION`].
    fn size(&mut self, function: &str, arg: Option<&FunctionArg>) -> Result<(), SqlError> {
        let size = match arg {
            Some(FunctionArg::Unnamed(FunctionArgExpr::Expr(Expr::Value(ValueWithSpan {
                value: Value::Number(digits, false),
                ..
            })))) => digits.parse::<u64>().ok(),
            _ => None,
        };
        let product = size.map(|size| self.amplification.saturating_mul(size.max(1)));
        match product.filter(|product| *product <= AMPLIFICATION) {
            Some(product) => {
                self.amplification = product;
                Ok(())
            }
            None => Err(self.size_refused(function)),
        }
    }

    /// The text that `format` follows is a constant, and its widths are small.
    fn format(&mut self, arg: Option<&FunctionArg>) -> Result<(), SqlError> {
        let text = match arg {
            Some(FunctionArg::Unnamed(FunctionArgExpr::Expr(Expr::Value(value)))) => {
                value.value.clone().into_string().unwrap_or_default()
            }
            _ => return Err(self.size_refused("format")),
        };
        let mut rest = text.as_str();
        while let Some((_, after)) = rest.split_once('%') {
            let end = after.find(|c: char| !c.is_ascii_digit() && !matches!(c, '$' | '-')).unwrap_or(after.len());
            let width = after[..end].rsplit('$').next().unwrap_or_default().trim_start_matches('-');
            let is_small = width.is_empty() || width.parse::<u64>().is_ok_and(|width| width <= 1_000);
            if !is_small || after[end..].starts_with('*') {
                return Err(self.size_refused("format"));
            }
            rest = after.get(end + 1..).unwrap_or_default();
        }
        Ok(())
    }

    fn size_refused(&self, function: &str) -> SqlError {
        let message = format!(
            "`{function}` is refused: its size must be a constant number, and all sizes of a statement multiply by at most {AMPLIFICATION}"
        );
        self.refuse(SqlErrorKind::Denied, "size-argument", message, Span::empty())
    }
}

/// Takes the mark of SYMMETRIC from the expression at whose left edge it stands; whether there was one.
fn take_mark(low: &mut Expr) -> bool {
    match low {
        Expr::UnaryOp { op: UnaryOperator::PGPrefixFactorial, expr } => {
            *low = std::mem::replace(&mut **expr, Expr::Value(Value::Null.with_empty_span()));
            true
        }
        Expr::BinaryOp { left, .. } => take_mark(left),
        Expr::Cast { kind: CastKind::DoubleColon, expr, .. } => take_mark(expr),
        Expr::AtTimeZone { timestamp, .. } => take_mark(timestamp),
        Expr::Collate { expr, .. } => take_mark(expr),
        Expr::CompoundFieldAccess { root, .. } => take_mark(root),
        _ => false,
    }
}
