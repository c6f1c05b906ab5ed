//! The extension's structs of arguments.
#![allow(missing_docs, reason = "fields are named as in the header, which documents them")]

use super::MemoryLayout;
use crate::buffer::Buffer;
use crate::client::Client;
use crate::executable::Executable;
use crate::sys::{Args, Extension, Handle, List, Serialized};
use crate::topology::Topology;

crate::sys::args::args! {
    MemoryLayoutDestroy { layout: Handle<MemoryLayout> }
    MemoryLayoutSerialize { layout: Handle<MemoryLayout>, serialized: Serialized }
    ClientGetDefaultLayout {
        client: Handle<Client>, element_type: i32, dims: List<i64>, layout: Handle<MemoryLayout>
    }
    BufferLayout { buffer: Handle<Buffer>, layout: Handle<MemoryLayout> }
    TopologyGetDefaultLayout {
        topology: Handle<Topology>, element_type: i32, dims: List<i64>, layout: Handle<MemoryLayout>
    }
    ExecutableGetLayouts {
        executable: Handle<Executable>, count: usize, layouts: *const Handle<MemoryLayout>
    }
}
