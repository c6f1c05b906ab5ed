//! The collectives of a program: which devices take part in each.

use std::collections::HashMap;

/// Which devices exchange data in each collective of a program, the same for all devices.
#[derive(Clone, Debug)]
pub struct Table {
    devices: usize,
    /// The different groups.
    groups: Vec<Vec<usize>>,
    numbers: HashMap<Vec<usize>, usize>,
    sites: Vec<Site>,
}

#[derive(Clone, Debug)]
struct Site {
    name: String,
    /// The group of each device that is in one.
    group: Vec<Option<usize>>,
    /// Of a permute: senders and receivers.
    pairs: Vec<(usize, usize)>,
    /// Of a reduction, if its order does not matter.
    reduction: Option<Reduction>,
}

/// What a reduction of integers computes: in any order to the same bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Reduction {
    /// The operation.
    pub kind: ReductionKind,
    /// Whether the integers are signed.
    pub is_signed: bool,
}

impl Reduction {
    /// The reduction by HLO's opcode of a name, of signed integers or others.
    pub fn of_name(name: &str, is_signed: bool) -> Option<Self> {
        let kind = ReductionKind::ALL.into_iter().find(|kind| kind.name() == name)?;
        Some(Self { kind, is_signed })
    }
}

/// The operation of a [`Reduction`]. Sums and products keep the lowest bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReductionKind {
    /// The sum.
    Add,
    /// The product.
    Multiply,
    /// The least.
    Minimum,
    /// The greatest.
    Maximum,
    /// Bits that all have.
    And,
    /// Bits that one has.
    Or,
    /// Bits that an odd number of them have.
    Xor,
}

impl ReductionKind {
    /// Every kind.
    pub const ALL: [Self; 7] =
        [Self::Add, Self::Multiply, Self::Minimum, Self::Maximum, Self::And, Self::Or, Self::Xor];

    /// The name of the kind: that of HLO's opcode.
    pub fn name(self) -> &'static str {
        match self {
            Self::Add => "add",
            Self::Multiply => "multiply",
            Self::Minimum => "minimum",
            Self::Maximum => "maximum",
            Self::And => "and",
            Self::Or => "or",
            Self::Xor => "xor",
        }
    }
}

impl Table {
    /// A table for a program on so many devices, without collectives.
    pub fn new(devices: usize) -> Self {
        Self { devices, groups: Vec::new(), numbers: HashMap::new(), sites: Vec::new() }
    }

    /// Adds a collective; returns its number. `name` is what messages call it. Devices that there are not are left out;
    /// one in two groups is in the last.
    pub fn add(&mut self, name: impl Into<String>, groups: &[Vec<usize>]) -> usize {
        let mut group = vec![None; self.devices];
        for members in groups {
            let next = self.groups.len();
            let number = *self.numbers.entry(members.clone()).or_insert(next);
            if number == next {
                self.groups.push(members.clone());
            }
            for &device in members {
                if let Some(of) = group.get_mut(device) {
                    *of = Some(number);
                }
            }
        }
        self.sites.push(Site { name: name.into(), group, pairs: Vec::new(), reduction: None });
        self.sites.len() - 1
    }

    /// Adds a permute; returns its number. `pairs` are those who send and those who receive, in groups that the pairs
    /// connect.
    pub fn add_permute(
        &mut self,
        name: impl Into<String>,
        groups: &[Vec<usize>],
        pairs: &[(usize, usize)],
    ) -> usize {
        let site = self.add(name, groups);
        self.sites[site].pairs = pairs.to_vec();
        site
    }

    /// Says that a collective is a reduction whose order does not matter.
    pub fn set_reduction(&mut self, site: usize, reduction: Option<Reduction>) {
        if let Some(site) = self.sites.get_mut(site) {
            site.reduction = reduction;
        }
    }

    /// What a collective reduces by, if its order does not matter.
    pub fn reduction(&self, site: usize) -> Option<Reduction> {
        self.sites.get(site)?.reduction
    }

    /// The numbers of the groups that devices reduce in where the order does not matter, each once.
    pub fn reduced_groups(&self) -> Vec<usize> {
        let sites = self.sites.iter().filter(|s| s.reduction.is_some());
        let mut numbers: Vec<usize> = sites.flat_map(|s| s.group.iter().flatten().copied()).collect();
        numbers.sort_unstable();
        numbers.dedup();
        numbers
    }

    /// Who sends and who receives in a permute.
    pub fn pairs(&self, site: usize) -> &[(usize, usize)] {
        self.sites.get(site).map_or(&[], |s| &s.pairs)
    }

    /// The devices that one sends to and gets values from in a permute.
    pub fn ends(&self, site: usize, device: usize) -> (Option<usize>, Option<usize>) {
        let pairs = self.pairs(site);
        let target = pairs.iter().find(|p| p.0 == device).map(|p| p.1);
        let source = pairs.iter().find(|p| p.1 == device).map(|p| p.0);
        (target, source)
    }

    /// The number of devices.
    pub fn devices(&self) -> usize {
        self.devices
    }

    /// The different groups, which are numbered so.
    pub fn groups(&self) -> &[Vec<usize>] {
        &self.groups
    }

    /// What messages call a collective.
    pub fn name(&self, site: usize) -> &str {
        self.sites.get(site).map_or("a collective that is none", |s| &s.name)
    }

    /// The number of the group that a device is in at a collective, if it is in one.
    pub fn group_number(&self, site: usize, device: usize) -> Option<usize> {
        *self.sites.get(site)?.group.get(device)?
    }

    /// The group that a device is in at a collective, if it is in one.
    pub fn group(&self, site: usize, device: usize) -> Option<&[usize]> {
        Some(&self.groups[self.group_number(site, device)?])
    }

    /// A device's group at a collective, and its place there.
    pub fn place(&self, site: usize, device: usize) -> Option<(&[usize], usize)> {
        let group = self.group(site, device)?;
        Some((group, group.iter().position(|&d| d == device)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_groups_are_one() {
        let mut table = Table::new(4);
        let a = table.add("a", &[vec![0, 1], vec![3, 2]]);
        let b = table.add("b", &[vec![3, 2], vec![9]]);
        assert_eq!(table.groups(), [vec![0, 1], vec![3, 2], vec![9]]);
        assert_eq!(table.place(a, 2), Some((&[3, 2][..], 1)));
        assert_eq!((table.group(b, 0), table.group(b, 3)), (None, Some(&[3, 2][..])));
        assert_eq!((table.name(b), table.group(7, 0)), ("b", None));
    }
}
