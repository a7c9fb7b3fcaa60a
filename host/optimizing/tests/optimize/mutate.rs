//! Mutants of a statement: each differs from it in one place, as a wrong rewrite would.

use std::ops::ControlFlow;

use sqlparser::ast::{
    BinaryOperator, Distinct, DuplicateTreatment, Expr, Function, FunctionArg, FunctionArgExpr,
    FunctionArguments, GroupByExpr, Ident, JoinConstraint, JoinOperator, ObjectName,
    ObjectNamePart, Query, Select, SelectItem, SetExpr, SetOperator, SetQuantifier, Statement,
    TableAlias, TableFactor, TableWithJoins, Value, VisitMut, VisitorMut,
};
use sqlparser::dialect::SQLiteDialect;
use sqlparser::parser::Parser;

/// All mutants of a statement, without those that are written as it is; none of one that does not
/// parse.
pub(crate) fn mutants(sql: &str) -> Vec<String> {
    let Ok(parsed) = Parser::parse_sql(&SQLiteDialect {}, sql) else { return Vec::new() };
    let [statement] = parsed.as_slice() else { return Vec::new() };
    let written = statement.to_string();
    let mut all = Vec::new();
    for target in 0.. {
        let mut mutant = statement.clone();
        let mut mutation = Mutation { target, next: 0 };
        let _ = VisitMut::visit(&mut mutant, &mut mutation);
        if mutation.next <= target {
            break;
        }
        let mutant = mutant.to_string();
        if mutant != written && !all.contains(&mutant) {
            all.push(mutant);
        }
    }
    all
}

/// Changes the place of that number.
struct Mutation {
    target: usize,
    next: usize,
}

impl Mutation {
    /// Counts a place, and returns whether it is the one to change.
    fn is_here(&mut self) -> bool {
        self.next += 1;
        self.next == self.target + 1
    }

    fn joins(&mut self, from: &mut Vec<TableWithJoins>) {
        for table in from.iter_mut() {
            for join in &mut table.joins {
                let swapped = match &join.join_operator {
                    JoinOperator::Join(on) | JoinOperator::Inner(on) => {
                        JoinOperator::LeftOuter(on.clone())
                    }
                    JoinOperator::Left(on) | JoinOperator::LeftOuter(on) => {
                        JoinOperator::Inner(on.clone())
                    }
                    _ => continue,
                };
                if self.is_here() {
                    join.join_operator = swapped;
                    return;
                }
                if matches!(&join.join_operator, JoinOperator::Join(JoinConstraint::On(_)))
                    && self.is_here()
                {
                    join.join_operator = JoinOperator::CrossJoin(JoinConstraint::None);
                    return;
                }
            }
        }
        let Some(first) = from.first() else { return };
        if let TableFactor::Table { name, .. } = &first.relation
            && self.is_here()
        {
            from.push(again(name));
        }
    }

    fn function(&mut self, function: &mut Function) {
        let name = function.name.to_string().to_lowercase();
        let renamed = match name.as_str() {
            "min" => "max",
            "max" => "min",
            "sum" => "avg",
            "avg" => "sum",
            _ => "",
        };
        if !renamed.is_empty() && self.is_here() {
            function.name = ObjectName(vec![ObjectNamePart::Identifier(Ident::new(renamed))]);
        }
        let FunctionArguments::List(list) = &mut function.args else { return };
        if name != "count" {
            return;
        }
        if self.is_here() {
            list.duplicate_treatment = match list.duplicate_treatment {
                Some(DuplicateTreatment::Distinct) => None,
                _ if matches!(
                    list.args.as_slice(),
                    [FunctionArg::Unnamed(FunctionArgExpr::Wildcard)]
                ) =>
                {
                    return;
                }
                _ => Some(DuplicateTreatment::Distinct),
            };
        }
        if list.duplicate_treatment.is_none() && self.is_here() {
            list.args = vec![FunctionArg::Unnamed(FunctionArgExpr::Wildcard)];
        }
    }
}

/// Returns the same table once more, without a condition.
fn again(name: &ObjectName) -> TableWithJoins {
    let text = format!("SELECT 1 FROM {name} AS once_more");
    let parsed = Parser::parse_sql(&SQLiteDialect {}, &text).unwrap().remove(0);
    let Statement::Query(query) = parsed else { panic!("{text}") };
    let SetExpr::Select(select) = *query.body else { panic!("{text}") };
    let table = select.from.into_iter().next().unwrap();
    assert!(matches!(&table.relation, TableFactor::Table { alias: Some(TableAlias { .. }), .. }));
    table
}

