//! The layout of files: their first bytes, sections and masks.

/// The first bytes of every file.
pub(super) const MAGIC: &[u8] = b"ML\xefR";

/// The byte that fills alignment gaps.
pub(super) const ALIGNMENT_BYTE: u8 = 0xcb;

/// The numbers of sections.
pub(super) mod section {
    pub(crate) const STRING: usize = 0;
    pub(crate) const DIALECT: usize = 1;
    pub(crate) const ATTRIBUTE: usize = 2;
    pub(crate) const ATTRIBUTE_OFFSET: usize = 3;
    pub(crate) const IR: usize = 4;
    pub(crate) const RESOURCE: usize = 5;
    pub(crate) const RESOURCE_OFFSET: usize = 6;
    pub(crate) const DIALECT_VERSIONS: usize = 7;
    pub(crate) const PROPERTIES: usize = 8;
    pub(crate) const COUNT: usize = 9;
}

/// The bits of the mask before an operation's parts. They tell which parts follow.
pub(super) mod has {
    pub(crate) const ATTRIBUTES: u8 = 1;
    pub(crate) const RESULTS: u8 = 2;
    pub(crate) const OPERANDS: u8 = 4;
    pub(crate) const SUCCESSORS: u8 = 8;
    pub(crate) const REGIONS: u8 = 16;
    pub(crate) const USE_ORDERS: u8 = 32;
    pub(crate) const PROPERTIES: u8 = 64;
}
