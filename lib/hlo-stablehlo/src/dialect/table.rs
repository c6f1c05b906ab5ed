//! The table of operations.

use super::info::{Inherent, OperationInfo, Versioned};
use super::version::Version;

/// Reads the table. An entry contains the name of an operation, its inherent attributes, and after `=` the
/// corresponding VHLO operations. Each VHLO operation has the version that introduced it, `to` with the last
/// version that has it, and its attributes.
macro_rules! operations {
    ($($name:literal [$($attribute:literal),*]
        $(= $($versioned:literal $since:literal $(to $until:literal)? [$($field:literal),*])|+)?;)*) => {
        /// All operations, sorted by name.
        pub(super) static OPERATIONS: &[OperationInfo] = &[$(OperationInfo {
            name: $name,
            attributes: &[$(Inherent::parse($attribute)),*],
            vhlo: &[$($(Versioned {
                name: $versioned,
                since: Version::parse_constant($since),
                until: first(&[$(Version::parse_constant($until))?]),
                attributes: &[$($field),*],
            }),+)?],
        },)*];
    };
}

/// Returns the only element, if there is one.
const fn first(versions: &[Version]) -> Option<Version> {
    if versions.is_empty() { None } else { Some(versions[0]) }
}

operations! {
    "builtin.module" ["sym_name?", "sym_visibility?"];
    "builtin.unrealized_conversion_cast" [];
    "chlo._asin_acos_kernel" [];
    "chlo.acos" [];
    "chlo.acosh" [];
    "chlo.asin" [];
    "chlo.asinh" [];
    "chlo.atan" [];
    "chlo.atanh" [];
    "chlo.bessel_i1e" [];
    "chlo.broadcast_add" ["broadcast_dimensions?:i64s"];
    "chlo.broadcast_and" ["broadcast_dimensions?:i64s"];
    "chlo.broadcast_atan2" ["broadcast_dimensions?:i64s"];
    "chlo.broadcast_compare" ["broadcast_dimensions?:i64s", "compare_type?", "comparison_direction"];
    "chlo.broadcast_complex" ["broadcast_dimensions?:i64s"];
    "chlo.broadcast_divide" ["broadcast_dimensions?:i64s"];
    "chlo.broadcast_maximum" ["broadcast_dimensions?:i64s"];
    "chlo.broadcast_minimum" ["broadcast_dimensions?:i64s"];
    "chlo.broadcast_multiply" ["broadcast_dimensions?:i64s"];
    "chlo.broadcast_next_after" ["broadcast_dimensions?:i64s"];
    "chlo.broadcast_or" ["broadcast_dimensions?:i64s"];
    "chlo.broadcast_polygamma" ["broadcast_dimensions?:i64s"];
    "chlo.broadcast_power" ["broadcast_dimensions?:i64s"];
    "chlo.broadcast_remainder" ["broadcast_dimensions?:i64s"];
    "chlo.broadcast_select" [];
    "chlo.broadcast_shift_left" ["broadcast_dimensions?:i64s"];
    "chlo.broadcast_shift_right_arithmetic" ["broadcast_dimensions?:i64s"];
    "chlo.broadcast_shift_right_logical" ["broadcast_dimensions?:i64s"];
    "chlo.broadcast_subtract" ["broadcast_dimensions?:i64s"];
    "chlo.broadcast_xor" ["broadcast_dimensions?:i64s"];
    "chlo.broadcast_zeta" ["broadcast_dimensions?:i64s"];
    "chlo.conj" [];
    "chlo.constant" ["value"];
    "chlo.constant_like" ["value"];
    "chlo.cosh" [];
    "chlo.digamma" [];
    "chlo.erf" [];
    "chlo.erf_inv" [];
    "chlo.erfc" [];
    "chlo.is_inf" [];
    "chlo.is_neg_inf" [];
    "chlo.is_pos_inf" [];
    "chlo.lgamma" [];
    "chlo.mulhi" [];
    "chlo.next_after" [];
    "chlo.polygamma" [];
    "chlo.ragged_dot" ["precision_config?", "ragged_dot_dimension_numbers"];
    "chlo.scan" ["dimension", "is_associative?", "is_reverse?", "scan_dim_size?"];
    "chlo.sinh" [];
    "chlo.square" [];
    "chlo.tan" [];
    "chlo.top_k" ["is_stable?+", "k"];
    "chlo.zeta" [];
    "func.call" ["arg_attrs?", "callee", "no_inline?+", "res_attrs?"] = "call_v1" "0.9.0" ["callee"];
    "func.call_indirect" ["arg_attrs?", "res_attrs?"];
    "func.constant" ["value"];
    "func.func" ["arg_attrs?", "function_type", "no_inline?+", "res_attrs?", "sym_name", "sym_visibility?"]
        = "func_v1" "0.9.0" ["arg_attrs", "function_type", "res_attrs", "sym_name", "sym_visibility"];
    "func.return" [] = "return_v1" "0.9.0" [];
    "sdy.all_gather" ["gathering_axes", "out_sharding"];
    "sdy.all_reduce" ["out_sharding", "reduction_axes", "reduction_op"];
    "sdy.all_slice" ["out_sharding", "slicing_axes"];
    "sdy.all_to_all" ["out_sharding", "params"];
    "sdy.collective_permute" ["out_sharding"];
    "sdy.constant" ["value"];
    "sdy.data_flow_edge" ["sharding?"];
    "sdy.func_data_flow_edge" [];
    "sdy.manual_computation" ["in_shardings", "manual_axes", "out_shardings"];
    "sdy.mesh" ["mesh", "sym_name"];
    "sdy.named_computation" ["in_shardings?", "name", "out_shardings?"];
    "sdy.propagation_barrier" ["allowed_direction"];
    "sdy.reduce_scatter" ["out_sharding", "reduce_scatter_axes", "reduction_op"];
    "sdy.replicated_to_unreduced" ["axes", "out_sharding"];
    "sdy.reshard" ["sharding"];
    "sdy.return" [];
    "sdy.sharded_to_unreduced" ["axes", "out_sharding"];
    "sdy.sharding_constraint" ["sharding"];
    "sdy.sharding_group" ["group_id"];
    "stablehlo.abs" [] = "abs_v1" "0.9.0" [];
    "stablehlo.add" [] = "add_v1" "0.9.0" [];
    "stablehlo.after_all" [] = "after_all_v1" "0.9.0" [];
    "stablehlo.all_gather" ["all_gather_dim", "channel_handle?", "replica_groups", "use_global_device_ids?"]
        = "all_gather_v1" "0.9.0" to "1.4.0" ["all_gather_dim", "channel_id", "replica_groups",
            "use_global_device_ids"]
        | "all_gather_v2" "1.5.0" ["all_gather_dim", "channel_id", "replica_groups", "use_global_device_ids"];
    "stablehlo.all_reduce" ["channel_handle?", "replica_groups", "use_global_device_ids?"]
        = "all_reduce_v1" "0.9.0" to "1.4.0" ["channel_id", "replica_groups", "use_global_device_ids"]
        | "all_reduce_v2" "1.5.0" ["channel_id", "replica_groups", "use_global_device_ids"];
    "stablehlo.all_to_all" ["channel_handle?", "concat_dimension", "replica_groups", "split_count",
        "split_dimension"]
        = "all_to_all_v1" "0.9.0" to "1.4.0" ["channel_id", "concat_dimension", "replica_groups",
            "split_count", "split_dimension"]
        | "all_to_all_v2" "1.5.0" ["channel_id", "concat_dimension", "replica_groups", "split_count",
            "split_dimension"];
    "stablehlo.and" [] = "and_v1" "0.9.0" [];
    "stablehlo.async_done" [] = "async_done_v1" "1.15.0" [];
    "stablehlo.async_start" [] = "async_start_v1" "1.15.0" [];
    "stablehlo.atan2" [] = "atan2_v1" "0.9.0" [];
    "stablehlo.batch_norm_grad" ["epsilon", "feature_index"]
        = "batch_norm_grad_v1" "0.9.0" ["epsilon", "feature_index"];
    "stablehlo.batch_norm_inference" ["epsilon", "feature_index"]
        = "batch_norm_inference_v1" "0.9.0" ["epsilon", "feature_index"];
    "stablehlo.batch_norm_training" ["epsilon", "feature_index"]
        = "batch_norm_training_v1" "0.9.0" ["epsilon", "feature_index"];
    "stablehlo.bitcast_convert" [] = "bitcast_convert_v1" "0.9.0" [];
    "stablehlo.broadcast" ["broadcast_sizes:i64s"] = "broadcast_v1" "0.9.0" ["broadcast_sizes"];
    "stablehlo.broadcast_in_dim" ["broadcast_dimensions:i64s"]
        = "broadcast_in_dim_v1" "0.9.0" ["broadcast_dimensions"];
    "stablehlo.case" [] = "case_v1" "0.9.0" [];
    "stablehlo.cbrt" ["result_accuracy?+"]
        = "cbrt_v1" "0.9.0" to "1.9.0" []
        | "cbrt_v2" "1.10.0" ["result_accuracy"];
    "stablehlo.ceil" [] = "ceil_v1" "0.9.0" [];
    "stablehlo.cholesky" ["lower?"] = "cholesky_v1" "0.9.0" ["lower"];
    "stablehlo.clamp" [] = "clamp_v1" "0.9.0" [];
    "stablehlo.collective_broadcast" ["channel_handle?", "has_dynamic_root?+", "replica_groups"]
        = "collective_broadcast_v1" "0.16.0" to "1.19.0" ["channel_id", "replica_groups"]
        | "collective_broadcast_v2" "1.20.0" ["channel_id", "has_dynamic_root", "replica_groups"];
    "stablehlo.collective_permute" ["channel_handle?", "source_target_pairs"]
        = "collective_permute_v1" "0.9.0" ["channel_id", "source_target_pairs"];
    "stablehlo.collective_reduce" ["channel_handle?", "has_dynamic_root?", "replica_groups",
        "use_global_device_ids?"]
        = "collective_reduce_v1" "1.19.0" ["channel_id", "has_dynamic_root", "replica_groups",
            "use_global_device_ids"];
    "stablehlo.compare" ["compare_type?", "comparison_direction"]
        = "compare_v1" "0.9.0" ["compare_type", "comparison_direction"];
    "stablehlo.complex" [] = "complex_v1" "0.9.0" [];
    "stablehlo.composite" ["composite_attributes?", "decomposition", "name", "version?"]
        = "composite_v1" "0.19.0" to "1.13.0" ["composite_attributes", "decomposition", "name", "version"]
        | "composite_v2" "1.14.0" ["composite_attributes", "decomposition", "name", "version"];
    "stablehlo.concatenate" ["dimension"] = "concatenate_v1" "0.9.0" ["dimension"];
    "stablehlo.constant" ["value"] = "constant_v1" "0.9.0" ["value"];
    "stablehlo.convert" [] = "convert_v1" "0.9.0" [];
    "stablehlo.convolution" ["batch_group_count", "dimension_numbers", "feature_group_count",
        "lhs_dilation?:i64s", "padding?", "precision_config?", "rhs_dilation?:i64s", "window_reversal?:bools",
        "window_strides?:i64s"]
        = "convolution_v1" "0.9.0" ["batch_group_count", "feature_group_count", "input_batch_dimension",
            "input_feature_dimension", "input_spatial_dimensions", "kernel_input_feature_dimension",
            "kernel_output_feature_dimension", "kernel_spatial_dimensions", "lhs_dilation",
            "output_batch_dimension", "output_feature_dimension", "output_spatial_dimensions", "padding",
            "precision_config", "rhs_dilation", "window_reversal", "window_strides"];
    "stablehlo.cosine" ["result_accuracy?+"]
        = "cosine_v1" "0.9.0" to "1.9.0" []
        | "cosine_v2" "1.10.0" ["result_accuracy"];
    "stablehlo.count_leading_zeros" [] = "count_leading_zeros_v1" "0.9.0" [];
    "stablehlo.create_token" [] = "create_token_v1" "0.9.0" [];
    "stablehlo.cross-replica-sum" ["replica_groups"] = "cross-replica-sum_v1" "0.9.0" ["replica_groups"];
    "stablehlo.custom_call" ["api_version?", "backend_config?", "call_target_name", "called_computations?",
        "has_side_effect?", "operand_layouts?", "output_operand_aliases?", "result_layouts?",
        "result_tilings?+"]
        = "custom_call_v1" "0.9.0" to "1.17.0" ["api_version", "backend_config", "call_target_name",
            "called_computations", "has_side_effect", "operand_layouts", "output_operand_aliases",
            "result_layouts"]
        | "custom_call_v2" "1.18.0" ["api_version", "backend_config", "call_target_name",
            "called_computations", "has_side_effect", "operand_layouts", "output_operand_aliases",
            "result_layouts", "result_tilings"];
    "stablehlo.divide" [] = "divide_v1" "0.9.0" [];
    "stablehlo.dot" ["precision_config?"] = "dot_v1" "0.9.0" ["precision_config"];
    "stablehlo.dot_general" ["algorithm?+", "dot_dimension_numbers", "precision_config?"]
        = "dot_general_v1" "0.9.0" to "1.5.0" ["lhs_batching_dimensions", "lhs_contracting_dimensions",
            "precision_config", "rhs_batching_dimensions", "rhs_contracting_dimensions"]
        | "dot_general_v2" "1.6.0" ["accumulation_type", "allow_imprecise_accumulation",
            "lhs_batching_dimensions", "lhs_component_count", "lhs_contracting_dimensions",
            "lhs_precision_type", "num_primitive_operations", "precision_config", "rhs_batching_dimensions",
            "rhs_component_count", "rhs_contracting_dimensions", "rhs_precision_type"];
    "stablehlo.dynamic_broadcast_in_dim" ["broadcast_dimensions:i64s", "known_expanding_dimensions?:i64s",
        "known_nonexpanding_dimensions?:i64s"]
        = "dynamic_broadcast_in_dim_v1" "0.9.0" ["broadcast_dimensions", "known_expanding_dimensions",
            "known_nonexpanding_dimensions"];
    "stablehlo.dynamic_conv" ["batch_group_count", "dimension_numbers", "feature_group_count",
        "lhs_dilation?:i64s", "precision_config?", "rhs_dilation?:i64s", "window_reversal?:bools",
        "window_strides?:i64s"]
        = "dynamic_conv_v1" "0.9.0" to "0.19.0" ["batch_group_count", "feature_group_count",
            "input_batch_dimension", "input_feature_dimension", "input_spatial_dimensions",
            "kernel_input_feature_dimension", "kernel_output_feature_dimension", "kernel_spatial_dimensions",
            "lhs_dilation", "output_batch_dimension", "output_feature_dimension", "output_spatial_dimensions",
            "padding", "precision_config", "rhs_dilation", "window_reversal", "window_strides"]
        | "dynamic_conv_v2" "0.20.0" ["batch_group_count", "feature_group_count", "input_batch_dimension",
            "input_feature_dimension", "input_spatial_dimensions", "kernel_input_feature_dimension",
            "kernel_output_feature_dimension", "kernel_spatial_dimensions", "lhs_dilation",
            "output_batch_dimension", "output_feature_dimension", "output_spatial_dimensions",
            "precision_config", "rhs_dilation", "window_reversal", "window_strides"];
    "stablehlo.dynamic_gather" ["dimension_numbers", "indices_are_sorted?"]
        = "dynamic_gather_v1" "0.9.0" to "1.0.0" ["collapsed_slice_dims", "index_vector_dim",
            "indices_are_sorted", "offset_dims", "start_index_map"]
        | "dynamic_gather_v2" "1.1.0" ["collapsed_slice_dims", "index_vector_dim", "indices_are_sorted",
            "offset_dims", "operand_batching_dims", "start_index_map", "start_indices_batching_dims"];
    "stablehlo.dynamic_iota" ["iota_dimension"] = "dynamic_iota_v1" "0.9.0" ["iota_dimension"];
    "stablehlo.dynamic_pad" [] = "dynamic_pad_v1" "0.9.0" [];
    "stablehlo.dynamic_reshape" [] = "dynamic_reshape_v1" "0.9.0" [];
    "stablehlo.dynamic_slice" ["slice_sizes:i64s"] = "dynamic_slice_v1" "0.9.0" ["slice_sizes"];
    "stablehlo.dynamic_update_slice" [] = "dynamic_update_slice_v1" "0.9.0" [];
    "stablehlo.einsum" ["einsum_config"] = "einsum_v1" "0.9.0" ["einsum_config"];
    "stablehlo.exponential" ["result_accuracy?+"]
        = "exponential_v1" "0.9.0" to "1.8.0" []
        | "exponential_v2" "1.9.0" ["result_accuracy"];
    "stablehlo.exponential_minus_one" ["result_accuracy?+"]
        = "exponential_minus_one_v1" "0.9.0" to "1.9.0" []
        | "exponential_minus_one_v2" "1.10.0" ["result_accuracy"];
    "stablehlo.fft" ["fft_length:i64s", "fft_type"] = "fft_v1" "0.9.0" ["fft_length", "fft_type"];
    "stablehlo.floor" [] = "floor_v1" "0.9.0" [];
    "stablehlo.gather" ["dimension_numbers", "indices_are_sorted?", "slice_sizes:i64s"]
        = "gather_v1" "0.9.0" to "1.0.0" ["collapsed_slice_dims", "index_vector_dim", "indices_are_sorted",
            "offset_dims", "slice_sizes", "start_index_map"]
        | "gather_v2" "1.1.0" ["collapsed_slice_dims", "index_vector_dim", "indices_are_sorted",
            "offset_dims", "operand_batching_dims", "slice_sizes", "start_index_map",
            "start_indices_batching_dims"];
    "stablehlo.get_dimension_size" ["dimension"] = "get_dimension_size_v1" "0.9.0" ["dimension"];
    "stablehlo.get_tuple_element" ["index"] = "get_tuple_element_v1" "0.9.0" ["index"];
    "stablehlo.if" [] = "if_v1" "0.9.0" [];
    "stablehlo.imag" [] = "imag_v1" "0.9.0" [];
    "stablehlo.infeed" ["infeed_config", "layout?"] = "infeed_v1" "0.9.0" ["infeed_config", "layout"];
    "stablehlo.iota" ["iota_dimension"] = "iota_v1" "0.9.0" ["iota_dimension"];
    "stablehlo.is_finite" [] = "is_finite_v1" "0.9.0" [];
    "stablehlo.log" ["result_accuracy?+"]
        = "log_v1" "0.9.0" to "1.9.0" []
        | "log_v2" "1.10.0" ["result_accuracy"];
    "stablehlo.log_plus_one" ["result_accuracy?+"]
        = "log_plus_one_v1" "0.9.0" to "1.9.0" []
        | "log_plus_one_v2" "1.10.0" ["result_accuracy"];
    "stablehlo.logistic" ["result_accuracy?+"]
        = "logistic_v1" "0.9.0" to "1.9.0" []
        | "logistic_v2" "1.10.0" ["result_accuracy"];
    "stablehlo.map" ["dimensions:i64s"] = "map_v1" "0.9.0" ["dimensions"];
    "stablehlo.maximum" [] = "maximum_v1" "0.9.0" [];
    "stablehlo.minimum" [] = "minimum_v1" "0.9.0" [];
    "stablehlo.multiply" [] = "multiply_v1" "0.9.0" [];
    "stablehlo.negate" [] = "negate_v1" "0.9.0" [];
    "stablehlo.not" [] = "not_v1" "0.9.0" [];
    "stablehlo.optimization_barrier" [] = "optimization_barrier_v1" "0.9.0" [];
    "stablehlo.or" [] = "or_v1" "0.9.0" [];
    "stablehlo.outfeed" ["outfeed_config"] = "outfeed_v1" "0.9.0" ["outfeed_config"];
    "stablehlo.pad" ["edge_padding_high:i64s", "edge_padding_low:i64s", "interior_padding:i64s"]
        = "pad_v1" "0.9.0" ["edge_padding_high", "edge_padding_low", "interior_padding"];
    "stablehlo.partition_id" [] = "partition_id_v1" "0.9.0" [];
    "stablehlo.popcnt" [] = "popcnt_v1" "0.9.0" [];
    "stablehlo.power" [] = "power_v1" "0.9.0" [];
    "stablehlo.real" [] = "real_v1" "0.9.0" [];
    "stablehlo.real_dynamic_slice" [] = "real_dynamic_slice_v1" "0.9.0" [];
    "stablehlo.recv" ["channel_handle", "is_host_transfer?", "source_target_pairs?+"]
        = "recv_v1" "0.9.0" to "1.11.0" ["channel_id", "channel_type", "is_host_transfer"]
        | "recv_v2" "1.12.0" ["channel_id", "channel_type", "is_host_transfer", "source_target_pairs"];
    "stablehlo.reduce" ["dimensions:i64s"] = "reduce_v1" "0.9.0" ["dimensions"];
    "stablehlo.reduce_precision" ["exponent_bits", "mantissa_bits"]
        = "reduce_precision_v1" "0.9.0" ["exponent_bits", "mantissa_bits"];
    "stablehlo.reduce_scatter" ["channel_handle?", "replica_groups", "scatter_dimension",
        "use_global_device_ids?"]
        = "reduce_scatter_v1" "0.9.0" ["channel_id", "replica_groups", "scatter_dimension",
            "use_global_device_ids"];
    "stablehlo.reduce_window" ["base_dilations?:i64s", "padding?", "window_dilations?:i64s",
        "window_dimensions:i64s", "window_strides?:i64s"]
        = "reduce_window_v1" "0.9.0" ["base_dilations", "padding", "window_dilations", "window_dimensions",
            "window_strides"];
    "stablehlo.remainder" [] = "remainder_v1" "0.9.0" [];
    "stablehlo.replica_id" [] = "replica_id_v1" "0.9.0" [];
    "stablehlo.reshape" [] = "reshape_v1" "0.9.0" [];
    "stablehlo.return" [] = "return_v1" "0.9.0" [];
    "stablehlo.reverse" ["dimensions:i64s"] = "reverse_v1" "0.9.0" ["dimensions"];
    "stablehlo.rng" ["rng_distribution"] = "rng_v1" "0.9.0" ["rng_distribution"];
    "stablehlo.rng_bit_generator" ["rng_algorithm"] = "rng_bit_generator_v1" "0.9.0" ["rng_algorithm"];
    "stablehlo.round_nearest_afz" [] = "round_nearest_afz_v1" "0.9.0" [];
    "stablehlo.round_nearest_even" [] = "round_nearest_even_v1" "0.9.0" [];
    "stablehlo.rsqrt" ["result_accuracy?+"]
        = "rsqrt_v1" "0.9.0" to "1.9.0" []
        | "rsqrt_v2" "1.10.0" ["result_accuracy"];
    "stablehlo.scatter" ["indices_are_sorted?", "scatter_dimension_numbers", "unique_indices?"]
        = "scatter_v1" "0.9.0" to "1.0.0" ["index_vector_dim", "indices_are_sorted", "inserted_window_dims",
            "scatter_dims_to_operand_dims", "unique_indices", "update_window_dims"]
        | "scatter_v2" "1.1.0" ["index_vector_dim", "indices_are_sorted", "input_batching_dims",
            "inserted_window_dims", "scatter_dims_to_operand_dims", "scatter_indices_batching_dims",
            "unique_indices", "update_window_dims"];
    "stablehlo.select" [] = "select_v1" "0.9.0" [];
    "stablehlo.select_and_scatter" ["padding?", "window_dimensions?:i64s", "window_strides?:i64s"]
        = "select_and_scatter_v1" "0.9.0" ["padding", "window_dimensions", "window_strides"];
    "stablehlo.send" ["channel_handle", "is_host_transfer?", "source_target_pairs?+"]
        = "send_v1" "0.9.0" to "1.11.0" ["channel_id", "channel_type", "is_host_transfer"]
        | "send_v2" "1.12.0" ["channel_id", "channel_type", "is_host_transfer", "source_target_pairs"];
    "stablehlo.set_dimension_size" ["dimension"] = "set_dimension_size_v1" "0.9.0" ["dimension"];
    "stablehlo.shift_left" [] = "shift_left_v1" "0.9.0" [];
    "stablehlo.shift_right_arithmetic" [] = "shift_right_arithmetic_v1" "0.9.0" [];
    "stablehlo.shift_right_logical" [] = "shift_right_logical_v1" "0.9.0" [];
    "stablehlo.sign" [] = "sign_v1" "0.9.0" [];
    "stablehlo.sine" ["result_accuracy?+"]
        = "sine_v1" "0.9.0" to "1.9.0" []
        | "sine_v2" "1.10.0" ["result_accuracy"];
    "stablehlo.slice" ["limit_indices:i64s", "start_indices:i64s", "strides:i64s"]
        = "slice_v1" "0.9.0" ["limit_indices", "start_indices", "strides"];
    "stablehlo.sort" ["dimension?", "is_stable?"] = "sort_v1" "0.9.0" ["dimension", "is_stable"];
    "stablehlo.sqrt" ["result_accuracy?+"]
        = "sqrt_v1" "0.9.0" to "1.9.0" []
        | "sqrt_v2" "1.10.0" ["result_accuracy"];
    "stablehlo.subtract" [] = "subtract_v1" "0.9.0" [];
    "stablehlo.tan" ["result_accuracy?+"]
        = "tan_v1" "1.4.0" to "1.9.0" []
        | "tan_v2" "1.10.0" ["result_accuracy"];
    "stablehlo.tanh" ["result_accuracy?+"]
        = "tanh_v1" "0.9.0" to "1.9.0" []
        | "tanh_v2" "1.10.0" ["result_accuracy"];
    "stablehlo.torch_index_select" ["batch_dims", "dim"]
        = "torch_index_select_v1" "0.9.0" ["batch_dims", "dim"];
    "stablehlo.transpose" ["permutation:i64s"] = "transpose_v1" "0.9.0" ["permutation"];
    "stablehlo.triangular_solve" ["left_side", "lower", "transpose_a", "unit_diagonal"]
        = "triangular_solve_v1" "0.9.0" ["left_side", "lower", "transpose_a", "unit_diagonal"];
    "stablehlo.tuple" [] = "tuple_v1" "0.9.0" [];
    "stablehlo.unary_einsum" ["einsum_config"] = "unary_einsum_v1" "0.9.0" ["einsum_config"];
    "stablehlo.uniform_dequantize" [] = "uniform_dequantize_v1" "0.9.0" [];
    "stablehlo.uniform_quantize" [] = "uniform_quantize_v1" "0.9.0" [];
    "stablehlo.while" [] = "while_v1" "0.9.0" [];
    "stablehlo.xor" [] = "xor_v1" "0.9.0" [];
}
