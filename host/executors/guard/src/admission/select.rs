//! The walk over one SELECT: its columns, groups and order.

use sqlparser::ast::{
    Distinct, ExceptSelectItem, ExcludeSelectItem, Expr, GroupByExpr, GroupByWithModifier,
    LateralView, NamedWindowDefinition, NamedWindowExpr, OrderByExpr, OrderByOptions, OrderBySort,
    ReplaceSelectElement, ReplaceSelectItem, Select, SelectFlavor, SelectItem,
    SelectItemQualifiedWildcardKind, WildcardAdditionalOptions,
};
use syrch_core::SqlError;

use super::Walk;
use super::rules::Form;
use crate::carry;
use crate::facts::write_refused;

impl Walk<'_> {
    pub(super) fn admit_select(&mut self, select: &mut Select) -> Result<(), SqlError> {
        let Select {
            select_token: _,
            optimizer_hints,
            distinct,
            select_modifiers,
            top,
            top_before_distinct: _,
            projection,
            exclude,
            into,
            from,
            lateral_views,
            prewhere,
            selection,
            connect_by,
            group_by,
            cluster_by,
            distribute_by,
            sort_by,
            having,
            named_window,
            qualify,
            window_before_qualify: _,
            value_table_mode,
            flavor,
        } = select;
        if into.is_some() {
            return Err(write_refused("SELECT INTO"));
        }
        self.absent(optimizer_hints.is_empty(), "/*+ */")?;
        self.absent(select_modifiers.is_none(), "a modifier of SELECT")?;
        self.absent(top.is_none(), "TOP")?;
        self.absent(exclude.is_none(), "EXCLUDE")?;
        self.only(Form::LateralView, lateral_views.is_empty(), "LATERAL VIEW")?;
        self.absent(prewhere.is_none(), "PREWHERE")?;
        self.absent(connect_by.is_empty(), "CONNECT BY")?;
        self.absent(cluster_by.is_empty(), "CLUSTER BY")?;
        self.absent(distribute_by.is_empty(), "DISTRIBUTE BY")?;
        self.absent(sort_by.is_empty(), "SORT BY")?;
        if let Some(Expr::Identifier(mark)) = qualify
            && carry::is_mark(mark)
            && mark.value.starts_with(carry::SAMPLE)
        {
            self.only(Form::UsingSample, false, "USING SAMPLE")?;
            let sample = qualify.take();
            let walked = self.admit_select(select);
            select.qualify = sample;
            return walked;
        }
        self.only(Form::Qualify, qualify.is_none(), "QUALIFY")?;
        self.absent(value_table_mode.is_none(), "AS VALUE")?;
        self.only(
            Form::FromFirst,
            matches!(flavor, SelectFlavor::Standard),
            "FROM without SELECT",
        )?;
        match distinct {
            None | Some(Distinct::All | Distinct::Distinct) => {}
            Some(Distinct::On(items)) => {
                self.only(Form::DistinctOn, false, "DISTINCT ON")?;
                self.admit_exprs(items)?;
            }
        }
        for tree in from {
            self.admit_tables(tree)?;
        }
        for view in lateral_views {
            self.admit_lateral_view(view)?;
        }
        projection.iter_mut().try_for_each(|item| self.admit_item(item))?;
        self.admit_optional(selection)?;
        match group_by {
            GroupByExpr::All(modifiers) => {
                self.only(Form::GroupByAll, false, "GROUP BY ALL")?;
                self.absent(modifiers.is_empty(), "a modifier of GROUP BY ALL")?;
            }
            GroupByExpr::Expressions(items, modifiers) => {
                for modifier in modifiers {
                    let is_listed = match modifier {
                        GroupByWithModifier::Rollup | GroupByWithModifier::Cube => {
                            self.rules.has(Form::GroupByModifier)
                        }
                        GroupByWithModifier::Totals | GroupByWithModifier::GroupingSets(_) => false,
                    };
                    self.absent(is_listed, "a modifier of GROUP BY")?;
                }
                self.admit_exprs(items)?;
            }
        }
        self.admit_optional(having)?;
        for NamedWindowDefinition(name, window) in named_window {
            self.quote_ident(name)?;
            match window {
                NamedWindowExpr::NamedWindow(name) => self.quote_ident(name)?,
                NamedWindowExpr::WindowSpec(spec) => self.admit_window(spec)?,
            }
        }
        self.admit_optional(qualify)
    }

    /// `LATERAL VIEW explode(items) t AS item`
    fn admit_lateral_view(&mut self, view: &mut LateralView) -> Result<(), SqlError> {
        let LateralView { lateral_view, lateral_view_name, lateral_col_alias, outer: _ } = view;
        let is_call = match lateral_view {
            Expr::Function(function) => self.stands_in_from(&function.name),
            _ => false,
        };
        self.absent(is_call, "LATERAL VIEW without a function that makes rows")?;
        self.admit_expr(lateral_view)?;
        self.admit_object_name(lateral_view_name)?;
        self.quote_idents(lateral_col_alias)
    }

    fn admit_item(&mut self, item: &mut SelectItem) -> Result<(), SqlError> {
        match item {
            SelectItem::UnnamedExpr(Expr::Function(function))
                if self.rules.has(Form::Pivot)
                    && [carry::PIVOT, carry::UNPIVOT]
                        .iter()
                        .any(|mark| carry::is_call(function, mark)) =>
            {
                self.check_carried_list(function)
            }
            SelectItem::UnnamedExpr(expr) => self.admit_expr(expr),
            SelectItem::ExprWithAlias { expr, alias } => {
                self.quote_ident(alias)?;
                self.admit_expr(expr)
            }
            SelectItem::ExprWithAliases { expr, aliases } => {
                self.only(Form::ColumnAliases, false, "AS (…)")?;
                self.quote_idents(aliases)?;
                self.admit_expr(expr)
            }
            SelectItem::QualifiedWildcard(kind, options) => {
                self.admit_wildcard(options)?;
                match kind {
                    SelectItemQualifiedWildcardKind::ObjectName(name) => {
                        self.admit_object_name(name).map(|_| ())
                    }
                    SelectItemQualifiedWildcardKind::Expr(expr) => self.admit_expr(expr),
                }
            }
            SelectItem::Wildcard(options) => self.admit_wildcard(options),
        }
    }

    pub(super) fn admit_wildcard(
        &mut self,
        options: &mut WildcardAdditionalOptions,
    ) -> Result<(), SqlError> {
        let WildcardAdditionalOptions {
            wildcard_token: _,
            opt_ilike,
            opt_exclude,
            opt_except,
            opt_replace,
            opt_rename,
            opt_alias,
        } = options;
        let is_plain = opt_exclude.is_none() && opt_except.is_none() && opt_replace.is_none();
        let is_known = opt_ilike.is_none() && opt_rename.is_none() && opt_alias.is_none();
        self.absent(
            is_known && (is_plain || self.rules.has(Form::WildcardChanges)),
            "a modifier of `*`",
        )?;
        match opt_exclude {
            None => {}
            Some(ExcludeSelectItem::Single(name)) => self.admit_object_name(name).map(|_| ())?,
            Some(ExcludeSelectItem::Multiple(names)) => {
                names.iter_mut().try_for_each(|name| self.admit_object_name(name).map(|_| ()))?;
            }
        }
        if let Some(ExceptSelectItem { first_element, additional_elements }) = opt_except {
            self.quote_ident(first_element)?;
            self.quote_idents(additional_elements)?;
        }
        if let Some(ReplaceSelectItem { items }) = opt_replace {
            for item in items {
                let ReplaceSelectElement { expr, column_name, as_keyword: _ } = &mut **item;
                self.admit_expr(expr)?;
                self.quote_ident(column_name)?;
            }
        }
        Ok(())
    }

    pub(super) fn admit_order(&mut self, items: &mut [OrderByExpr]) -> Result<(), SqlError> {
        for OrderByExpr { expr, options: OrderByOptions { sort, nulls_first: _ }, with_fill } in
            items
        {
            self.admit_sort(sort.as_ref())?;
            self.absent(with_fill.is_none(), "WITH FILL")?;
            self.admit_expr(expr)?;
        }
        Ok(())
    }

    pub(super) fn admit_sort(&self, sort: Option<&OrderBySort>) -> Result<(), SqlError> {
        self.absent(
            sort.is_none_or(|sort| matches!(sort, OrderBySort::Asc | OrderBySort::Desc)),
            "USING",
        )
    }
}
