//! The mock as Databricks' own SDK for Python sees it. `tests/databases/databricks.sh` installs the
//! SDK.

use std::process::Command;

use syrch_kit::databricks::{Behaviour, CLIENT, TOKEN, WAREHOUSE};

use crate::common::mock;

#[test]
fn the_sdk_of_databricks_accepts_the_mock() {
    let Some(python) = syrch_kit::find_installed("databricks/bin/python") else { return };
    let mock = mock();
    mock.workspace.set_chunk_rows(1_000);
    mock.workspace.on("hangs", Behaviour::Hangs);
    mock.workspace.on("takes", Behaviour::Takes(3));
    let script = syrch_kit::repository().join("tests/databases/databricks_sdk.py");
    let output = Command::new(python)
        .arg(script)
        .args([&mock.workspace.host(), WAREHOUSE, TOKEN, CLIENT.0, CLIENT.1])
        .env_clear()
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.trim() == "all as expected", "{said}{errors}");
}
