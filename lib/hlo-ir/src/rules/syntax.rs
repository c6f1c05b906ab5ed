//! Rules for the text: the errors that the parser reports, each kind with a code.

rules! {
    NOT_HLO = "E0101" "not-hlo" {
        rule: "The text is HLO, not another language.",
        why: "HLO text begins with `HloModule NAME` or with a computation. MLIR, StableHLO, protocol buffers and programs that build HLO begin differently.",
        example: Some(r"module @jit_f {
  func.func public @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
    return %arg0 : tensor<4xf32>
  }
}
"),
        fix: "get HLO text from a jitted JAX function: `jax.jit(f).lower(x).compile().as_text()`, or `.as_text(\"hlo\")` of the lowered function",
        section: "HLO text, module header",
    }
    TEXT_SIZE = "E0102" "text-size" {
        rule: "The text is smaller than 4 GiB.",
        why: "Positions in the text are 32-bit numbers.",
        example: None,
        fix: "omit large constants: `{...}` stands for an omitted value",
        section: "HLO text, limits",
    }
    BRACKET_OPEN = "E0103" "bracket-open" {
        rule: "Every bracket is closed by one of the same kind.",
        why: "A closing bracket ends the contents of its bracket. Without it their end is unknown.",
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
        rule: "A closing bracket closes an open one.",
        why: "A surplus bracket ends a list, an instruction or a computation too early.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[4] parameter(0)
  ROOT y = f32[4] negate(x))
}
"),
        fix: "remove one parenthesis: `negate(x)`",
        section: "HLO text, lexical structure",
    }
    BRACKET_DEPTH = "E0105" "bracket-depth" {
        rule: "Brackets nest at most 1024 deep.",
        why: "No module needs more, and readers of nested text use stack space for each level.",
        example: None,
        fix: "give nested tuples and operands their own names",
        section: "HLO text, limits",
    }
    STRING_END = "E0106" "string-end" {
        rule: "A string ends with the same quote that it begins with.",
        why: "The string contains everything up to that quote, including line ends. `\\` before a quote makes the quote part of the string.",
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
        why: "The comment contains everything up to that point. A comment after `//` ends with its line.",
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
        rule: "A module has at least one computation.",
        why: "The entry computation is the one that runs.",
        example: Some(r"HloModule m
"),
        fix: "add one: `ENTRY main { ROOT x = f32[] parameter(0) }`",
        section: "HLO text, computations",
    }
    MODULE_TWICE = "E0109" "module-twice" {
        rule: "A text contains one module.",
        why: "Tools that read several modules from one file split it at lines `// -----` first.",
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
        rule: "A module consists of a header, tables, and computations, which are lists of instructions `name = shape opcode(operands), attribute=value`.",
        why: "The message shows what the parser expected, and what it found.",
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
        rule: "The header has only attributes of modules.",
        why: "They follow the name, separated by commas.",
        example: Some(r"HloModule m, is_schedule=true

ENTRY main {
  ROOT x = f32[4] parameter(0)
}
"),
        fix: "spell it `is_scheduled`",
        section: "HLO text, module header",
    }
    TABLE_ENTRY = "E0112" "table-entry" {
        rule: "An entry of a stack-frame table is a string, or a group with all its numbers.",
        why: "Metadata refers to the entries by their position in the table, counted from 1.",
        example: Some(r#"HloModule m

FileNames
1 "a.py"

FileLocations
1 {file_name_id=1 line=3}

ENTRY main {
  ROOT x = f32[4] parameter(0)
}
"#),
        fix: "write all numbers: `{file_name_id=1 function_name_id=1 line=3 end_line=3 column=1 end_column=9}`",
        section: "HLO text, stack frames",
    }
    ENTRY_TWICE = "E0113" "entry-twice" {
        rule: "A module has one entry computation.",
        why: "Execution starts at the entry.",
        example: Some(r"HloModule m

ENTRY a {
  ROOT x = f32[4] parameter(0)
}

ENTRY b {
  ROOT x = f32[4] parameter(0)
}
"),
        fix: "remove `ENTRY` from one of them",
        section: "HLO text, computations",
    }
    COMPUTATION_TWICE = "E0114" "computation-twice" {
        rule: "Each computation has its own name.",
        why: "Instructions call computations by name.",
        example: Some(r"HloModule m

f {
  ROOT x = f32[4] parameter(0)
}

ENTRY f {
  ROOT x = f32[4] parameter(0)
}
"),
        fix: "rename one of them",
        section: "HLO text, computations",
    }
    ROOT_TWICE = "E0115" "root-twice" {
        rule: "A computation has one instruction marked `ROOT`.",
        why: "It is the computation's result. Without a mark, the last instruction is.",
        example: Some(r"HloModule m

ENTRY main {
  ROOT x = f32[4] parameter(0)
  ROOT y = f32[4] negate(x)
}
"),
        fix: "remove `ROOT` from one; use a tuple for several results",
        section: "HLO text, computations",
    }
    NAME_TWICE = "E0116" "name-twice" {
        rule: "Each instruction of a computation has its own name.",
        why: "Operands refer to instructions by name.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[4] parameter(0)
  x = f32[4] negate(x)
  ROOT y = f32[4] abs(x)
}
"),
        fix: "rename one of them",
        section: "HLO text, instructions",
    }
    EMPTY_COMPUTATION = "E0117" "empty-computation" {
        rule: "A computation has at least one instruction.",
        why: "One of them computes its result.",
        example: Some(r"HloModule m

ENTRY main {
}
"),
        fix: "write at least `ROOT x = f32[] parameter(0)` or a constant",
        section: "HLO text, computations",
    }
    SIGNATURE = "E0118" "signature" {
        rule: "The result in a signature is the shape of the root.",
        why: "`(p: f32[4]) -> f32[4]` after a computation's name repeats the shapes of its instructions.",
        example: Some(r"HloModule m

ENTRY main (x: f32[4]) -> f32[5] {
  ROOT x = f32[4] parameter(0)
}
"),
        fix: "write `-> f32[4]`, or omit the signature",
        section: "HLO text, computations",
    }
    RESERVED_NAME = "E0119" "reserved-name" {
        rule: "A name is not a reserved word or a type, and the name of an instruction does not begin with `__`.",
        why: "XLA reads `pred` or `true` as a type or a value. `__` is for names that the compiler generates.",
        example: Some(r"HloModule m

ENTRY main {
  ROOT token = f32[4] parameter(0)
}
"),
        fix: "rename it: `token_`",
        section: "HLO text, names",
    }
    UNKNOWN_OPERAND = "E0120" "unknown-operand" {
        rule: "An operand names an instruction of the same computation.",
        why: "Values of other computations are passed through parameters.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[4] parameter(0)
  ROOT y = f32[4] negate(z)
}
"),
        fix: "use a defined name: `negate(x)`",
        section: "HLO text, instructions",
    }
    USE_BEFORE = "E0121" "use-before-definition" {
        rule: "An instruction comes after its operands.",
        why: "Text is read from start to end, and HLO has no cycles.",
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
        rule: "An attribute names a computation that comes before it.",
        why: "In text, called computations come before their callers.",
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
        rule: "A shape before an operand is the shape of that operand.",
        why: "It repeats the shape in the operand's definition. Layouts may differ.",
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
        rule: "`t#1` is an existing element of the tuple `t`.",
        why: "It stands for a get-tuple-element. Elements are counted from 0.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[4] parameter(0)
  t = (f32[4]) tuple(x)
  ROOT y = f32[4] negate(t#1)
}
"),
        fix: "use `t#0`, the only element",
        section: "HLO text, compact get-tuple-element",
    }
    OPERAND_NUMBER = "E0125" "operand-number" {
        rule: "Operands are names of instructions, not numbers.",
        why: "Only `parameter` takes a number, and only `constant` a value.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[] parameter(0)
  ROOT y = f32[] add(x, 1)
}
"),
        fix: "write `one = f32[] constant(1)` first, and then `add(x, one)`",
        section: "HLO text, instructions",
    }
    SINGLE_OPERAND = "E0126" "single-operand" {
        rule: "If a text is a single instruction, its operands have shapes.",
        why: "They become the parameters of a module that contains the instruction.",
        example: Some(r"negate(x)
"),
        fix: "write the shape: `negate(f32[4] x)`",
        section: "HLO text, single instructions",
    }
    UNKNOWN_OPCODE = "E0130" "unknown-opcode" {
        rule: "An instruction has an opcode of HLO.",
        why: "Opcodes are in lower case with dashes, as in `dynamic-slice`.",
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
        rule: "A parameter has a number of at least 0.",
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
        rule: "The shape is written where the opcode, operands and attributes do not determine it.",
        why: "You can omit a shape for opcodes such as `add` or `slice`, but not for `reshape`, `iota` or `parameter`.",
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
        rule: "The shapes that a text omits are not too large in total.",
        why: "A few bytes of text could represent tuples of any size.",
        example: None,
        fix: "write the shapes",
        section: "HLO text, limits",
    }
    CONSTANT_SHAPE_WRITTEN = "E0134" "constant-shape-written" {
        rule: "A constant has a shape.",
        why: "The parser reads the value according to the shape.",
        example: Some(r"HloModule m

ENTRY main {
  ROOT x = constant(1)
}
"),
        fix: "write it: `x = f32[] constant(1)`",
        section: "HLO text, literals",
    }
    ASYNC_SHAPE = "E0135" "async-shape" {
        rule: "The result of an asynchronous start is a tuple of the operands, the result, and optional contexts.",
        why: "This shape determines the computation for which the short form stands.",
        example: Some(r#"HloModule m

ENTRY main {
  x = f32[4] parameter(0)
  s = f32[4] custom-call-start(x), custom_call_target="f"
  ROOT d = f32[4] custom-call-done(s)
}
"#),
        fix: "write the shape `((f32[4]), f32[4])`",
        section: "HLO text, asynchronous operations",
    }
    ASYNC_OPCODE = "E0136" "async-opcode" {
        rule: "The short forms of an asynchronous operation name one opcode.",
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
        rule: "An instruction has only attributes of its opcode.",
        why: "The message lists the attributes of the opcode and those of every instruction.",
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
        rule: "An attribute occurs only once.",
        why: "It would be unclear which of two values to use.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[4] parameter(0)
  ROOT y = f32[4] reverse(x), dimensions={0}, dimensions={0}
}
"),
        fix: "remove one of them",
        section: "HLO text, attributes",
    }
    ATTRIBUTE_MISSING = "E0142" "attribute-missing" {
        rule: "An instruction has the attributes that its opcode requires.",
        why: "Without them, it is unknown what the instruction computes.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[4] parameter(0)
  ROOT y = f32[4] reverse(x)
}
"),
        fix: "write the dimensions: `dimensions={0}`",
        section: "HLO text, attributes",
    }
    ATTRIBUTE_VALUE = "E0143" "attribute-value" {
        rule: "An attribute's value has the form that the attribute requires.",
        why: "Lists of numbers are in braces, as in `dimensions={0,1}`. Words and numbers are not, as in `direction=LT`.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[4] parameter(0)
  ROOT y = f32[4] reverse(x), dimensions=0
}
"),
        fix: "write a list: `dimensions={0}`",
        section: "HLO text, attributes",
    }
    ATTRIBUTE_SPACE = "E0144" "attribute-space" {
        rule: "The `=` directly follows an attribute's name.",
        why: "With a space before the `=`, the name is read as that of an instruction.",
        example: Some(r#"negate(f32[4] x), metadata ={op_name="a"}
"#),
        fix: "write `metadata={…}`",
        section: "HLO text, attributes",
    }
    SHAPE_SYNTAX = "E0150" "shape-syntax" {
        rule: "A shape is an element type with sizes in brackets, or a tuple of shapes in parentheses.",
        why: "`f32[2,3]` is an array, `f32[]` a scalar, `(f32[2], s32[])` a tuple. A layout such as `{1,0}` may follow the sizes.",
        example: Some(r"HloModule m

ENTRY main {
  ROOT x = f32[4;5] parameter(0)
}
"),
        fix: "separate sizes with commas: `f32[4,5]`",
        section: "HLO text, shapes",
    }
    ELEMENT_TYPE_NAME = "E0151" "element-type-name" {
        rule: "The element type is a type of HLO.",
        why: "`pred` for truth values, `s8` … `s64` signed, `u8` … `u64` unsigned, `f16`, `bf16`, `f32`, `f64`, `c64`, `c128`, and small types.",
        example: Some(r"HloModule m

ENTRY main {
  ROOT x = i32[4] parameter(0)
}
"),
        fix: "write `s32` for signed integers",
        section: "HLO text, element types",
    }
    DIMENSION_SIZE = "E0152" "dimension-size" {
        rule: "A dimension's size is a number from 0 to 2^63 - 1.",
        why: "An unknown size is `?`, and a size with a bound `<=4`.",
        example: Some(r"HloModule m

ENTRY main {
  ROOT x = f32[-4] parameter(0)
}
"),
        fix: "write a size, or `?` if it is unknown",
        section: "HLO text, shapes",
    }
    BUFFER = "E0153" "buffer" {
        rule: "A buffer `b(…)` contains an array.",
        why: "A tuple or a token is not stored in one buffer.",
        example: Some(r"HloModule m

ENTRY main {
  ROOT x = b(token[]) parameter(0)
}
"),
        fix: "use an array: `b(f32[4])`",
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
        fix: "use the dimensions 0 and 1: `{1,0}`",
        section: "HLO text, layouts",
    }
    LAYOUT_ITEM = "E0155" "layout-item" {
        rule: "The items after a layout's colon are in order, occur once, and have valid values.",
        why: "The order is D T L # * E S SC M.",
        example: Some(r"HloModule m

ENTRY main {
  ROOT x = f32[4]{0:S(1)T(8)} parameter(0)
}
"),
        fix: "write tiles first: `{0:T(8)S(1)}`",
        section: "HLO text, layouts",
    }
    LITERAL_SYNTAX = "E0160" "literal-syntax" {
        rule: "A constant's value has the form of its shape: elements in as many braces as there are dimensions.",
        why: "A scalar is `1`, a vector `{1, 2}`, a matrix `{{1, 2}, {3, 4}}`, a tuple `(1, {2, 3})`.",
        example: Some(r"HloModule m

ENTRY main {
  ROOT x = f32[2] constant([1, 1])
}
"),
        fix: "write an array's elements in braces: `{1, 1}`",
        section: "HLO text, literals",
    }
    LITERAL_SIZE = "E0161" "literal-size" {
        rule: "A constant's value has as many elements as its shape.",
        why: "Elements are not repeated to fill a shape. Use `broadcast` to repeat them.",
        example: Some(r"HloModule m

ENTRY main {
  ROOT x = f32[3] constant({1, 2})
}
"),
        fix: "add the missing element, or write the shape `f32[2]`",
        section: "HLO text, literals",
    }
    LITERAL_RANGE = "E0162" "literal-range" {
        rule: "An element is a value of the element type.",
        why: "Integers do not wrap, and floating-point numbers do not overflow to infinity, which is `inf`.",
        example: Some(r"HloModule m

ENTRY main {
  ROOT x = s8[] constant(300)
}
"),
        fix: "use a wider type: an `s8` is from -128 to 127",
        section: "HLO text, literals",
    }
    LITERAL_ELIDED = "E0163" "literal-elided" {
        rule: "`{...}` stands for a whole omitted value.",
        why: "XLA prints it for large constants without `--xla_dump_large_constants`, and JAX without `as_hlo_text(print_large_constants=True)`. Tools read, transform and print a module with it, and run it with generated values (`hlo-run --random-inputs`). It is read as zeros, so it may stand for at most 1 GiB.",
        example: Some(r"HloModule m

ENTRY main {
  ROOT x = f32[2,2] constant({{1, 2}, {...}})
}
"),
        fix: "write all elements, or `{...}` for the whole value",
        section: "HLO text, literals",
    }
}
