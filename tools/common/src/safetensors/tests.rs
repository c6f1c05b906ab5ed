//! Tests of safetensors files with bytes that Python's `safetensors` writes, and of invalid files.

use super::*;
use hlo_ir::Shape;

/// Returns a file with this header and these elements.
fn file(header: &str, data: &[u8]) -> FileBytes {
    let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
    bytes.extend(header.as_bytes());
    bytes.extend(data);
    bytes.into()
}

fn shape(ty: ElementType, dims: &[i64]) -> ArrayShape {
    ArrayShape::new(ty, dims.iter().copied())
}

/// Reads the only tensor of a file with a shape.
fn one(header: &str, data: &[u8], ty: ElementType, dims: &[i64]) -> Result<Literal, String> {
    let file = Safetensors::new(file(header, data))?;
    file.read(&file.tensors()[0], &shape(ty, dims))
}

/// `safetensors.numpy.save({"w": np.arange(6, dtype=np.float32).reshape(2, 3), "b": np.array([True, False, True]),
/// "n": np.array(-7, dtype=np.int16), "empty": np.zeros((0, 4), np.float64)}, {"format": "np"})`
#[test]
fn what_python_writes() {
    let header = "{\"__metadata__\":{\"format\":\"np\"},\
                  \"empty\":{\"dtype\":\"F64\",\"shape\":[0,4],\"data_offsets\":[0,0]},\
                  \"w\":{\"dtype\":\"F32\",\"shape\":[2,3],\"data_offsets\":[0,24]},\
                  \"n\":{\"dtype\":\"I16\",\"shape\":[],\"data_offsets\":[24,26]},\
                  \"b\":{\"dtype\":\"BOOL\",\"shape\":[3],\"data_offsets\":[26,29]}} ";
    let mut data: Vec<u8> = (0..6).flat_map(|n| (n as f32).to_le_bytes()).collect();
    data.extend(i16::to_le_bytes(-7));
    data.extend([1, 0, 1]);
    let file = Safetensors::new(file(header, &data)).unwrap();
    let names: Vec<&str> = file.tensors().iter().map(|t| t.name.as_str()).collect();
    assert_eq!(names, ["empty", "w", "n", "b"]);
    let read = |n: usize, ty, dims: &[i64]| file.read(&file.tensors()[n], &shape(ty, dims)).unwrap();
    assert_eq!(read(0, ElementType::F64, &[0, 4]), Literal::full(&[0, 4], 0.0f64).unwrap());
    assert_eq!(read(1, ElementType::F32, &[2, 3]), Literal::r2(&[[0f32, 1.0, 2.0], [3.0, 4.0, 5.0]]));
    assert_eq!(read(2, ElementType::S16, &[]), Literal::r0(-7i16));
    assert_eq!(read(3, ElementType::Pred, &[3]), Literal::r1(&[true, false, true]));
}

#[test]
fn what_is_written_is_read_back() {
    let mut literals = Vec::new();
    for ty in ElementType::ALL.iter().copied().filter(|ty| *ty != ElementType::C128) {
        let shape = shape(ty, &[2, 3]);
        let mut bytes = AlignedBytes::zeroed(shape.byte_size());
        bytes.iter_mut().enumerate().for_each(|(i, b)| *b = (i % 2) as u8);
        normalize(&mut bytes, ty);
        literals.push(Literal::from_bytes(shape.into(), bytes));
    }
    literals.push(Literal::try_zeros(&Shape::array(ElementType::F32, [3, 0])).unwrap());
    let mut out = Vec::new();
    write(&mut out, "out", &literals.iter().collect::<Vec<_>>()).unwrap();
    let file = Safetensors::new(out.into()).unwrap();
    assert_eq!(file.tensors().len(), literals.len());
    for tensor in file.tensors() {
        let number: usize = tensor.name.strip_prefix("out_").unwrap().parse().unwrap();
        let literal = &literals[number];
        let shape = literal.shape().as_array().unwrap();
        assert_eq!(&file.read(tensor, shape).unwrap(), literal);
        assert_eq!(
            tensor.range.start % shape.element_type.byte_size().min(8),
            0,
            "{} is aligned",
            tensor.name
        );
    }
    assert_eq!(file.tensors()[0].range.start % 64, 0);
}

#[test]
fn no_tensors_and_tokens() {
    let mut out = Vec::new();
    write(&mut out, "out", &[]).unwrap();
    assert_eq!(Safetensors::new(out.into()).unwrap().tensors(), []);
    assert_eq!(Safetensors::new(file("{}", &[])).unwrap().tensors(), []);
    let mut out = Vec::new();
    write(&mut out, "out", &[&Literal::token()]).unwrap();
    assert_eq!(Safetensors::new(out.into()).unwrap().tensors()[0].to_string(), "U8[0]");
    let complex = Literal::try_zeros(&Shape::scalar(ElementType::C128)).unwrap();
    let refused = write(&mut Vec::new(), "out", &[&complex]).unwrap_err();
    assert_eq!(refused.to_string(), "safetensors has no type for c128");
}

