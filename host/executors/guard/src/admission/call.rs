//! The walk over calls: which functions pass, and with which arguments.

use sqlparser::ast::{
    DuplicateTreatment, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArgOperator,
    FunctionArgumentClause, FunctionArgumentList, FunctionArguments, Ident, LambdaFunction,
    LambdaFunctionParameter, LambdaSyntax, ObjectName, ObjectNamePart, OneOrManyWithParens, Value,
    WindowType,
};
use sqlparser::tokenizer::Span;
use syrch_core::text::nearest;
use syrch_core::{SqlError, SqlErrorKind};

use super::Walk;
use super::rules::{Form, Rules};

/// Arguments of a function, where each may be a large text of which the engine makes one.
const ARGUMENTS: usize = 100;

impl Walk<'_> {
    pub(super) fn record_call(&mut self, function: &str) {
        self.functions.insert(function.to_owned());
    }

    /// Checks the name of a function and writes it as the list does.
    pub(super) fn admit_function_name(&mut self, name: &mut ObjectName) -> Result<(), SqlError> {
        let Some((plain, span)) = self.find_listed(name) else {
            return Err(self.function_error(name));
        };
        self.record_call(&plain);
        // Unquoted, since some of them are words of the grammar.
        let ident = Ident { value: plain, quote_style: None, span };
        *name = ObjectName(vec![ObjectNamePart::Identifier(ident)]);
        Ok(())
    }

    /// The listed function that a name means, in lower case. The session of PostgreSQL searches
    /// functions in `pg_catalog` only.
    fn find_listed(&self, name: &ObjectName) -> Option<(String, Span)> {
        let ident = match &name.0[..] {
            [ObjectNamePart::Identifier(ident)] => ident,
            [ObjectNamePart::Identifier(schema), ObjectNamePart::Identifier(ident)]
                if self.rules.is_postgres() && is_word(schema, "pg_catalog") =>
            {
                ident
            }
            _ => return None,
        };
        let is_exact = self.rules.is_postgres() && ident.quote_style.is_some();
        let is_known = matches!(ident.quote_style, None | Some('"' | '`'));
        let plain = if is_exact { ident.value.clone() } else { ident.value.to_lowercase() };
        (is_known && self.rules.is_listed(&plain)).then_some((plain, ident.span))
    }

    /// Returns true if a function may stand in FROM.
    pub(super) fn stands_in_from(&self, name: &ObjectName) -> bool {
        let listed = self.find_listed(name);
        listed.is_some_and(|(name, _)| {
            self.rules.tables.is_none_or(|tables| tables.contains(&name.as_str()))
        })
    }

    pub(super) fn function_error(&self, name: &ObjectName) -> SqlError {
        let shown = name.to_string();
        let span = match name.0.last() {
            Some(ObjectNamePart::Identifier(ident)) => ident.span,
            _ => Span::empty(),
        };
        let near = nearest(&shown.to_lowercase(), self.rules.listed.words().iter().copied());
        let message = format!(
            "function `{}` is refused: it is not among those that statements may call",
            syrch_core::text::clip(&shown, 64)
        );
        self.refuse(SqlErrorKind::FunctionRefused, "function", message, span).suggest(near)
    }

    pub(super) fn admit_function(&mut self, function: &mut Function) -> Result<(), SqlError> {
        let Function {
            name,
            uses_odbc_syntax,
            parameters,
            args,
            within_group,
            filter,
            null_treatment,
            over,
        } = function;
        self.absent(!*uses_odbc_syntax, "{fn …}")?;
        self.absent(matches!(parameters, FunctionArguments::None), "parameters of a function")?;
        self.only(Form::IgnoreNulls, null_treatment.is_none(), "IGNORE NULLS")?;
        match args {
            FunctionArguments::Subquery(query) => {
                let is_array = name.to_string().eq_ignore_ascii_case("array");
                self.absent(
                    is_array && self.rules.has(Form::ArrayQuery),
                    "a query as an argument",
                )?;
                self.subquery(query)?;
            }
            FunctionArguments::None => {
                self.admit_function_name(name)?;
                let shown = name.to_string();
                self.absent(self.rules.bare.contains(&shown.as_str()), &shown)?;
            }
            FunctionArguments::List(FunctionArgumentList {
                duplicate_treatment,
                args,
                clauses,
            }) => {
                match duplicate_treatment {
                    None | Some(DuplicateTreatment::Distinct | DuplicateTreatment::All) => {}
                }
                let is_row =
                    self.rules.has(Form::Row) && name.to_string().eq_ignore_ascii_case("row");
                if !is_row {
                    self.admit_function_name(name)?;
                }
                self.admit_arguments(&name.to_string(), args)?;
                for clause in clauses {
                    match clause {
                        FunctionArgumentClause::OrderBy(items) => self.admit_order(items)?,
                        FunctionArgumentClause::IgnoreOrRespectNulls(_) => {
                            self.only(Form::IgnoreNulls, false, "IGNORE NULLS")?;
                        }
                        FunctionArgumentClause::Where(_)
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
        self.admit_order(within_group)?;
        self.admit_optional_expr(filter)?;
        match over {
            None => Ok(()),
            Some(WindowType::WindowSpec(spec)) => self.admit_window(spec),
            Some(WindowType::NamedWindow(name)) => self.quote_ident(name),
        }
    }

    /// Checks a list of expressions that a call of a mark carries.
    pub(super) fn check_carried_list(&mut self, function: &mut Function) -> Result<(), SqlError> {
        match &mut function.args {
            FunctionArguments::List(FunctionArgumentList {
                duplicate_treatment: None,
                args,
                clauses,
            }) if clauses.is_empty() && function.over.is_none() && function.filter.is_none() => {
                self.admit_arguments("", args)
            }
            _ => self.absent(false, "this list"),
        }
    }

    /// Checks the arguments of a function; sizes must be constants.
    pub(super) fn admit_arguments(
        &mut self,
        function: &str,
        args: &mut [FunctionArg],
    ) -> Result<(), SqlError> {
        if let Some((_, place)) = self.rules.sized.iter().find(|(name, _)| *name == function) {
            self.limit_size(function, args.get(*place))?;
        }
        if let Some((_, place)) = self.rules.inserts.iter().find(|(name, _)| *name == function) {
            self.limit_insert(function, args.get(*place))?;
        }
        if args.len() > ARGUMENTS && !self.rules.inserts.is_empty() {
            return self.absent(false, "a function of more than 100 arguments");
        }
        if self.rules.aggregates.contains(&function) {
            self.admit_aggregate(function, args.get(1))?;
        }
        if self.rules.formats.contains(&function) {
            self.limit_format(function, args.first())?;
        }
        if self.rules.series.contains(&function) {
            self.limit_series(function, args)?;
        }
        if let Some((_, place)) = self.rules.patterns.iter().find(|(name, _)| *name == function)
            && let Some(FunctionArg::Unnamed(FunctionArgExpr::Expr(pattern))) = args.get(*place)
        {
            self.limit_pattern(pattern)?;
        }
        for arg in args {
            let arg = match arg {
                FunctionArg::Unnamed(arg) => arg,
                FunctionArg::Named { name, arg, operator } => {
                    let is_listed = matches!(
                        operator,
                        FunctionArgOperator::RightArrow | FunctionArgOperator::Assignment
                    );
                    self.absent(
                        is_listed && self.rules.has(Form::NamedArguments),
                        "an argument by name",
                    )?;
                    self.quote_ident(name)?;
                    arg
                }
                FunctionArg::ExprNamed { name: _, arg: _, operator: _ } => {
                    return self.absent(false, "an argument by a computed name");
                }
            };
            match arg {
                FunctionArgExpr::Expr(Expr::Lambda(lambda))
                    if self.rules.lambdas.contains(&function) && !is_arrow(self.rules, lambda) =>
                {
                    self.admit_lambda(lambda)?;
                }
                FunctionArgExpr::Expr(expr) => self.admit_expr(expr)?,
                FunctionArgExpr::QualifiedWildcard(name) => {
                    self.admit_object_name(name).map(|_| ())?
                }
                FunctionArgExpr::Wildcard => {}
                FunctionArgExpr::WildcardWithOptions(options) => self.admit_wildcard(options)?,
            }
        }
        Ok(())
    }

    /// The aggregate that `list_aggregate(l, 'sum')` calls is a constant, and may be called itself.
    fn admit_aggregate(
        &mut self,
        function: &str,
        arg: Option<&FunctionArg>,
    ) -> Result<(), SqlError> {
        let name = match arg {
            Some(FunctionArg::Unnamed(FunctionArgExpr::Expr(Expr::Value(value)))) => {
                match &value.value {
                    Value::SingleQuotedString(name) => Some(name.to_lowercase()),
                    _ => None,
                }
            }
            _ => None,
        };
        if let Some(name) = name.filter(|name| self.rules.is_listed(name)) {
            self.record_call(&name);
            return Ok(());
        }
        let message = format!(
            "the second argument of `{function}` must be the name of a listed function, in quotes"
        );
        Err(self.refuse(SqlErrorKind::FunctionRefused, "function", message, Span::empty()))
    }

    /// `x -> x + 1`: its parameters may be read in its body.
    fn admit_lambda(&mut self, lambda: &mut LambdaFunction) -> Result<(), SqlError> {
        self.only(Form::Lambda, false, "a lambda")?;
        let LambdaFunction { params, body, syntax: _ } = lambda;
        let outer = self.parameters.len();
        let params = match params {
            OneOrManyWithParens::One(param) => std::slice::from_mut(param),
            OneOrManyWithParens::Many(params) => params.as_mut_slice(),
        };
        for LambdaFunctionParameter { name, data_type } in params {
            self.absent(data_type.is_none(), "a type of a parameter")?;
            self.quote_ident(name)?;
            self.parameters.push(name.value.clone());
        }
        let walked = self.admit_expr(body);
        self.parameters.truncate(outer);
        walked
    }
}

/// Returns true if what the parser takes for a lambda is the operator that takes a part out of a
/// document, `document -> '$.part'`.
pub(super) fn is_arrow(rules: &Rules, lambda: &LambdaFunction) -> bool {
    let is_text = matches!(
        &*lambda.body, Expr::Value(value) if matches!(value.value, Value::SingleQuotedString(_))
    );
    let is_one = matches!(
        lambda.params,
        OneOrManyWithParens::One(LambdaFunctionParameter { data_type: None, .. })
    );
    rules.has(Form::JsonOperators) && lambda.syntax == LambdaSyntax::Arrow && is_text && is_one
}

fn is_word(ident: &Ident, word: &str) -> bool {
    match ident.quote_style {
        None => ident.value.eq_ignore_ascii_case(word),
        Some('"') => ident.value == word,
        Some(_) => false,
    }
}
