//! Expressions as sums of products, by which two spellings of one computation are equal: `a * (1 -
//! b)` and `a - b * a`. Constant factors do not count, since they only change the unit.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use sqlparser::ast::{
    BinaryOperator, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments, Ident,
    UnaryOperator, Value, visit_expressions,
};

/// The limit on the products of an expression, and on the factors of a product.
const PRODUCTS: usize = 64;
const FACTORS: usize = 16;

/// The products of a sum without their constant factors; a product is the list of its factors in
/// order, and a constant is the empty one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Polynomial(BTreeSet<Vec<String>>);

impl Polynomial {
    fn constant() -> Self {
        Self(BTreeSet::from([Vec::new()]))
    }

    fn atom(name: String) -> Self {
        Self(BTreeSet::from([vec![name]]))
    }

    /// Returns true if no column takes part.
    pub(super) fn is_constant(&self) -> bool {
        self.0.iter().all(Vec::is_empty)
    }

    /// Returns whether each product is one of these sums together.
    pub(super) fn is_covered_by(&self, others: &[&Self]) -> bool {
        let mut products = self.0.iter().filter(|product| !product.is_empty());
        products.all(|product| others.iter().any(|other| other.0.contains(product)))
    }

    fn add(mut self, other: Self) -> Option<Self> {
        self.0.extend(other.0);
        (self.0.len() <= PRODUCTS).then_some(self)
    }

    fn multiply(&self, other: &Self) -> Option<Self> {
        let mut products = BTreeSet::new();
        for one in &self.0 {
            for two in &other.0 {
                let mut factors = [one.as_slice(), two.as_slice()].concat();
                factors.sort();
                products.insert(factors);
                let is_long = products.iter().next_back().is_some_and(|it| it.len() > FACTORS);
                if products.len() > PRODUCTS || is_long {
                    return None;
                }
            }
        }
        Some(Self(products))
    }

    fn spell(&self) -> String {
        let products: Vec<String> = self.0.iter().map(|factors| factors.join("*")).collect();
        products.join("+")
    }
}

/// Returns the column that names mean; `None` if that is not certain.
pub(super) type Columns<'c> = &'c dyn Fn(&[String]) -> Option<String>;

/// Returns an expression as a sum of products; `None` if it has a part whose meaning is not
/// certain.
pub(super) fn expand(expr: &Expr, columns: Columns<'_>) -> Option<Polynomial> {
    match expr {
        Expr::Nested(inner) | Expr::Cast { expr: inner, .. } => expand(inner, columns),
        Expr::Identifier(name) => {
            Some(Polynomial::atom(columns(&spell(std::slice::from_ref(name)))?))
        }
        Expr::CompoundIdentifier(names) => Some(Polynomial::atom(columns(&spell(names))?)),
        Expr::Value(value) => match &value.value {
            Value::Number(..) => Some(Polynomial::constant()),
            Value::SingleQuotedString(text) => Some(Polynomial::atom(format!("'{text}'"))),
            _ => None,
        },
        Expr::UnaryOp { op: UnaryOperator::Minus | UnaryOperator::Plus, expr } => {
            expand(expr, columns)
        }
        Expr::BinaryOp { left, op, right } => {
            let left = expand(left, columns)?;
            let right = expand(right, columns)?;
            match op {
                BinaryOperator::Plus | BinaryOperator::Minus => left.add(right),
                BinaryOperator::Multiply => left.multiply(&right),
                BinaryOperator::Divide if right.is_constant() => Some(left),
                BinaryOperator::Divide => {
                    left.multiply(&Polynomial::atom(format!("1/({})", right.spell())))
                }
                _ => None,
            }
        }
        // The rows that a condition leaves out add nothing.
        Expr::Case { operand: None, conditions, else_result, .. } => {
            let [condition] = conditions.as_slice() else { return None };
            let rest = else_result.as_deref();
            let is_nothing = match rest {
                None => true,
                Some(Expr::Value(value)) => {
                    matches!(&value.value, Value::Null)
                        || matches!(&value.value, Value::Number(number, _) if is_zero(number))
                }
                Some(_) => false,
            };
            if is_nothing { expand(&condition.result, columns) } else { None }
        }
        Expr::Function(function) => expand_call(function, columns),
        _ => None,
    }
}

fn is_zero(number: &str) -> bool {
    number.chars().all(|c| c == '0' || c == '.')
}

fn expand_call(function: &Function, columns: Columns<'_>) -> Option<Polynomial> {
    let name = function.name.to_string().to_lowercase();
    let arguments = list_arguments(function)?;
    if ["coalesce", "ifnull", "nullif", "round", "nvl"].contains(&name.as_str()) {
        return expand(arguments.first()?, columns);
    }
    let expanded = arguments.into_iter().map(|argument| expand(argument, columns));
    let spelled: Option<Vec<String>> = expanded.map(|it| Some(it?.spell())).collect();
    Some(Polynomial::atom(format!("{name}({})", spelled?.join(","))))
}

/// The arguments of a call; `None` if one is no expression.
pub(super) fn list_arguments(function: &Function) -> Option<Vec<&Expr>> {
    let FunctionArguments::List(list) = &function.args else { return None };
    list.args
        .iter()
        .map(|argument: &FunctionArg| match argument {
            FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) => Some(expr),
            _ => None,
        })
        .collect()
}

/// The columns that an expression names.
pub(super) fn list_columns(expr: &Expr) -> Vec<Vec<String>> {
    let mut columns: Vec<Vec<String>> = Vec::new();
    let _: ControlFlow<()> = visit_expressions(expr, |expr| {
        match expr {
            Expr::Identifier(name) => columns.push(spell(std::slice::from_ref(name))),
            Expr::CompoundIdentifier(names) => columns.push(spell(names)),
            _ => {}
        }
        ControlFlow::Continue(())
    });
    columns
}

/// The parts of a name.
pub(super) fn spell(names: &[Ident]) -> Vec<String> {
    names.iter().map(|name| name.value.clone()).collect()
}
