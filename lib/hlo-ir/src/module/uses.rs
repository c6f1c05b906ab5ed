//! User lists that are fast to change even if a value has many users or an instruction has many operands.

use crate::InstrId;
use smallvec::SmallVec;
use std::collections::HashMap;

/// Maximum length of a list that is searched linearly. Longer lists get an index at the first search.
const MAX_LINEAR_SEARCH_LENGTH: usize = 32;

/// The users of a value, without duplicates.
#[derive(Clone, Debug, Default)]
pub(crate) struct Users {
    list: SmallVec<[InstrId; 2]>,
    /// The position of each user.
    places: Option<Box<UserPlaces>>,
}

#[derive(Clone, Debug)]
struct UserPlaces(HashMap<InstrId, usize>);

impl Users {
    pub(crate) fn as_slice(&self) -> &[InstrId] {
        &self.list
    }

    /// Adds a user, unless it is in the list.
    pub(crate) fn add(&mut self, user: InstrId) {
        // The operands of one instruction are often added consecutively.
        if self.list.last() == Some(&user) || self.place(user).is_some() {
            return;
        }
        self.add_new(user);
    }

    /// Adds a user that is not in the list.
    pub(crate) fn add_new(&mut self, user: InstrId) {
        if let Some(places) = &mut self.places {
            places.0.insert(user, self.list.len());
        }
        self.list.push(user);
    }

    /// Removes a user, if it is in the list. In a short list the order is kept; in a long list the last user
    /// moves to its position.
    pub(crate) fn remove(&mut self, user: InstrId) {
        let Some(place) = self.place(user) else { return };
        match &mut self.places {
            Some(places) => {
                places.0.remove(&user);
                self.list.swap_remove(place);
                if let Some(&moved) = self.list.get(place) {
                    places.0.insert(moved, place);
                }
            }
            None => drop(self.list.remove(place)),
        }
    }

    fn place(&mut self, user: InstrId) -> Option<usize> {
        if self.places.is_none() && self.list.len() > MAX_LINEAR_SEARCH_LENGTH {
            let places = self.list.iter().enumerate().map(|(n, &u)| (u, n)).collect();
            self.places = Some(Box::new(UserPlaces(places)));
        }
        match &self.places {
            Some(places) => places.0.get(&user).copied(),
            None => self.list.iter().position(|u| *u == user),
        }
    }
}

/// The positions of operands, for instructions with so many operands that a linear search is slow.
#[derive(Clone, Debug, Default)]
pub(crate) struct OperandPlaces(HashMap<InstrId, Places>);

/// The positions of each value in one operand list.
type Places = HashMap<InstrId, SmallVec<[usize; 1]>>;

impl OperandPlaces {
    /// Returns the positions for an instruction with these operands; `None` if there are few operands.
    fn of(&mut self, user: InstrId, operands: &[InstrId]) -> Option<&mut Places> {
        (operands.len() > MAX_LINEAR_SEARCH_LENGTH).then(|| {
            self.0.entry(user).or_insert_with(|| {
                let mut places = Places::with_capacity(operands.len());
                for (n, &o) in operands.iter().enumerate() {
                    places.entry(o).or_default().push(n);
                }
                places
            })
        })
    }

    /// Replaces all occurrences of `old` by `new`. Returns whether there were any.
    pub(crate) fn replace_all(
        &mut self,
        user: InstrId,
        operands: &mut [InstrId],
        old: InstrId,
        new: InstrId,
    ) -> bool {
        let Some(places) = self.of(user, operands) else {
            let mut any = false;
            for o in operands.iter_mut().filter(|o| **o == old) {
                *o = new;
                any = true;
            }
            return any;
        };
        let Some(moved) = places.remove(&old) else { return false };
        for &n in &moved {
            operands[n] = new;
        }
        places.entry(new).or_default().extend(moved);
        true
    }

    /// Replaces one operand by `new`. Returns whether the old operand is still in the list.
    pub(crate) fn replace_one(
        &mut self,
        user: InstrId,
        operands: &mut [InstrId],
        index: usize,
        new: InstrId,
    ) -> bool {
        let Some(places) = self.of(user, operands) else {
            let old = std::mem::replace(&mut operands[index], new);
            return operands.contains(&old);
        };
        let old = std::mem::replace(&mut operands[index], new);
        let of_old = places.entry(old).or_default();
        of_old.retain(|n| *n != index);
        let stays = !of_old.is_empty();
        if !stays {
            places.remove(&old);
        }
        let of_new = places.entry(new).or_default();
        of_new.push(index);
        stays || old == new
    }

    /// Discards the positions of an instruction whose operands change.
    pub(crate) fn forget(&mut self, user: InstrId) {
        self.0.remove(&user);
    }
}

#[cfg(test)]
mod tests {
    use super::{MAX_LINEAR_SEARCH_LENGTH, OperandPlaces, Users};
    use crate::InstrId;

    #[test]
    fn users_are_there_once_in_short_and_long_lists() {
        for count in [3, MAX_LINEAR_SEARCH_LENGTH, MAX_LINEAR_SEARCH_LENGTH + 1, 4 * MAX_LINEAR_SEARCH_LENGTH]
        {
            let mut users = Users::default();
            for n in (0..count).chain(0..count) {
                users.add(InstrId::new(n));
            }
            assert_eq!(users.as_slice().len(), count);
            for n in (0..count).step_by(2).chain([count + 7]) {
                users.remove(InstrId::new(n));
            }
            users.add(InstrId::new(0));
            users.remove(InstrId::new(1));
            let mut left: Vec<usize> = users.as_slice().iter().map(|u| u.index()).collect();
            left.sort_unstable();
            let expected: Vec<usize> = (0..count).filter(|n| *n == 0 || (n % 2 == 1 && *n != 1)).collect();
            assert_eq!(left, expected);
        }
    }

    #[test]
    fn operands_are_replaced_in_short_and_long_lists() {
        for count in [3, MAX_LINEAR_SEARCH_LENGTH + 1, 4 * MAX_LINEAR_SEARCH_LENGTH] {
            let id = InstrId::new;
            let mut places = OperandPlaces::default();
            let mut operands: Vec<InstrId> = (0..count).map(|n| id(n % 3)).collect();
            let mut plain = operands.clone();
            let user = id(1000);
            for (old, new) in [(0, 7), (1, 7), (9, 8), (7, 2)] {
                places.replace_all(user, &mut operands, id(old), id(new));
                plain.iter_mut().filter(|o| **o == id(old)).for_each(|o| *o = id(new));
                assert_eq!(operands, plain);
            }
            for (n, new) in [(0, 2), (0, 5), (1, 5), (1, 5), (0, 6)] {
                let old = std::mem::replace(&mut plain[n], id(new));
                assert_eq!(places.replace_one(user, &mut operands, n, id(new)), plain.contains(&old));
                assert_eq!(operands, plain);
            }
        }
    }
}
