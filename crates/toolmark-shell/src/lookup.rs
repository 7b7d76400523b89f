//! Lists of names known at build time, searched by a hash instead of one comparison after the
//! other. Nothing is prepared at run time, because a hook runs only once.

/// Lists of names with a hash table of their positions.
pub(crate) struct NameLookup<const SLOTS: usize> {
    lists: &'static [&'static [&'static str]],
    /// List and index in the list of each name, counted from 1; 0 is a free slot.
    slots: [u16; SLOTS],
}

impl<const SLOTS: usize> NameLookup<SLOTS> {
    /// Builds the table. The first list counts for a name that occurs in several. The number of
    /// slots must be a power of two and at least twice the number of names.
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

    /// Returns the index of the list that contains a name.
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

    /// Returns all names.
    pub(crate) fn names(&self) -> impl Iterator<Item = &'static str> {
        self.lists.iter().flat_map(|list| *list).copied().filter(|name| !name.is_empty())
    }

    /// Whether a list contains the name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.find(name).is_some()
    }
}

/// Returns the list index and the name of a slot.
const fn named(lists: &'static [&'static [&'static str]], slot: u16) -> (usize, &'static str) {
    let at = slot as usize - 1;
    (at >> 8, lists[at >> 8][at & 0xff])
}

/// Computes the Fowler–Noll–Vo hash.
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

/// One field of every row of a table, as an array built at compile time.
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
        static LOOKUP: NameLookup<16> = NameLookup::new(LISTS);
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
