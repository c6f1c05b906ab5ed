//! Extraction of parts of a static library: finds the sections that a set of functions needs, as a linker's
//! `--gc-sections` does.

use object::Endianness;
use object::build::Id as _;
use object::build::elf::{Builder, SectionData, SectionId, SymbolId};
use object::elf;
use object::read::archive::{ArchiveFile, ArchiveOffset};
use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// The reason why a part of a library cannot be extracted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PartError {
    /// The file is not an archive of 64-bit ELF objects, or it is damaged.
    #[error("is not a static library of 64-bit ELF objects: {0}")]
    Format(String),
    /// The library is for another machine.
    #[error("is for another machine: its objects are for {found}, {expected} is expected")]
    Machine {
        /// The machine that the program is for.
        expected: &'static str,
        /// The machine that the library is for.
        found: String,
    },
    /// The library does not define a function.
    #[error("has no function `{0}`: it is of another version")]
    Missing(String),
}

fn format(error: impl std::fmt::Display) -> PartError {
    PartError::Format(error.to_string())
}

/// A record of `.eh_frame`: describes how to unwind one function (an FDE), or data that several records share
/// (a CIE).
struct Record {
    start: u64,
    end: u64,
    /// The offset of the shared record, or `None` if this record is a shared one.
    common: Option<u64>,
    /// The section of the function.
    function: Option<SectionId>,
}

/// A member of the library, some of whose sections are needed.
struct Member<'d> {
    name: String,
    builder: Builder<'d>,
    /// The relocation sections of each section.
    relocations: HashMap<usize, Vec<SectionId>>,
    /// The global symbols that it defines.
    defined: HashMap<Vec<u8>, SectionId>,
    frame: Option<SectionId>,
    records: Vec<Record>,
    live: HashSet<usize>,
}

/// The target of a relocation.
enum RelocationTarget {
    /// A section of the same member.
    SameMember(SectionId),
    /// A symbol of another member.
    OtherMember(Vec<u8>),
    /// No target.
    None,
}

impl<'d> Member<'d> {
    fn new(name: String, bytes: &'d [u8]) -> Result<Self, PartError> {
        let builder = Builder::read64(bytes).map_err(format)?;
        let mut relocations: HashMap<usize, Vec<SectionId>> = HashMap::new();
        let mut frame = None;
        for section in &builder.sections {
            if let (SectionData::Relocation(_), Some(of)) = (&section.data, section.sh_info_section) {
                relocations.entry(of.index()).or_default().push(section.id());
            }
            if section.name.as_slice() == b".eh_frame" {
                frame = Some(section.id());
            }
        }
        let global = builder.symbols.iter().filter(|s| s.st_bind() != elf::STB_LOCAL);
        let defined = global.filter_map(|s| Some((s.name.to_vec(), s.section?))).collect();
        let mut member =
            Self { name, builder, relocations, defined, frame, records: Vec::new(), live: HashSet::new() };
        member.records = member.read_frame()?;
        Ok(member)
    }

    /// Returns the relocations of a section within a range.
    fn relocations_in(
        &self,
        section: SectionId,
        range: std::ops::Range<u64>,
    ) -> Vec<object::build::elf::Relocation> {
        let lists = self.relocations.get(&section.index()).into_iter().flatten();
        let all = lists.filter_map(|&list| match &self.builder.sections.get(list).data {
            SectionData::Relocation(relocations) => Some(relocations),
            _ => None,
        });
        all.flatten().filter(|r| range.contains(&r.r_offset)).copied().collect()
    }

    fn relocation_target(&self, symbol: Option<SymbolId>) -> RelocationTarget {
        let Some(symbol) = symbol.map(|s| self.builder.symbols.get(s)) else { return RelocationTarget::None };
        match symbol.section {
            Some(section) => RelocationTarget::SameMember(section),
            None if symbol.st_shndx == elf::SHN_UNDEF => RelocationTarget::OtherMember(symbol.name.to_vec()),
            None => RelocationTarget::None,
        }
    }

