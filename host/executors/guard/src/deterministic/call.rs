//! The walk over calls: functions whose result depends on their arguments alone, and aggregates
//! whose result does not depend on the order of rows.

use sqlparser::ast::{
    Expr, Function, FunctionArg, FunctionArgExpr, FunctionArgumentList, FunctionArguments, Ident,
    ObjectName, ObjectNamePart, UnaryOperator, Value,
};
use sqlparser::tokenizer::Span;
use syrch_core::SqlError;

use super::depend;
use super::functions::{Class, class, time_arguments};
use super::kind::Kind;
use super::parts::parts;
use super::scope::Found;
use super::{RealSums, Walk};

/// The plain name of a function, in lower case.
pub(super) fn plain(name: &ObjectName) -> String {
    match name.0.last() {
        Some(ObjectNamePart::Identifier(ident)) => ident.value.to_lowercase(),
        _ => name.to_string().to_lowercase(),
    }
}

fn span(name: &ObjectName) -> Span {
    match name.0.last() {
        Some(ObjectNamePart::Identifier(Ident { value: _, quote_style: _, span })) => *span,
        _ => Span::empty(),
    }
}

/// The expression that is an argument, if it is one.
fn argument(arg: &mut FunctionArg) -> Option<&mut Expr> {
    let arg = match arg {
        FunctionArg::Unnamed(arg)
        | FunctionArg::Named { name: _, arg, operator: _ }
        | FunctionArg::ExprNamed { name: _, arg, operator: _ } => arg,
    };
    match arg {
        FunctionArgExpr::Expr(expr) => Some(expr),
        FunctionArgExpr::QualifiedWildcard(_)
        | FunctionArgExpr::Wildcard
        | FunctionArgExpr::WildcardWithOptions(_) => None,
    }
}

