//! syrch-e2e.
