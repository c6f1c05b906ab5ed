//! Tests of nests against enumeration, and of reading and printing contractions.

mod lattice;

use hlo_ir::attr::{AttrContext, AttrError, AttrReader, AttrValue, Resolver};
use hlo_ir::contraction::{Affine, Contraction, Interval, Nest, NestError, Repetition, Strip};
use hlo_ir::{ComputationId, ElementType, Literal, Shape, Span};
use std::collections::{BTreeMap, BTreeSet};

struct NoNames;

impl Resolver for NoNames {
    fn computation(&self, _: &str) -> Option<ComputationId> {
        None
    }
    fn shape(&self, _: &str, base: usize) -> Result<(Shape, usize), AttrError> {
        Err(AttrError::with_message(Span::new(base, base), "no shapes".into()))
    }
    fn literal(&self, _: &str, base: usize) -> Result<(Literal, usize), AttrError> {
        Err(AttrError::with_message(Span::new(base, base), "no literals".into()))
    }
    fn check_module(&self, _: &str) -> Result<(), String> {
        Err("no modules".into())
    }
}

fn read(text: &str) -> Result<Contraction, AttrError> {
    let context = AttrContext { resolver: &NoNames, inline: &[] };
    let mut reader = AttrReader::with_context(text, 0, context);
    let contraction = Contraction::read(&mut reader)?;
    reader.expect_end().map(|()| contraction)
}

/// Returns the nest of a contraction of arrays of these sizes, the output's first.
fn nest(text: &str, sizes: &[&[i64]]) -> Result<Option<Nest>, NestError> {
    let shapes: Vec<Shape> =
        sizes.iter().map(|dims| Shape::array(ElementType::F32, dims.iter().copied())).collect();
    let operands: Vec<&Shape> = shapes[1..].iter().collect();
    read(text).unwrap().nest(&shapes[0], &operands)
}

#[test]
fn text() {
    for (written, printed) in [
        ("{(d0,d1) += (d0,d2) * (d2,d1)}", "{(d0,d1) += (d0,d2) * (d2,d1)}"),
        ("{ () >= ( d0 ) , d0 - 2 < 5,d0<3 }", "{() >= (d0), d0-2 < 5, d0 < 3}"),
        ("{(d1*2 - d0 + 3, 0) = (-d0 + 4, -3)}", "{(-d0+2*d1+3,0) = (-d0+4,-3)}"),
        ("{(d0)*=(d0+d0-1)==(d0 - d0)}", "{(d0) *= (2*d0-1) == (0)}"),
        ("{(d0) <= (d0) == (d1) ? (d2)}", "{(d0) <= (d0) == (d1) ? (d2)}"),
        ("{(d0) += (d0) + (-d31), -9223372036854775808*d0 < 0}", ""),
    ] {
        let contraction = read(written).unwrap();
        let printed = if printed.is_empty() { written } else { printed };
        assert_eq!(contraction.to_string(), printed);
        assert_eq!(read(printed), Ok(contraction));
    }
    assert_eq!(read("{(d0) += (d2)}").unwrap().indices, 3);
}

#[test]
fn wrong_text() {
    for (text, expected, at) in [
        ("(d0) += (d0)", "`{`", 0),
        ("{(d0) == (d0)}", "`(`", 7),
        ("{(d0) (d0)}", "`+=`, `*=`, `>=`, `<=` or `=`", 6),
        ("{(d0) += (d0) - (d0)}", "`*`, `+`, `==`, `,` or `}`", 14),
        ("{(d0) += (d0) == (d1) : (d0)}", "`?`, `,` or `}`", 22),
        ("{(d0) += (d0) * (d1) * (d0)}", "`,` or `}`", 21),
        ("{(i) += (d0)}", "an index such as `d0`, or a number", 2),
        ("{(2*3) += (d0)}", "an index such as `d0`", 4),
        ("{(d0*d1) += (d0)}", "a number", 5),
        ("{(d32) += (d0)}", "an index is one of `d0` to `d31`", 2),
        ("{(9223372036854775808) += (d0)}", "the numbers do not fit 64 bits", 2),
        ("{(9223372036854775809) += (d0)}", "the number does not fit 64 bits", 2),
        ("{(d0) += (d0), d0 <= 3}", "an integer", 19),
        ("{(d0) += (d0), }", "an index such as `d0`, or a number", 15),
    ] {
        let error = read(text).unwrap_err();
        assert_eq!((error.expected.as_str(), error.span.start), (expected, at), "{text}");
    }
}

