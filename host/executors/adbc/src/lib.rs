//! Databases of any engine that has an ADBC driver.
