//! Rules for reductions, windowed reductions, `map`, `scan` and sorting.

rules! {
    INITIAL_VALUE_SCALAR = "E0701" "initial-value-scalar" {
        rule: "The initial value of a reduction is a scalar.",
        why: "Every element of the result starts from this accumulator. To combine each element with its own value, add a `map` afterwards.",
        example: Some(r"HloModule m

add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}

ENTRY main {
  x = f32[2] parameter(0)
  zeros = f32[1] parameter(1)
  ROOT y = f32[] reduce(x, zeros), dimensions={0}, to_apply=add
}
"),
        fix: "reshape it: `zero = f32[] reshape(zeros)`",
        section: "Operation semantics, Reduce",
    }
    INITIAL_VALUE_TYPE = "E0702" "initial-value-type" {
        rule: "The initial value of a reduction has the element type of its array.",
        why: "To accumulate in a wider type, `convert` the array before the reduction.",
        example: Some(r"HloModule m

add {
  a = f32[] parameter(0)
  b = bf16[] parameter(1)
  c = f32[] convert(b)
  ROOT d = f32[] add(a, c)
}

ENTRY main {
  x = bf16[2] parameter(0)
  zero = f32[] constant(0)
  ROOT y = f32[] reduce(x, zero), dimensions={0}, to_apply=add
}
"),
        fix: "convert the array first: `w = f32[2] convert(x)`, and reduce `w`",
        section: "Operation semantics, Reduce",
    }
    REDUCER_PARAMETERS = "E0703" "reducer-parameters" {
        rule: "A reducer takes one accumulator for each initial value, then one element of each array, all as scalars of their types.",
        why: "The order is the same for one array and for several: all accumulators come before all elements.",
        example: Some(r"HloModule m

max {
  a = s32[] parameter(0)
  b = s32[] parameter(1)
  ROOT c = s32[] maximum(a, b)
}

add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}

ENTRY main {
  x = f32[2] parameter(0)
  zero = f32[] constant(0)
  ROOT y = f32[] reduce(x, zero), dimensions={0}, to_apply={ a = f32[] parameter(0) ROOT b = f32[] negate(a) }
}
"),
        fix: "take two parameters, `a` and `b`, and combine them",
        section: "Operation semantics, Reduce",
    }
    REDUCER_RESULT = "E0704" "reducer-result" {
        rule: "A reducer returns the next accumulator, or a tuple of all accumulators, which several arrays require.",
        why: "The result is passed to the next call, so its types are those of the first parameters. A tuple makes the result of the reduction a tuple.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[2] parameter(0)
  zero = f32[] constant(0)
  ROOT y = f32[] reduce(x, zero), dimensions={0}, to_apply={ a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = pred[] compare(a, b), direction=LT }
}
"),
        fix: "return a value of the accumulator's type: `ROOT c = f32[] minimum(a, b)`",
        section: "Operation semantics, Reduce",
    }
    WINDOW_RANK = "E0705" "window-rank" {
        rule: "A window has one entry for each dimension that it moves along.",
        why: "`reduce-window` and `select-and-scatter` move along all dimensions of the array, a convolution along the spatial ones. Dimensions that are not windowed have size 1.",
        example: Some(r"HloModule m

add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}

ENTRY main {
  x = f32[4,4] parameter(0)
  zero = f32[] constant(0)
  ROOT y = f32[3,4] reduce-window(x, zero), window={size=2}, to_apply=add
}
"),
        fix: "write `window={size=2x1}`",
        section: "Operation semantics, ReduceWindow",
    }
    WINDOW_POSITIVE = "E0706" "window-positive" {
        rule: "Window sizes, strides and dilations are at least 1.",
        why: "A window with a stride of 0 would never move. A dilation is the distance between neighbors: 1 leaves no holes.",
        example: Some(r"HloModule m

add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}

ENTRY main {
  x = f32[4] parameter(0)
  zero = f32[] constant(0)
  ROOT y = f32[3] reduce-window(x, zero), window={size=2 stride=0}, to_apply=add
}
"),
        fix: "write `stride=1`, or omit the stride",
        section: "Operation semantics, ReduceWindow",
    }
    WINDOW_PADDING = "E0707" "window-padding" {
        rule: "Negative padding removes no more elements than there are.",
        why: "Padding is added at both ends after dilation. It may be negative, but the size of the padded array may not.",
        example: Some(r"HloModule m

add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}

ENTRY main {
  x = f32[4] parameter(0)
  zero = f32[] constant(0)
  ROOT y = f32[0] reduce-window(x, zero), window={size=1 pad=-3_-3}, to_apply=add
}
"),
        fix: "remove at most 4 elements, such as `pad=-2_-2`",
        section: "Operation semantics, ReduceWindow",
    }
    SELECT_SOURCE = "E0708" "select-source" {
        rule: "The source of `select-and-scatter` has one element for each position of the window.",
        why: "Each source element is scattered to the element that its window selected, so the source has the shape that `reduce-window` would return.",
        example: Some(r"HloModule m

less {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = pred[] compare(a, b), direction=LT
}

add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}

ENTRY main {
  x = f32[4] parameter(0)
  s = f32[3] parameter(1)
  zero = f32[] constant(0)
  ROOT y = f32[4] select-and-scatter(x, s, zero), window={size=2 stride=2}, select=less, scatter=add
}
"),
        fix: "give the source the shape `f32[2]`: a window of size 2 and stride 2 has 2 positions in 4 elements",
        section: "Operation semantics, SelectAndScatter",
    }
    SELECT_PARAMETERS = "E0709" "select-parameters" {
        rule: "The `select` function of `select-and-scatter` takes two scalars of the array's element type.",
        why: "It compares two elements of a window.",
        example: Some(r"HloModule m

first {
  a = f32[] parameter(0)
  ROOT c = pred[] constant(true)
}

add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}

ENTRY main {
  x = f32[4] parameter(0)
  s = f32[2] parameter(1)
  zero = f32[] constant(0)
  ROOT y = f32[4] select-and-scatter(x, s, zero), window={size=2 stride=2}, select=first, scatter=add
}
"),
        fix: "add a second parameter, `b = f32[] parameter(1)`",
        section: "Operation semantics, SelectAndScatter",
    }
    SELECT_RESULT = "E0710" "select-result" {
        rule: "The `select` function of `select-and-scatter` returns a `pred`, which is true to select its first argument.",
        why: "The function decides which of two elements is selected.",
        example: Some(r"HloModule m

add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}

ENTRY main {
  x = f32[4] parameter(0)
  s = f32[2] parameter(1)
  zero = f32[] constant(0)
  ROOT y = f32[4] select-and-scatter(x, s, zero), window={size=2 stride=2}, select=add, scatter=add
}
"),
        fix: "select with a comparison: `ROOT c = pred[] compare(a, b), direction=GE`",
        section: "Operation semantics, SelectAndScatter",
    }
    SCATTER_FUNCTION_PARAMETERS = "E0711" "scatter-function-parameters" {
        rule: "The `scatter` function of `select-and-scatter` takes two scalars of the array's element type.",
        why: "It combines an element of the result with a value that is scattered to the same position.",
        example: Some(r"HloModule m

less {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = pred[] compare(a, b), direction=LT
}

first {
  a = f32[] parameter(0)
  ROOT c = f32[] negate(a)
}

ENTRY main {
  x = f32[4] parameter(0)
  s = f32[2] parameter(1)
  zero = f32[] constant(0)
  ROOT y = f32[4] select-and-scatter(x, s, zero), window={size=2 stride=2}, select=less, scatter=first
}
"),
        fix: "add a second parameter, `b = f32[] parameter(1)`",
        section: "Operation semantics, SelectAndScatter",
    }
    SCATTER_FUNCTION_RESULT = "E0712" "scatter-function-result" {
        rule: "The `scatter` function of `select-and-scatter` returns a scalar of the array's element type.",
        why: "It becomes an element of the result.",
        example: Some(r"HloModule m

less {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = pred[] compare(a, b), direction=LT
}

ENTRY main {
  x = f32[4] parameter(0)
  s = f32[2] parameter(1)
  zero = f32[] constant(0)
  ROOT y = f32[4] select-and-scatter(x, s, zero), window={size=2 stride=2}, select=less, scatter=less
}
"),
        fix: "combine the two: `ROOT c = f32[] add(a, b)`",
        section: "Operation semantics, SelectAndScatter",
    }
    MAP_DIMENSIONS = "E0713" "map-dimensions" {
        rule: "`map` works along all dimensions, listed in order.",
        why: "A subset of the dimensions has no meaning yet, and the order of evaluation is unspecified.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[4,2] parameter(0)
  ROOT y = f32[4,2] map(x), dimensions={0}, to_apply={ a = f32[] parameter(0) ROOT n = f32[] negate(a) }
}
"),
        fix: "write `dimensions={0,1}`",
        section: "Operation semantics, Map",
    }
    MAP_PARAMETERS = "E0714" "map-parameters" {
        rule: "A mapped function takes one scalar for each operand, with the operand's element type.",
        why: "It is called once for each index, with the elements of the operands at that index.",
        example: Some(r"HloModule m

add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}

ENTRY main {
  x = f32[4] parameter(0)
  ROOT y = f32[4] map(x), dimensions={0}, to_apply=add
}
"),
        fix: "map over two arrays, or use a function with one parameter",
        section: "Operation semantics, Map",
    }
    MAP_RESULT = "E0715" "map-result" {
        rule: "A mapped function returns a scalar.",
        why: "The scalar is one element of the result and may have any type.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[4] parameter(0)
  ROOT y = f32[4] map(x), dimensions={0}, to_apply={ a = f32[] parameter(0) ROOT n = f32[1] reshape(a) }
}
"),
        fix: "return the scalar `a` itself",
        section: "Operation semantics, Map",
    }
    COMPARATOR_PARAMETERS = "E0716" "comparator-parameters" {
        rule: "A comparator takes two scalars for each sorted array: parameters 2k and 2k+1 are elements of array k.",
        why: "Arrays that are sorted together are compared together, so a comparator may read elements of any of them.",
        example: Some(r"HloModule m

less {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = pred[] compare(a, b), direction=LT
}

ENTRY main {
  x = f32[4] parameter(0)
  y = s32[4] parameter(1)
  ROOT z = (f32[4], s32[4]) sort(x, y), dimensions={0}, to_apply=less
}
"),
        fix: "add the two elements of `y` as parameters 2 and 3, of type `s32[]`",
        section: "Operation semantics, Sort",
    }
    COMPARATOR_RESULT = "E0717" "comparator-result" {
        rule: "A comparator returns a `pred`, which is true if its first argument comes before its second.",
        why: "It must be a strict weak order, such as `compare(a, b), direction=LT`.",
        example: Some(r"HloModule m

add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}

ENTRY main {
  x = f32[4] parameter(0)
  ROOT y = f32[4] sort(x), dimensions={0}, to_apply=add
}
"),
        fix: "compare: `ROOT c = pred[] compare(a, b), direction=LT`",
        section: "Operation semantics, Sort",
    }
    TOPK_RANK = "E0718" "topk-rank" {
        rule: "The operand of `topk` has rank 1 or more.",
        why: "`topk` selects elements along the last dimension.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[] parameter(0)
  ROOT y = (f32[], s32[]) topk(x), k=1, largest=true
}
"),
        fix: "reshape the scalar to `f32[1]`",
        section: "HLO text, opcodes",
    }
    TOPK_COUNT = "E0719" "topk-count" {
        rule: "`topk` returns at least 0 and at most as many elements as the last dimension has.",
        why: "There are no more elements to return.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[4] parameter(0)
  ROOT y = (f32[5], s32[5]) topk(x), k=5, largest=true
}
"),
        fix: "write `k=4` or less",
        section: "HLO text, opcodes",
    }
    SCAN_CARRIES = "E0720" "scan-carries" {
        rule: "`scan` has at least one input before its carries.",
        why: "The last `num_carries` operands are the initial carries. The size of the inputs in the scanned dimension is the trip count.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[3] parameter(0)
  ROOT y = f32[3] scan(x), dimensions={0}, num_carries=1, to_apply={ a = f32[3] parameter(0) ROOT n = f32[3] negate(a) }
}
"),
        fix: "scan over an input: `scan(input, x)`",
        section: "HLO text, opcodes",
    }
    SCAN_LENGTH = "E0721" "scan-length" {
        rule: "The inputs of `scan` have the same size in the scanned dimension.",
        why: "Each step reads a slice of every input.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[2,3] parameter(0)
  y = f32[4,3] parameter(1)
  ROOT z = (f32[2,3], f32[2,3]) scan(x, y), dimensions={0}, num_carries=0, to_apply={ a = f32[3] parameter(0) b = f32[3] parameter(1) ROOT t = (f32[3], f32[3]) tuple(a, b) }
}
"),
        fix: "slice `y` to 2 rows, or pad `x` to 4",
        section: "HLO text, opcodes",
    }
    SCAN_PARAMETERS = "E0722" "scan-parameters" {
        rule: "The computation of `scan` takes a slice of each input, without the scanned dimension, and then the carries.",
        why: "It is called once for each index of the scanned dimension.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[2,3] parameter(0)
  ROOT y = f32[2,3] scan(x), dimensions={0}, num_carries=0, to_apply={ a = f32[1,3] parameter(0) ROOT r = f32[3] reshape(a) }
}
"),
        fix: "use `a = f32[3] parameter(0)`: a slice does not have the scanned dimension",
        section: "HLO text, opcodes",
    }
    SCAN_RESULT = "E0723" "scan-result" {
        rule: "The computation of `scan` returns a slice of each output, as an array, and then the next carries, with the shapes of the carries.",
        why: "The slices of the outputs are stacked along the scanned dimension. The carries are passed to the next step.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[2,3] parameter(0)
  c = f32[] parameter(1)
  ROOT y = (f32[2,3], f32[3]) scan(x, c), dimensions={0}, num_carries=1, to_apply={ a = f32[3] parameter(0) b = f32[] parameter(1) ROOT t = (f32[3], f32[3]) tuple(a, a) }
}
"),
        fix: "return the next carry, `f32[]`, as the last element: `tuple(a, b)`",
        section: "HLO text, opcodes",
    }
}