#[test]
fn levels_are_simple_where_they_can_be() {
    // A valid convolution is a box: the other strips imply that the input is read within its bounds.
    let valid = nest("{(d0) += (d0+d1) * (d1)}", &[&[8], &[10], &[3]]).unwrap().unwrap();
    assert!(valid.is_box());
    assert_eq!((valid.outer(), valid.ranges()), (1, vec![interval(0, 7), interval(0, 2)]));
    // With padding it is not a box, but every element has a value.
    let same = nest("{(d0) += (d0+d1-1) * (d1)}", &[&[10], &[10], &[3]]).unwrap().unwrap();
    assert!(!same.is_box());
    assert_eq!(same.trip_count_bounds(1), interval(2, 3));
    // The loop is along the output, however the output is expressed.
    let skewed = nest("{(d0+d1,d1) += (d0)}", &[&[4, 5], &[3]]).unwrap().unwrap();
    assert_eq!((skewed.outer(), skewed.ranges()), (2, vec![interval(0, 3), interval(0, 3)]));
    // The loops skip elements without a value.
    let padded = nest("{(2*d0+1) = (d0)}", &[&[10], &[3]]).unwrap().unwrap();
    assert_eq!(padded.ranges(), [interval(0, 2)]);
}

#[test]
fn interiors() {
    let interior = |text, sizes: &[&[i64]]| nest(text, sizes).unwrap().unwrap().interior();
    // All elements except one at each edge.
    let same = interior("{(d0) += (d0+d1-1) * (d1)}", &[&[10], &[10], &[3]]).unwrap();
    assert_eq!(same.ranges(), [interval(1, 8), interval(0, 2)]);
    assert!(same.is_box());
    // Only the last element uses all preceding elements.
    let sums = interior("{(d0) += (d1), d0-d1 < 10}", &[&[10], &[10]]).unwrap();
    assert_eq!(sums.ranges(), [interval(9, 9), interval(0, 9)]);
    // Each element has different inner loops.
    assert_eq!(interior("{(d0) += (d0+d1) * (d0-d1)}", &[&[10], &[10], &[10]]), None);
    assert_eq!(interior("{() += (d0)}", &[&[], &[10]]), None);
}

#[test]
fn elements_with_values() {
    let covers = |text, sizes: &[&[i64]]| {
        let elements = sizes[0].iter().product::<i64>() as usize;
        nest(text, sizes).unwrap().unwrap().covers(elements)
    };
    assert!(covers("{(d0,d1) += (d0,d2) * (d2,d1)}", &[&[4, 5], &[4, 3], &[3, 5]]));
    assert!(covers("{(d0) += (d0+d1-1) * (d1)}", &[&[10], &[10], &[3]]));
    assert!(covers("{(d0) += (d1), d0-d1 < 10}", &[&[10], &[10]]));
    assert!(!covers("{(d0) += (d0)}", &[&[10], &[9]]));
    assert!(!covers("{(2*d0) += (d0)}", &[&[10], &[5]]));
    assert!(!covers("{(d0) += (d0+d1-2) * (d1)}", &[&[10], &[7], &[3]]));
}

fn interval(low: i64, high: i64) -> Interval {
    Interval { low, high }
}

#[test]
fn there_may_be_no_nest() {
    assert_eq!(nest("{(d0) += (d0+d1)}", &[&[4], &[4]]).map(|n| n.is_some()), Ok(true));
    assert_eq!(nest("{(d0) += (d0)}", &[&[4], &[0]]), Ok(None));
    assert_eq!(nest("{(d0,4) += (d0)}", &[&[4, 4], &[4]]), Ok(None));
    assert_eq!(nest("{(2*d0) += (2*d0), d0-3 < 2}", &[&[4], &[4]]), Ok(None));
    let unbounded = |indices: &[usize]| Err(NestError::Unbounded(indices.to_vec()));
    assert_eq!(nest("{(d0) += (d1+d2)}", &[&[4], &[4]]), unbounded(&[1, 2]));
    assert_eq!(nest("{(d0) += (d0)+(d2)}", &[&[4], &[4], &[0]]), unbounded(&[1]));
    assert_eq!(
        nest("{(d0) = (1000000000000*d0+1)}", &[&[1 << 62], &[1 << 62]]).map(|n| n.is_some()),
        Ok(true)
    );
    assert_eq!(nest("{(d0) = (d0)}", &[&[i64::MAX], &[i64::MAX]]), Err(NestError::TooLarge));
    assert_eq!(Nest::new(33, &[], 0), Err(NestError::TooLarge));
    let one = Nest::new(0, &[], 0).unwrap().unwrap();
    let mut points = 0;
    one.walk(&mut |x| {
        points += 1;
        if x.is_empty() { Ok(()) } else { Err(()) }
    })
    .unwrap();
    assert_eq!(points, 1);
}

