//! Tests of `.npy` files with bytes that numpy and ml_dtypes write.

use super::*;

/// Returns a file as numpy writes it: version 1, with a padded header, so that the elements begin at byte
/// 128.
fn numpy(descr: &str, fortran_order: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    let header = format!("{{'descr': '{descr}', 'fortran_order': {fortran_order}, 'shape': {shape}, }}");
    file(&format!("{header:<117}\n"), data)
}

fn file(header: &str, data: &[u8]) -> Vec<u8> {
    let mut out = b"\x93NUMPY\x01\x00".to_vec();
    out.extend((header.len() as u16).to_le_bytes());
    out.extend(header.as_bytes());
    out.extend(data);
    out
}

fn shape(ty: ElementType, dims: &[i64]) -> ArrayShape {
    ArrayShape::new(ty, dims.iter().copied())
}

#[test]
fn what_is_written_is_read_back() {
    for ty in ElementType::ALL.iter().copied() {
        let shape = shape(ty, &[2, 3]);
        let mut bytes = AlignedBytes::zeroed(shape.byte_size());
        bytes.iter_mut().enumerate().for_each(|(i, b)| *b = (i % 2) as u8);
        normalize(&mut bytes, ty);
        let literal = Literal::from_bytes(shape.clone().into(), bytes);
        let mut out = Vec::new();
        write(&mut out, &literal).unwrap();
        assert_eq!(out.len() % 64, shape.byte_size() % 64, "aligned data of {ty}");
        assert_eq!(read(&mut out.as_slice(), &shape).unwrap(), literal);
    }
}

#[test]
fn scalars_and_empty_arrays() {
    for dims in [&[][..], &[0], &[3, 0, 2], &[1]] {
        let literal = Literal::try_zeros(&Shape::array(ElementType::F32, dims.iter().copied())).unwrap();
        let mut out = Vec::new();
        write(&mut out, &literal).unwrap();
        assert_eq!(read(&mut out.as_slice(), &shape(ElementType::F32, dims)).unwrap(), literal);
    }
}

#[test]
fn big_endian_and_fortran_order() {
    let header = "{'descr': '>i2', 'fortran_order': True, 'shape': (2, 3), }\n";
    let data: Vec<u8> = [1i16, 4, 2, 5, 3, 6].iter().flat_map(|x| x.to_be_bytes()).collect();
    let literal = read(&mut file(header, &data).as_slice(), &shape(ElementType::S16, &[2, 3])).unwrap();
    assert_eq!(literal.elements::<i16>(), &[1, 2, 3, 4, 5, 6]);
}

#[test]
fn big_endian_complex_swaps_each_half() {
    let header = "{'descr': '>c8', 'fortran_order': False, 'shape': (), }";
    let data: Vec<u8> = [1.5f32, -2.0].iter().flat_map(|x| x.to_be_bytes()).collect();
    let literal = read(&mut file(header, &data).as_slice(), &shape(ElementType::C64, &[])).unwrap();
    assert_eq!(literal.elements::<f32>(), &[1.5, -2.0]);
}

#[test]
fn raw_bits_of_sub_byte_types_are_sign_extended() {
    let header = "{'descr': '|u1', 'fortran_order': False, 'shape': (2,), }";
    let literal = read(&mut file(header, &[0x0f, 0x07]).as_slice(), &shape(ElementType::S4, &[2])).unwrap();
    assert_eq!(literal.elements::<i8>(), &[-1, 7]);
}

#[test]
fn mismatches_say_what_was_expected_and_found() {
    let header = "{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }";
    let bytes = file(header, &[0; 16]);
    let error = |ty, dims: &[i64]| read(&mut bytes.as_slice(), &shape(ty, dims)).unwrap_err();
    assert_eq!(error(ElementType::F32, &[2]), "f32[2] is expected, the file has float64[2]");
    assert_eq!(error(ElementType::F64, &[2, 1]), "f64[2,1] is expected, the file has float64[2]");
    assert!(error(ElementType::Bf16, &[2]).ends_with("(bf16 is read from its raw bits as uint16)"));
}

