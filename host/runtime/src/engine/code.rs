//! The memory of code. wasmtime makes only such memory executable by itself as it has mapped, and
//! code that lies in the binary is no such memory.

use rustix::mm::{MprotectFlags, mprotect};
use wasmtime::CustomCodeMemory;

/// Makes code executable where it lies.
pub(super) struct Executable;

impl CustomCodeMemory for Executable {
    fn required_alignment(&self) -> usize {
        rustix::param::page_size()
    }

    fn publish_executable(&self, code: *const u8, bytes: usize) -> wasmtime::Result<()> {
        // SAFETY: wasmtime calls this for whole pages that hold nothing but code, and writes there
        // no more.
        #[allow(unsafe_code)]
        unsafe {
            mprotect(code.cast_mut().cast(), bytes, MprotectFlags::READ | MprotectFlags::EXEC)
        }?;
        Ok(())
    }

    /// Leaves the code as it is: wasmtime unmaps its own next, and no other engine of this process
    /// gets what lies in the binary.
    fn unpublish_executable(&self, _: *const u8, _: usize) -> wasmtime::Result<()> {
        Ok(())
    }
}
