//! Messages of `hlo.proto`: modules, computations, instructions.

use super::*;

enums! {
    /// `PaddingType`.
    PaddingType {
        PADDING_INVALID = 0;
        PADDING_VALID = 1;
        PADDING_SAME = 2;
    }
    /// `FftType`.
    FftType {
        FFT = 0;
        IFFT = 1;
        RFFT = 2;
        IRFFT = 3;
    }
    /// `RandomDistribution`.
    RandomDistribution {
        RNG_INVALID = 0;
        RNG_UNIFORM = 1;
        RNG_NORMAL = 2;
    }
    /// `RandomAlgorithm`.
    RandomAlgorithm {
        RNG_DEFAULT = 0;
        RNG_THREE_FRY = 1;
        RNG_PHILOX = 2;
    }
    /// `CustomCallSchedule`.
    CustomCallSchedule {
        SCHEDULE_NONE = 0;
        SCHEDULE_LATEST = 1;
        SCHEDULE_EARLIEST = 2;
    }
    /// `TriState`.
    TriState {
        TRI_STATE_UNSPECIFIED = 0;
        TRI_STATE_TRUE = 1;
        TRI_STATE_FALSE = 2;
    }
    /// `ConvolutionKind`.
    ConvolutionKind {
        CONVOLUTION_KIND_UNSET = 0;
        CONVOLUTION_KIND_FPROP = 1;
        CONVOLUTION_KIND_DGRAD = 2;
        CONVOLUTION_KIND_WGRAD = 3;
    }
    /// `CustomCallApiVersion`.
    CustomCallApiVersion {
        API_VERSION_UNSPECIFIED = 0;
        API_VERSION_ORIGINAL = 1;
        API_VERSION_STATUS_RETURNING = 2;
        API_VERSION_STATUS_RETURNING_UNIFIED = 3;
        API_VERSION_TYPED_FFI = 4;
    }
    /// `Kind`.
    AliasKind {
        UNDEFINED_ALIAS = 0;
        MAY_ALIAS = 1;
        MUST_ALIAS = 2;
    }
    /// `HloModuleProto.ProfileType`.
    ModuleProfileType {
        INVALID = 0;
        FLAG = 1;
        FUSION = 2;
        LAYOUT = 3;
        DOT = 4;
        FLAGNET = 5;
        SHARDING = 6;
        SCHEDULE = 7;
    }
}