#[test]
fn repetitions() {
    let repetition = |text, sizes: &[&[i64]], steps| nest(text, sizes).unwrap().unwrap().repetition(steps);
    let never = Repetition::Never;
    // By the bounds alone, without any step.
    assert_eq!(repetition("{(d0,d1) = (d1,d0)}", &[&[9, 9], &[9, 9]], 0), never);
    assert_eq!(repetition("{(4*d0+d1) = (d0,d1)}", &[&[400], &[100, 4]], 0), never);
    assert_eq!(repetition("{(d0) = (d1), d0-d1 < 1}", &[&[400], &[400]], 0), never);
    // Two values.
    let twice = Repetition::At([vec![0, 0], vec![0, 1]]);
    assert_eq!(repetition("{(d0) = (d0+d1)}", &[&[9], &[9]], 3), twice);
    assert_eq!(repetition("{(d0) = (d0+d1)}", &[&[9], &[9]], 2), Repetition::Unknown);
    // Found even if many elements have one value each.
    let last = Repetition::At([vec![1 << 40, 0], vec![1 << 40, 1]]);
    let late = "{(d0) = (d1), d0-1099511627776*d1 < 1099511627777}";
    assert_eq!(repetition(late, &[&[1 << 50], &[3]], 10), last);
    let overlap = Repetition::At([vec![0, 4], vec![1, 0]]);
    assert_eq!(repetition("{(4*d0+d1) = (d0,d1)}", &[&[400], &[100, 5]], 1000), overlap);
    // By enumeration: 5 · 7 + 3 · 1 = 38 is out of bounds.
    assert_eq!(repetition("{(3*d0+5*d1) = (d0,d1)}", &[&[38], &[5, 7]], 1000), never);
}

/// Pseudorandom numbers.
struct Numbers(u64);

impl Numbers {
    fn between(&mut self, low: i64, high: i64) -> i64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        low + ((self.0 >> 33) % (high - low + 1) as u64) as i64
    }
}

/// Each point of a nest is in all strips, a box around 0 contains no other such point, and the first
/// variables identify the elements of the output.
#[test]
fn nests_are_exact() {
    let mut numbers = Numbers(1);
    let (mut bounded, mut points) = (0, 0);
    for _ in 0..4000 {
        let indices = numbers.between(0, 3) as usize;
        let outputs = numbers.between(0, 2) as usize;
        let count = numbers.between(indices as i64, indices as i64 + 3);
        let strips: Vec<Strip> = (0..count).map(|_| strip(&mut numbers, indices)).collect();
        let outputs = outputs.min(strips.len());
        match Nest::new(indices, &strips, outputs) {
            Ok(Some(nest)) => {
                bounded += 1;
                points += check(&nest, &strips, outputs);
            }
            Ok(None) => assert_eq!(enumerate(indices, &strips), [].into()),
            Err(NestError::Unbounded(free)) => assert!(!free.is_empty()),
            Err(NestError::TooLarge) => panic!("{strips:?}"),
        }
    }
    assert!(bounded > 1500 && points > 15_000, "{bounded} {points}");
}

fn strip(numbers: &mut Numbers, indices: usize) -> Strip {
    let coefficient =
        |_| if numbers.between(0, 2) == 0 { numbers.between(-3, 3) } else { numbers.between(0, 1) };
    let coefficients = (0..indices).map(coefficient).collect();
    let index = Affine { coefficients, constant: numbers.between(-3, 3) };
    Strip { index, size: numbers.between(1, 9) }
}

const RADIUS: i64 = 7;