    /// Reads the records of `.eh_frame`.
    fn read_frame(&self) -> Result<Vec<Record>, PartError> {
        let Some(frame) = self.frame else { return Ok(Vec::new()) };
        let SectionData::Data(data) = &self.builder.sections.get(frame).data else { return Ok(Vec::new()) };
        let damaged = || format(format_args!("`{}` has a damaged .eh_frame", self.name));
        let all = self.relocations_in(frame, 0..u64::MAX);
        let targets: HashMap<u64, Option<SymbolId>> = all.iter().map(|r| (r.r_offset, r.symbol)).collect();
        let word = |at: usize| -> Option<u64> {
            Some(u32::from_le_bytes(data.get(at..at + 4)?.try_into().ok()?).into())
        };
        let (mut records, mut at) = (Vec::new(), 0);
        while at + 4 <= data.len() {
            let length = word(at).ok_or_else(damaged)?;
            let start = at as u64;
            if length == 0 {
                break;
            }
            let end = start + 4 + length;
            if length == 0xffff_ffff || length < 8 || end > data.len() as u64 {
                return Err(damaged());
            }
            let back = word(at + 4).ok_or_else(damaged)?;
            let common = match back {
                0 => None,
                _ => Some((start + 4).checked_sub(back).ok_or_else(damaged)?),
            };
            let function =
                targets.get(&(start + 8)).and_then(|&symbol| match self.relocation_target(symbol) {
                    RelocationTarget::SameMember(section) => Some(section),
                    RelocationTarget::OtherMember(_) | RelocationTarget::None => None,
                });
            records.push(Record { start, end, common, function });
            at = end as usize;
        }
        Ok(records)
    }

    /// Returns the targets of a needed section: those of its own relocations, and those of the unwind records
    /// of its functions.
    fn relocation_targets(&self, section: SectionId) -> Vec<RelocationTarget> {
        let mut found = self.relocations_in(section, 0..u64::MAX);
        if let Some(frame) = self.frame {
            for record in self.records.iter().filter(|r| r.common.is_some() && r.function == Some(section)) {
                found.extend(self.relocations_in(frame, record.start..record.end));
                let common = self.records.iter().find(|c| Some(c.start) == record.common);
                found.extend(common.into_iter().flat_map(|c| self.relocations_in(frame, c.start..c.end)));
            }
        }
        found.into_iter().map(|r| self.relocation_target(r.symbol)).collect()
    }

    /// Returns the member as an object file with only the needed sections.
    fn write(mut self) -> Result<Vec<u8>, PartError> {
        self.write_frame();
        let has_frame =
            self.records.iter().any(|r| r.function.is_some_and(|f| self.live.contains(&f.index())));
        let mut kept = HashSet::new();
        for section in &mut self.builder.sections {
            let needed = match &section.data {
                SectionData::Relocation(_) => section
                    .sh_info_section
                    .is_some_and(|of| self.live.contains(&of.index()) || has_frame && Some(of) == self.frame),
                SectionData::Symbol
                | SectionData::String
                | SectionData::SectionString
                | SectionData::SymbolSectionIndex => true,
                _ if Some(section.id()) == self.frame => has_frame,
                _ => {
                    section.name.as_slice() == b".note.GNU-stack" || self.live.contains(&section.id().index())
                }
            };
            section.delete = !needed;
            section.sh_flags &= !u64::from(elf::SHF_GROUP);
            if let (true, SectionData::Relocation(relocations)) = (needed, &section.data) {
                kept.extend(relocations.iter().filter_map(|r| Some(r.symbol?.index())));
            }
        }
        let sections = &self.builder.sections;
        let mut lost = Vec::new();
        for symbol in &self.builder.symbols {
            let here = symbol.section.is_some_and(|s| !sections.get(s).delete);
            if !here && !kept.contains(&symbol.id().index()) {
                lost.push(symbol.id());
            }
        }
        for id in lost {
            self.builder.symbols.get_mut(id).delete = true;
        }
        for symbol in &mut self.builder.symbols {
            // Two such libraries may be linked into one program. The linker then uses the first definition of
            // a name. All definitions of a name are the same.
            if symbol.section.is_some() && symbol.st_bind() == elf::STB_GLOBAL {
                symbol.set_st_info(elf::STB_WEAK, symbol.st_type());
            }
        }
        // LLVM's objects store the names of sections in the symbol string table.
        if !self.builder.sections.iter().any(|s| matches!(s.data, SectionData::SectionString)) {
            let names = self.builder.sections.add();
            (names.name, names.sh_type, names.sh_addralign) = (".shstrtab".into(), elf::SHT_STRTAB, 1);
            names.data = SectionData::SectionString;
        }
        let mut out = Vec::new();
        self.builder.write(&mut out).map_err(format)?;
        Ok(out)
    }

