//! Orders of device numbers: described by a few numbers, such as `[8]` and `[4,2]T(1,0)`, or listed.

use super::values::write_joined;
use super::{AttrError, AttrReader};
use crate::Dims;
use std::collections::HashSet;
use std::fmt;

/// The numbers `0, 1, 2, …` in an array of the dimensions `reshape`, which is then transposed and read in
/// row-major order. Stored in the shortest form: without dimensions of size 1, and with dimensions merged
/// that stay adjacent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct IotaOrder {
    reshape: Dims,
    /// A permutation of the dimensions. It is empty for the identity, which has one dimension.
    transpose: Dims,
}

impl IotaOrder {
    /// Creates an ascending order of `count` numbers.
    pub fn ascending(count: i64) -> Self {
        Self { reshape: Dims::from_slice(&[count]), transpose: Dims::new() }
    }

    /// Creates the order of a transposed array with these dimensions. The text form can name a dimension
    /// twice in `transpose`. This function accepts that, but [`IotaOrder::check`] and [`IotaOrder::expand`]
    /// reject it.
    ///
    /// # Errors
    /// `transpose` is not as long as `reshape`, or names a dimension that the array does not have.
    pub fn new(reshape: &[i64], transpose: &[i64]) -> Result<Self, String> {
        let in_range = |&d: &i64| usize::try_from(d).is_ok_and(|d| d < reshape.len());
        if transpose.len() != reshape.len() || !transpose.iter().all(in_range) {
            return Err(not_a_permutation(reshape.len()));
        }
        let order = Self { reshape: reshape.into(), transpose: transpose.into() };
        if order.check().is_err() {
            return Ok(order);
        }
        Ok(order.simplified().unwrap_or(order))
    }

    /// Returns the order that yields the numbers of `list`; `None` if there is none.
    pub fn of_list(list: &[i64]) -> Option<Self> {
        // Sizes and steps of the array's dimensions, innermost first. Each dimension extends as far as the
        // numbers increase by its step.
        let mut dims: Vec<(i64, i64)> = Vec::new();
        let mut block = 1;
        while block < list.len() {
            let step = *list.get(block)?;
            let runs_on = |&n: &usize| list.get(n * block) == Some(&step.checked_mul(n as i64).unwrap_or(-1));
            let mut size = (1..list.len() / block).take_while(runs_on).count() + 1;
            while !(list.len() / block).is_multiple_of(size) {
                size -= 1;
            }
            if size == 1 {
                return None;
            }
            dims.push((step, size as i64));
            block *= size;
        }
        dims.reverse();
        let mut own = dims.clone();
        own.sort_unstable_by(|a, b| b.cmp(a));
        let reshape: Dims = own.iter().map(|&(_, size)| size).collect();
        let place = |dim: &(i64, i64)| own.iter().position(|o| o == dim).map(|p| p as i64);
        let transpose: Dims = dims.iter().map(place).collect::<Option<_>>()?;
        let order = if reshape.is_empty() {
            Self::ascending(i64::try_from(list.len()).ok()?)
        } else {
            Self::new(&reshape, &transpose).ok()?
        };
        (order.expand(list.len()).ok()? == list).then_some(order)
    }

    /// Checks that the transposition is a permutation.
    ///
    /// # Errors
    /// The transposition names a dimension twice.
    pub fn check(&self) -> Result<(), String> {
        let mut seen = vec![false; self.reshape.len()];
        for &d in &self.transpose {
            match usize::try_from(d).ok().and_then(|d| seen.get_mut(d)) {
                Some(seen) if !*seen => *seen = true,
                _ => return Err(not_a_permutation(self.reshape.len())),
            }
        }
        Ok(())
    }

    /// Returns the number of numbers; `None` if it does not fit an `i64`.
    pub fn count(&self) -> Option<i64> {
        product(&self.reshape)
    }

    /// Returns whether the numbers ascend.
    pub fn is_ascending(&self) -> bool {
        self.transpose.is_empty()
    }

    /// Returns the dimensions before the transposition.
    pub fn reshape(&self) -> &[i64] {
        &self.reshape
    }

    /// Returns the permutation, which is empty if the numbers ascend.
    pub fn transpose(&self) -> &[i64] {
        &self.transpose
    }

    /// Returns the numbers, at most `limit`.
    ///
    /// # Errors
    /// There are more than `limit` numbers, or the transposition names a dimension twice.
    pub fn expand(&self, limit: usize) -> Result<Vec<i64>, String> {
        let count = checked_count(self.count(), limit)?;
        if self.is_ascending() {
            return Ok((0..count as i64).collect());
        }
        self.check()?;
        // Sizes and steps in the order of the transposed dimensions. No size is zero, and the product does
        // not overflow.
        let mut steps = vec![1i64; self.reshape.len()];
        for d in (1..self.reshape.len()).rev() {
            steps[d - 1] = steps[d].saturating_mul(self.reshape[d]);
        }
        let dims: Vec<(i64, i64)> =
            self.transpose.iter().map(|&d| (self.reshape[d as usize], steps[d as usize])).collect();
        let mut at = vec![0; dims.len()];
        let mut value = 0;
        let mut out = Vec::with_capacity(count);
        while out.len() < count {
            out.push(value);
            for (index, &(size, step)) in at.iter_mut().zip(&dims).rev() {
                *index += 1;
                value += step;
                if *index < size {
                    break;
                }
                value -= step * size;
                *index = 0;
            }
        }
        Ok(out)
    }

