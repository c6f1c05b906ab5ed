//! Messages of `hlo.proto` that contain a module, and the messages that they contain.

use super::*;

enums! {
    /// `HeapSimulatorTrace.Event.Kind`.
    HeapEventKind {
        ALLOC = 0;
        FREE = 1;
        SHARE_WITH = 2;
    }
}

messages! {
    /// `HloProto`.
    HloProto {
        hlo_module = 1: message HloModuleProto;
        buffer_assignment = 3: message BufferAssignmentProto;
    }
    /// `HloSnapshot`.
    HloSnapshot {
        hlo = 1: message HloProto;
        arguments = 2: repeated message LiteralProto;
        result = 3: message LiteralProto;
        execution_platform = 4: string;
    }
    /// `HloUnoptimizedSnapshot`.
    HloUnoptimizedSnapshot {
        hlo_module = 1: message HloModuleProto;
        partitions = 2: repeated message HloInputs;
        version = 3: int32;
    }
    /// `HloInputs`.
    HloInputs {
        arguments = 1: repeated message LiteralProto;
        arguments_descriptors = 2: repeated message LiteralDescriptor;
    }
    /// `HloInputs.LiteralDescriptor`.
    LiteralDescriptor {
        version = 1: int32;
        argument_size_bytes = 2: uint64;
    }
    /// `BufferAssignmentProto`.
    BufferAssignmentProto {
        logical_buffers = 1: repeated message LogicalBufferProto;
        buffer_aliases = 2: repeated message BufferAlias;
        buffer_allocations = 3: repeated message BufferAllocationProto;
        heap_simulator_traces = 4: repeated message HeapSimulatorTrace;
        peak_buffers = 5: repeated message PeakBuffers;
    }
    /// `BufferAssignmentProto.BufferAlias`.
    BufferAlias {
        source_buffer_id = 1: int64;
        location = 2: message BufferLocation;
    }
    /// `BufferAssignmentProto.PeakBuffers`.
    PeakBuffers {
        index = 1: int64;
        logical_buffer_ids = 2: repeated int64;
    }
    /// `LogicalBufferProto`.
    LogicalBufferProto {
        id = 1: int64;
        size = 2: int64;
        defined_at = 3: message BufferLocation;
        color = 4: int64;
    }
    /// `LogicalBufferProto.Location`.
    BufferLocation {
        instruction_name = 2: string;
        shape_index = 3: repeated int64;
        instruction_id = 4: int64;
    }
    /// `BufferAllocationProto`.
    BufferAllocationProto {
        index = 1: int64;
        size = 2: int64;
        is_thread_local = 3: bool;
        is_entry_computation_parameter = 5: bool;
        parameter_number = 6: int64;
        maybe_live_out = 7: bool;
        color = 8: int64;
        assigned = 9: repeated message AssignedBuffer;
        parameter_shape_index = 10: repeated int64;
        is_tuple = 11: bool;
        is_constant = 12: bool;
        is_parameter_aliased_with_output = 13: bool;
    }
    /// `BufferAllocationProto.Assigned`.
    AssignedBuffer {
        logical_buffer_id = 1: int64;
        offset = 2: int64;
        size = 3: int64;
        element_type = 4: enum PrimitiveType;
    }
    /// `HeapSimulatorTrace`.
    HeapSimulatorTrace {
        events = 1: repeated message HeapSimulatorEvent;
        whole_module_simulation = 2: bool;
        buffer_allocation_index = 3: int64;
    }
    /// `HeapSimulatorTrace.Event`.
    HeapSimulatorEvent {
        kind = 1: enum HeapEventKind;
        buffer_id = 2: int64;
        computation_name = 3: string;
        instruction_name = 4: string;
        share_with_canonical_id = 5: int64;
    }
}
