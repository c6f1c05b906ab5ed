//! Shapes and layouts.

use super::{Result, index};
use crate::messages::{
    DimLevelType, LayoutProto, PrimitiveType, ProgramShapeProto, ShapeProto, SplitConfigProto, TileProto,
};
use hlo_ir::{
    ArrayShape, DimensionLevel, ElementType, Layout, LayoutItems, LevelKind, Shape, SplitConfig, Tile,
    TileSize,
};

/// Defines the mapping between element types and their numbers.
macro_rules! element_types {
    ($($type:ident = $number:ident,)*) => {
        /// Returns the number of an element type.
        pub fn element_type_number(ty: ElementType) -> i32 {
            match ty { $(ElementType::$type => PrimitiveType::$number,)* }
        }

        /// Returns the element type of a number.
        pub fn element_type(number: i32) -> Option<ElementType> {
            match number { $(PrimitiveType::$number => Some(ElementType::$type),)* _ => None }
        }
    };
}

element_types! {
    Pred = PRED,
    S1 = S1,
    S2 = S2,
    S4 = S4,
    S8 = S8,
    S16 = S16,
    S32 = S32,
    S64 = S64,
    U1 = U1,
    U2 = U2,
    U4 = U4,
    U8 = U8,
    U16 = U16,
    U32 = U32,
    U64 = U64,
    F16 = F16,
    Bf16 = BF16,
    F32 = F32,
    F64 = F64,
    F8E5M2 = F8E5M2,
    F8E4M3 = F8E4M3,
    F8E4M3Fn = F8E4M3FN,
    F8E4M3B11Fnuz = F8E4M3B11FNUZ,
    F8E3M4 = F8E3M4,
    F8E5M2Fnuz = F8E5M2FNUZ,
    F8E4M3Fnuz = F8E4M3FNUZ,
    F8E8M0Fnu = F8E8M0FNU,
    F4E2M1Fn = F4E2M1FN,
    F6E3M2Fn = F6E3M2FN,
    F6E2M3Fn = F6E2M3FN,
    C64 = C64,
    C128 = C128,
}

/// Returns the name of a primitive type by its number, for error messages.
fn type_name(number: i32) -> String {
    let name = PrimitiveType::VALUES.iter().find(|&&(_, n)| n == number).map(|&(name, _)| name);
    name.map_or_else(|| format!("number {number}"), str::to_owned)
}

/// Returns the shape that a message describes.
///
/// # Errors
/// A message if the type or a size is invalid for a shape, or if the layout does not match it.
pub fn read_shape(proto: &ShapeProto) -> Result<Shape> {
    Ok(match proto.element_type {
        PrimitiveType::TUPLE => {
            Shape::Tuple(proto.tuple_shapes.iter().map(read_shape).collect::<Result<_>>()?)
        }
        PrimitiveType::TOKEN => Shape::Token,
        PrimitiveType::OPAQUE_TYPE => Shape::Opaque,
        PrimitiveType::BUFFER => match &proto.tuple_shapes[..] {
            [inner] => Shape::Buffer(Box::new(read_shape(inner)?)),
            list => return Err(format!("a buffer has one shape inside, found {}", list.len())),
        },
        number => match element_type(number) {
            Some(ty) => Shape::Array(read_array(ty, proto)?),
            None => return Err(format!("expected an element type, found {}", type_name(number))),
        },
    })
}

