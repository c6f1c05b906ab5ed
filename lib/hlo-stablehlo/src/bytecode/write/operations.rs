//! Operations, and the regions and blocks that contain them.

use super::encoder::{Encoder, Form};
use super::tables::{Tables, Token};
use crate::Tree;
use crate::bytecode::fault::{Fault, Result};
use crate::bytecode::layout::has;
use crate::bytecode::vhlo::{self, Lowered};
use crate::dialect::{self, OperationInfo, Version};
use crate::tree::{Attribute, Block, Location, MAX_DEPTH, Name, Operation, Region, Type, ValueId};

/// Encodes the operations of a program.
pub(super) fn encode(tree: &Tree, version: Version) -> Result<(Tables, Vec<Token>)> {
    let mut uses = vec![Uses::default(); tree.value_count()];
    count_uses(&tree.module, &mut uses, 0)?;
    let mut writer = Writer {
        tree,
        encoder: Encoder::new(version),
        uses,
        values: vec![Numbers::default(); tree.value_count()],
        scopes: Vec::new(),
    };
    // The outermost block contains one operation and has no arguments.
    let mut out = vec![Token::Number(1 << 1)];
    writer.operation(&tree.module, &mut out)?;
    Ok((writer.encoder.tables, out))
}

/// The forms in which a value is used. VHLO operations take values of VHLO types; other operations take
/// values of MLIR's types.
#[derive(Clone, Copy, Default)]
struct Uses {
    vhlo: bool,
    builtin: bool,
}

/// The numbers of a value in both forms. If both forms are used, a cast converts one to the other.
#[derive(Clone, Copy, Default)]
struct Numbers {
    vhlo: Option<u64>,
    builtin: Option<u64>,
}

/// Returns the form of an operation's operands and results.
fn form_of(name: &Name) -> Form {
    if matches!(name.dialect(), "stablehlo" | "func") { Form::Vhlo } else { Form::Builtin }
}

fn count_uses(operation: &Operation, uses: &mut [Uses], depth: usize) -> Result<()> {
    if depth > MAX_DEPTH {
        return Err(Fault::new("regions nest too deeply"));
    }
    for operand in &operation.operands {
        let Some(uses) = uses.get_mut(operand.index()) else {
            return Err(Fault::new(format!("`{}` takes a value of another tree", operation.name)));
        };
        match form_of(&operation.name) {
            Form::Vhlo => uses.vhlo = true,
            Form::Builtin => uses.builtin = true,
        }
    }
    let inner =
        operation.regions.iter().flat_map(|region| &region.blocks).flat_map(|block| &block.operations);
    inner.into_iter().try_for_each(|operation| count_uses(operation, uses, depth + 1))
}

/// The values of an isolated region, including those of its nested regions.
#[derive(Default)]
struct Scope {
    /// The number of values in the open regions.
    values: u64,
    /// The number of the next value of the innermost region.
    next: u64,
}

/// The name of an operation in the file, and its attributes.
struct Parts {
    dialect: &'static str,
    name: &'static str,
    /// The attributes that its dialect defines, in alphabetical order. Optional ones may be absent.
    inherent: Vec<(&'static str, Option<Attribute>)>,
    discardable: Vec<(Name, Attribute)>,
}

struct Writer<'t> {
    tree: &'t Tree,
    encoder: Encoder,
    uses: Vec<Uses>,
    values: Vec<Numbers>,
    scopes: Vec<Scope>,
}

