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
        self.sites.push(Site { name: name.into(), group });
        self.sites.len() - 1
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
