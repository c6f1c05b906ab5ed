//! The table of a program's collectives, with the devices that take part in each.

use std::collections::HashMap;

/// The devices that exchange data in each collective of a program. The table is the same for all devices.
#[derive(Clone, Debug)]
pub struct Table {
    devices: usize,
    /// The distinct groups.
    groups: Vec<Vec<usize>>,
    numbers: HashMap<Vec<usize>, usize>,
    sites: Vec<Site>,
}

#[derive(Clone, Debug)]
struct Site {
    name: String,
    /// The group number of each device, or `None` if it is in no group.
    group: Vec<Option<usize>>,
    /// The senders and receivers of a permute.
    pairs: Vec<(usize, usize)>,
    /// The reduction, if its order does not matter.
    reduction: Option<Reduction>,
}

/// A reduction of integers, which computes the same bits in any order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Reduction {
    /// The operation.
    pub kind: ReductionKind,
    /// Whether the integers are signed.
    pub is_signed: bool,
}

impl Reduction {
    /// Returns the reduction whose HLO opcode has this name.
    pub fn of_name(name: &str, is_signed: bool) -> Option<Self> {
        let kind = ReductionKind::ALL.into_iter().find(|kind| kind.name() == name)?;
        Some(Self { kind, is_signed })
    }
}

/// The operation of a [`Reduction`]. Sums and products wrap around.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReductionKind {
    /// The sum.
    Add,
    /// The product.
    Multiply,
    /// The minimum.
    Minimum,
    /// The maximum.
    Maximum,
    /// The bitwise and.
    And,
    /// The bitwise or.
    Or,
    /// The bitwise exclusive or.
    Xor,
}

impl ReductionKind {
    /// Every kind.
    pub const ALL: [Self; 7] =
        [Self::Add, Self::Multiply, Self::Minimum, Self::Maximum, Self::And, Self::Or, Self::Xor];

    /// Returns the name of the kind: that of its HLO opcode.
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
    /// Creates a table without collectives for a program on `devices` devices.
    pub fn new(devices: usize) -> Self {
        Self { devices, groups: Vec::new(), numbers: HashMap::new(), sites: Vec::new() }
    }

    /// Adds a collective and returns its number. `name` is its name in messages. Devices that do not exist
    /// are ignored. A device in two groups belongs to the last one.
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

    /// Adds a permute and returns its number. `pairs` are senders and receivers. Each group contains the
    /// devices that pairs connect.
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

    /// Sets the reduction of a collective, if its order does not matter.
    pub fn set_reduction(&mut self, site: usize, reduction: Option<Reduction>) {
        if let Some(site) = self.sites.get_mut(site) {
            site.reduction = reduction;
        }
    }

    /// Returns the reduction of a collective, if its order does not matter.
    pub fn reduction(&self, site: usize) -> Option<Reduction> {
        self.sites.get(site)?.reduction
    }

    /// Returns the numbers of the groups that have a reduction whose order does not matter, each once.
    pub fn reduced_groups(&self) -> Vec<usize> {
        let sites = self.sites.iter().filter(|s| s.reduction.is_some());
        let mut numbers: Vec<usize> = sites.flat_map(|s| s.group.iter().flatten().copied()).collect();
        numbers.sort_unstable();
        numbers.dedup();
        numbers
    }

    /// Returns the senders and receivers of a permute.
    pub fn pairs(&self, site: usize) -> &[(usize, usize)] {
        self.sites.get(site).map_or(&[], |s| &s.pairs)
    }

    /// Returns the device that `device` sends to and the device that it receives from in a permute.
    pub fn ends(&self, site: usize, device: usize) -> (Option<usize>, Option<usize>) {
        let pairs = self.pairs(site);
        let target = pairs.iter().find(|p| p.0 == device).map(|p| p.1);
        let source = pairs.iter().find(|p| p.1 == device).map(|p| p.0);
        (target, source)
    }

    /// Returns the number of devices.
    pub fn devices(&self) -> usize {
        self.devices
    }

    /// Returns the distinct groups. The index of a group is its number.
    pub fn groups(&self) -> &[Vec<usize>] {
        &self.groups
    }

    /// Returns the name of a collective in messages.
    pub fn name(&self, site: usize) -> &str {
        self.sites.get(site).map_or("a collective that is none", |s| &s.name)
    }

    /// Returns the number of a device's group at a collective, or `None` if it is in no group.
    pub fn group_number(&self, site: usize, device: usize) -> Option<usize> {
        *self.sites.get(site)?.group.get(device)?
    }

    /// Returns a device's group at a collective, or `None` if it is in no group.
    pub fn group(&self, site: usize, device: usize) -> Option<&[usize]> {
        Some(&self.groups[self.group_number(site, device)?])
    }

    /// Returns a device's group at a collective, and its position in the group.
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