impl Walk<'_> {
    pub(super) fn call(&mut self, function: &mut Function) -> Result<Kind, SqlError> {
        // What is not bound here is refused by the guard's own walk.
        let Function {
            name,
            uses_odbc_syntax: _,
            parameters: _,
            args,
            within_group,
            filter,
            null_treatment: _,
            over,
        } = function;
        let plain = plain(name);
        let span = span(name);
        let (args, clauses) = match args {
            FunctionArguments::None => return Err(self.clock(&plain, span)),
            FunctionArguments::Subquery(_) => return Err(self.refuse_order_dependent(&plain, span)),
            FunctionArguments::List(FunctionArgumentList {
                duplicate_treatment: _,
                args,
                clauses,
            }) => (args, clauses),
        };
        let class = class(&plain, args.len(), self.is_sqlite);
        match class {
            Class::Ordered => return Err(self.refuse_order_dependent(&plain, span)),
            Class::Clock => return Err(self.clock(&plain, span)),
            Class::Rows => {
                let why = "is refused: it makes rows, and only tables are read";
                return Err(self.refuse("table-function", &plain, why, span));
            }
            Class::Unknown => {
                let why = "is refused: it is not among the functions whose result depends on their \
                           arguments alone";
                return Err(self.refuse("function", &plain, why, span));
            }
            Class::Aggregate | Class::Ranking | Class::Scalar => {}
        }
        if !within_group.is_empty() || !clauses.is_empty() {
            return Err(self.refuse_order_dependent(&plain, span));
        }
        if let Some(over) = over {
            if class == Class::Scalar
                || (class == Class::Aggregate && !self.is_whole_partition(over))
            {
                let why = "is refused as a window function: its result depends on the order of \
                           rows within a partition";
                return Err(self.refuse("window", &plain, why, span));
            }
            if self.top(|scope| {
                scope.determined.as_ref().is_some_and(|determined| determined.is_choice)
            }) {
                return Err(self.bare(&plain, span));
            }
            self.window(over)?;
        }
        let is_grouping = class == Class::Aggregate && over.is_none();
        if is_grouping
            && self
                .top(|scope| scope.determined.as_ref().is_some_and(|found| !found.has_aggregates))
        {
            return Err(self.bare(&plain, span));
        }
        let before = self.uses();
        if is_grouping {
            self.aggregates(1);
        }
        let kinds = self.arguments(args, filter.as_deref_mut());
        if is_grouping {
            self.aggregates(-1);
        }
        let kinds = kinds?;
        let (own, around) = self.uses();
        if is_grouping && own == before.0 && around > before.1 {
            let why = "is refused: it is an aggregate of the query around, and changes what that \
                       is grouped by";
            return Err(self.refuse("outer-aggregate", &plain, why, span));
        }
        if !self.is_sqlite {
            return Ok(Kind::ANY);
        }
        self.check_times(&plain, args, span)?;
        match class {
            Class::Aggregate => self.aggregate(&plain, &kinds, span),
            Class::Ranking if matches!(plain.as_str(), "rank" | "dense_rank") => Ok(Kind::INT),
            Class::Ranking => Ok(Kind::REAL),
            Class::Scalar | Class::Ordered | Class::Clock | Class::Rows | Class::Unknown => {
                Ok(scalar(&plain, &kinds))
            }
        }
    }

    fn arguments(
        &mut self,
        args: &mut [FunctionArg],
        filter: Option<&mut Expr>,
    ) -> Result<Vec<Kind>, SqlError> {
        let mut kinds = Vec::with_capacity(args.len());
        for arg in args {
            kinds.push(match argument(arg) {
                Some(expr) => self.expr(expr)?,
                None => Kind::INT,
            });
        }
        if let Some(filter) = filter {
            self.expr(filter)?;
        }
        Ok(kinds)
    }

    fn aggregate(&self, plain: &str, kinds: &[Kind], span: Span) -> Result<Kind, SqlError> {
        let kind = kinds.first().copied().unwrap_or(Kind::INT);
        match plain {
            "count" => Ok(Kind::INT),
            "max" | "min" if kind.is_canonical() => Ok(kind),
            "max" | "min" => Err(self.refuse_mixed(plain, span)),
            _ if !kind.is_integer() && self.sums == RealSums::Admitted => Ok(Kind::NUMBER),
            _ if !kind.is_integer() => {
                let why = "is refused over what may be a real: its last digits depend on the order \
                           in which rows are added";
                Err(self.refuse("float-aggregate", plain, why, span))
            }
            "sum" => Ok(Kind::INT),
            _ => Ok(Kind::REAL),
        }
    }

    /// Refuses the time of day among the arguments of functions of SQLite, and zones that are those
    /// of the machine.
    fn check_times(
        &self,
        plain: &str,
        args: &mut [FunctionArg],
        span: Span,
    ) -> Result<(), SqlError> {
        let Some(first) = time_arguments(plain) else { return Ok(()) };
        if args.len() <= first {
            return Err(self.clock(plain, span));
        }
        for expr in args.iter_mut().skip(first).filter_map(argument) {
            self.check_time(expr, plain, span)?;
        }
        Ok(())
    }

    /// A time or a modifier is a literal, another time, or a cell: a text that is computed may be
    /// the word `now`.
    fn check_time(&self, expr: &Expr, plain: &str, span: Span) -> Result<(), SqlError> {
        match expr {
            Expr::Nested(inner) => self.check_time(inner, plain, span),
            Expr::Value(value) => match &value.value {
                Value::SingleQuotedString(text)
                    if ["now", "localtime", "utc"]
                        .contains(&text.trim().to_lowercase().as_str()) =>
                {
                    Err(self.clock(text.trim(), value.span))
                }
                _ => Ok(()),
            },
            Expr::UnaryOp { op: UnaryOperator::Minus | UnaryOperator::Plus, expr } => {
                self.check_time(expr, plain, span)
            }
            Expr::Function(call)
                if time_arguments(&call.name.to_string().to_lowercase().replace('"', ""))
                    .is_some() =>
            {
                Ok(())
            }
            _ => match depend::column(&self.scopes, expr) {
                Some(found) if !found.kind.may_be_text() || self.is_cell(&found) => Ok(()),
                _ => Err(self.clock(plain, span)),
            },
        }
    }

    /// Returns true if a column is one of a stored table.
    fn is_cell(&self, found: &Found) -> bool {
        let scope = self.scopes.get(found.depth);
        scope
            .and_then(|scope| scope.sources.get(found.id.0))
            .is_some_and(|source| source.columns.is_table())
    }

    fn clock(&self, token: &str, span: Span) -> SqlError {
        self.refuse(
            "clock",
            token,
            "is refused: its value depends on the time of day or on the session",
            span,
        )
    }

    fn refuse_order_dependent(&self, token: &str, span: Span) -> SqlError {
        self.refuse("aggregate", token, "is refused: its result depends on the order of rows", span)
    }

    fn top(&self, is_so: impl Fn(&super::scope::Scope) -> bool) -> bool {
        self.scopes.last().is_some_and(|scope| scope.aggregates == 0 && is_so(scope))
    }

    fn aggregates(&mut self, by: isize) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.aggregates = scope.aggregates.saturating_add_signed(by);
        }
    }

    /// Returns the number of times that columns of the innermost scope were named so far, and that
    /// of the scopes around it.
    fn uses(&self) -> (usize, usize) {
        match self.scopes.split_last() {
            Some((own, around)) => (own.uses, around.iter().map(|scope| scope.uses).sum()),
            None => (0, 0),
        }
    }

    /// Returns true if an aggregate of this query stands in an expression.
    pub(super) fn has_aggregate(&self, expr: &mut Expr) -> bool {
        let Expr::Function(function) = expr else {
            return parts(expr)
                .is_some_and(|parts| parts.exprs.into_iter().any(|part| self.has_aggregate(part)));
        };
        let FunctionArguments::List(list) = &mut function.args else { return false };
        let is_aggregate =
            class(&plain(&function.name), list.args.len(), self.is_sqlite) == Class::Aggregate;
        (is_aggregate && function.over.is_none())
            || list.args.iter_mut().filter_map(argument).any(|expr| self.has_aggregate(expr))
    }
}

