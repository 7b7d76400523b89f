//! Lists of names that are known when the program is built, found by a hash instead of one
//! comparison after the other. Nothing is made ready at run time: a hook runs once.

/// Lists of names, and where each name stands.
pub(crate) struct Lookup<const SLOTS: usize> {
    lists: &'static [&'static [&'static str]],
    /// The list and the place in it of a name, from 1; 0 is free.
    slots: [u16; SLOTS],
}

impl<const SLOTS: usize> Lookup<SLOTS> {
    /// Of a name that stands in several lists, the first counts. There are to be at least
    /// twice as many slots as names, and a power of two.
    pub(crate) const fn new(lists: &'static [&'static [&'static str]]) -> Self {
        assert!(lists.len() < 0xff && SLOTS.is_power_of_two());
        let mut slots = [0; SLOTS];
        let (mut list, mut names) = (0, 0);
        while list < lists.len() {
            assert!(lists[list].len() <= 0xff);
            let mut place = 0;
            while place < lists[list].len() {
                let name = lists[list][place].as_bytes();
                let mut slot = hash(name) as usize % SLOTS;
                while slots[slot] != 0 && !is_same(named(lists, slots[slot]).1.as_bytes(), name) {
                    slot = (slot + 1) % SLOTS;
                }
                if slots[slot] == 0 {
                    slots[slot] = ((list << 8 | place) + 1) as u16;
                    names += 1;
                    assert!(names * 2 <= SLOTS);
                }
                place += 1;
            }
            list += 1;
        }
        Self { lists, slots }
    }

    /// The number of the list that has a name.
    pub(crate) fn find(&self, name: &str) -> Option<usize> {
        let mut slot = hash(name.as_bytes()) as usize % SLOTS;
        while self.slots[slot] != 0 {
            let (list, known) = named(self.lists, self.slots[slot]);
            if known == name {
                return Some(list);
            }
            slot = (slot + 1) % SLOTS;
        }
        None
    }

    /// Has a list the name?
    pub(crate) fn has(&self, name: &str) -> bool {
        self.find(name).is_some()
    }
}

/// The list and the name that a slot means.
const fn named(lists: &'static [&'static [&'static str]], slot: u16) -> (usize, &'static str) {
    let at = slot as usize - 1;
    (at >> 8, lists[at >> 8][at & 0xff])
}

/// By Fowler, Noll and Vo.
const fn hash(name: &[u8]) -> u32 {
    let (mut hash, mut at) = (0x811c_9dc5_u32, 0);
    while at < name.len() {
        hash = (hash ^ name[at] as u32).wrapping_mul(0x0100_0193);
        at += 1;
    }
    hash ^ hash >> 15
}

const fn is_same(one: &[u8], other: &[u8]) -> bool {
    let mut at = 0;
    while at < one.len() && at < other.len() && one[at] == other[at] {
        at += 1;
    }
    at == one.len() && at == other.len()
}

/// One field of every row of a table, as an array that is made when the program is built.
macro_rules! column {
    ($rows:ident.$field:tt, $empty:expr) => {{
        let mut column = [$empty; $rows.len()];
        let mut at = 0;
        while at < column.len() {
            column[at] = $rows[at].$field;
            at += 1;
        }
        column
    }};
}
pub(crate) use column;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_found_in_its_first_list() {
        const LISTS: &[&[&str]] = &[&["rm", "unlink"], &["rm", "cp", ""], &["git"]];
        static LOOKUP: Lookup<16> = Lookup::new(LISTS);
        for (name, list) in
            [("rm", Some(0)), ("unlink", Some(0)), ("cp", Some(1)), ("", Some(1)), ("git", Some(2))]
        {
            assert_eq!(LOOKUP.find(name), list, "{name}");
        }
        for name in ["r", "rmm", "gi", "ls"] {
            assert!(!LOOKUP.has(name), "{name}");
        }
    }
}
