//! Databricks SQL, over the Statement Execution API.