/// Returns the kind of the values that a scalar function of SQLite returns.
fn scalar(name: &str, kinds: &[Kind]) -> Kind {
    let any = || kinds.iter().fold(Kind::NULL, |kind, other| kind.or(*other));
    match name {
        "instr" | "length" | "like" | "octet_length" | "sign" | "unicode" => Kind::INT,
        // A count of milliseconds from 0 on, divided: never `-0.0`.
        "julianday" => Kind::REAL,
        "round" | "acos" | "acosh" | "asin" | "asinh" | "atan" | "atan2" | "atanh" | "cos"
        | "cosh" | "degrees" | "exp" | "ln" | "log" | "log10" | "log2" | "pi" | "pow" | "power"
        | "radians" | "sin" | "sinh" | "sqrt" | "tan" | "tanh" => Kind::COMPUTED,
        "char" | "concat" | "concat_ws" | "date" | "datetime" | "format" | "hex" | "lower"
        | "ltrim" | "printf" | "quote" | "replace" | "rtrim" | "soundex" | "strftime"
        | "substr" | "substring" | "time" | "timediff" | "trim" | "typeof" | "unhex" | "upper" => {
            Kind::TEXT
        }
        "coalesce" | "ifnull" | "likely" | "max" | "min" | "unlikely" => any(),
        "if" | "iif" => kinds.iter().skip(1).fold(Kind::NULL, |kind, other| kind.or(*other)),
        "nullif" => kinds.first().copied().unwrap_or(Kind::ANY),
        "abs" | "ceil" | "ceiling" | "floor" | "trunc" => match kinds {
            [kind] if kind.is_integer() => Kind::INT,
            _ => Kind::NUMBER,
        },
        "mod" | "unixepoch" => Kind::NUMBER,
        _ => Kind::ANY,
    }
}
