//! The index of values, samples and statistics, by statements of the host.