    /// Removes the records of unneeded functions from `.eh_frame`.
    fn write_frame(&mut self) {
        let Some(frame) = self.frame else { return };
        let SectionData::Data(data) = &self.builder.sections.get(frame).data else { return };
        let live = |r: &&Record| r.function.is_some_and(|f| self.live.contains(&f.index()));
        let common: HashSet<u64> = self.records.iter().filter(live).filter_map(|r| r.common).collect();
        // The old end and the new start of each remaining record, by its old start.
        let mut moved: BTreeMap<u64, (u64, u64)> = BTreeMap::new();
        let mut bytes: Vec<u8> = Vec::new();
        for record in &self.records {
            let stays = match record.common {
                None => common.contains(&record.start),
                Some(_) => live(&record),
            };
            if !stays {
                continue;
            }
            let to = bytes.len() as u64;
            moved.insert(record.start, (record.end, to));
            bytes.extend(&data[record.start as usize..record.end as usize]);
            if let Some((_, place)) = record.common.and_then(|c| moved.get(&c)) {
                let back = (to + 4 - place) as u32;
                bytes[to as usize + 4..to as usize + 8].copy_from_slice(&back.to_le_bytes());
            }
        }
        for list in self.relocations.get(&frame.index()).cloned().unwrap_or_default() {
            if let SectionData::Relocation(relocations) = &mut self.builder.sections.get_mut(list).data {
                relocations.retain_mut(|r| {
                    let Some((start, (end, to))) = moved.range(..=r.r_offset).next_back() else {
                        return false;
                    };
                    let stays = r.r_offset < *end;
                    r.r_offset = r.r_offset.wrapping_sub(*start).wrapping_add(*to);
                    stays
                });
            }
        }
        self.builder.sections.get_mut(frame).data = SectionData::Data(bytes.into());
    }
}

/// The section type of LLVM's list of functions whose addresses are significant.
const SHT_LLVM_ADDRSIG: u32 = 0x6fff_4c03;

/// Turns sections that cannot be parsed, and that programs do not need, into ordinary data. They are then not
/// live and are removed.
fn make_readable(object: &mut [u8]) -> Result<(), PartError> {
    let damaged = || PartError::Format("a damaged object".into());
    let half = |object: &[u8], at: u64| -> Option<u64> {
        let (bytes, _) = object.get(usize::try_from(at).ok()?..)?.split_first_chunk()?;
        Some(u16::from_le_bytes(*bytes).into())
    };
    let word = |object: &[u8], at: u64| -> Option<u64> {
        let (bytes, _) = object.get(usize::try_from(at).ok()?..)?.split_first_chunk()?;
        Some(u64::from_le_bytes(*bytes))
    };
    if object.get(..6) != Some(b"\x7fELF\x02\x01") {
        return Err(PartError::Format("an object that is not little-endian 64-bit ELF".into()));
    }
    let table = word(object, 40).ok_or_else(damaged)?;
    let size = half(object, 58).ok_or_else(damaged)?;
    let mut count = half(object, 60).ok_or_else(damaged)?;
    if count == 0 && table != 0 {
        // The number does not fit into the header. The size field of the first section contains it.
        count = table.checked_add(32).and_then(|at| word(object, at)).ok_or_else(damaged)?;
    }
    for section in 0..count {
        let at = section.checked_mul(size).and_then(|n| n.checked_add(table)?.checked_add(4));
        let at = at.and_then(|at| usize::try_from(at).ok()).ok_or_else(damaged)?;
        let rest = object.get_mut(at..).and_then(|rest| rest.split_first_chunk_mut());
        let (kind, _): (&mut [u8; 4], _) = rest.ok_or_else(damaged)?;
        let value = u32::from_le_bytes(*kind);
        if value == elf::SHT_GROUP || value == SHT_LLVM_ADDRSIG {
            *kind = elf::SHT_PROGBITS.to_le_bytes();
        }
    }
    Ok(())
}

