//! Parsing of attributes. The opcode table lists the attributes of each opcode, and the attribute types read
//! their values.

use crate::parser::{Body, ModuleParser};
use crate::scan::matching;
use hlo_ir::attr::{AttrError, AttrReader, Attrs, InlineComputation, Presence};
use hlo_ir::blank::{TrimBlanks, is_blank};
use hlo_ir::diag::Diag;
use hlo_ir::rules::code;
use hlo_ir::suggest::nearest;
use hlo_ir::{CommonAttrs, CommonField, InstrId, Op, Span};
use smallvec::SmallVec;
use std::collections::HashSet;

/// The parts of an attribute.
pub struct Attribute<'t> {
    /// The name before the `=`.
    pub name: &'t str,
    /// The span of the name.
    pub name_span: Span,
    /// The text of the value, including comments.
    pub value: &'t str,
    /// The span of the value.
    pub value_span: Span,
}

/// The attributes of an instruction, each with its name.
pub type AttributeTokens<'t> = SmallVec<[&'t str; 6]>;

/// Splits an attribute token into its parts.
pub fn split<'t>(p: &ModuleParser<'t>, token: &'t str) -> Attribute<'t> {
    let (name, value) = token.split_once('=').unwrap_or((token, ""));
    let value = value.trim_blanks();
    let value_span = p.span_of(value);
    Attribute { name, name_span: p.span_of(name), value: p.source_at(value_span), value_span }
}

/// The attributes whose value is a computation, or a list of computations (true).
pub(crate) const COMPUTATIONS: &[(&str, bool)] = &[
    ("to_apply", false),
    ("condition", false),
    ("body", false),
    ("select", false),
    ("scatter", false),
    ("calls", false),
    ("true_computation", false),
    ("false_computation", false),
    ("branch_computations", true),
    ("called_computations", true),
];

/// The attributes that every instruction accepts, as read so far.
#[derive(Default)]
pub struct Common {
    /// The attributes.
    pub attrs: CommonAttrs,
    /// Whether there are any.
    pub any: bool,
}

