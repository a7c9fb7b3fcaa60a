//! Calls of the host below the SDK, with values that no SDK sends: the canonical ABI has to refuse
//! them.
#![allow(unsafe_code)]

#[cfg(target_arch = "wasm32")]
mod imports {
    #[link(wasm_import_module = "syrch:plugin/trace@0.1.0")]
    unsafe extern "C" {
        #[link_name = "note"]
        pub(super) fn note(level: u32, text: *const u8, length: usize);
    }

    #[link(wasm_import_module = "syrch:plugin/sql@0.1.0")]
    unsafe extern "C" {
        #[link_name = "[resource-drop]result-set"]
        pub(super) fn drop_results(handle: u32);
    }
}

/// The crate is also built for machines that are no guests, where there is nothing to call.
#[cfg(not(target_arch = "wasm32"))]
mod imports {
    pub(super) unsafe fn note(_: u32, _: *const u8, _: usize) {}

    pub(super) unsafe fn drop_results(_: u32) {}
}

/// Sends a remark of a level that does not exist.
pub(crate) fn note_bad_level() {
    let text = "x";
    // SAFETY: the text lives as long as the call, and the host reads no other memory.
    unsafe { imports::note(99, text.as_ptr(), text.len()) }
}

/// Sends a remark that is no UTF-8.
pub(crate) fn note_bad_text() {
    let text = [b'a', 0xff, 0xfe];
    // SAFETY: as above.
    unsafe { imports::note(0, text.as_ptr(), text.len()) }
}

/// Sends a remark that lies outside of the memory.
pub(crate) fn note_outside() {
    // SAFETY: the host checks the range before it reads.
    unsafe { imports::note(0, std::ptr::without_provenance(0xffff_fff0), 0xff) }
}

/// Drops a handle, perhaps one that the guest does not have.
pub(crate) fn drop_handle(handle: u32) {
    // SAFETY: a handle is a number in a table of the host.
    unsafe { imports::drop_results(handle) }
}
