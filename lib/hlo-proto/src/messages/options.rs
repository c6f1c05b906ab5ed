//! Messages of `xla.proto` and `compile_options.proto`: the settings of a compilation.

use super::*;

enums! {
    /// `ExecutionOptions.EffortLevel`.
    EffortLevel {
        EFFORT_UNKNOWN = 0;
        EFFORT_O0 = 9;
        EFFORT_O1 = 19;
        EFFORT_O2 = 29;
        EFFORT_O3 = 39;
    }
    /// `HloModuleConfigProto.FusionConfigCollection`.
    FusionConfigCollection {
        OFF = 0;
        PER_EDGE = 1;
        PER_NODE = 2;
    }
}

messages! {
    /// `HloModuleProtoWithConfig`.
    HloModuleProtoWithConfig {
        hlo_module = 1: message HloModuleProto;
        config = 2: message HloModuleConfigProto;
    }
    /// `HloModuleConfigProto`.
    HloModuleConfigProto {
        entry_computation_layout = 1: message ProgramShapeProto;
        seed = 2: uint64;
        launch_id = 3: int32;
        replica_count = 4: int64;
        num_partitions = 5: int64;
        param_requires_broadcast_via_collectives = 6: repeated bool;
        use_spmd_partitioning = 7: bool;
        use_auto_spmd_partitioning = 8: bool;
        auto_spmd_partitioning_mesh_shape = 9: repeated int64;
        auto_spmd_partitioning_mesh_ids = 10: repeated int64;
        deduplicate_hlo = 11: bool;
        intra_op_parallelism_threads = 12: int64;
        device_type = 13: string;
        debug_options = 14: opaque;
        static_device_assignment = 15: message DeviceAssignmentProto;
        shardable_value_update_pairs = 16: repeated message ShardableValueUpdatePairProto;
        alias_passthrough_params = 17: bool;
        content_aware_computation_sorting = 18: bool;
        fusion_config_collection = 19: enum FusionConfigCollection;
        fusion_config = 20: repeated message BoolList;
        dot_config = 21: repeated message DotConfigEntry;
        layout_config = 22: repeated message Int64ListList;
        memory_space_assignment_config = 23: repeated uint64;
        phase_ordering_config = 24: repeated message BoolList;
        phase_index = 25: int32;
        allow_spmd_sharding_propagation_to_output = 27: repeated bool;
        analysis_allowance_map = 28: repeated message AnalysisAllowanceEntry;
        matrix_unit_operand_precision = 29: enum PrecisionProto;
        allow_separate_sharding_programs = 30: bool;
        fdo_profile = 31: bytes;
        device_memory_size = 32: int64;
        allow_spmd_sharding_propagation_to_parameters = 33: repeated bool;
        use_shardy_partitioner = 34: bool;
        pre_simulation_device_assignment = 35: message DeviceAssignmentProto;
        exec_time_optimization_effort = 36: float;
        memory_fitting_effort = 37: float;
        sharding_config = 38: message ShardingConfigProto;
        optimization_level = 39: enum EffortLevel;
        memory_fitting_level = 40: enum EffortLevel;
        schedule_config = 41: message ScheduleConfigProto;
        partition_size = 42: int64;
    }
    /// `HloModuleConfigProto.BoolList`.
    BoolList {
        vals = 1: repeated bool;
    }
    /// `HloModuleConfigProto.Int64List`.
    Int64List {
        vals = 1: repeated int64;
    }
    /// `HloModuleConfigProto.Int64ListList`.
    Int64ListList {
        lists = 1: repeated message Int64List;
    }
    /// `HloModuleConfigProto.DotConfigEntry`.
    DotConfigEntry {
        key = 1: string;
        value = 2: message Int64List;
    }
    /// `HloModuleConfigProto.AnalysisAllowanceMapEntry`.
    AnalysisAllowanceEntry {
        key = 1: string;
        value = 2: int64;
    }
    /// `ShardableValueUpdatePairProto`.
    ShardableValueUpdatePairProto {
        input_parameter_number = 1: int64;
        parameter_shape_index = 2: repeated int64;
        output_shape_index = 3: repeated int64;
    }
    /// `ShardingConfigProto`.
    ShardingConfigProto {
        nodes = 1: repeated message NodeShardingConfigProto;
    }
    /// `NodeShardingConfigProto`.
    NodeShardingConfigProto {
        sharding = 1: message OpSharding;
        nodes = 2: repeated message NodeShardingConfigProto;
    }
    /// `ScheduleConfigProto`.
    ScheduleConfigProto {
        sequence = 1: repeated message ScheduledInstruction;
    }
    /// `ScheduleConfigProto.Instruction`.
    ScheduledInstruction {
        name = 1: string;
    }
    /// `CompileOptionsProto`.
    CompileOptionsProto {
        argument_layouts = 1: repeated message ShapeProto;
        parameter_is_tupled_arguments = 2: bool;
        executable_build_options = 3: message ExecutableBuildOptionsProto;
        compile_portable_executable = 4: bool;
        profile_version = 5: int64;
        serialized_multi_slice_config = 6: bytes;
        env_option_overrides = 7: repeated message EnvOptionOverride;
        target_config = 8: opaque;
        allow_in_place_mlir_modification = 9: bool;
        matrix_unit_operand_precision = 10: enum PrecisionProto;
        compiler_variant = 11: optional string;
    }
    /// `CompileOptionsProto.EnvOptionOverridesEntry`.
    EnvOptionOverride {
        key = 1: string;
        value = 2: message OptionOverrideProto;
    }
    /// `OptionOverrideProto`.
    OptionOverrideProto {
        string_field = 1: optional text;
        bool_field = 2: optional bool;
        int_field = 3: optional int64;
        double_field = 4: optional double;
    }
    /// `ExecutableBuildOptionsProto`.
    ExecutableBuildOptionsProto {
        device_ordinal = 1: int64;
        result_layout = 2: message ShapeProto;
        debug_options = 3: opaque;
        num_replicas = 4: int64;
        num_partitions = 5: int64;
        use_spmd_partitioning = 6: bool;
        use_auto_spmd_partitioning = 7: bool;
        deduplicate_hlo = 8: bool;
        device_assignment = 9: message DeviceAssignmentProto;
        alias_passthrough_params = 10: bool;
        run_backend_only = 11: bool;
        allow_spmd_sharding_propagation_to_output = 12: repeated bool;
        comp_envs = 13: opaque;
        fdo_profile = 14: bytes;
        device_memory_size = 15: int64;
        auto_spmd_partitioning_mesh_shape = 16: repeated int64;
        auto_spmd_partitioning_mesh_ids = 17: repeated int64;
        allow_spmd_sharding_propagation_to_parameters = 18: repeated bool;
        use_shardy_partitioner = 19: bool;
        exec_time_optimization_effort = 20: float;
        memory_fitting_effort = 21: float;
        process_index = 22: int64;
        process_count = 23: int64;
        optimization_level = 24: enum EffortLevel;
        memory_fitting_level = 25: enum EffortLevel;
        slice_size = 26: int64;
    }
    /// `ExecutableAndOptionsProto`.
    ExecutableAndOptionsProto {
        serialized_executable = 1: bytes;
        compile_options = 2: message CompileOptionsProto;
        pjrt_client_name = 3: string;
    }
}