    /// Reads `[8]` or `[4,2]T(1,0)`.
    pub(super) fn read(r: &mut AttrReader<'_>) -> Result<Self, AttrError> {
        let start = r.offset_of_next();
        let reshape = read_sizes(r)?;
        if let [count] = reshape[..] {
            return Ok(Self::ascending(count));
        }
        if !r.eat("T") {
            return Err(r.expected("`T(` and the order of the dimensions"));
        }
        r.expect("(")?;
        let transpose = r.items(")", AttrReader::integer)?;
        Self::new(&reshape, &transpose).map_err(|e| r.error_since(start, e))
    }

    /// Returns the shortest form of the same order; `None` if it would need numbers that don't fit.
    fn simplified(&self) -> Option<Self> {
        // Runs of dimensions that stay adjacent, as (first, size), in the transposed order.
        let mut runs: Vec<(i64, i64)> = Vec::new();
        let mut last = None;
        for &d in &self.transpose {
            let size = *self.reshape.get(usize::try_from(d).ok()?)?;
            if size == 1 {
                continue;
            }
            // Dimensions of size 1 in between don't count.
            let follows = last.is_some_and(|l: i64| {
                l < d && self.reshape[l as usize + 1..d as usize].iter().all(|&between| between == 1)
            });
            match runs.last_mut() {
                Some((_, total)) if follows => *total = total.checked_mul(size)?,
                _ => runs.push((d, size)),
            }
            last = Some(d);
        }
        if runs.len() < 2 {
            return Some(Self::ascending(runs.first().map_or(1, |r| r.1)));
        }
        let mut by_first: Vec<(i64, i64)> = runs.clone();
        by_first.sort_unstable();
        let transpose: Option<Dims> = runs
            .iter()
            .map(|run| by_first.binary_search(run).ok().and_then(|i| i64::try_from(i).ok()))
            .collect();
        Some(Self { reshape: by_first.iter().map(|r| r.1).collect(), transpose: transpose? })
    }
}

fn not_a_permutation(rank: usize) -> String {
    format!("the order names each of the {rank} dimensions from 0 to {} once", rank.saturating_sub(1))
}

impl fmt::Display for IotaOrder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[")?;
        write_joined(f, &self.reshape, ",")?;
        f.write_str("]")?;
        if !self.transpose.is_empty() {
            f.write_str("T(")?;
            write_joined(f, &self.transpose, ",")?;
            f.write_str(")")?;
        }
        Ok(())
    }
}

/// Device numbers in some order.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum DeviceOrder {
    /// Described by an [`IotaOrder`]: `<=[4,2]T(1,0)`.
    Iota(IotaOrder),
    /// Listed: `0,2,1,3`.
    List(Vec<i64>),
}

impl DeviceOrder {
    /// Returns the number of devices; `None` if it does not fit an `i64`.
    pub fn count(&self) -> Option<i64> {
        match self {
            DeviceOrder::Iota(order) => order.count(),
            DeviceOrder::List(list) => i64::try_from(list.len()).ok(),
        }
    }

    /// Checks that the order names each of its devices once.
    ///
    /// # Errors
    /// A device is named twice, or has a negative number.
    pub fn check(&self) -> Result<(), String> {
        match self {
            DeviceOrder::Iota(order) => order.check(),
            DeviceOrder::List(list) => {
                let mut seen = HashSet::new();
                list.iter().try_for_each(|device| {
                    if *device < 0 {
                        return Err(format!("a device's number is 0 or more, found {device}"));
                    }
                    if seen.insert(device) { Ok(()) } else { Err(format!("device {device} is named twice")) }
                })
            }
        }
    }

    /// Returns the numbers, at most `limit`.
    ///
    /// # Errors
    /// There are more than `limit` numbers, or the transposition of [`DeviceOrder::Iota`] names a dimension
    /// twice.
    pub fn expand(&self, limit: usize) -> Result<Vec<i64>, String> {
        match self {
            DeviceOrder::Iota(order) => order.expand(limit),
            DeviceOrder::List(list) => {
                checked_count(self.count(), limit)?;
                Ok(list.clone())
            }
        }
    }
}

/// Returns the product of sizes; `None` if one is negative or the product overflows.
pub(super) fn product(sizes: &[i64]) -> Option<i64> {
    if sizes.contains(&0) && sizes.iter().all(|&s| s >= 0) {
        return Some(0);
    }
    sizes.iter().try_fold(1i64, |n, &s| if s < 0 { None } else { n.checked_mul(s) })
}

/// Maximum number of devices of a sharding or a mesh. Lists of them may have this length.
pub const MAX_SHARDED_DEVICES: usize = 1 << 20;

/// Converts a count to a length of at most `limit`.
pub(crate) fn checked_count(count: Option<i64>, limit: usize) -> Result<usize, String> {
    match count.and_then(|n| usize::try_from(n).ok()) {
        Some(n) if n <= limit => Ok(n),
        Some(n) => Err(format!("{n} devices are more than the {limit} that can be listed")),
        None => Err("the number of devices does not fit 63 bits".into()),
    }
}

/// Reads `[2,4]`: at least one size, none negative.
pub(super) fn read_sizes(r: &mut AttrReader<'_>) -> Result<Dims, AttrError> {
    r.expect("[")?;
    let sizes = r.items("]", |r| {
        let start = r.offset_of_next();
        match r.integer()? {
            n if n < 0 => Err(r.error_since(start, "a size is not negative".into())),
            n => Ok(n),
        }
    })?;
    Ok(sizes.into())
}
