//! The names and descriptions of attributes: of an opcode, of every instruction, of a module.

use hlo_ir::attr::{Attrs as _, BraceContents, Field, Presence};
use hlo_ir::{CommonField, Header, Opcode};

/// An attribute for display in an editor.
#[derive(Clone, Copy, Debug)]
pub struct Attribute {
    /// The name before the `=`.
    pub name: &'static str,
    /// The description.
    pub doc: &'static str,
    /// Whether the attribute is required.
    pub required: bool,
    /// The possible values, if they are a few words.
    pub words: &'static [&'static str],
    /// The possible contents of the braces of its value.
    pub inside: BraceContents,
}

impl From<&Field> for Attribute {
    fn from(f: &Field) -> Self {
        let required = f.presence == Presence::Required;
        Self { name: f.name, doc: f.doc, required, words: f.words, inside: f.inside }
    }
}

/// Returns the attributes of an opcode.
pub fn of_opcode(opcode: Opcode) -> Vec<Attribute> {
    opcode.default_op().attrs().map_or(Vec::new(), |a| a.fields().iter().map(Attribute::from).collect())
}

/// Returns the attributes that every instruction with the opcode may have, or all such attributes if there is
/// no opcode yet.
pub fn common(opcode: Option<Opcode>) -> Vec<Attribute> {
    let fields = CommonField::ALL.iter().filter(|f| opcode.is_none_or(|o| f.applies_to(o)));
    let attribute = |&f: &CommonField| Attribute {
        name: f.name(),
        doc: f.doc(),
        required: false,
        words: &[],
        inside: f.inside(),
    };
    fields.map(attribute).collect()
}

/// Returns the attributes of a module.
pub fn of_module() -> Vec<Attribute> {
    Header::default().fields().iter().map(Attribute::from).collect()
}

/// Returns the attribute called `name` of an instruction with the opcode.
pub fn find(opcode: Option<Opcode>, name: &str) -> Option<Attribute> {
    let own = opcode.map_or(Vec::new(), of_opcode);
    own.into_iter().chain(common(opcode)).find(|a| a.name == name)
}

/// Returns the opcode for a text. For a short form, also returns the asynchronous opcode: `add-start` is
/// `add` with `async-start`.
pub fn opcode(text: &str) -> Option<(Opcode, Option<Opcode>)> {
    if let Some(opcode) = Opcode::from_name(text) {
        return Some((opcode, None));
    }
    let (asynchronous, wrapped) = Opcode::from_short_form(text)?;
    Some((wrapped, Some(asynchronous)))
}
