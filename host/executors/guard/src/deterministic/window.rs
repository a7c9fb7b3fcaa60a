//! Windows: an aggregate passes over a whole partition alone. Named windows are resolved, with the
//! windows that they are made of.

use std::collections::HashMap;

use sqlparser::ast::{
    NamedWindowDefinition, NamedWindowExpr, OrderByExpr, OrderByOptions, WindowFrame,
    WindowFrameBound, WindowSpec, WindowType,
};
use syrch_core::SqlError;

use super::Walk;

/// The parts of a window that its frame depends on.
#[derive(Debug, Clone, Default)]
pub(super) struct Window {
    /// The window that it is made of, in lower case.
    base: Option<String>,
    is_ordered: bool,
    /// True if its frame is the whole partition; `None` without a frame.
    is_whole: Option<bool>,
}

/// The windows of one SELECT, by their names in lower case; `None` for a name that two of them may
/// have.
pub(super) type Windows = HashMap<String, Option<Window>>;

fn read(spec: &WindowSpec) -> Window {
    let WindowSpec { window_name, partition_by: _, order_by, window_frame } = spec;
    let is_whole = window_frame.as_ref().map(|WindowFrame { units: _, start_bound, end_bound }| {
        let is_first = matches!(start_bound, WindowFrameBound::Preceding(None));
        is_first && matches!(end_bound, Some(WindowFrameBound::Following(None)))
    });
    Window {
        base: window_name.as_ref().map(|name| name.value.to_lowercase()),
        is_ordered: !order_by.is_empty(),
        is_whole,
    }
}

/// Returns true if a window covers its whole partition, whatever the order.
fn is_whole<'w>(windows: &'w Windows, mut window: &'w Window) -> bool {
    let mut is_ordered = false;
    let mut frame = None;
    // A window may only be made of those before it.
    for _ in 0..=windows.len() {
        is_ordered |= window.is_ordered;
        frame = frame.or(window.is_whole);
        match &window.base {
            None => return frame.unwrap_or(!is_ordered),
            Some(base) => match windows.get(base) {
                Some(Some(found)) => window = found,
                Some(None) | None => return false,
            },
        }
    }
    false
}

impl Walk<'_> {
    pub(super) fn windows(&mut self, named: &mut [NamedWindowDefinition]) -> Result<(), SqlError> {
        for NamedWindowDefinition(name, window) in named {
            let window = match window {
                NamedWindowExpr::NamedWindow(base) => {
                    Window { base: Some(base.value.to_lowercase()), ..Window::default() }
                }
                NamedWindowExpr::WindowSpec(spec) => {
                    self.spec(spec)?;
                    read(spec)
                }
            };
            if let Some(scope) = self.scopes.last_mut() {
                let known = scope.windows.entry(name.value.to_lowercase());
                known.and_modify(|known| *known = None).or_insert(Some(window));
            }
        }
        Ok(())
    }

    pub(super) fn is_whole_partition(&self, over: &WindowType) -> bool {
        let Some(scope) = self.scopes.last() else { return false };
        match over {
            WindowType::WindowSpec(spec) => is_whole(&scope.windows, &read(spec)),
            WindowType::NamedWindow(name) => {
                let base = Some(name.value.to_lowercase());
                is_whole(&scope.windows, &Window { base, ..Window::default() })
            }
        }
    }

    pub(super) fn window(&mut self, over: &mut WindowType) -> Result<(), SqlError> {
        match over {
            WindowType::WindowSpec(spec) => self.spec(spec),
            WindowType::NamedWindow(_) => Ok(()),
        }
    }

    fn spec(&mut self, spec: &mut WindowSpec) -> Result<(), SqlError> {
        let WindowSpec { window_name: _, partition_by, order_by, window_frame } = spec;
        for expr in partition_by {
            self.expr(expr)?;
        }
        for OrderByExpr {
            expr,
            options: OrderByOptions { sort: _, nulls_first: _ },
            with_fill: _,
        } in order_by
        {
            self.expr(expr)?;
        }
        if let Some(WindowFrame { units: _, start_bound, end_bound }) = window_frame {
            for bound in std::iter::once(start_bound).chain(end_bound) {
                match bound {
                    WindowFrameBound::CurrentRow => {}
                    WindowFrameBound::Preceding(offset) | WindowFrameBound::Following(offset) => {
                        offset.as_mut().map_or(Ok(()), |offset| self.expr(offset).map(|_| ()))?;
                    }
                }
            }
        }
        Ok(())
    }
}
