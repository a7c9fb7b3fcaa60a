//! Bindings generated from `wit/`: one world that exports every role and imports every port.
#![allow(missing_docs, unreachable_pub, clippy::all, clippy::pedantic)]

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
    imports: { default: async | trappable },
    exports: { default: async },
    with: {
        "syrch:plugin/llm.pending": crate::state::Pending,
        "syrch:plugin/sql.result-set": crate::state::Rows,
        "syrch:plugin/sql.running": crate::state::Running,
        "syrch:plugin/evaluate.judging": crate::state::Judging,
    },
});