#[test]
fn broken_files_are_errors() {
    let fine = shape(ElementType::F32, &[2]);
    let nested = format!("{{'descr': {}, }}", "[".repeat(60_000));
    let huge = "{'descr': '<f4', 'fortran_order': False, 'shape': (18446744073709551615, 2), }";
    for bytes in [
        Vec::new(),
        b"\x93NUMPY".to_vec(),
        b"\x93NUMPY\x01\x00\xff\xff{".to_vec(),
        b"\x93NUMPY\x02\x00\xff\xff\xff\xff{".to_vec(),
        b"\x89PNG\r\n\x1a\n0000".to_vec(),
        file(&nested, &[]),
        file(huge, &[]),
        file("{'descr': '|O', 'fortran_order': False, 'shape': (2,), }", &[]),
        file("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }", &[0; 7]),
        file("{'descr': '', 'fortran_order': False, 'shape': (2,), }", &[0; 8]),
        file("{'descr': 'é', 'fortran_order': False, 'shape': (2,), }", &[0; 8]),
    ] {
        assert!(read(&mut bytes.as_slice(), &fine).is_err());
    }
}

/// The name of an ml_dtypes type, its `descr`, the HLO type, the bytes in the file, and the bytes of the
/// literal.
type File = (&'static str, &'static str, ElementType, &'static [u8], &'static [u8]);

#[test]
fn types_that_numpy_lacks_are_as_ml_dtypes_writes_them() {
    use ElementType::*;
    // The comments contain the numbers that were written.
    let files: [File; 18] = [
        ("int1", "<V1", S1, &[0, 1], &[0, 0xff]),             // 0, -1
        ("int2", "<V1", S2, &[2, 1], &[0xfe, 1]),             // -2, 1
        ("int4", "<V1", S4, &[8, 7], &[0xf8, 7]),             // -8, 7
        ("uint1", "<V1", U1, &[0, 1], &[0, 1]),               // 0, 1
        ("uint2", "<V1", U2, &[3, 0], &[3, 0]),               // 3, 0
        ("uint4", "<V1", U4, &[15, 8], &[15, 8]),             // 15, 8
        ("float4_e2m1fn", "<V1", F4E2M1Fn, &[7, 9], &[7, 9]), // 6, -0.5
        ("float6_e2m3fn", "<V1", F6E2M3Fn, &[0x1f, 0x21], &[0x1f, 0x21]), // 7.5, -0.125
        ("float6_e3m2fn", "<V1", F6E3M2Fn, &[0x1f, 0x21], &[0x1f, 0x21]), // 28, -0.0625
        ("float8_e3m4", "<V1", F8E3M4, &[0x6f, 0xf0], &[0x6f, 0xf0]), // 15.5, -inf
        ("float8_e4m3", "<V1", F8E4M3, &[0x77, 0xf8], &[0x77, 0xf8]), // 240, -inf
        ("float8_e4m3b11fnuz", "<V1", F8E4M3B11Fnuz, &[0x7f, 0x80], &[0x7f, 0x80]), // 30, NaN
        ("float8_e4m3fn", "<V1", F8E4M3Fn, &[0x7e, 0x7f], &[0x7e, 0x7f]), // 448, NaN
        ("float8_e4m3fnuz", "<V1", F8E4M3Fnuz, &[0x7f, 0x80], &[0x7f, 0x80]), // 240, NaN
        ("float8_e5m2", "<f1", F8E5M2, &[0x7b, 0xfc], &[0x7b, 0xfc]), // 57344, -inf
        ("float8_e5m2fnuz", "<V1", F8E5M2Fnuz, &[0x7f, 0x80], &[0x7f, 0x80]), // 57344, NaN
        ("float8_e8m0fnu", "<V1", F8E8M0Fnu, &[0x7e, 0xff], &[0x7e, 0xff]), // 0.5, NaN
        ("bfloat16", "<V2", Bf16, &[0xc0, 0x3f, 0x80, 0xff], &[0xc0, 0x3f, 0x80, 0xff]), // 1.5, -inf
    ];
    for (name, descr, ty, data, want) in files {
        let bytes = numpy(descr, "False", "(2,)", data);
        assert_eq!(bytes.len(), 128 + data.len());
        let literal = read(&mut bytes.as_slice(), &shape(ty, &[2])).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!(literal.bytes(), want, "{name}");
    }
}

