//! Tests of array files that are created during the test: safetensors files, mainly hostile ones, and files
//! that are not regular.

use crate::cli::{RUN, axpy, fails, folder, run, succeeds};
use std::path::Path;
use std::process::Command;

/// Writes a safetensors file with this header and these elements.
fn safetensors(path: &str, header: &str, data: &[u8]) {
    let bytes = [&(header.len() as u64).to_le_bytes(), header.as_bytes(), data].concat();
    std::fs::write(path, bytes).unwrap();
}

/// Errors in a safetensors file are reported with the name of the file.
#[test]
fn safetensors_files_that_are_wrong() {
    let (folder, path) = axpy("safetensors-wrong");
    let at = |name: &str| folder.join(name).to_str().unwrap().to_string();
    let file = at("in.safetensors");
    let refused = |message: &str| {
        let message = format!("in.safetensors: {message}");
        fails(RUN, &[&path, "--engine=eval", "--inputs", &file], 1, &message);
    };
    let tensor = |dtype: &str, shape: &str, offsets: &str| {
        format!("\"x\":{{\"dtype\":\"{dtype}\",\"shape\":{shape},\"data_offsets\":{offsets}}}")
    };
    for (bytes, message) in [
        (&b""[..], "not a safetensors file: shorter than the 8 bytes"),
        (b"\0\0\0\0\0\0\0\x80{}", "not a safetensors file: a header of 9223372036854775808 bytes"),
        (b"\xff\xff\xff\xff\xff\xff\xff\xff{}", "not a safetensors file: a header of 18446744073709551615"),
        (
            b"\x20\0\0\0\0\0\0\0{\"x\":",
            "not a safetensors file: a header of 32 bytes, of which the file has 5",
        ),
        (b"\x03\0\0\0\0\0\0\0{\xff}", "the header is not UTF-8, from byte 1 on"),
    ] {
        std::fs::write(&file, bytes).unwrap();
        refused(message);
    }
    for (entries, message) in [
        (tensor("F32", "[4]", "[0,17]"), "tensor `x`: bytes 0 to 17 of 16"),
        (tensor("F32", "[4]", "[18446744073709551600,18446744073709551615]"), "tensor `x`: bytes 184467"),
        (tensor("F32", "[4]", "[16,0]"), "tensor `x`: bytes 16 to 0 of 16"),
        (tensor("F32", "[3]", "[4,16]"), "tensor `x`: bytes 0 to 4 before it are no tensor's"),
        (tensor("F32", "[4294967296,4294967296]", "[0,16]"), "has more bytes than there can be"),
        (tensor("F33", "[4]", "[0,16]"), "the header: tensor `x`: dtype `F33` is none of BOOL"),
        (format!("{0},{0}", tensor("F32", "[4]", "[0,16]")), "the header: tensor `x` is there twice"),
        (
            format!(
                "{},{}",
                tensor("F32", "[4]", "[0,16]"),
                tensor("F32", "[2]", "[8,16]").replace('x', "y")
            ),
            "tensor `y`: bytes 8 to 16 are those of tensor `x`, too",
        ),
    ] {
        safetensors(&file, &format!("{{{entries}}}"), &[0; 16]);
        let output = run(RUN, &[&path, "--engine=eval", "--inputs", &file]);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{stderr}");
        assert!(stderr.contains("in.safetensors: ") && stderr.contains(message), "`{message}`: {stderr}");
    }
}