fn swap_operator(op: &BinaryOperator) -> Option<BinaryOperator> {
    use BinaryOperator::{And, Eq, Gt, GtEq, Lt, LtEq, Minus, NotEq, Or, Plus};
    Some(match op {
        Lt => LtEq,
        LtEq => Lt,
        Gt => GtEq,
        GtEq => Gt,
        Eq => GtEq,
        NotEq => Gt,
        And => Or,
        Or => And,
        Plus => Minus,
        Minus => Plus,
        _ => return None,
    })
}

impl VisitorMut for Mutation {
    type Break = ();

    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<()> {
        if let SetExpr::SetOperation { op, set_quantifier, .. } = query.body.as_mut() {
            if *op == SetOperator::Union && self.is_here() {
                *set_quantifier = match set_quantifier {
                    SetQuantifier::All => SetQuantifier::None,
                    _ => SetQuantifier::All,
                };
            } else if *op != SetOperator::Union && self.is_here() {
                *op = SetOperator::Union;
            }
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_select(&mut self, select: &mut Select) -> ControlFlow<()> {
        if self.is_here() {
            select.distinct = match &select.distinct {
                Some(_) => None,
                None => Some(Distinct::Distinct),
            };
        }
        self.joins(&mut select.from);
        if select.selection.is_some() && self.is_here() {
            select.selection = None;
        }
        if select.having.is_some() && self.is_here() {
            select.having = None;
        }
        if let GroupByExpr::Expressions(keys, _) = &mut select.group_by {
            for place in 0..keys.len() {
                if keys.len() > 1 && self.is_here() {
                    keys.remove(place);
                    break;
                }
            }
        }
        if select.projection.len() > 1
            && select.projection.iter().all(|item| matches!(item, SelectItem::UnnamedExpr(_)))
            && self.is_here()
        {
            select.projection.swap(0, 1);
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        if let Expr::BinaryOp { left, op, right } = expr {
            if *op == BinaryOperator::And {
                let sides = [Expr::clone(left), Expr::clone(right)];
                for side in sides {
                    if self.is_here() {
                        *expr = side;
                        return ControlFlow::Continue(());
                    }
                }
            } else if let Some(other) = swap_operator(op)
                && self.is_here()
            {
                *op = other;
            }
            if let Expr::BinaryOp { op: op @ BinaryOperator::And, .. } = expr
                && self.is_here()
            {
                *op = BinaryOperator::Or;
            }
            return ControlFlow::Continue(());
        }
        match expr {
            Expr::Function(function) => self.function(function),
            Expr::InSubquery { negated, .. }
            | Expr::InList { negated, .. }
            | Expr::Like { negated, .. }
                if self.is_here() =>
            {
                *negated = !*negated;
            }
            Expr::Value(value) if self.is_here() => match &mut value.value {
                Value::Number(number, _) => number.push('0'),
                Value::SingleQuotedString(text) | Value::DoubleQuotedString(text) => text.push('s'),
                _ => {}
            },
            _ => {}
        }
        ControlFlow::Continue(())
    }
}

#[test]
fn every_kind_of_mutant_is_made() {
    let sql = "SELECT DISTINCT a, count(b) FROM t JOIN u ON t.x = u.x \
               WHERE c < 5 AND d = 'e' GROUP BY a, f HAVING sum(g) > 1 \
               UNION ALL SELECT a, b FROM v WHERE a IN (SELECT a FROM w)";
    let all = mutants(sql);
    let has = |text: &str| {
        assert!(all.iter().any(|mutant| mutant.contains(text)), "{text}\n{}", all.join("\n"))
    };
    has("SELECT a, count(b) FROM t JOIN");
    has("LEFT OUTER JOIN u");
    has("CROSS JOIN u");
    has("once_more");
    has("c <= 5");
    has("c < 50");
    has("c < 5 OR d");
    has("WHERE c < 5 GROUP");
    has("WHERE d = 'e' GROUP");
    has("'es'");
    has("GROUP BY a HAVING");
    has("avg(g)");
    has("count(*)");
    has("count(DISTINCT b)");
    has("NOT IN");
    has("= 'e' GROUP BY a, f UNION ALL");
    assert!(all.iter().any(|mutant| !mutant.contains("UNION ALL")));
    assert!(all.len() >= 20, "{}", all.len());
}
