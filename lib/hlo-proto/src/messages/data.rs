//! Messages of `xla_data.proto`: shapes, literals, shardings, and the values of attributes.

use super::*;

enums! {
    /// `PrimitiveType`.
    PrimitiveType {
        PRIMITIVE_TYPE_INVALID = 0;
        PRED = 1;
        S1 = 30;
        S2 = 26;
        S4 = 21;
        S8 = 2;
        S16 = 3;
        S32 = 4;
        S64 = 5;
        U1 = 31;
        U2 = 27;
        U4 = 22;
        U8 = 6;
        U16 = 7;
        U32 = 8;
        U64 = 9;
        F16 = 10;
        F32 = 11;
        BF16 = 16;
        F64 = 12;
        F8E5M2 = 19;
        F8E4M3 = 28;
        F8E4M3FN = 20;
        F8E4M3B11FNUZ = 23;
        F8E3M4 = 29;
        F8E5M2FNUZ = 24;
        F8E4M3FNUZ = 25;
        F4E2M1FN = 32;
        F8E8M0FNU = 33;
        F6E3M2FN = 35;
        F6E2M3FN = 36;
        C64 = 15;
        C128 = 18;
        TUPLE = 13;
        OPAQUE_TYPE = 14;
        TOKEN = 17;
        BUFFER = 34;
    }
    /// `DimLevelType`.
    DimLevelType {
        DIM_DENSE = 0;
        DIM_COMPRESSED = 1;
        DIM_SINGLETON = 2;
        DIM_LOOSE_COMPRESSED = 3;
    }
    /// `ProfileType`.
    ProfileType {
        INVALID = 0;
        WINDOW = 1;
        FLAG = 2;
        INTEGER = 3;
    }
    /// `ProfileSource`.
    ProfileSource {
        PROFILE_SOURCE_UNKNOWN_SOURCE = 0;
        PROFILE_SOURCE_EMBEDDED = 1;
        PROFILE_SOURCE_REMOTE = 2;
    }
    /// `CompilationEvent`.
    CompilationEvent {
        COMPILATION_EVENT_UNKNOWN_EVENT = 0;
        COMPILATION_EVENT_FIRST_COMPILATION = 1;
        COMPILATION_EVENT_RECOMPILATION = 2;
    }
    /// `ProfileGenerationStrategy`.
    ProfileGenerationStrategy {
        PROFILE_GENERATION_STRATEGY_UNKNOWN = 0;
        PROFILE_GENERATION_STRATEGY_GA = 1;
        PROFILE_GENERATION_STRATEGY_FANTA = 2;
        PROFILE_GENERATION_STRATEGY_CFO = 3;
        PROFILE_GENERATION_STRATEGY_EXHAUSTIVE = 4;
        PROFILE_GENERATION_STRATEGY_LCM_GNN = 5;
        PROFILE_GENERATION_STRATEGY_LCM_MOE = 6;
    }
    /// `TriangularSolveOptions.Transpose`.
    TransposeProto {
        TRANSPOSE_INVALID = 0;
        NO_TRANSPOSE = 1;
        TRANSPOSE = 2;
        ADJOINT = 3;
    }
    /// `OpSharding.Type`.
    ShardingType {
        REPLICATED = 0;
        MAXIMAL = 1;
        TUPLE = 2;
        OTHER = 3;
        MANUAL = 4;
        UNKNOWN = 5;
        UNREDUCED = 6;
    }
    /// `OpSharding.ShardGroupType`.
    ShardGroupType {
        AS = 0;
        LIKE = 1;
    }
    /// `ResultAccuracy.Mode`.
    ResultAccuracyMode {
        DEFAULT = 0;
        HIGHEST = 1;
    }
    /// `PrecisionConfig.Precision`.
    PrecisionProto {
        DEFAULT = 0;
        HIGH = 1;
        HIGHEST = 2;
    }
    /// `PrecisionConfig.Algorithm`.
    AlgorithmProto {
        ALG_UNSET = 0;
        ALG_DOT_ANY_F8_ANY_F8_F32 = 1;
        ALG_DOT_ANY_F8_ANY_F8_F32_FAST_ACCUM = 2;
        ALG_DOT_F16_F16_F16 = 3;
        ALG_DOT_F16_F16_F32 = 4;
        ALG_DOT_BF16_BF16_BF16 = 5;
        ALG_DOT_BF16_BF16_F32 = 6;
        ALG_DOT_BF16_BF16_F32_X3 = 7;
        ALG_DOT_BF16_BF16_F32_X6 = 8;
        ALG_DOT_TF32_TF32_F32 = 9;
        ALG_DOT_TF32_TF32_F32_X3 = 10;
        ALG_DOT_F32_F32_F32 = 11;
        ALG_DOT_F64_F64_F64 = 12;
        ALG_DOT_BF16_BF16_F32_X9 = 13;
    }
}

