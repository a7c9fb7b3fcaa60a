//! Bindings generated from `wit/`: a world that imports every port, whose values can be sent to a
//! worker process, and one that exports every role.
#![allow(missing_docs, unreachable_pub, clippy::all, clippy::pedantic)]

pub mod ports {
    wasmtime::component::bindgen!({
        inline: "
            package syrch:ports;
            world every-port {
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
        ",
        path: "../../wit",
        world: "syrch:ports/every-port",
        imports: { default: async | trappable },
        additional_derives: [serde::Serialize, serde::Deserialize],
        with: {
            "syrch:plugin/llm.pending": crate::state::Pending,
            "syrch:plugin/sql.result-set": crate::state::Rows,
            "syrch:plugin/sql.running": crate::state::Running,
            "syrch:plugin/evaluate.judging": crate::state::Judging,
        },
    });
}

mod roles {
    wasmtime::component::bindgen!({
        inline: "
            package syrch:host;
            world every-role {
                include syrch:plugin/linker-plugin@0.1.0;
                include syrch:plugin/planner-plugin@0.1.0;
                include syrch:plugin/solver-plugin@0.1.0;
                include syrch:plugin/calibrator-plugin@0.1.0;
                include syrch:plugin/reward-plugin@0.1.0;
                include syrch:plugin/clarifier-plugin@0.1.0;
                include syrch:plugin/aggregator-plugin@0.1.0;
                include syrch:plugin/rewriter-plugin@0.1.0;
            }
        ",
        path: "../../wit",
        world: "syrch:host/every-role",
        exports: { default: async },
        with: { "syrch:plugin": crate::bindings::ports::syrch::plugin },
    });
}

pub use ports::{EveryPort, syrch};
pub use roles::exports;
