//! The words of HLO text as a dictionary for libFuzzer: opcodes and attributes from the opcode table, element
//! types, keywords, and values with special syntax.

use hlo_ir::{ElementType, Opcode};
use std::collections::BTreeSet;

/// Keywords, attributes that every instruction accepts, header attributes and special values.
const WORDS: &[&str] = &[
    "HloModule ",
    "ENTRY ",
    "ROOT ",
    "FileNames",
    "FunctionNames",
    "FileLocations",
    "StackFrames",
    "sharding=",
    "frontend_attributes=",
    "statistics=",
    "parameter_replication=",
    "control-predecessors=",
    "origin=",
    "metadata=",
    "backend_config=",
    "result_accuracy=",
    "is_scheduled=true",
    "replica_count=",
    "num_partitions=",
    "input_output_alias=",
    "buffer_donor=",
    "alias_passthrough_params=true",
    "entry_computation_layout=",
    "allow_spmd_sharding_propagation_to_parameters=",
    "allow_spmd_sharding_propagation_to_output=",
    "origin_recovery_table=",
    "debug_attributes=",
    "execution_thread=",
    "{replicated}",
    "{maximal device=",
    "{manual}",
    "{unknown}",
    "{unreduced}",
    "devices=[",
    "last_tile_dim_replicate",
    "last_tile_dims={",
    " shard_as ",
    " shard_like ",
    "mesh['",
    "device_ids=(",
    "<=[",
    "]T(1,0)",
    "{{0,1},{2,3}}",
    "window={size=",
    " stride=",
    " pad=",
    " lhs_dilate=",
    " rhs_dilate=",
    " rhs_reversal=",
    "b01f_01io->b01f",
    "bf_io->bf",
    "1_2x0_0_1",
    "op_name=\"",
    "source_file=\"",
    "source_line=",
    "stack_frame_id=",
    "file_name_id=",
    "function_name_id=",
    "file_location_id=",
    "parent_frame_id=",
    "must-alias",
    "may-alias",
    "EQ",
    "TOTALORDER",
    "kLoop",
    "kCustom",
    "FFT",
    "IRFFT",
    "rng_uniform",
    "rng_three_fry",
    "NO_TRANSPOSE",
    "API_VERSION_TYPED_FFI",
    "highest",
    "dot_bf16_bf16_f32_x3",
    "tolerance={atol=",
    "mode=highest",
    "inf",
    "-inf",
    "nan",
    "-nan",
    "nan(0x7f)",
    "true",
    "false",
    "{...}",
    "->",
    "(1, -2)",
    "9223372036854775807",
    "-9223372036854775808",
    "18446744073709551615",
    "0x1p",
    "1e400",
    "/*index=5*/",
    "/*",
    "*/",
    "//",
    "\\\"",
    "token[]",
    "opaque[]",
    "b(f32[2])",
    "[<=5]",
    "[?]",
    "{1,0:T(8,128)(2,1)}",
    ":D(D,C)",
    ":L(2)",
    ":#(u32)",
    ":*(u32)",
    ":E(4)",
    ":S(5)",
    ":SC(0:1,2)",
    ":M(8)",
    "-start(",
    "-update(",
    "-done(",
    "%t#1#0",
    "parameter(0)",
    "\r\n",
];

/// Returns the words, sorted.
pub fn words() -> Vec<String> {
    let mut words: BTreeSet<String> = WORDS.iter().map(ToString::to_string).collect();
    for &opcode in Opcode::ALL {
        words.insert(format!("{opcode}("));
        let op = opcode.default_op();
        let fields = op.attrs().map_or(&[][..], |a| a.fields());
        words.extend(fields.iter().map(|f| format!("{}=", f.name)));
    }
    words.extend(ElementType::ALL.iter().map(|t| format!("{}[", t.name())));
    words.into_iter().collect()
}

/// Returns the dictionary in libFuzzer's format: one quoted word per line.
pub fn dictionary() -> String {
    let mut out = String::from(
        "# The words of HLO text. Written by a test: BLESS=1 cargo test -p hlo-testing dictionary::\n",
    );
    for word in words() {
        out.push('"');
        for c in word.chars() {
            match c {
                '"' | '\\' => out.extend(['\\', c]),
                '\r' => out.push_str("\\x0D"),
                '\n' => out.push_str("\\x0A"),
                c => out.push(c),
            }
        }
        out.push_str("\"\n");
    }
    out
}