impl Writer<'_> {
    fn operation(&mut self, operation: &Operation, out: &mut Vec<Token>) -> Result<()> {
        self.operation_parts(operation, out).map_err(|fault| fault.note(format!("in `{}`", operation.name)))
    }

    fn operation_parts(&mut self, operation: &Operation, out: &mut Vec<Token>) -> Result<()> {
        let Some(info) = dialect::operation(&operation.name) else {
            return Err(Fault::new(format!(
                "`{}`, which is no operation of a known dialect",
                operation.name
            )));
        };
        let form = form_of(&operation.name);
        let parts = match form {
            Form::Vhlo => {
                let Lowered { versioned, inherent, discardable } =
                    vhlo::lower(operation, info, self.encoder.version)?;
                vhlo::check(self.tree, operation, versioned, self.encoder.version)?;
                let inherent = inherent.into_iter().map(|(name, value)| (name, Some(value))).collect();
                Parts { dialect: "vhlo", name: versioned.name, inherent, discardable }
            }
            Form::Builtin => self.foreign(operation, info)?,
        };
        out.push(Token::Operation(self.encoder.tables.operation(parts.dialect, parts.name)));
        let mut mask = 0;
        let mut tokens = vec![Token::Attribute(self.encoder.location(&operation.location)?)];
        self.attributes(form, info, parts, &mut mask, &mut tokens)?;
        if !operation.results.is_empty() {
            mask |= has::RESULTS;
            tokens.push(Token::Number(operation.results.len() as u64));
            for &result in &operation.results {
                tokens.push(Token::Type(self.ty(result, form)?));
            }
        }
        if !operation.operands.is_empty() {
            mask |= has::OPERANDS;
            tokens.push(Token::Number(operation.operands.len() as u64));
            for &operand in &operation.operands {
                tokens.push(Token::Number(self.number(operand, form)?));
            }
        }
        if !operation.regions.is_empty() {
            mask |= has::REGIONS;
        }
        out.push(Token::Byte(mask));
        out.append(&mut tokens);
        // The results belong to the region that contains the operation. Their numbers precede those in nested
        // regions.
        for &result in &operation.results {
            self.define(result, form)?;
        }
        if !operation.regions.is_empty() {
            self.regions(operation, form, out)?;
        }
        for &result in &operation.results {
            self.cast(result, form, &operation.location, out)?;
        }
        Ok(())
    }

    /// Returns the parts of an operation of a dialect other than StableHLO and `func`.
    fn foreign(&self, operation: &Operation, info: &'static OperationInfo) -> Result<Parts> {
        let (dialect, name) = info.name.split_once('.').unwrap_or(("", info.name));
        match dialect {
            "builtin" => {}
            "sdy" => self.encoder.need(Version::new(1, 11, 0), "what is mixed in of other dialects")?,
            _ => {
                return Err(Fault::new(format!(
                    "`{}`, which VHLO has not: it has to be expanded first",
                    info.name
                )));
            }
        }
        let mut given = operation.attributes.clone();
        let mut inherent = Vec::with_capacity(info.attributes.len());
        for attribute in info.attributes {
            let mut value = given.remove(attribute.name);
            if attribute.name == "reduction_op" {
                // In text, the absent kind of a reduction is a sum.
                value = value.or(Some(Attribute::Integer(0, Type::integer(32))));
            }
            if value.is_none() && !attribute.is_optional {
                return Err(Fault::new(format!("the attribute `{}` is missing", attribute.name)));
            }
            inherent.push((attribute.name, value));
        }
        let discardable = given.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
        Ok(Parts { dialect, name, inherent, discardable })
    }

    /// Writes the attributes. Since version 5 of the bytecode, inherent attributes are stored separately.
    fn attributes(
        &mut self,
        form: Form,
        info: &OperationInfo,
        parts: Parts,
        mask: &mut u8,
        out: &mut Vec<Token>,
    ) -> Result<()> {
        let Parts { inherent, discardable, .. } = parts;
        let mut dictionary = Vec::with_capacity(discardable.len());
        for (name, value) in discardable {
            dictionary.push((name, self.encoder.attribute(&value, form)?));
        }
        let mut properties = Vec::with_capacity(inherent.len());
        for (name, value) in inherent {
            let id = match value {
                Some(value) => {
                    let id = self.encoder.attribute(&value, form);
                    Some(id.map_err(|fault| fault.note(format!("in the attribute `{name}`")))?)
                }
                None => None,
            };
            properties.push((name, id));
        }
        let are_apart = self.encoder.version.bytecode() >= 5;
        if !are_apart {
            dictionary.extend(properties.iter().filter_map(|&(name, id)| Some((name.into(), id?))));
        }
        if !dictionary.is_empty() {
            *mask |= has::ATTRIBUTES;
            dictionary.sort_by(|a: &(Name, _), b| a.0.cmp(&b.0));
            let mut tokens = vec![Token::Number(1), Token::Number(dictionary.len() as u64)];
            for (name, id) in dictionary {
                tokens.extend([Token::Attribute(self.encoder.string(name.as_bytes())), Token::Attribute(id)]);
            }
            out.push(Token::Attribute(self.encoder.tables.attribute("builtin", tokens)));
        }
        if are_apart && !properties.is_empty() {
            *mask |= has::PROPERTIES;
            let is_optional =
                |name| form == Form::Builtin && info.attribute(name).is_some_and(|a| a.is_optional);
            let tokens = properties.into_iter().map(|(name, id)| match id {
                Some(id) if !is_optional(name) => Token::Attribute(id),
                id => Token::Optional(id),
            });
            out.push(Token::Number(self.encoder.tables.properties(tokens.collect())));
        }
        Ok(())
    }

    /// Writes the regions of an operation. Regions of modules and functions are isolated and take a section
    /// of their own.
    fn regions(&mut self, operation: &Operation, form: Form, out: &mut Vec<Token>) -> Result<()> {
        let is_isolated = matches!(operation.name.as_str(), "builtin.module" | "func.func");
        out.push(Token::Number((operation.regions.len() as u64) << 1 | u64::from(is_isolated)));
        if is_isolated {
            self.scopes.push(Scope::default());
        }
        let mut inner = Vec::new();
        for region in &operation.regions {
            self.region(region, form, &operation.location, &mut inner)?;
        }
        if is_isolated {
            self.scopes.pop();
        }
        if is_isolated && self.encoder.version.bytecode() >= 2 {
            out.push(Token::Section(inner))
        } else {
            out.append(&mut inner)
        }
        Ok(())
    }

    fn region(
        &mut self,
        region: &Region,
        form: Form,
        location: &Location,
        out: &mut Vec<Token>,
    ) -> Result<()> {
        out.push(Token::Number(region.blocks.len() as u64));
        if region.blocks.is_empty() {
            return Ok(());
        }
        let own: u64 = region.blocks.iter().map(|block| self.count_values(block, form)).sum();
        out.push(Token::Number(own));
        let scope = self.scope();
        let (first, outer) = (scope.values, scope.next);
        (scope.values, scope.next) = (first + own, first);
        for block in &region.blocks {
            self.block(block, form, location, out)?;
        }
        let scope = self.scope();
        (scope.values, scope.next) = (first, outer);
        Ok(())
    }

    /// Returns the number of values that a block defines, including casts.
    fn count_values(&self, block: &Block, form: Form) -> u64 {
        let casts = |values: &[ValueId], form| {
            values.iter().filter(|&&value| self.needs_cast(value, form)).count() + values.len()
        };
        let inner = block.operations.iter().map(|op| casts(&op.results, form_of(&op.name)));
        (casts(&block.arguments, form) + inner.sum::<usize>()) as u64
    }

    fn block(&mut self, block: &Block, form: Form, location: &Location, out: &mut Vec<Token>) -> Result<()> {
        let casts = |writer: &Self, values: &[ValueId], form| {
            values.iter().filter(|&&value| writer.needs_cast(value, form)).count()
        };
        let count = block.operations.len()
            + casts(self, &block.arguments, form)
            + block.operations.iter().map(|op| casts(self, &op.results, form_of(&op.name))).sum::<usize>();
        let has_arguments = !block.arguments.is_empty();
        out.push(Token::Number((count as u64) << 1 | u64::from(has_arguments)));
        if has_arguments {
            self.arguments(block, form, out)?;
        }
        for &argument in &block.arguments {
            self.cast(argument, form, location, out)?;
        }
        block.operations.iter().try_for_each(|operation| self.operation(operation, out))
    }

    fn arguments(&mut self, block: &Block, form: Form, out: &mut Vec<Token>) -> Result<()> {
        let bytecode = self.encoder.version.bytecode();
        out.push(Token::Number(block.arguments.len() as u64));
        for &argument in &block.arguments {
            let ty = self.ty(argument, form)?;
            let location = self.tree.location_of(argument);
            // Since version 4 a location may be absent.
            let has_location = bytecode < 4 || *location != Location::Unknown;
            out.push(if bytecode < 4 { Token::Type(ty) } else { Token::ArgumentType(ty, has_location) });
            if has_location {
                out.push(Token::Attribute(self.encoder.location(location)?));
            }
            self.define(argument, form)?;
        }
        if bytecode >= 3 {
            // The order of the users of arguments has no meaning.
            out.push(Token::Byte(0));
        }
        Ok(())
    }

    fn scope(&mut self) -> &mut Scope {
        if self.scopes.is_empty() {
            self.scopes.push(Scope::default());
        }
        let last = self.scopes.len() - 1;
        &mut self.scopes[last]
    }

    /// Assigns the next number to a value.
    fn define(&mut self, value: ValueId, form: Form) -> Result<u64> {
        let scope = self.scope();
        let number = scope.next;
        scope.next += 1;
        let numbers =
            self.values.get_mut(value.index()).ok_or_else(|| Fault::new("a value of another tree"))?;
        let place = match form {
            Form::Vhlo => &mut numbers.vhlo,
            Form::Builtin => &mut numbers.builtin,
        };
        *place = Some(number);
        Ok(number)
    }

    /// Returns the number of a value.
    fn number(&self, value: ValueId, form: Form) -> Result<u64> {
        let numbers = self.values.get(value.index()).copied().unwrap_or_default();
        let number = match form {
            Form::Vhlo => numbers.vhlo,
            Form::Builtin => numbers.builtin,
        };
        number.ok_or_else(|| Fault::new("a value is used before it is defined"))
    }

    fn ty(&mut self, value: ValueId, form: Form) -> Result<super::tables::TypeId> {
        if value.index() >= self.tree.value_count() {
            return Err(Fault::new("a value of another tree"));
        }
        self.encoder.ty(self.tree.type_of(value), form)
    }

    /// Checks whether a value in one form is also used in the other form.
    fn needs_cast(&self, value: ValueId, form: Form) -> bool {
        let uses = self.uses.get(value.index()).copied().unwrap_or_default();
        match form {
            Form::Vhlo => uses.builtin,
            Form::Builtin => uses.vhlo,
        }
    }

    /// Writes a cast of a value to the other form, if the other form is used.
    fn cast(&mut self, value: ValueId, form: Form, location: &Location, out: &mut Vec<Token>) -> Result<()> {
        if !self.needs_cast(value, form) {
            return Ok(());
        }
        let other = match form {
            Form::Vhlo => Form::Builtin,
            Form::Builtin => Form::Vhlo,
        };
        let name = self.encoder.tables.operation("builtin", "unrealized_conversion_cast");
        let location = self.encoder.location(location)?;
        let (number, ty) = (self.number(value, form)?, self.ty(value, other)?);
        out.extend([Token::Operation(name), Token::Byte(has::RESULTS | has::OPERANDS)]);
        out.extend([Token::Attribute(location), Token::Number(1), Token::Type(ty)]);
        out.extend([Token::Number(1), Token::Number(number)]);
        self.define(value, other)?;
        Ok(())
    }
}