/// Unaligned tensors are valid, because the format requires no alignment.
#[test]
fn tensors_that_are_not_aligned() {
    let header = "{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]},\
                  \"b\":{\"dtype\":\"F64\",\"shape\":[1],\"data_offsets\":[1,9]}}";
    let data = [&[7][..], &1.5f64.to_le_bytes()].concat();
    let file = Safetensors::new(file(header, &data)).unwrap();
    assert_eq!(
        file.read(&file.tensors()[1], &shape(ElementType::F64, &[1])).unwrap(),
        Literal::r1(&[1.5f64])
    );
}

#[test]
fn elements_are_brought_to_the_form_of_literals() {
    let truth = "{\"x\":{\"dtype\":\"BOOL\",\"shape\":[3],\"data_offsets\":[0,3]}}";
    let literal = one(truth, &[2, 0, 255], ElementType::Pred, &[3]).unwrap();
    assert_eq!(literal.bytes(), [1, 0, 1]);
    let raw = "{\"x\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]}}";
    assert_eq!(one(raw, &[0x1f, 7], ElementType::S4, &[2]).unwrap().bytes(), [0xff, 7]);
    assert_eq!(one(raw, &[0x1f, 7], ElementType::F4E2M1Fn, &[2]).unwrap().bytes(), [0xf, 7]);
}

/// Two elements of 4 bits in a byte, the first in the low bits, as in PyTorch's float4_e2m1fn_x2.
#[test]
fn packed_elements() {
    let packed = "{\"x\":{\"dtype\":\"F4\",\"shape\":[1,4],\"data_offsets\":[0,2]}}";
    let literal = one(packed, &[0x21, 0xf7], ElementType::F4E2M1Fn, &[1, 4]).unwrap();
    assert_eq!(literal.bytes(), [1, 2, 7, 15]);
    let six = "{\"x\":{\"dtype\":\"F6_E2M3\",\"shape\":[4],\"data_offsets\":[0,3]}}";
    let refused = one(six, &[0; 3], ElementType::F6E2M3Fn, &[4]).unwrap_err();
    assert_eq!(refused, "how F6_E2M3 is packed is not defined: f6e2m3fn is read from U8");
}

#[test]
fn other_types_and_sizes_are_named() {
    let header = "{\"x\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}";
    let refused = |ty, dims: &[i64]| one(header, &[0; 8], ty, dims).unwrap_err();
    assert_eq!(refused(ElementType::F32, &[3]), "f32[3] is expected, the file has F32[2]");
    assert_eq!(refused(ElementType::S32, &[2]), "s32[2] is expected, the file has F32[2]");
    assert_eq!(
        refused(ElementType::S4, &[2]),
        "s4[2] is expected, the file has F32[2] (s4 is read from its raw bits as U8)"
    );
    let bounded = shape(ElementType::F32, &[5]).with_dynamic([true]);
    let file = Safetensors::new(file(header, &[0; 8])).unwrap();
    assert_eq!(file.read(&file.tensors()[0], &bounded).unwrap().shape().to_string(), "f32[2]");
}

/// Returns the error for a file with a header and 8 bytes of elements.
fn refused(header: &str) -> String {
    Safetensors::new(file(header, &[0; 8])).unwrap_err()
}

/// Returns the error for a tensor `x` of 8 bytes with the given description.
fn refused_tensor(dtype: &str, shape: &str, offsets: &str) -> String {
    refused(&format!("{{\"x\":{{\"dtype\":{dtype},\"shape\":{shape},\"data_offsets\":{offsets}}}}}"))
}

#[test]
fn headers_that_are_cut_off_or_too_long() {
    let said = |bytes: &[u8]| Safetensors::new(bytes.to_vec().into()).unwrap_err();
    let short = "not a safetensors file: shorter than the 8 bytes of its header's length";
    assert_eq!(said(b""), short);
    assert_eq!(said(b"\x02\0\0\0\0\0\0"), short);
    let cut = "not a safetensors file: a header of 3 bytes, of which the file has 2";
    assert_eq!(said(b"\x03\0\0\0\0\0\0\0{}"), cut);
    for length in [100_000_001, 1 << 63, u64::MAX, u64::MAX - 7] {
        let long =
            format!("not a safetensors file: a header of {length} bytes, where 100000000 are the most");
        assert_eq!(said(&[&u64::to_le_bytes(length)[..], b"{}"].concat()), long);
    }
    let whole = "{\"x\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}";
    for end in 0..whole.len() {
        assert!(!refused(&whole[..end]).is_empty());
    }
    assert!(Safetensors::new(file(&format!("{whole}   "), &[0; 8])).is_ok());
}