messages! {
    /// `PaddingConfig`.
    PaddingConfig {
        dimensions = 1: repeated message PaddingConfigDimension;
    }
    /// `PaddingConfig.PaddingConfigDimension`.
    PaddingConfigDimension {
        edge_padding_low = 1: int64;
        edge_padding_high = 2: int64;
        interior_padding = 3: int64;
    }
    /// `TileProto`.
    TileProto {
        dimensions = 1: repeated int64;
    }
    /// `SplitConfigProto`.
    SplitConfigProto {
        dimension = 1: int64;
        split_indices = 2: repeated int64;
    }
    /// `LayoutProto`.
    LayoutProto {
        minor_to_major = 1: repeated int64;
        tiles = 6: repeated message TileProto;
        element_size_in_bits = 7: int64;
        memory_space = 8: int64;
        dim_level_types = 9: repeated enum DimLevelType;
        physical_shape = 10: message ShapeProto;
        index_primitive_type = 11: enum PrimitiveType;
        pointer_primitive_type = 12: enum PrimitiveType;
        dim_unique = 13: repeated bool;
        dim_ordered = 14: repeated bool;
        dynamic_shape_metadata_prefix_bytes = 15: int64;
        tail_padding_alignment_in_elements = 16: int64;
        split_configs = 17: repeated message SplitConfigProto;
    }
    /// `ShapeProto`.
    ShapeProto {
        element_type = 2: enum PrimitiveType;
        dimensions = 3: repeated int64;
        tuple_shapes = 4: repeated message ShapeProto;
        layout = 5: message LayoutProto;
        is_dynamic_dimension = 6: repeated bool;
    }
    /// `ProgramShapeProto`.
    ProgramShapeProto {
        parameters = 1: repeated message ShapeProto;
        result = 2: message ShapeProto;
        parameter_names = 3: repeated string;
    }
    /// `Payload`.
    Payload {
        value = 1: optional bytes;
        id = 2: optional int64;
    }
    /// `OpMetadata`.
    OpMetadataProto {
        op_type = 1: text;
        op_name = 2: text;
        source_file = 3: text;
        source_line = 4: int32;
        profile_type = 5: repeated enum ProfileType;
        size_of_generated_code_in_bytes = 8: int64;
        size_of_memory_working_set_in_bytes = 9: int64;
        profile_info = 10: message OpProfileInfo;
        deduplicated_name = 12: text;
        stack_frame_id = 15: int32;
        scheduling_name = 16: text;
        source_end_line = 17: int32;
        source_column = 18: int32;
        source_end_column = 19: int32;
        metadata_payload = 20: message Payload;
    }
    /// `OpMetadata.ProfileInfo`.
    OpProfileInfo {
        profile_type = 1: repeated enum ProfileType;
        relative_speedup = 2: double;
        profile_source = 3: enum ProfileSource;
        compilation_event = 4: enum CompilationEvent;
        profile_generation_strategy = 5: enum ProfileGenerationStrategy;
    }
    /// `DeviceAssignmentProto`.
    DeviceAssignmentProto {
        replica_count = 1: int32;
        computation_count = 2: int32;
        computation_devices = 3: repeated message ComputationDevice;
    }
    /// `DeviceAssignmentProto.ComputationDevice`.
    ComputationDevice {
        replica_device_ids = 1: repeated int64;
    }
    /// `LiteralProto`.
    LiteralProto {
        shape = 1: message ShapeProto;
        preds = 2: repeated bool;
        u8s = 3: bytes;
        s32s = 4: repeated int32;
        s64s = 5: repeated int64;
        u32s = 6: repeated uint32;
        u64s = 7: repeated uint64;
        f32s = 8: repeated float;
        f64s = 9: repeated double;
        tuple_literals = 10: repeated message LiteralProto;
        f16s = 11: bytes;
        c64s = 12: repeated float;
        bf16s = 13: bytes;
        sparse_indices = 14: repeated int64;
        s8s = 15: bytes;
        u16s = 16: bytes;
        s16s = 17: bytes;
        c128s = 18: repeated double;
        f8e5m2s = 19: bytes;
        f8e4m3fns = 20: bytes;
        s4s = 21: bytes;
        u4s = 22: bytes;
        f8e4m3b11fnuzs = 23: bytes;
        f8e5m2fnuzs = 24: bytes;
        f8e4m3fnuzs = 25: bytes;
        s2s = 26: bytes;
        u2s = 27: bytes;
        f8e4m3s = 28: bytes;
        f8e3m4s = 29: bytes;
        s1s = 30: bytes;
        u1s = 31: bytes;
        f4e2m1fns = 32: bytes;
        f8e8m0fnus = 33: bytes;
        dynamic_sizes = 34: repeated int32;
        f6e3m2fns = 35: bytes;
        f6e2m3fns = 36: bytes;
    }
    /// `WindowDimension`.
    WindowDimension {
        size = 1: int64;
        stride = 2: int64;
        padding_low = 3: int64;
        padding_high = 4: int64;
        window_dilation = 5: int64;
        base_dilation = 6: int64;
        window_reversal = 7: bool;
    }
    /// `Window`.
    WindowProto {
        dimensions = 1: repeated message WindowDimension;
    }
    /// `GatherDimensionNumbers`.
    GatherDimensionNumbers {
        offset_dims = 1: repeated int64;
        collapsed_slice_dims = 2: repeated int64;
        start_index_map = 3: repeated int64;
        index_vector_dim = 4: int64;
        operand_batching_dims = 5: repeated int64;
        start_indices_batching_dims = 6: repeated int64;
    }
    /// `ScatterDimensionNumbers`.
    ScatterDimensionNumbers {
        update_window_dims = 1: repeated int64;
        inserted_window_dims = 2: repeated int64;
        scatter_dims_to_operand_dims = 3: repeated int64;
        index_vector_dim = 4: int64;
        input_batching_dims = 5: repeated int64;
        scatter_indices_batching_dims = 6: repeated int64;
    }
    /// `ConvolutionDimensionNumbers`.
    ConvolutionDimensionNumbers {
        kernel_input_feature_dimension = 3: int64;
        kernel_output_feature_dimension = 4: int64;
        kernel_spatial_dimensions = 6: repeated int64;
        input_batch_dimension = 7: int64;
        input_feature_dimension = 8: int64;
        output_batch_dimension = 9: int64;
        output_feature_dimension = 10: int64;
        input_spatial_dimensions = 11: repeated int64;
        output_spatial_dimensions = 12: repeated int64;
    }
    /// `SparsityConfig`.
    SparsityConfigProto {
        lhs = 1: message TensorSparsityConfig;
        rhs = 2: message TensorSparsityConfig;
    }
    /// `SparsityConfig.TensorSparsityConfig`.
    TensorSparsityConfig {
        num_non_zero = 1: int64;
        block_size = 2: int64;
        dimension = 3: int64;
        stride = 4: int64;
        index_operand = 50001: optional int64;
    }
    /// `DotDimensionNumbers`.
    DotDimensionNumbers {
        lhs_contracting_dimensions = 1: repeated int64;
        rhs_contracting_dimensions = 2: repeated int64;
        lhs_batch_dimensions = 3: repeated int64;
        rhs_batch_dimensions = 4: repeated int64;
    }
    /// `RaggedDotDimensionNumbers`.
    RaggedDotDimensionNumbers {
        dot_dimension_numbers = 1: message DotDimensionNumbers;
        lhs_ragged_dimensions = 2: repeated int64;
        rhs_group_dimensions = 3: repeated int64;
    }
    /// `TriangularSolveOptions`.
    TriangularSolveOptions {
        left_side = 1: bool;
        lower = 2: bool;
        unit_diagonal = 3: bool;
        transpose_a = 4: enum TransposeProto;
    }
    /// `CholeskyOptions`.
    CholeskyOptions {
        lower = 1: bool;
    }
    /// `FrontendAttributes`.
    FrontendAttributesProto {
        map = 1: repeated message FrontendAttribute;
    }
    /// `FrontendAttributes.MapEntry`.
    FrontendAttribute {
        key = 1: string;
        value = 2: text;
    }
    /// `Statistic`.
    Statistic {
        stat_name = 1: string;
        stat_val = 2: double;
    }
    /// `StatisticsViz`.
    StatisticsViz {
        stat_index_to_visualize = 1: int64;
        statistics = 2: repeated message Statistic;
    }
    /// `MeshProto`.
    MeshProto {
        axes = 1: repeated message MeshAxisProto;
        device_ids = 2: repeated int64;
        iota_transform = 3: message IotaTransform;
    }
    /// `MeshProto.MeshAxis`.
    MeshAxisProto {
        name = 1: text;
        size = 2: int64;
    }
    /// `MeshProto.IotaTransform`.
    IotaTransform {
        reshape_dims = 1: repeated int64;
        transpose_perm = 2: repeated int64;
    }
    /// `AxisRefProto`.
    AxisRefProto {
        mesh_axis_index = 1: int64;
        sub_axis_info = 2: message SubAxis;
    }
    /// `AxisRefProto.SubAxis`.
    SubAxis {
        pre_size = 1: int64;
        size = 2: int64;
    }
    /// `NamedShardingProto`.
    NamedShardingProto {
        mesh = 2: message MeshProto;
        dim_shardings = 3: repeated message DimensionSharding;
        replicated_axes = 4: repeated message AxisRefProto;
        unreduced_axes = 5: repeated message AxisRefProto;
        metadata = 6: repeated message OpMetadataProto;
        manual_axes = 7: repeated message AxisRefProto;
        unreduced_kind = 50001: string;
    }
    /// `NamedShardingProto.DimensionSharding`.
    DimensionSharding {
        axes = 1: repeated message AxisRefProto;
        is_closed = 2: bool;
    }
    /// `OpSharding`.
    OpSharding {
        r#type = 1: enum ShardingType;
        tile_shape = 2: message ShapeProto;
        tile_assignment_dimensions = 3: repeated int64;
        tile_assignment_devices = 4: repeated int64;
        tuple_shardings = 5: repeated message OpSharding;
        replicate_on_last_tile_dim = 6: bool;
        metadata = 7: repeated message OpMetadataProto;
        last_tile_dims = 8: repeated enum ShardingType;
        iota_reshape_dims = 9: repeated int64;
        iota_transpose_perm = 10: repeated int32;
        is_shard_group = 11: bool;
        shard_group_id = 12: int64;
        shard_group_type = 13: enum ShardGroupType;
        named_sharding = 14: message NamedShardingProto;
    }
    /// `ReplicaGroup`.
    ReplicaGroup {
        replica_ids = 1: repeated int64;
    }
    /// `MeshAxesReplicaGroupListProto`.
    MeshAxesReplicaGroupListProto {
        mesh = 1: message MeshProto;
        axes = 2: repeated message AxisRefProto;
    }
    /// `IotaReplicaGroupListProto`.
    IotaReplicaGroupListProto {
        num_replica_groups = 1: int64;
        num_devices_per_group = 2: int64;
        iota_reshape_dims = 3: repeated int64;
        iota_transpose_perm = 4: repeated int32;
    }
    /// `CollectiveDeviceListProto`.
    CollectiveDeviceListProto {
        replica_groups = 1: repeated message ReplicaGroup;
    }
    /// `SourceTarget`.
    SourceTarget {
        source = 1: int64;
        target = 2: int64;
    }
    /// `ResultAccuracy`.
    ResultAccuracyProto {
        mode = 1: optional enum ResultAccuracyMode;
        tolerance = 2: message Tolerance;
    }
    /// `ResultAccuracy.Tolerance`.
    Tolerance {
        atol = 1: double;
        rtol = 2: double;
        ulps = 3: int64;
    }
    /// `PrecisionConfig`.
    PrecisionConfig {
        operand_precision = 1: repeated enum PrecisionProto;
        algorithm = 2: enum AlgorithmProto;
    }
    /// `ParameterReplication`.
    ParameterReplication {
        replicated_at_leaf_buffers = 1: repeated bool;
    }
    /// `OutputOperandAliasing`.
    OutputOperandAliasing {
        output_shape_index = 1: repeated int64;
        operand_index = 2: int64;
        operand_shape_index = 3: repeated int64;
    }
    /// `OriginalArrayProto`.
    OriginalArrayProto {
        instruction_name = 1: text;
        shape_index = 2: repeated int64;
    }
    /// `OriginalValueElementProto`.
    OriginalValueElementProto {
        shape_index = 1: repeated int64;
        original_array = 2: message OriginalArrayProto;
    }
    /// `OriginalValueProto`.
    OriginalValueProto {
        elements = 1: repeated message OriginalValueElementProto;
        is_synthetic_call = 2: bool;
    }
}
