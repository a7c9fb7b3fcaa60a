//! The code that is generated from the files in `proto/`.

#[allow(
    missing_docs,
    unreachable_pub,
    dead_code,
    clippy::all,
    clippy::pedantic,
    reason = "generated"
)]
pub(crate) mod google_rpc;
#[allow(
    missing_docs,
    unreachable_pub,
    dead_code,
    clippy::all,
    clippy::pedantic,
    reason = "generated"
)]
pub(crate) mod spark_connect;