/// Returns the members of a library that `roots` need, each with its name and reduced to the needed sections.
///
/// # Errors
/// Fails if the library is damaged, is for another machine or has no function of a name in `roots`.
pub fn prune(
    library: &[u8],
    roots: &[String],
    (machine, machine_name): (u16, &'static str),
) -> Result<Vec<(String, Vec<u8>)>, PartError> {
    let archive = ArchiveFile::parse(library).map_err(format)?;
    let mut by_name: HashMap<&[u8], u64> = HashMap::new();
    let symbols = archive.symbols().map_err(format)?;
    for symbol in symbols.ok_or_else(|| PartError::Format("it has no index".into()))? {
        let symbol = symbol.map_err(format)?;
        by_name.entry(symbol.name()).or_insert_with(|| symbol.offset().0);
    }
    let offsets: BTreeSet<u64> = by_name.values().copied().collect();
    let numbers: HashMap<u64, usize> = offsets.iter().enumerate().map(|(n, &offset)| (offset, n)).collect();
    // Members are read when a section of them is first needed, after small changes to a copy.
    let copies: Vec<OnceCell<Vec<u8>>> = offsets.iter().map(|_| OnceCell::new()).collect();
    let mut members: Vec<Option<Member<'_>>> = offsets.iter().map(|_| None).collect();
    let mut work: Vec<(usize, SectionId)> = Vec::new();
    let mut wanted: Vec<(Vec<u8>, bool)> = roots.iter().map(|r| (r.clone().into_bytes(), true)).collect();
    loop {
        while let Some((name, required)) = wanted.pop() {
            let Some(&offset) = by_name.get(&name[..]) else {
                if required {
                    return Err(PartError::Missing(String::from_utf8_lossy(&name).into_owned()));
                } else {
                    continue;
                }
            };
            let number = numbers[&offset];
            if members[number].is_none() {
                let entry = archive.member(ArchiveOffset(offset)).map_err(format)?;
                let mut copy = entry.data(library).map_err(format)?.to_vec();
                make_readable(&mut copy)?;
                let name = String::from_utf8_lossy(entry.name()).into_owned();
                let member = Member::new(name, copies[number].get_or_init(|| copy))?;
                if member.builder.header.e_machine != machine || member.builder.endian != Endianness::Little {
                    let found = match member.builder.header.e_machine {
                        elf::EM_X86_64 => "x86_64".to_string(),
                        elf::EM_AARCH64 => "aarch64".to_string(),
                        other => format!("machine number {other}"),
                    };
                    return Err(PartError::Machine { expected: machine_name, found });
                }
                let starts = member.builder.sections.iter();
                let starts =
                    starts.filter(|s| s.sh_type == elf::SHT_INIT_ARRAY || s.sh_type == elf::SHT_FINI_ARRAY);
                work.extend(starts.map(|s| (number, s.id())));
                members[number] = Some(member);
            }
            if let Some(section) = members[number].as_ref().and_then(|m| m.defined.get(&name)) {
                work.push((number, *section));
            }
        }
        let Some((number, section)) = work.pop() else { break };
        let Some(member) = members[number].as_mut() else { continue };
        if !member.live.insert(section.index()) {
            continue;
        }
        for goal in member.relocation_targets(section) {
            match goal {
                RelocationTarget::SameMember(section) => work.push((number, section)),
                RelocationTarget::OtherMember(name) => wanted.push((name, false)),
                RelocationTarget::None => {}
            }
        }
    }
    let members = members.into_iter().flatten().filter(|m| !m.live.is_empty());
    members.map(|m| Ok((m.name.clone(), m.write()?))).collect()
}