/// Reads `np.save` of `np.asfortranarray(np.arange(24).reshape(2, 3, 4))` for every element size.
#[test]
fn fortran_order_keeps_the_values_whatever_the_layout() {
    // The value at (i, j, k) is 12 i + 4 j + k; in the file, i varies fastest.
    let positions = (0..4).flat_map(|k| (0..3).flat_map(move |j| (0..2).map(move |i| 12 * i + 4 * j + k)));
    let positions: Vec<u8> = positions.collect();
    for (descr, ty) in [
        ("|u1", ElementType::U8),
        ("<i2", ElementType::S16),
        (">i4", ElementType::S32),
        ("<u8", ElementType::U64),
        (">c16", ElementType::C128),
        ("<V1", ElementType::U4),
    ] {
        let size = ty.byte_size();
        let part = ty.real_type().byte_size();
        let element = |n: u8| {
            let mut bytes = vec![0; size];
            // The real part, for a complex number.
            bytes[if descr.starts_with('>') { part - 1 } else { 0 }] = n;
            bytes
        };
        let data: Vec<u8> = positions.iter().flat_map(|&n| element(n)).collect();
        let bytes = numpy(descr, "True", "(2, 3, 4)", &data);
        for layout in [None, Some([0, 1, 2]), Some([1, 2, 0])] {
            let mut shape = shape(ty, &[2, 3, 4]);
            shape.layout = layout.map(hlo_ir::Layout::new);
            let literal = read(&mut bytes.as_slice(), &shape).unwrap();
            let mask = if ty == ElementType::U4 { 15 } else { 255 };
            let got: Vec<u8> = literal.bytes().chunks(size).map(|e| e[0]).collect();
            assert_eq!(got, (0..24).map(|n| n & mask).collect::<Vec<u8>>(), "{descr}");
        }
    }
}

#[test]
fn truth_values_scalars_and_empty_arrays_as_numpy_writes_them() {
    let truths = numpy("|b1", "False", "(3,)", &[1, 0, 2]);
    let literal = read(&mut truths.as_slice(), &shape(ElementType::Pred, &[3])).unwrap();
    assert_eq!(literal.bytes(), &[1, 0, 1]);
    let scalar = numpy("<f8", "False", "()", &1.5f64.to_le_bytes());
    let literal = read(&mut scalar.as_slice(), &shape(ElementType::F64, &[])).unwrap();
    assert_eq!(literal.elements::<f64>(), &[1.5]);
    for order in ["False", "True"] {
        let empty = numpy(">c16", order, "(0, 3)", &[]);
        let literal = read(&mut empty.as_slice(), &shape(ElementType::C128, &[0, 3])).unwrap();
        assert!(literal.bytes().is_empty());
    }
    // Version 3 (UTF-8 text) has a length field of four bytes.
    let header = format!("{:<115}\n", "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }");
    let mut third = b"\x93NUMPY\x03\x00".to_vec();
    third.extend((header.len() as u32).to_le_bytes());
    third.extend(header.as_bytes());
    third.extend([1.0f32, -2.0].iter().flat_map(|x| x.to_le_bytes()));
    let literal = read(&mut third.as_slice(), &shape(ElementType::F32, &[2])).unwrap();
    assert_eq!(literal.elements::<f32>(), &[1.0, -2.0]);
}

#[test]
fn what_no_hlo_type_holds_is_named() {
    let error = |descr: &str, order: &str, dims: &str| {
        let bytes = numpy(descr, order, dims, &[0; 64]);
        read(&mut bytes.as_slice(), &shape(ElementType::F32, &[2])).unwrap_err()
    };
    for (descr, message) in [
        ("<f16", "f32[2] is expected, the file has float128[2]"),
        ("<U3", "f32[2] is expected, the file has U3[2]"),
        ("|S4", "f32[2] is expected, the file has S4[2]"),
        ("<i4", "f32[2] is expected, the file has int32[2]"),
        ("|O", "arrays of Python objects are not supported"),
        ("<M8[s]", "can't read the .npy header"),
        ("<f99999999999999999999", "can't read the .npy header"),
    ] {
        assert!(
            error(descr, "False", "(2,)").starts_with(message),
            "{descr}: {}",
            error(descr, "False", "(2,)")
        );
    }
    for (order, dims) in
        [("Yes", "(2,)"), ("False", "(-2,)"), ("False", "2"), ("False", "(2,"), ("1", "(2,)")]
    {
        assert!(error("<f4", order, dims).starts_with("can't read the .npy header"), "{order} {dims}");
    }
    let structured = "{'descr': [('x', '<f4')], 'fortran_order': False, 'shape': (2,), }\n";
    let error = read(&mut file(structured, &[0; 8]).as_slice(), &shape(ElementType::F32, &[2])).unwrap_err();
    assert_eq!(error, "structured arrays are not supported");
}