fn read_array(ty: ElementType, proto: &ShapeProto) -> Result<ArrayShape> {
    if let Some(error) = ArrayShape::rank_error(proto.dimensions.len()) {
        return Err(error);
    }
    let dynamic = &proto.is_dynamic_dimension;
    if !dynamic.is_empty() && dynamic.len() != proto.dimensions.len() {
        let (flags, dims) = (dynamic.len(), proto.dimensions.len());
        return Err(format!("a shape of {dims} dimensions says of {flags} whether they are dynamic"));
    }
    for (d, &size) in proto.dimensions.iter().enumerate() {
        let unbounded = size == ArrayShape::UNBOUNDED && dynamic.get(d) == Some(&true);
        if size < 0 && !unbounded {
            return Err(format!("dimension {d} of a shape has the size {size}"));
        }
    }
    let array = ArrayShape::new(ty, proto.dimensions.iter().copied()).with_dynamic(dynamic.iter().copied());
    match proto.layout.as_deref() {
        // A layout without an order does not determine the order.
        Some(layout) if layout.minor_to_major.is_empty() && array.rank() > 0 => Ok(array),
        Some(layout) => {
            let layout = read_layout(layout, array.rank())?;
            Ok(array.with_layout(layout))
        }
        None => Ok(array),
    }
}

fn read_layout(proto: &LayoutProto, rank: usize) -> Result<Layout> {
    let mut seen = vec![false; rank];
    let order = &proto.minor_to_major;
    for &d in order {
        match usize::try_from(d).ok().and_then(|d| seen.get_mut(d)) {
            Some(seen) if !*seen => *seen = true,
            _ => return Err(format!("{order:?} is no order of the {rank} dimensions of a layout")),
        }
    }
    if order.len() != rank {
        return Err(format!("{order:?} is no order of the {rank} dimensions of a layout"));
    }
    // The order was checked above.
    let layout = Layout::new(order.iter().filter_map(|&d| u32::try_from(d).ok()));
    Ok(layout.with_items(read_items(proto, rank)?))
}

fn read_items(proto: &LayoutProto, rank: usize) -> Result<LayoutItems> {
    let integer = |number: i32, what: &str| match element_type(number) {
        None if number == PrimitiveType::PRIMITIVE_TYPE_INVALID => Ok(None),
        Some(ty) if ty.is_integer() => Ok(Some(ty)),
        _ => Err(format!("the {what} of a layout is an integer type, found {}", type_name(number))),
    };
    let split = |split: &SplitConfigProto| {
        if index(split.dimension, "a dimension")? >= rank {
            return Err(format!("a layout of {rank} dimensions splits dimension {}", split.dimension));
        }
        Ok(SplitConfig { dimension: split.dimension, indices: split.split_indices.clone() })
    };
    let space = proto.memory_space;
    Ok(LayoutItems {
        dimension_levels: read_levels(proto)?,
        tiles: proto.tiles.iter().map(read_tile).collect::<Result<_>>()?,
        tail_padding: Some(proto.tail_padding_alignment_in_elements).filter(|&n| n > 1),
        index_type: integer(proto.index_primitive_type, "index type")?,
        pointer_type: integer(proto.pointer_primitive_type, "pointer type")?,
        element_size_bits: proto.element_size_in_bits,
        memory_space: i32::try_from(space).map_err(|_| format!("{space} is no memory space"))?,
        split_configs: proto.split_configs.iter().map(split).collect::<Result<_>>()?,
        metadata_prefix_bytes: proto.dynamic_shape_metadata_prefix_bytes,
    })
}

fn read_tile(tile: &TileProto) -> Result<Tile> {
    let size = |&n: &i64| match n {
        i64::MIN => Ok(TileSize::Combine),
        n if n < 0 => Err(format!("the size of a tile is not negative, found {n}")),
        n => Ok(TileSize::Elements(n)),
    };
    tile.dimensions.iter().map(size).collect::<Result<_>>().map(Tile)
}

fn read_levels(proto: &LayoutProto) -> Result<Vec<DimensionLevel>> {
    let flag = |flags: &[bool], d: usize| flags.get(d).copied().unwrap_or(true);
    let level = |(d, &number): (usize, &i32)| {
        let kind = match number {
            DimLevelType::DIM_DENSE => LevelKind::Dense,
            DimLevelType::DIM_COMPRESSED => LevelKind::Compressed,
            DimLevelType::DIM_SINGLETON => LevelKind::Singleton,
            DimLevelType::DIM_LOOSE_COMPRESSED => LevelKind::LooseCompressed,
            _ => return Err(format!("{number} is no way to store a dimension")),
        };
        let (unique, ordered) = (flag(&proto.dim_unique, d), flag(&proto.dim_ordered, d));
        Ok(DimensionLevel { kind, unique, ordered })
    };
    proto.dim_level_types.iter().enumerate().map(level).collect()
}

