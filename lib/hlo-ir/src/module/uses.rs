//! User lists that are fast to change even if a value has many users or an instruction has many operands.

use crate::InstrId;
use smallvec::SmallVec;
use std::collections::HashMap;

/// Maximum length of a list that is searched linearly. Longer lists get an index at the first search.
pub const MAX_LINEAR_SEARCH_LENGTH: usize = 32;

/// The users of a value, without duplicates.
#[derive(Clone, Debug, Default)]
pub struct Users {
    list: SmallVec<[InstrId; 2]>,
    /// The position of each user.
    places: Option<Box<UserPlaces>>,
}

#[derive(Clone, Debug)]
struct UserPlaces(HashMap<InstrId, usize>);

impl Users {
    /// Returns the users.
    pub fn as_slice(&self) -> &[InstrId] {
        &self.list
    }

    /// Adds a user, unless it is in the list.
    pub fn add(&mut self, user: InstrId) {
        // The operands of one instruction are often added consecutively.
        if self.list.last() == Some(&user) || self.place(user).is_some() {
            return;
        }
        self.add_new(user);
    }

    /// Adds a user that is not in the list.
    pub fn add_new(&mut self, user: InstrId) {
        if let Some(places) = &mut self.places {
            places.0.insert(user, self.list.len());
        }
        self.list.push(user);
    }

    /// Removes a user, if it is in the list. In a short list the order is kept; in a long list the last user
    /// moves to its position.
    pub fn remove(&mut self, user: InstrId) {
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
pub struct OperandPlaces(HashMap<InstrId, Places>);

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
    pub fn replace_all(
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
    pub fn replace_one(
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
    pub fn forget(&mut self, user: InstrId) {
        self.0.remove(&user);
    }
}