impl<'t> ModuleParser<'t> {
    /// Reads the attribute tokens into `op`. Returns the attributes that every instruction accepts.
    pub fn read_attributes(
        &mut self,
        op: &mut Op,
        tokens: &[&'t str],
        place: Span,
        body: &mut Body<'t>,
    ) -> Common {
        let before = self.diags.len();
        let mut common = Common::default();
        let mut seen_fields = 0u64;
        let mut seen_common = 0u64;
        for &token in tokens {
            if self.full() {
                break;
            }
            let a = split(self, token);
            let field = op.attrs().and_then(|x| x.fields().iter().position(|f| f.name == a.name));
            let common_field = match field {
                Some(_) => None,
                None => CommonField::from_name(a.name).filter(|f| f.applies_to(op.opcode())),
            };
            let (seen, bit) = match field {
                Some(index) => (&mut seen_fields, 1u64 << (index & 63)),
                None => match common_field {
                    Some(field) => (&mut seen_common, 1 << field as u32),
                    None => {
                        self.unknown_attribute(op, &a);
                        continue;
                    }
                },
            };
            if *seen & bit != 0 {
                let message = format!("`{}` has `{}` twice", op.name(), a.name);
                let diag = Diag::error(message).with_code(code::ATTRIBUTE_TWICE);
                self.report(diag.at(a.name_span, "given again here"));
                continue;
            }
            *seen |= bit;
            match (field, common_field) {
                (Some(index), _) => self.read_field(op, index, &a),
                (None, Some(field)) => self.read_common(&mut common, field, &a, body),
                (None, None) => {}
            }
        }
        if self.diags.len() == before {
            // After a misspelt name, the missing attribute is not reported as well.
            self.check_required(op, seen_fields, place);
        }
        common
    }

    fn check_required(&mut self, op: &Op, seen: u64, span: Span) {
        let Some(attrs) = op.attrs() else { return };
        for (index, field) in attrs.fields().iter().enumerate() {
            if field.presence == Presence::Required && seen & (1 << (index & 63)) == 0 {
                let message = format!("`{}` needs the attribute `{}=`", op.name(), field.name);
                self.report(Diag::error(message).with_code(code::ATTRIBUTE_MISSING).at(span, ""));
            }
        }
    }

    fn unknown_attribute(&mut self, op: &Op, a: &Attribute<'t>) {
        let opcode = op.opcode();
        let own: Vec<&str> = op.attrs().map_or(Vec::new(), |x| x.fields().iter().map(|f| f.name).collect());
        let common = CommonField::ALL.iter().filter(|f| f.applies_to(opcode)).map(|f| f.name());
        let common: Vec<&str> = common.collect();
        let mut diag = Diag::error(format!("`{opcode}` has no attribute `{}`", a.name))
            .with_code(code::UNKNOWN_ATTRIBUTE)
            .at(a.name_span, "");
        if let Some(n) = nearest(a.name, own.iter().chain(&common).copied()) {
            diag = diag.did_you_mean(a.name_span, n);
        }
        // The list is shown once for each opcode.
        if self.attributes_listed.insert(opcode) {
            let own = if own.is_empty() { String::new() } else { format!("{}, and ", own.join(", ")) };
            diag = diag.note(format!("it takes {own}what every instruction does: {}", common.join(", ")));
        }
        self.report(diag);
    }

    /// Reads an attribute of the module.
    pub fn header_attribute(&mut self, a: &Attribute<'t>) {
        let known = self.module.header.fields();
        let Some(index) = known.iter().position(|f| f.name == a.name) else {
            let diag = Diag::error(format!("a module has no attribute `{}`", a.name))
                .with_code(code::MODULE_ATTRIBUTE)
                .at(a.name_span, "");
            let names: Vec<&str> = known.iter().map(|f| f.name).collect();
            self.report(match nearest(a.name, names.iter().copied()) {
                Some(n) => diag.did_you_mean(a.name_span, n),
                None => diag.note(format!("the attributes are {}", names.join(", "))),
            });
            return;
        };
        let mut reader = self.names.reader(a.value, a.value_span.start as usize, &[]);
        let result = self.module.header.read_field(index, &mut reader).and_then(|()| reader.expect_end());
        if let Err(e) = result {
            let diag = self.attribute_error(e, a);
            self.report(diag);
        }
    }

    fn read_field(&mut self, op: &mut Op, index: usize, a: &Attribute<'t>) {
        let inline = self.inline_computations(a);
        let before = self.diags.len();
        let mut reader = self.names.reader(a.value, a.value_span.start as usize, &inline);
        let result = op.attrs_mut().map_or(Ok(()), |x| x.read_field(index, &mut reader));
        if let Err(e) = result.and_then(|()| reader.expect_end())
            && before == self.diags.len()
        {
            let diag = self.attribute_error(e, a);
            self.report(diag);
        }
    }

    pub fn attribute_error(&self, e: AttrError, a: &Attribute<'t>) -> Diag {
        if let Some(diag) = e.diag {
            return *diag;
        }
        if !e.found.is_empty() {
            // A long list is not repeated in the label.
            let label =
                if e.expected.len() <= 60 { format!("expected {}", e.expected) } else { String::new() };
            let diag = Diag::error(format!("expected {} in `{}=`, found {}", e.expected, a.name, e.found))
                .with_code(code::ATTRIBUTE_VALUE)
                .at(e.span, label);
            return match nearest(self.source_at(e.span), e.legal.iter().copied()) {
                Some(n) => diag.did_you_mean(e.span, n),
                None => diag,
            };
        }
        let diag = Diag::error(&e.expected).at(e.span, "");
        if !e.expected.starts_with("no computation") {
            return diag.with_code(code::ATTRIBUTE_VALUE);
        }
        let diag = diag.with_code(code::UNKNOWN_COMPUTATION);
        let name = self.source_at(e.span).trim_blanks();
        let name = name.strip_prefix('%').unwrap_or(name);
        let name_span = self.span_within(e.span, name);
        if let Some(own) = self.names.0.get(name) {
            return Diag::error(format!("computation `{name}` calls itself"))
                .with_code(code::CALL_CYCLE)
                .at(e.span, "")
                .and(own.span, "it can be called after its end");
        }
        if let Some(later) = self.defined_later(name, e.span.end as usize) {
            return diag.and(later, "it is defined here: a computation comes before its uses");
        }
        // Sorted, because the order of the map is random.
        let mut names: Vec<&str> = self.names.0.keys().copied().collect();
        names.sort_unstable();
        match nearest(name, names) {
            Some(n) => diag.did_you_mean(name_span, n),
            None => diag,
        }
    }

    /// Returns the span of `part`, a slice of the source at `span`.
    fn span_within(&self, span: Span, part: &str) -> Span {
        let whole = self.source_at(span);
        let start = span.start as usize + (part.as_ptr() as usize).saturating_sub(whole.as_ptr() as usize);
        Span::new(start, start + part.len())
    }

    /// Reads the bodies in the value that are in place of computation names.
    fn inline_computations(&mut self, a: &Attribute<'t>) -> Vec<InlineComputation> {
        let mut out = Vec::new();
        let Some(&(_, list)) = COMPUTATIONS.iter().find(|(n, _)| *n == a.name) else { return out };
        if !a.value.starts_with('{') {
            return out;
        }
        let text = self.text;
        let end = a.value_span.end as usize;
        let mut at = a.value_span.start as usize + usize::from(list);
        while let Some(open) =
            text[at..end].find(|c: char| !u8::try_from(c).is_ok_and(is_blank) && c != ',').map(|n| at + n)
        {
            if !text[open..].starts_with('{') {
                break;
            }
            let parsed = self.inline_bodies.remove(&(open as u32));
            let close = match &parsed {
                Some(pair) => open + pair.as_str().len() - 1,
                None => matching(text, open),
            };
            // A body contains an instruction, and therefore a `=`.
            if close >= end
                || (!list
                    && !text[open..close].contains('=')
                    && !text[open + 1..close].trim_blanks().is_empty())
            {
                break;
            }
            let id = self.module.add_computation("");
            // The name that XLA uses.
            self.unnamed.push((id, "_".into()));
            match parsed {
                Some(pair) => self.body(id, pair, None),
                None => self.inline_body(id, open, close),
            }
            out.push(InlineComputation { span: Span::new(open, close + 1), id });
            at = close + 1;
        }
        out
    }

    fn read_common(
        &mut self,
        common: &mut Common,
        field: CommonField,
        a: &Attribute<'t>,
        body: &mut Body<'t>,
    ) {
        common.any = true;
        if field == CommonField::ControlPredecessors {
            common.attrs.control_predecessors = self.read_control_predecessors(a, body);
            return;
        }
        let mut reader = self.names.reader(a.value, a.value_span.start as usize, &[]);
        let result = common.attrs.read_field(field, &mut reader);
        if let Err(e) = result.and_then(|()| reader.expect_end()) {
            let diag = self.attribute_error(e, a);
            self.report(diag);
        }
    }

    fn read_control_predecessors(&mut self, a: &Attribute<'t>, body: &mut Body<'t>) -> Vec<InstrId> {
        // From the text with blanked comments, because names of the body are slices of it.
        let text = self.text;
        let mut reader = self.names.reader(&text[a.value_span.range()], a.value_span.start as usize, &[]);
        let names = predecessor_names(&mut reader).unwrap_or_else(|e| {
            let diag = self.attribute_error(e, a);
            self.report(diag);
            Vec::new()
        });
        let mut seen = HashSet::new();
        let resolved = names.into_iter().filter_map(|n| self.resolve(body, &text[n.range()]));
        resolved.filter(|&id| seen.insert(id)).collect()
    }
}

/// Reads a list of instructions, such as `{a, %b}`. Returns the spans of the names.
///
/// # Errors
/// The text is not a list of names.
pub fn predecessor_names(r: &mut AttrReader<'_>) -> Result<Vec<Span>, AttrError> {
    if r.peek() != b'{' {
        return Err(r.expected("a list such as `{a, b}`"));
    }
    let names = r.list("{", "}", |r| {
        let start = r.offset_of_next();
        if r.percent_word().is_empty() {
            return Err(r.expected("an instruction's name"));
        }
        Ok(r.since(start))
    })?;
    r.expect_end()?;
    Ok(names)
}
