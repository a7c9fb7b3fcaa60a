//! The Rust types that `wit-bindgen` generates from the contract: every port once, with the shared
//! types, and one module for each role's exports.
//!
//! The ports are declared together, so that all roles share one set of Rust types. A component
//! still imports only what its code can reach: the linker drops functions that nobody calls, and
//! componentization drops their imports. Authors reach ports through the traits of [`crate::ports`]
//! alone, of which each role gets exactly its own.

#![allow(missing_docs, unsafe_code, unreachable_pub, clippy::all, reason = "generated from wit")]

/// Every port, and the types that ports and roles share.
pub mod base {
    wit_bindgen::generate!({
        inline: r#"
            package syrch:sdk;
            world ports {
                import syrch:plugin/types@0.1.0;
                import syrch:plugin/run@0.1.0;
                import syrch:plugin/wait@0.1.0;
                import syrch:plugin/llm@0.1.0;
                import syrch:plugin/inspect@0.1.0;
                import syrch:plugin/sql@0.1.0;
                import syrch:plugin/rows@0.1.0;
                import syrch:plugin/cells@0.1.0;
                import syrch:plugin/evaluate@0.1.0;
                import syrch:plugin/retrieval@0.1.0;
                import syrch:plugin/trace@0.1.0;
            }
        "#,
        path: "wit",
        generate_all,
        generate_unused_types: true,
        additional_derives: [PartialEq],
    });
}

pub use base::syrch::plugin::{
    cells, evaluate, inspect, llm, retrieval, rows, run, sql, trace, types, wait,
};

pub mod about {
    wit_bindgen::generate!({
        inline: r#"package syrch:sdk; world about-export { export syrch:plugin/about@0.1.0; }"#,
        path: "wit",
        with: { "syrch:plugin/types@0.1.0": crate::bindings::types },
        pub_export_macro: true,
        export_macro_name: "export_about",
    });
    pub use exports::syrch::plugin::about::*;
}

pub mod linker {
    wit_bindgen::generate!({
        inline: r#"package syrch:sdk; world linker-export { export syrch:plugin/linker@0.1.0; }"#,
        path: "wit",
        with: { "syrch:plugin/types@0.1.0": crate::bindings::types },
        additional_derives: [PartialEq],
        pub_export_macro: true,
        export_macro_name: "export_linker",
    });
    pub use exports::syrch::plugin::linker::*;
}

pub mod planner {
    wit_bindgen::generate!({
        inline: r#"package syrch:sdk; world planner-export { export syrch:plugin/planner@0.1.0; }"#,
        path: "wit",
        with: { "syrch:plugin/types@0.1.0": crate::bindings::types },
        additional_derives: [PartialEq],
        pub_export_macro: true,
        export_macro_name: "export_planner",
    });
    pub use exports::syrch::plugin::planner::*;
}

pub mod solver {
    wit_bindgen::generate!({
        inline: r#"package syrch:sdk; world solver-export { export syrch:plugin/solver@0.1.0; }"#,
        path: "wit",
        with: {
            "syrch:plugin/types@0.1.0": crate::bindings::types,
            "syrch:plugin/sql@0.1.0": crate::bindings::sql,
        },
        pub_export_macro: true,
        export_macro_name: "export_solver",
    });
    pub use exports::syrch::plugin::solver::*;
}

pub mod calibrator {
    wit_bindgen::generate!({
        inline: r#"package syrch:sdk; world calibrator-export { export syrch:plugin/calibrator@0.1.0; }"#,
        path: "wit",
        with: { "syrch:plugin/types@0.1.0": crate::bindings::types },
        pub_export_macro: true,
        export_macro_name: "export_calibrator",
    });
    pub use exports::syrch::plugin::calibrator::*;
}

pub mod reward {
    wit_bindgen::generate!({
        inline: r#"package syrch:sdk; world reward-export { export syrch:plugin/reward@0.1.0; }"#,
        path: "wit",
        with: {
            "syrch:plugin/types@0.1.0": crate::bindings::types,
            "syrch:plugin/sql@0.1.0": crate::bindings::sql,
        },
        pub_export_macro: true,
        export_macro_name: "export_reward",
    });
    pub use exports::syrch::plugin::reward::*;
}

pub mod clarifier {
    wit_bindgen::generate!({
        inline: r#"package syrch:sdk; world clarifier-export { export syrch:plugin/clarifier@0.1.0; }"#,
        path: "wit",
        with: { "syrch:plugin/types@0.1.0": crate::bindings::types },
        pub_export_macro: true,
        export_macro_name: "export_clarifier",
    });
    pub use exports::syrch::plugin::clarifier::*;
}

pub mod aggregator {
    wit_bindgen::generate!({
        inline: r#"package syrch:sdk; world aggregator-export { export syrch:plugin/aggregator@0.1.0; }"#,
        path: "wit",
        with: {
            "syrch:plugin/types@0.1.0": crate::bindings::types,
            "syrch:plugin/sql@0.1.0": crate::bindings::sql,
        },
        pub_export_macro: true,
        export_macro_name: "export_aggregator",
    });
    pub use exports::syrch::plugin::aggregator::*;
}

pub mod rewriter {
    wit_bindgen::generate!({
        inline: r#"package syrch:sdk; world rewriter-export { export syrch:plugin/rewriter@0.1.0; }"#,
        path: "wit",
        with: {
            "syrch:plugin/types@0.1.0": crate::bindings::types,
            "syrch:plugin/inspect@0.1.0": crate::bindings::inspect,
        },
        additional_derives: [PartialEq],
        pub_export_macro: true,
        export_macro_name: "export_rewriter",
    });
    pub use exports::syrch::plugin::rewriter::*;
}