#[test]
fn headers_that_are_something_else() {
    assert_eq!(refused(" {}"), "not a safetensors file: the header does not begin with `{`");
    assert_eq!(refused("[]"), "not a safetensors file: the header does not begin with `{`");
    assert!(refused("{} x").starts_with("the header: trailing characters"), "{}", refused("{} x"));
    assert!(
        refused("{\"x\":[]}").contains("tensor `x`: invalid type: sequence, expected an object of `dtype`")
    );
    let deep = format!("{{\"__metadata__\":{}", "[".repeat(100_000));
    assert!(refused(&deep).contains("EOF while parsing"), "{}", refused(&deep));
    let bytes = [&8u64.to_le_bytes()[..], b"{\"\xff\xff\":1}"].concat();
    assert_eq!(Safetensors::new(bytes.into()).unwrap_err(), "the header is not UTF-8, from byte 2 on");
}

#[test]
fn tensors_that_are_described_wrongly() {
    let has = |message: String, part: &str| assert!(message.contains(part), "`{part}` is not in {message}");
    has(refused_tensor("\"F7\"", "[2]", "[0,8]"), "tensor `x`: dtype `F7` is none of BOOL, U8,");
    has(refused_tensor("\"f32\"", "[2]", "[0,8]"), "dtype `f32` is none of");
    has(refused_tensor("7", "[2]", "[0,8]"), "invalid type: integer `7`, expected a string");
    has(refused_tensor("\"F32\"", "[-2]", "[0,8]"), "invalid value: integer `-2`, expected u64");
    has(refused_tensor("\"F32\"", "[2.0]", "[0,8]"), "expected u64");
    has(refused_tensor("\"F32\"", "[18446744073709551616]", "[0,8]"), "expected u64");
    has(refused_tensor("\"F32\"", "[2]", "[0]"), "expected a tuple of size 2");
    has(refused_tensor("\"F32\"", "[2]", "[0,8,9]"), "tensor `x`");
    has(refused("{\"x\":{\"dtype\":\"F32\",\"shape\":[2]}}"), "tensor `x`: `data_offsets` is missing");
    has(refused("{\"x\":{\"dtype\":\"F32\",\"dtype\":\"F32\"}}"), "tensor `x`: `dtype` is there twice");
    has(refused("{\"x\":{\"order\":[{}]}}"), "tensor `x`: `dtype` is missing");
    let twice = "\"x\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}";
    has(refused(&format!("{{{twice},{twice}}}")), "tensor `x` is there twice");
}

#[test]
fn tensors_whose_bytes_are_not_theirs() {
    let said = |shape: &str, offsets: &str| refused_tensor("\"F32\"", shape, offsets);
    assert_eq!(said("[2]", "[0,9]"), "tensor `x`: bytes 0 to 9 of 8");
    assert_eq!(said("[2]", "[8,0]"), "tensor `x`: bytes 8 to 0 of 8");
    assert_eq!(
        said("[2]", "[18446744073709551608,18446744073709551615]"),
        "tensor `x`: bytes 18446744073709551608 to 18446744073709551615 of 8"
    );
    assert_eq!(said("[3]", "[0,8]"), "tensor `x`: F32[3] takes 12 bytes, not the 8 from 0 to 8");
    assert_eq!(said("[0]", "[0,8]"), "tensor `x`: F32[0] takes 0 bytes, not the 8 from 0 to 8");
    assert_eq!(said("[1]", "[4,8]"), "tensor `x`: bytes 0 to 4 before it are no tensor's");
    assert_eq!(said("[1]", "[0,4]"), "bytes 4 to 8, after the last tensor, are no tensor's");
    for shape in ["[4294967296,4294967296]", "[18446744073709551615]", "[2,9223372036854775808,2]"] {
        let message = said(shape, "[0,8]");
        assert!(message.ends_with("has more bytes than there can be"), "{message}");
    }
    // The number of elements is 0, whatever the other sizes.
    assert_eq!(
        said("[18446744073709551615,18446744073709551615,0]", "[0,0]"),
        "bytes 0 to 8, after the last tensor, are no tensor's"
    );
    assert_eq!(refused_tensor("\"F4\"", "[15]", "[0,8]"), "tensor `x`: F4[15] does not end with a byte");
    let overlap = "{\"x\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]},\
                   \"y\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[4,8]}}";
    assert_eq!(refused(overlap), "tensor `y`: bytes 4 to 8 are those of tensor `x`, too");
    let many: String = (0..1000).map(|_| "1,").collect();
    let message = said(&format!("[{many}3]"), "[0,8]");
    assert!(message.len() < 200, "{message}");
    let long = refused(&format!("{{\"{}\":[]}}", "n\\u0007".repeat(1000)));
    assert!(long.len() < 1000 && !long.contains('\u{7}'), "{long}");
}
