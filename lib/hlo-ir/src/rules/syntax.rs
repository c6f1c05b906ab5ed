//! Rules for the text: the errors that the parser reports, each kind with a code.

rules! {
    NOT_HLO = "E0101" "not-hlo" {
        rule: "The text is HLO, not another language.",
        why: "HLO text begins with `HloModule NAME` or with a computation. MLIR, StableHLO, protocol buffers and programs that make HLO look different.",
        example: Some(r"module @jit_f {
  func.func public @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
    return %arg0 : tensor<4xf32>
  }
}
"),
        fix: "of a jitted JAX function, `jax.jit(f).lower(x).compile().as_text()` or `.as_text(\"hlo\")` of what is lowered is HLO text",
        section: "HLO text, module header",
    }
    TEXT_SIZE = "E0102" "text-size" {
        rule: "The text is smaller than 4 GiB.",
        why: "Positions in the text are 32-bit numbers.",
        example: None,
        fix: "leave large constants out: `{...}` stands for a value that is not written",
        section: "HLO text, limits",
    }
    BRACKET_OPEN = "E0103" "bracket-open" {
        rule: "Every bracket is closed by one of its own kind.",
        why: "What is inside of a bracket ends with it: where it ends is not known if it is not closed.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[4] parameter(0)
  ROOT y = f32[4] negate(x
}
"),
        fix: "close the parenthesis: `negate(x)`",
        section: "HLO text, lexical structure",
    }
    BRACKET_CLOSE = "E0104" "bracket-close" {
        rule: "A closing bracket closes one that is open.",
        why: "One too many ends a list, an instruction or a computation too early.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[4] parameter(0)
  ROOT y = f32[4] negate(x))
}
"),
        fix: "take one parenthesis away: `negate(x)`",
        section: "HLO text, lexical structure",
    }
    BRACKET_DEPTH = "E0105" "bracket-depth" {
        rule: "Brackets nest at most 1024 deep.",
        why: "No module needs more, and readers of nested text take stack for each level.",
        example: None,
        fix: "give nested tuples and operands names of their own",
        section: "HLO text, limits",
    }
    STRING_END = "E0106" "string-end" {
        rule: "A string ends with the quote that it begins with.",
        why: "Until then everything is part of it, line ends too; `\\` before a quote makes it part of the string.",
        example: Some(r#"HloModule m

ENTRY main {
  ROOT x = f32[4] parameter(0), metadata={op_name="x}
}
"#),
        fix: "end it: `op_name=\"x\"`",
        section: "HLO text, lexical structure",
    }
    COMMENT_END = "E0107" "comment-end" {
        rule: "A comment `/*` ends with `*/`.",
        why: "Until then everything is part of it. A comment after `//` ends with its line.",
        example: Some(r"HloModule m

ENTRY main {
  /* the input
  ROOT x = f32[4] parameter(0)
}
"),
        fix: "end it: `/* the input */`",
        section: "HLO text, lexical structure",
    }
    NO_COMPUTATION = "E0108" "no-computation" {
        rule: "A module has a computation.",
        why: "The entry computation is what runs.",
        example: Some(r"HloModule m
"),
        fix: "write one: `ENTRY main { ROOT x = f32[] parameter(0) }`",
        section: "HLO text, computations",
    }
    MODULE_TWICE = "E0109" "module-twice" {
        rule: "A text is one module.",
        why: "Tools that read several from one file split it at lines `// -----` before.",
        example: Some(r"HloModule a

ENTRY main {
  ROOT x = f32[4] parameter(0)
}

HloModule b

ENTRY main {
  ROOT x = f32[4] parameter(0)
}
"),
        fix: "put a line `// -----` between the modules and read them with --split-input-file",
        section: "HLO text, module header",
    }
    SYNTAX = "E0110" "syntax" {
        rule: "A module is a header, tables, and computations, which are lists of instructions `name = shape opcode(operands), attribute=value`.",
        why: "The message says what may stand at the place, and what stands there.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[4] parameter(0)
  ROOT y f32[4] negate(x)
}
"),
        fix: "write the `=`: `ROOT y = f32[4] negate(x)`",
        section: "HLO text, grammar",
    }
    MODULE_ATTRIBUTE = "E0111" "module-attribute" {
        rule: "The header has only attributes that modules have.",
        why: "They stand after the name, separated by commas.",
        example: Some(r"HloModule m, is_schedule=true

ENTRY main {
  ROOT x = f32[4] parameter(0)
}
"),
        fix: "spell it `is_scheduled`",
        section: "HLO text, module header",
    }
    TABLE_ENTRY = "E0112" "table-entry" {
        rule: "An entry of a stack-frame table is a string, or a group of all the numbers that it has.",
        why: "Metadata refers to the entries by their place in the table, counted from 1.",
        example: Some(r#"HloModule m

FileNames
1 "a.py"

FileLocations
1 {file_name_id=1 line=3}

ENTRY main {
  ROOT x = f32[4] parameter(0)
}
"#),
        fix: "write all of them: `{file_name_id=1 function_name_id=1 line=3 end_line=3 column=1 end_column=9}`",
        section: "HLO text, stack frames",
    }
    ENTRY_TWICE = "E0113" "entry-twice" {
        rule: "A module has one entry computation.",
        why: "It is where execution starts.",
        example: Some(r"HloModule m

ENTRY a {
  ROOT x = f32[4] parameter(0)
}

ENTRY b {
  ROOT x = f32[4] parameter(0)
}
"),
        fix: "take `ENTRY` away from one of them",
        section: "HLO text, computations",
    }
    COMPUTATION_TWICE = "E0114" "computation-twice" {
        rule: "Each computation has a name of its own.",
        why: "Instructions call computations by name.",
        example: Some(r"HloModule m

f {
  ROOT x = f32[4] parameter(0)
}

ENTRY f {
  ROOT x = f32[4] parameter(0)
}
"),
        fix: "name one of them otherwise",
        section: "HLO text, computations",
    }
    ROOT_TWICE = "E0115" "root-twice" {
        rule: "A computation has one instruction marked `ROOT`.",
        why: "It is the computation's result; without a mark the last instruction is.",
        example: Some(r"HloModule m

ENTRY main {
  ROOT x = f32[4] parameter(0)
  ROOT y = f32[4] negate(x)
}
"),
        fix: "take `ROOT` away from one; a tuple gives several results",
        section: "HLO text, computations",
    }
    NAME_TWICE = "E0116" "name-twice" {
        rule: "Each instruction of a computation has a name of its own.",
        why: "Operands are given by name.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[4] parameter(0)
  x = f32[4] negate(x)
  ROOT y = f32[4] abs(x)
}
"),
        fix: "name one of them otherwise",
        section: "HLO text, instructions",
    }
    EMPTY_COMPUTATION = "E0117" "empty-computation" {
        rule: "A computation has an instruction.",
        why: "Its result is that of one.",
        example: Some(r"HloModule m

ENTRY main {
}
"),
        fix: "write at least `ROOT x = f32[] parameter(0)` or a constant",
        section: "HLO text, computations",
    }
    SIGNATURE = "E0118" "signature" {
        rule: "A signature gives the shape of the root as the result.",
        why: "`(p: f32[4]) -> f32[4]` after a computation's name repeats what its instructions say.",
        example: Some(r"HloModule m

ENTRY main (x: f32[4]) -> f32[5] {
  ROOT x = f32[4] parameter(0)
}
"),
        fix: "write `-> f32[4]`, or leave the signature out",
        section: "HLO text, computations",
    }
    RESERVED_NAME = "E0119" "reserved-name" {
        rule: "A name is not a reserved word or a type, and an instruction's does not begin with `__`.",
        why: "XLA reads `pred` or `true` as what they are elsewhere in the text; `__` is for names that the compiler makes.",
        example: Some(r"HloModule m

ENTRY main {
  ROOT token = f32[4] parameter(0)
}
"),
        fix: "call it otherwise: `token_`",
        section: "HLO text, names",
    }
    UNKNOWN_OPERAND = "E0120" "unknown-operand" {
        rule: "An operand names an instruction of the same computation.",
        why: "Values of other computations are passed as parameters.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[4] parameter(0)
  ROOT y = f32[4] negate(z)
}
"),
        fix: "name one that is defined: `negate(x)`",
        section: "HLO text, instructions",
    }
    USE_BEFORE = "E0121" "use-before-definition" {
        rule: "An instruction stands after its operands.",
        why: "Text is read from the start to the end, and HLO has no cycles.",
        example: Some(r"HloModule m

ENTRY main {
  ROOT y = f32[4] negate(x)
  x = f32[4] parameter(0)
}
"),
        fix: "move the definition of `x` up",
        section: "HLO text, instructions",
    }
    UNKNOWN_COMPUTATION = "E0122" "unknown-computation" {
        rule: "An attribute names a computation that stands before.",
        why: "Called computations come before their callers in the text.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[4] parameter(0)
  ROOT y = f32[4] call(x), to_apply=f
}
"),
        fix: "define `f` before `main`",
        section: "HLO text, computations",
    }
    OPERAND_SHAPE = "E0123" "operand-shape" {
        rule: "A shape that is written before an operand is the operand's.",
        why: "It repeats what the operand's definition says; layouts may differ.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[4] parameter(0)
  ROOT y = f32[4] negate(f32[5] x)
}
"),
        fix: "write `f32[4] x`, or just `x`",
        section: "HLO text, instructions",
    }
    OPERAND_ELEMENT = "E0124" "operand-element" {
        rule: "`t#1` is an element that the tuple `t` has.",
        why: "It stands for a get-tuple-element; elements are counted from 0.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[4] parameter(0)
  t = (f32[4]) tuple(x)
  ROOT y = f32[4] negate(t#1)
}
"),
        fix: "the one element is `t#0`",
        section: "HLO text, compact get-tuple-element",
    }
    OPERAND_NUMBER = "E0125" "operand-number" {
        rule: "Operands are names of instructions, not numbers.",
        why: "Only `parameter` takes a number, and `constant` a value.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[] parameter(0)
  ROOT y = f32[] add(x, 1)
}
"),
        fix: "write `one = f32[] constant(1)` before and `add(x, one)`",
        section: "HLO text, instructions",
    }
    SINGLE_OPERAND = "E0126" "single-operand" {
        rule: "The operands of an instruction that is a text of its own have their shapes written.",
        why: "They become the parameters of a module that is made around it.",
        example: Some(r"negate(x)
"),
        fix: "write the shape: `negate(f32[4] x)`",
        section: "HLO text, single instructions",
    }
    UNKNOWN_OPCODE = "E0130" "unknown-opcode" {
        rule: "An instruction has an opcode that HLO has.",
        why: "Opcodes are spelt in lower case with dashes, as in `dynamic-slice`.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[4] parameter(0)
  ROOT y = f32[4] negatve(x)
}
"),
        fix: "spell it `negate`",
        section: "HLO text, opcodes",
    }
    PARAMETER_NUMBER = "E0131" "parameter-number" {
        rule: "A parameter has a number, which is not negative.",
        why: "Callers pass arguments in the order of the numbers.",
        example: Some(r"HloModule m

ENTRY main {
  ROOT x = f32[4] parameter()
}
"),
        fix: "number it: `parameter(0)`",
        section: "HLO text, parameter",
    }
    SHAPE_NOT_INFERRED = "E0132" "shape-not-inferred" {
        rule: "The shape is written where it does not follow from opcode, operands and attributes.",
        why: "A shape can be left out for opcodes such as `add` or `slice`, not for `reshape`, `iota` or `parameter`.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[4] parameter(0)
  ROOT y = reshape(x)
}
"),
        fix: "write it: `y = f32[2,2] reshape(x)`",
        section: "HLO text, omitted shapes",
    }
    INFERRED_SIZE = "E0133" "inferred-size" {
        rule: "Shapes that are not written are not too large in all.",
        why: "A few bytes of text could stand for tuples of any size.",
        example: None,
        fix: "write the shapes",
        section: "HLO text, limits",
    }
    CONSTANT_SHAPE_WRITTEN = "E0134" "constant-shape-written" {
        rule: "A constant's shape is written.",
        why: "The value is read according to it.",
        example: Some(r"HloModule m

ENTRY main {
  ROOT x = constant(1)
}
"),
        fix: "write it: `x = f32[] constant(1)`",
        section: "HLO text, literals",
    }
    ASYNC_SHAPE = "E0135" "async-shape" {
        rule: "The result of an asynchronous start is a tuple: operands, result, and what else it needs.",
        why: "The computation that the short form stands for is made from it.",
        example: Some(r#"HloModule m

ENTRY main {
  x = f32[4] parameter(0)
  s = f32[4] custom-call-start(x), custom_call_target="f"
  ROOT d = f32[4] custom-call-done(s)
}
"#),
        fix: "its shape is `((f32[4]), f32[4])`",
        section: "HLO text, asynchronous operations",
    }
    ASYNC_OPCODE = "E0136" "async-opcode" {
        rule: "The short forms of an asynchronous operation name the same opcode.",
        why: "`x-start`, `x-update` and `x-done` are the stages of one operation.",
        example: Some(r#"HloModule m

ENTRY main {
  x = f32[4] parameter(0)
  s = ((f32[4]), f32[4]) custom-call-start(x), custom_call_target="f"
  ROOT d = f32[4] negate-done(s)
}
"#),
        fix: "write `custom-call-done(s)`",
        section: "HLO text, asynchronous operations",
    }
    UNKNOWN_ATTRIBUTE = "E0140" "unknown-attribute" {
        rule: "An instruction has only attributes that its opcode takes.",
        why: "The opcode's own and those of every instruction are listed with the message.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[4] parameter(0)
  ROOT y = f32[4] reverse(x), dims={0}
}
"),
        fix: "spell it `dimensions={0}`",
        section: "HLO text, attributes",
    }
    ATTRIBUTE_TWICE = "E0141" "attribute-twice" {
        rule: "An attribute is given once.",
        why: "Which of two values were to hold would be unclear.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[4] parameter(0)
  ROOT y = f32[4] reverse(x), dimensions={0}, dimensions={0}
}
"),
        fix: "take one away",
        section: "HLO text, attributes",
    }
    ATTRIBUTE_MISSING = "E0142" "attribute-missing" {
        rule: "An instruction has the attributes that its opcode needs.",
        why: "Without them it is not known what it computes.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[4] parameter(0)
  ROOT y = f32[4] reverse(x)
}
"),
        fix: "say which dimensions: `dimensions={0}`",
        section: "HLO text, attributes",
    }
    ATTRIBUTE_VALUE = "E0143" "attribute-value" {
        rule: "An attribute's value has the form that the attribute has.",
        why: "Lists of numbers stand in braces, as in `dimensions={0,1}`; words and numbers stand alone, as in `direction=LT`.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[4] parameter(0)
  ROOT y = f32[4] reverse(x), dimensions=0
}
"),
        fix: "write the list: `dimensions={0}`",
        section: "HLO text, attributes",
    }
    ATTRIBUTE_SPACE = "E0144" "attribute-space" {
        rule: "The `=` follows an attribute's name at once.",
        why: "With a blank before it the text is an instruction's name and its `=`.",
        example: Some(r#"negate(f32[4] x), metadata ={op_name="a"}
"#),
        fix: "write `metadata={…}`",
        section: "HLO text, attributes",
    }
    SHAPE_SYNTAX = "E0150" "shape-syntax" {
        rule: "A shape is an element type with sizes in brackets, or a tuple of shapes in parentheses.",
        why: "`f32[2,3]` is an array, `f32[]` a scalar, `(f32[2], s32[])` a tuple; a layout `{1,0}` may follow the sizes.",
        example: Some(r"HloModule m

ENTRY main {
  ROOT x = f32[4;5] parameter(0)
}
"),
        fix: "separate sizes by commas: `f32[4,5]`",
        section: "HLO text, shapes",
    }
    ELEMENT_TYPE_NAME = "E0151" "element-type-name" {
        rule: "The element type is one that HLO has.",
        why: "`pred` for truth values, `s8` … `s64` signed, `u8` … `u64` unsigned, `f16`, `bf16`, `f32`, `f64`, `c64`, `c128`, and small ones.",
        example: Some(r"HloModule m

ENTRY main {
  ROOT x = i32[4] parameter(0)
}
"),
        fix: "signed integers are spelt `s32`",
        section: "HLO text, element types",
    }
    DIMENSION_SIZE = "E0152" "dimension-size" {
        rule: "A dimension's size is a number from 0 to 2^63 - 1.",
        why: "A size that is not known is `?`, one with a bound `<=4`.",
        example: Some(r"HloModule m

ENTRY main {
  ROOT x = f32[-4] parameter(0)
}
"),
        fix: "give a size, or `?` if it is not known",
        section: "HLO text, shapes",
    }
    BUFFER = "E0153" "buffer" {
        rule: "A buffer `b(…)` holds an array.",
        why: "Tuples and tokens are not in one buffer.",
        example: Some(r"HloModule m

ENTRY main {
  ROOT x = b(token[]) parameter(0)
}
"),
        fix: "write an array: `b(f32[4])`",
        section: "HLO text, shapes",
    }
    LAYOUT_DIMENSIONS = "E0154" "layout-dimensions" {
        rule: "A layout names each dimension of its array once.",
        why: "It lists the dimensions from the one that varies fastest in memory to the slowest: `{1,0}` is row-major.",
        example: Some(r"HloModule m

ENTRY main {
  ROOT x = f32[4,5]{2,0} parameter(0)
}
"),
        fix: "the dimensions are 0 and 1: `{1,0}`",
        section: "HLO text, layouts",
    }
    LAYOUT_ITEM = "E0155" "layout-item" {
        rule: "The items after a layout's colon stand in order, each once, with values that they can have.",
        why: "The order is D T L # * E S SC M.",
        example: Some(r"HloModule m

ENTRY main {
  ROOT x = f32[4]{0:S(1)T(8)} parameter(0)
}
"),
        fix: "tiles come first: `{0:T(8)S(1)}`",
        section: "HLO text, layouts",
    }
    LITERAL_SYNTAX = "E0160" "literal-syntax" {
        rule: "A constant's value is written as its shape has it: elements in as many braces as there are dimensions.",
        why: "A scalar is `1`, a vector `{1, 2}`, a matrix `{{1, 2}, {3, 4}}`, a tuple `(1, {2, 3})`.",
        example: Some(r"HloModule m

ENTRY main {
  ROOT x = f32[2] constant([1, 1])
}
"),
        fix: "an array's elements stand in braces: `{1, 1}`",
        section: "HLO text, literals",
    }
    LITERAL_SIZE = "E0161" "literal-size" {
        rule: "A constant's value has as many elements as its shape.",
        why: "Elements are not repeated to fill a shape: `broadcast` does that.",
        example: Some(r"HloModule m

ENTRY main {
  ROOT x = f32[3] constant({1, 2})
}
"),
        fix: "write the missing one, or the shape `f32[2]`",
        section: "HLO text, literals",
    }
    LITERAL_RANGE = "E0162" "literal-range" {
        rule: "An element is a value that the element type has.",
        why: "Integers do not wrap and floating-point numbers do not overflow to infinity, which is written `inf`.",
        example: Some(r"HloModule m

ENTRY main {
  ROOT x = s8[] constant(300)
}
"),
        fix: "an `s8` is from -128 to 127: take a wider type",
        section: "HLO text, literals",
    }
    LITERAL_ELIDED = "E0163" "literal-elided" {
        rule: "`{...}` stands for the whole of a value that is not written.",
        why: "XLA prints it for large constants, unless it is told `--xla_dump_large_constants`, and JAX `as_hlo_text(print_large_constants=True)`. A module with it is read, transformed and printed, and runs with made-up values (`hlo-run --random-inputs`). It is read as zeros, so that it can't stand for more than 1 GiB.",
        example: Some(r"HloModule m

ENTRY main {
  ROOT x = f32[2,2] constant({{1, 2}, {...}})
}
"),
        fix: "write all elements, or `{...}` for the whole value",
        section: "HLO text, literals",
    }
}