/// Returns the message of a shape, with its layouts.
pub fn write_shape(shape: &Shape) -> ShapeProto {
    let of = |element_type: i32| ShapeProto { element_type, ..ShapeProto::default() };
    match shape {
        Shape::Array(array) => write_array(array),
        Shape::Tuple(elements) => {
            let tuple_shapes = elements.iter().map(write_shape).collect();
            ShapeProto { tuple_shapes, ..of(PrimitiveType::TUPLE) }
        }
        Shape::Token => of(PrimitiveType::TOKEN),
        Shape::Opaque => of(PrimitiveType::OPAQUE_TYPE),
        Shape::Buffer(inner) => {
            ShapeProto { tuple_shapes: vec![write_shape(inner)], ..of(PrimitiveType::BUFFER) }
        }
    }
}

fn write_array(array: &ArrayShape) -> ShapeProto {
    ShapeProto {
        element_type: element_type_number(array.element_type),
        dimensions: array.dims.to_vec(),
        is_dynamic_dimension: (0..array.rank()).map(|d| array.is_dynamic_dim(d)).collect(),
        tuple_shapes: Vec::new(),
        layout: Some(Box::new(write_layout(array))),
    }
}

fn write_layout(array: &ArrayShape) -> LayoutProto {
    let mut proto = LayoutProto {
        minor_to_major: match &array.layout {
            Some(layout) => layout.minor_to_major.iter().map(|&d| d.into()).collect(),
            None => (0..array.rank() as i64).rev().collect(),
        },
        tail_padding_alignment_in_elements: 1,
        ..LayoutProto::default()
    };
    if let Some(items) = array.layout_items() {
        write_items(items, &mut proto);
    }
    proto
}

fn write_items(items: &LayoutItems, proto: &mut LayoutProto) {
    for level in &items.dimension_levels {
        proto.dim_level_types.push(match level.kind {
            LevelKind::Dense => DimLevelType::DIM_DENSE,
            LevelKind::Compressed => DimLevelType::DIM_COMPRESSED,
            LevelKind::Singleton => DimLevelType::DIM_SINGLETON,
            LevelKind::LooseCompressed => DimLevelType::DIM_LOOSE_COMPRESSED,
        });
        proto.dim_unique.push(level.unique);
        proto.dim_ordered.push(level.ordered);
    }
    let size = |size: &TileSize| match size {
        TileSize::Elements(n) => *n,
        TileSize::Combine => i64::MIN,
    };
    let tile = |tile: &Tile| TileProto { dimensions: tile.0.iter().map(size).collect() };
    let split = |split: &SplitConfig| SplitConfigProto {
        dimension: split.dimension,
        split_indices: split.indices.clone(),
    };
    proto.tiles = items.tiles.iter().map(tile).collect();
    proto.tail_padding_alignment_in_elements = items.tail_padding.unwrap_or(1);
    proto.index_primitive_type = items.index_type.map_or(0, element_type_number);
    proto.pointer_primitive_type = items.pointer_type.map_or(0, element_type_number);
    proto.element_size_in_bits = items.element_size_bits;
    proto.memory_space = items.memory_space.into();
    proto.split_configs = items.split_configs.iter().map(split).collect();
    proto.dynamic_shape_metadata_prefix_bytes = items.metadata_prefix_bytes;
}

/// Writes the shapes and names of parameters, and the shape of the result.
pub fn write_program_shape<'a>(
    parameters: impl Iterator<Item = (&'a Shape, String)>,
    result: &Shape,
) -> ProgramShapeProto {
    let (parameters, parameter_names) = parameters.map(|(shape, name)| (write_shape(shape), name)).unzip();
    ProgramShapeProto { parameters, result: Some(Box::new(write_shape(result))), parameter_names }
}
