//! Tests of lists of users and operands.

use hlo_ir::InstrId;
use hlo_ir::internals::{MAX_LINEAR_SEARCH_LENGTH, OperandPlaces, Users};

#[test]
fn users_are_there_once_in_short_and_long_lists() {
    for count in [3, MAX_LINEAR_SEARCH_LENGTH, MAX_LINEAR_SEARCH_LENGTH + 1, 4 * MAX_LINEAR_SEARCH_LENGTH] {
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
