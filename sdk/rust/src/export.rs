//! The macros that declare a plugin type and make a component of it.

use crate::bindings::about::Identity;
use crate::bindings::types::Failure;
use crate::failure::failure;
use crate::roles::Plugin;
use crate::settings::Settings as _;

/// Returns the identity of a plugin, as `about.describe` does.
#[must_use]
pub fn describe<P: Plugin>(version: &str) -> Identity {
    Identity {
        name: P::NAME.to_owned(),
        version: version.to_owned(),
        summary: P::SUMMARY.to_owned(),
        config_schema: P::Settings::schema().to_string(),
    }
}

/// A plugin made from the user's settings; an empty text stands for the defaults.
///
/// # Errors
/// Fails with the kind `input` if the settings do not match the schema of [`describe`].
pub fn fresh<P: Plugin>(config: &str) -> Result<P, Failure> {
    P::Settings::read(config).map(P::new).map_err(|message| {
        failure(crate::bindings::types::FailureKind::Input, format!("{}: {message}", P::NAME))
    })
}

/// Declares a plugin type that holds its settings in the field `settings`, with its name and its
/// summary.
///
/// ```
/// use syrch_plugin::prelude::*;
///
/// syrch_plugin::plugin! {
///     /// Accepts whatever has rows.
///     pub struct HasRows(NoSettings) = "has-rows", "accepts a result that has rows";
/// }
/// assert_eq!(HasRows::NAME, "has-rows");
/// ```
#[macro_export]
macro_rules! plugin {
    (
        $(#[$meta:meta])* $vis:vis struct $plugin:ident($settings:ty) = $name:literal,
        $summary:literal;
    ) => {
        $(#[$meta])*
        #[derive(Debug)]
        $vis struct $plugin {
            #[allow(dead_code, reason = "a plugin without settings does not read them")]
            settings: $settings,
        }

        impl $crate::roles::Plugin for $plugin {
            const NAME: &'static str = $name;
            const SUMMARY: &'static str = $summary;
            type Settings = $settings;

            fn new(settings: $settings) -> Self {
                Self { settings }
            }
        }
    };
}

/// Exports a plugin type under its roles: `export!(MyPlugin: planner)`, or several,
/// `export!(MyPlugin: reward, calibrator)`.
///
/// In a native build nothing is exported, but the compiler still checks that the type implements
/// the roles.
///
/// A component for `wasm32-wasip2` aborts when it panics, which ends the role call. The line
/// `panicked at FILE:LINE: MESSAGE` goes to the standard error output, whose last line is a part of
/// the host's error, and, where the role has the port `trace`, to the log of the search. A role
/// that can say what is wrong returns a [`Failure`](crate::bindings::types::Failure) instead, such
/// as [`internal`](crate::failure::internal) makes of an error.
#[macro_export]
macro_rules! export {
    ($plugin:ty: $($role:ident),+ $(,)?) => {
        $($crate::__check_role!($role, $plugin);)+

        #[cfg(target_arch = "wasm32")]
        #[allow(unsafe_code, unreachable_pub, reason = "the component's entry points")]
        const _: () = {
            struct Component;

            ::std::thread_local! {
                static CONFIG: ::std::cell::RefCell<::std::string::String> =
                    const { ::std::cell::RefCell::new(::std::string::String::new()) };
            }

            // The host has already checked the settings in `configure`; a failure here would be the
            // same one again.
            fn made() -> ::std::result::Result<$plugin, $crate::bindings::types::Failure> {
                CONFIG.with_borrow(|config| $crate::fresh::<$plugin>(config))
            }
            // A component of a calibrator alone must not import the port `trace`, which `note`
            // calls.
            #[allow(dead_code, reason = "for roles with ports")]
            fn plugin() -> ::std::result::Result<$plugin, $crate::bindings::types::Failure> {
                $crate::panics::report(::std::option::Option::Some($crate::panics::note));
                made()
            }
            #[allow(dead_code, reason = "for a calibrator")]
            fn without_ports() -> ::std::result::Result<$plugin, $crate::bindings::types::Failure> {
                $crate::panics::report(::std::option::Option::None);
                made()
            }

            impl $crate::bindings::about::Guest for Component {
                fn describe() -> $crate::bindings::about::Identity {
                    $crate::panics::report(::std::option::Option::None);
                    $crate::describe::<$plugin>(env!("CARGO_PKG_VERSION"))
                }
                fn configure(config: ::std::string::String) -> ::std::result::Result<
                    (), $crate::bindings::types::Failure
                > {
                    $crate::panics::report(::std::option::Option::None);
                    $crate::fresh::<$plugin>(&config)?;
                    CONFIG.set(config);
                    Ok(())
                }
            }
            $crate::bindings::about::export_about!(Component with_types_in $crate::bindings::about);
            $($crate::__export_role!($role, Component);)+
        };
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __check_role {
    (linker, $plugin:ty) => { $crate::__check_role!(@ LinkerRole, $plugin); };
    (planner, $plugin:ty) => { $crate::__check_role!(@ PlannerRole, $plugin); };
    (solver, $plugin:ty) => { $crate::__check_role!(@ SolverRole, $plugin); };
    (calibrator, $plugin:ty) => { $crate::__check_role!(@ CalibratorRole, $plugin); };
    (reward, $plugin:ty) => { $crate::__check_role!(@ RewardRole, $plugin); };
    (clarifier, $plugin:ty) => { $crate::__check_role!(@ ClarifierRole, $plugin); };
    (aggregator, $plugin:ty) => { $crate::__check_role!(@ AggregatorRole, $plugin); };
    (rewriter, $plugin:ty) => { $crate::__check_role!(@ RewriterRole, $plugin); };
    (@ $role:ident, $plugin:ty) => {
        const _: () = {
            const fn implements<P: $crate::roles::$role>() {}
            implements::<$plugin>();
        };
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __export_role {
    (linker, $component:ident) => {
        impl $crate::bindings::linker::Guest for $component {
            fn link(
                problem: $crate::bindings::types::Problem,
                catalog: $crate::bindings::types::Catalog,
            ) -> ::std::result::Result<$crate::roles::Linked, $crate::bindings::types::Failure> {
                $crate::roles::LinkerRole::link(&plugin()?, &$crate::Host, &problem, &catalog)
            }
        }
        $crate::bindings::linker::export_linker!($component with_types_in $crate::bindings::linker);
    };
    (planner, $component:ident) => {
        impl $crate::bindings::planner::Guest for $component {
            fn plan(
                problem: $crate::bindings::types::Problem,
                catalog: $crate::bindings::types::Catalog,
            ) -> ::std::result::Result<
                $crate::bindings::types::Graph, $crate::bindings::types::Failure
            > {
                $crate::roles::PlannerRole::plan(&plugin()?, &$crate::Host, &problem, &catalog)
            }
            fn next(
                problem: $crate::bindings::types::Problem,
                catalog: $crate::bindings::types::Catalog,
                graph: $crate::bindings::types::Graph,
                seen: ::std::vec::Vec<$crate::bindings::types::Observation>,
                fresh: u32,
            ) -> ::std::result::Result<$crate::roles::Step, $crate::bindings::types::Failure> {
                let fresh = (fresh as usize).min(seen.len());
                $crate::roles::PlannerRole::next(
                    &plugin()?, &$crate::Host, &problem, &catalog, &graph, &seen, fresh
                )
            }
        }
        $crate::bindings::planner::export_planner!(
            $component with_types_in $crate::bindings::planner
        );
    };
    (solver, $component:ident) => {
        impl $crate::bindings::solver::Guest for $component {
            fn solve(
                problem: $crate::bindings::types::Problem,
                catalog: $crate::bindings::types::Catalog,
                task: $crate::bindings::types::Task,
                parents: ::std::vec::Vec<$crate::bindings::solver::Parent>,
            ) -> ::std::result::Result<$crate::roles::Outcome, $crate::bindings::types::Failure> {
                let parents: ::std::vec::Vec<$crate::roles::Parent> =
                    parents.into_iter().map(Into::into).collect();
                $crate::roles::SolverRole::solve(
                    &plugin()?, &$crate::Host, &problem, &catalog, &task, &parents
                )
            }
        }
        $crate::bindings::solver::export_solver!($component with_types_in $crate::bindings::solver);
    };
    (calibrator, $component:ident) => {
        impl $crate::bindings::calibrator::Guest for $component {
            fn calibrate(
                claims: ::std::vec::Vec<(f64, $crate::bindings::types::Signals)>,
            ) -> ::std::vec::Vec<f64> {
                // The role cannot fail, and its settings were checked. Without them there are no
                // numbers, and the host refuses a list that is too short.
                without_ports()
                    .map(|plugin| $crate::roles::CalibratorRole::calibrate(&plugin, &claims))
                    .unwrap_or_default()
            }
        }
        $crate::bindings::calibrator::export_calibrator!(
            $component with_types_in $crate::bindings::calibrator
        );
    };
    (reward, $component:ident) => {
        impl $crate::bindings::reward::Guest for $component {
            fn judge(
                problem: $crate::bindings::types::Problem,
                catalog: $crate::bindings::types::Catalog,
                task: $crate::bindings::types::Task,
                rivals: ::std::vec::Vec<$crate::bindings::reward::Rival>,
            ) -> ::std::result::Result<
                ::std::vec::Vec<$crate::bindings::types::Verdict>,
                $crate::bindings::types::Failure,
            > {
                let rivals: ::std::vec::Vec<$crate::roles::Rival> =
                    rivals.into_iter().map(Into::into).collect();
                $crate::roles::RewardRole::judge(
                    &plugin()?, &$crate::Host, &problem, &catalog, &task, &rivals
                )
            }
        }
        $crate::bindings::reward::export_reward!($component with_types_in $crate::bindings::reward);
    };
    (clarifier, $component:ident) => {
        impl $crate::bindings::clarifier::Guest for $component {
            fn assess(
                problem: $crate::bindings::types::Problem,
                catalog: $crate::bindings::types::Catalog,
                graph: $crate::bindings::types::Graph,
                seen: ::std::vec::Vec<$crate::bindings::types::Observation>,
            ) -> ::std::result::Result<
                ::std::vec::Vec<$crate::bindings::types::Question>,
                $crate::bindings::types::Failure,
            > {
                $crate::roles::ClarifierRole::assess(
                    &plugin()?, &$crate::Host, &problem, &catalog, &graph, &seen
                )
            }
        }
        $crate::bindings::clarifier::export_clarifier!(
            $component with_types_in $crate::bindings::clarifier
        );
    };
    (aggregator, $component:ident) => {
        impl $crate::bindings::aggregator::Guest for $component {
            fn aggregate(
                problem: $crate::bindings::types::Problem,
                graph: $crate::bindings::types::Graph,
                finished: ::std::vec::Vec<$crate::bindings::aggregator::Finished>,
                seen: ::std::vec::Vec<$crate::bindings::types::Observation>,
            ) -> ::std::result::Result<
                ::std::option::Option<$crate::roles::Answer>,
                $crate::bindings::types::Failure,
            > {
                let finished: ::std::vec::Vec<$crate::roles::Finished> =
                    finished.into_iter().map(Into::into).collect();
                $crate::roles::AggregatorRole::aggregate(
                    &plugin()?, &$crate::Host, &problem, &graph, &finished, &seen
                )
            }
        }
        $crate::bindings::aggregator::export_aggregator!(
            $component with_types_in $crate::bindings::aggregator
        );
    };
    (rewriter, $component:ident) => {
        impl $crate::bindings::rewriter::Guest for $component {
            fn rewrite(
                original: ::std::string::String,
                best: ::std::string::String,
                plan: $crate::ports::Plan,
                catalog: $crate::bindings::types::Catalog,
                history: ::std::vec::Vec<$crate::roles::Attempt>,
            ) -> ::std::result::Result<
                ::std::option::Option<$crate::roles::Proposal>,
                $crate::bindings::types::Failure,
            > {
                let plugin = plugin()?;
                $crate::roles::RewriterRole::rewrite(
                    &plugin, &$crate::Host, &original, &best, &plan, &catalog, &history
                )
            }
        }
        $crate::bindings::rewriter::export_rewriter!(
            $component with_types_in $crate::bindings::rewriter
        );
    };
}
