//! HloModuleProto and its kin: modules, snapshots and compile options as protocol buffers.