messages! {
    /// `HloInstructionProto`.
    HloInstructionProto {
        name = 1: string;
        opcode = 2: string;
        shape = 3: message ShapeProto;
        metadata = 7: message OpMetadataProto;
        literal = 8: message LiteralProto;
        parameter_number = 9: int64;
        fusion_kind = 11: string;
        tuple_index = 13: int64;
        dimensions = 14: repeated int64;
        window = 15: message WindowProto;
        convolution_dimension_numbers = 16: message ConvolutionDimensionNumbers;
        slice_dimensions = 17: repeated message SliceDimensions;
        exponent_bits = 18: int32;
        mantissa_bits = 19: int32;
        dynamic_slice_sizes = 20: repeated int64;
        padding_config = 21: message PaddingConfig;
        outfeed_config = 22: bytes;
        distribution = 23: enum RandomDistribution;
        epsilon = 24: float;
        feature_index = 25: int64;
        channel_id = 26: int64;
        infeed_config = 27: bytes;
        custom_call_target = 28: text;
        outfeed_shape = 29: message ShapeProto;
        dot_dimension_numbers = 30: message DotDimensionNumbers;
        fft_type = 31: enum FftType;
        fft_length = 32: repeated int64;
        gather_dimension_numbers = 33: message GatherDimensionNumbers;
        gather_slice_sizes = 34: repeated int64;
        id = 35: int64;
        operand_ids = 36: repeated int64;
        control_predecessor_ids = 37: repeated int64;
        called_computation_ids = 38: repeated int64;
        sharding = 40: message OpSharding;
        backend_config = 43: bytes;
        all_reduce_id = 45: int64;
        is_host_transfer = 47: bool;
        scatter_dimension_numbers = 48: message ScatterDimensionNumbers;
        replica_groups = 49: repeated message ReplicaGroup;
        feature_group_count = 50: int64;
        precision_config = 51: message PrecisionConfig;
        source_target_pairs = 52: repeated message SourceTarget;
        domain_entry_sharding = 54: message OpSharding;
        domain_exit_sharding = 55: message OpSharding;
        constrain_layout = 56: bool;
        operand_shapes_with_layout = 57: repeated message ShapeProto;
        batch_group_count = 58: int64;
        triangular_solve_options = 59: message TriangularSolveOptions;
        is_stable = 60: bool;
        parameter_replication = 61: message ParameterReplication;
        cholesky_options = 62: message CholeskyOptions;
        comparison_direction = 63: string;
        custom_call_has_side_effect = 65: bool;
        delta = 66: int64;
        indices_are_sorted = 67: bool;
        frontend_attributes = 68: message FrontendAttributesProto;
        unique_indices = 69: bool;
        rng_algorithm = 70: enum RandomAlgorithm;
        use_global_device_ids = 71: bool;
        comparison_type = 72: string;
        is_cross_program_prefetch = 73: bool;
        output_operand_aliasing = 74: repeated message OutputOperandAliasing;
        padding_type = 75: enum PaddingType;
        custom_call_schedule = 76: enum CustomCallSchedule;
        custom_call_api_version = 77: enum CustomCallApiVersion;
        async_execution_thread = 79: text;
        cross_program_prefetch_index = 80: optional int32;
        k = 81: int64;
        statistics_viz = 82: message StatisticsViz;
        largest = 85: bool;
        collective_device_list = 87: message CollectiveDeviceListProto;
        original_value = 88: message OriginalValueProto;
        is_composite = 89: bool;
        ragged_dot_dimension_numbers = 90: message RaggedDotDimensionNumbers;
        result_accuracy = 91: message ResultAccuracyProto;
        iota_collective_device_list = 92: message IotaReplicaGroupListProto;
        mesh_axes_replica_group_list = 93: message MeshAxesReplicaGroupListProto;
        is_reverse = 94: bool;
        num_carries = 95: int64;
        is_associative = 96: enum TriState;
        conv_kind = 97: enum ConvolutionKind;
        sparsity_config = 98: message SparsityConfigProto;
        backend_config_payload = 99: message Payload;
        text_attributes = 50001: repeated message TextAttribute;
    }
    /// `HloInstructionProto.SliceDimensions`.
    SliceDimensions {
        start = 1: int64;
        limit = 2: int64;
        stride = 3: int64;
    }
    /// `HloComputationProto`.
    HloComputationProto {
        name = 1: string;
        instructions = 2: repeated message HloInstructionProto;
        program_shape = 4: message ProgramShapeProto;
        id = 5: int64;
        root_id = 6: int64;
        is_fusion_computation = 7: bool;
        execution_thread = 8: text;
    }
    /// `HloScheduleProto`.
    HloScheduleProto {
        sequences = 1: repeated message SequencesEntry;
    }
    /// `HloScheduleProto.SequencesEntry`.
    SequencesEntry {
        key = 1: int64;
        value = 2: message InstructionSequence;
    }
    /// `HloScheduleProto.InstructionSequence`.
    InstructionSequence {
        instruction_ids = 1: repeated int64;
    }
    /// `HloInputOutputAliasProto`.
    HloInputOutputAliasProto {
        entries = 1: repeated message AliasEntryProto;
    }
    /// `HloInputOutputAliasProto.AliasEntryProto`.
    AliasEntryProto {
        output_shape_index = 1: repeated int64;
        parameter_number = 2: int64;
        parameter_shape_index = 3: repeated int64;
        kind = 4: enum AliasKind;
    }
    /// `HloBufferDonorProto`.
    HloBufferDonorProto {
        entries = 1: repeated message BufferDonorEntryProto;
    }
    /// `HloBufferDonorProto.BufferDonorEntryProto`.
    BufferDonorEntryProto {
        parameter_number = 1: int64;
        parameter_shape_index = 2: repeated int64;
    }
    /// `CrossProgramPrefetch`.
    CrossProgramPrefetch {
        parameter = 1: int64;
        index = 2: repeated int64;
        offset = 3: int64;
    }
    /// `StackFrameIndexProto`.
    StackFrameIndexProto {
        file_names = 1: repeated text;
        function_names = 2: repeated text;
        file_locations = 3: repeated message FileLocationProto;
        stack_frames = 4: repeated message StackFrameProto;
    }
    /// `StackFrameIndexProto.FileLocation`.
    FileLocationProto {
        file_name_id = 1: int32;
        function_name_id = 2: int32;
        line = 3: int32;
        column = 4: int32;
        end_line = 5: int32;
        end_column = 6: int32;
    }
    /// `StackFrameIndexProto.StackFrame`.
    StackFrameProto {
        file_location_id = 1: int32;
        parent_frame_id = 2: int32;
    }
    /// `HloModuleProto`.
    HloModuleProto {
        name = 1: string;
        entry_computation_name = 2: string;
        computations = 3: repeated message HloComputationProto;
        host_program_shape = 4: message ProgramShapeProto;
        id = 5: int64;
        entry_computation_id = 6: int64;
        schedule = 7: message HloScheduleProto;
        input_output_alias = 8: message HloInputOutputAliasProto;
        cross_program_prefetches = 10: repeated message CrossProgramPrefetch;
        is_dynamic = 11: bool;
        spmd_output_sharding = 12: message OpSharding;
        profile_info = 13: repeated message ProfileInfo;
        spmd_parameters_shardings = 14: repeated message OpSharding;
        device_assignment = 15: message DeviceAssignmentProto;
        use_auto_spmd_partitioning = 16: bool;
        stack_frame_index = 17: message StackFrameIndexProto;
        buffer_donor = 18: message HloBufferDonorProto;
        frontend_attributes = 19: message FrontendAttributesProto;
        original_value_recovery_table = 20: message OriginalValueRecoveryTableProto;
        device_type = 21: string;
        payloads = 22: repeated bytes;
        pjrt_id = 23: optional int64;
        text_attributes = 50001: repeated message TextAttribute;
    }
    /// `HloModuleProto.ProfileInfo`.
    ProfileInfo {
        profile_type = 1: enum ModuleProfileType;
        relative_speedup = 2: double;
        profile_source = 3: enum ProfileSource;
        compilation_event = 4: enum CompilationEvent;
        fingerprint = 5: string;
        profile_generation_strategy = 6: enum ProfileGenerationStrategy;
        original_changelist = 7: int64;
        changelist = 8: int64;
    }
    /// `OriginalValueRecoveryTableProto`.
    OriginalValueRecoveryTableProto {
        entries = 1: repeated message OriginalValueRecoveryEntry;
    }
    /// `OriginalValueRecoveryTableProto.Entry`.
    OriginalValueRecoveryEntry {
        old_original_array = 1: message OriginalArrayProto;
        new_original_array = 2: message OriginalArrayProto;
        recovery_module = 3: message HloModuleProto;
    }
    /// An attribute as HLO text, for attributes that have no field in XLA's message.
    TextAttribute {
        name = 1: string;
        value = 2: string;
    }
}