/// Tensors with other types or sizes than their parameters, with several matching parameters, or with none.
#[test]
fn safetensors_files_that_do_not_fit() {
    let (folder, path) = axpy("safetensors-misfit");
    let at = |name: &str| folder.join(name).to_str().unwrap().to_string();
    let entry = |name: &str, dtype: &str, shape: &str, from: usize, to: usize| {
        format!("\"{name}\":{{\"dtype\":\"{dtype}\",\"shape\":{shape},\"data_offsets\":[{from},{to}]}}")
    };
    let write = |name: &str, entries: &[String], size: usize| {
        safetensors(&at(name), &format!("{{{}}}", entries.join(",")), &vec![0; size]);
    };
    write("a.safetensors", &[entry("a", "F32", "[]", 0, 4)], 4);
    write("x.safetensors", &[entry("x", "F32", "[4]", 0, 16)], 16);
    write("y.safetensors", &[entry("y", "F32", "[2,2]", 0, 16)], 16);
    write("int.safetensors", &[entry("y", "I32", "[4]", 0, 16)], 16);
    write("fine.safetensors", &[entry("y", "F32", "[4]", 0, 16)], 16);
    write("none.safetensors", &[], 0);
    write("empty.safetensors", &[entry("y", "F32", "[0,4]", 0, 0)], 0);
    let with = |names: &[&str]| -> Vec<String> {
        let start = [path.clone(), "--engine=eval".to_string(), "--inputs".to_string()];
        start.into_iter().chain(names.iter().map(|name| at(&format!("{name}.safetensors")))).collect()
    };
    let refused = |names: &[&str], message: &str| {
        let arguments = with(names);
        fails(RUN, &arguments.iter().map(String::as_str).collect::<Vec<_>>(), 1, message);
    };
    refused(&["a", "x", "y"], "tensor `y`: f32[4] is expected, the file has F32[2,2]");
    refused(&["a", "x", "int"], "tensor `y`: f32[4] is expected, the file has I32[4]");
    refused(&["a", "x", "empty"], "tensor `y`: f32[4] is expected, the file has F32[0,4]");
    refused(&["a", "x", "fine", "y"], "y.safetensors: tensor `y` is in ");
    refused(&["none"], "of 3 inputs, no tensors are given for 3");
    refused(&["none"], "there are no tensors of other names");
    refused(&["a", "x"], "parameter 2 `y`: f32[4], tensor `y`");
    let arguments = with(&["a", "x", "fine"]);
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    assert_eq!(succeeds(RUN, &arguments), "f32[4] {0, 0, 0, 0}\n");
    // One more array than the module has parameters.
    let array = at("y.npy");
    succeeds(RUN, &[&arguments[..], &["-o", &array]].concat());
    fails(
        RUN,
        &[&arguments[..], &[&array]].concat(),
        1,
        "all 3 inputs are tensors; other arrays that are given: 1",
    );
    fails(
        RUN,
        &[&path, "--engine=eval", "--infeed", &at("x.safetensors")],
        1,
        "tensors of a safetensors file have names, not an order",
    );
}

#[test]
fn results_that_safetensors_has_no_type_for() {
    let folder = folder("safetensors-c128");
    let at = |name: &str| folder.join(name).to_str().unwrap().to_string();
    let text = "HloModule m\n\nENTRY main {\n  p = c128[2] parameter(0)\n  ROOT n = c128[2] negate(p)\n}\n";
    std::fs::write(at("m.hlo"), text).unwrap();
    let output = at("out.safetensors");
    fails(
        RUN,
        &[&at("m.hlo"), "--engine=eval", "--random-inputs", "-o", &output],
        1,
        "result is c128[2], which safetensors has no type for; use .npz or a folder",
    );
    assert!(!Path::new(&output).exists());
}

/// Two parameters that the name of one tensor could refer to.
#[test]
fn tensors_whose_names_are_ambiguous() {
    let folder = folder("safetensors-ambiguous");
    let at = |name: &str| folder.join(name).to_str().unwrap().to_string();
    let text = "HloModule m\n\nENTRY main {\n  p = (f32[]) parameter(0)\n  p.0 = f32[] parameter(1)\n  \
                ROOT n = f32[] negate(p.0)\n}\n";
    std::fs::write(at("m.hlo"), text).unwrap();
    safetensors(
        &at("in.safetensors"),
        "{\"p.0\":{\"dtype\":\"F32\",\"shape\":[],\"data_offsets\":[0,4]}}",
        &[0; 4],
    );
    fails(
        RUN,
        &[&at("m.hlo"), "--engine=eval", "--inputs", &at("in.safetensors")],
        1,
        "a tensor `p.0` would be for parameter 0 `p`, element 0 and for parameter 1 `p.0`",
    );
}

/// Arrays can also be read from a pipe.
#[test]
#[cfg(target_os = "linux")]
fn arrays_that_can_not_be_mapped() {
    use std::io::Write;
    use std::process::Stdio;
    let folder = folder("unmapped");
    let at = |name: &str| folder.join(name).to_str().unwrap().to_string();
    let text = "HloModule n\n\nENTRY main {\n  p = s16[3] parameter(0)\n  ROOT n = s16[3] negate(p)\n}\n";
    std::fs::write(at("m.hlo"), text).unwrap();
    let header = "{'descr': '<i2', 'fortran_order': False, 'shape': (3,), }";
    let mut file = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
    file.extend(format!("{header:<117}\n").as_bytes());
    file.extend([1i16, 2, 3].iter().flat_map(|x| x.to_le_bytes()));
    let mut command = Command::new(RUN);
    command.args([&at("m.hlo"), "--engine=eval", "--inputs", "/dev/stdin"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(&file).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "s16[3] {-1, -2, -3}\n");
    fails(RUN, &[&at("m.hlo"), "--engine=eval", "--inputs", "/dev/zero"], 1, "/dev/zero: not a .npy file");
}