fn enumerate(indices: usize, strips: &[Strip]) -> BTreeSet<Vec<i64>> {
    let side = 2 * RADIUS + 1;
    let point = |n: i64| (0..indices as u32).map(|k| n / side.pow(k) % side - RADIUS).collect::<Vec<_>>();
    let all = (0..side.pow(indices as u32)).map(point);
    all.filter(|x| is_valid(x, strips)).collect()
}

fn is_valid(x: &[i64], strips: &[Strip]) -> bool {
    strips.iter().all(|s| (0..s.size).contains(&s.index.at(x)))
}

/// Checks all points and returns their number.
fn check(nest: &Nest, strips: &[Strip], outputs: usize) -> usize {
    let (levels, outer) = (nest.levels().len(), nest.outer());
    let mut points = Vec::new();
    let (mut trips, mut before) = (vec![0; levels], Vec::new());
    nest.walk(&mut |variables| {
        let depth = variables.len();
        if depth > 0 {
            assert!(variables > before.as_slice(), "in order, and not twice");
            let range = nest.levels()[depth - 1].range();
            assert!((range.low..=range.high).contains(&variables[depth - 1]));
            trips[depth - 1] += 1;
            trips[depth..].fill(0);
            assert!(trips[depth - 1] <= nest.trip_count_bounds(depth - 1).high);
        }
        if depth == levels {
            let x = nest.indices(variables);
            let elements = |x: &[i64]| strips[..outputs].iter().map(|s| s.index.at(x)).collect::<Vec<_>>();
            points.push((variables[..outer].to_vec(), elements(&x), x));
            for s in strips {
                assert_eq!(
                    s.index.at(&points[points.len() - 1].2),
                    nest.in_variables(&s.index).at(variables)
                );
            }
        }
        before = variables.to_vec();
        Ok::<(), ()>(())
    })
    .unwrap();
    let inside: BTreeSet<Vec<i64>> = points.iter().map(|p| p.2.clone()).collect();
    assert_eq!(inside.len(), points.len());
    assert!(inside.iter().all(|x| is_valid(x, strips)), "{strips:?}");
    let around = inside.into_iter().filter(|x| x.iter().all(|i| i.abs() <= RADIUS)).collect();
    assert_eq!(enumerate(levels, strips), around, "{strips:?}");
    if let Some(interior) = nest.interior() {
        check_interior(nest, &interior);
    }
    let pairs: BTreeSet<_> = points.iter().map(|p| (&p.0, &p.1)).collect();
    let (variables, elements): (BTreeSet<_>, BTreeSet<_>) = pairs.iter().copied().unzip();
    assert_eq!((variables.len(), elements.len()), (pairs.len(), pairs.len()), "{strips:?}");
    match nest.repetition(1000) {
        Repetition::Never => assert_eq!(variables.len(), points.len(), "{strips:?}"),
        Repetition::At([a, b]) => {
            let element = |x: &[i64]| &points.iter().find(|p| p.2 == x).expect("a valid index").1;
            assert!(a != b && element(&a) == element(&b), "{strips:?}");
        }
        Repetition::Unknown => panic!("{strips:?}"),
    }
    points.len()
}

/// For the outer variables of the interior, it has all points of the nest. Its inner loops are the same for
/// all values of the innermost variable of the output.
fn check_interior(nest: &Nest, interior: &Nest) {
    let outer = nest.outer();
    let points = |nest: &Nest| {
        let mut points: BTreeMap<Vec<i64>, BTreeSet<Vec<i64>>> = BTreeMap::new();
        nest.walk(&mut |variables| {
            if variables.len() >= outer {
                let inside = points.entry(variables[..outer].to_vec()).or_default();
                if variables.len() == nest.levels().len() {
                    inside.insert(variables[outer..].to_vec());
                }
            }
            Ok::<(), ()>(())
        })
        .unwrap();
        points
    };
    let (all, some) = (points(nest), points(interior));
    let mut before: Option<(&[i64], &BTreeSet<Vec<i64>>)> = None;
    for (element, inside) in &some {
        assert_eq!(all.get(element), Some(inside), "{nest:?}");
        let line = &element[..outer - 1];
        assert!(before.is_none_or(|(of, same)| of != line || same == inside), "{nest:?}");
        before = Some((line, inside));
    }
}
