//! Maps and sets against those of the standard library.

use super::{SortedMap, SortedSet};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// One change of a map.
#[derive(Debug, Clone)]
enum MapStep {
    Insert(u8, u32),
    Add(u8, u32),
    Remove(u8),
    Retain(u8),
}

fn step() -> impl Strategy<Value = MapStep> {
    prop_oneof![
        4 => (any::<u8>(), any::<u32>()).prop_map(|(key, value)| MapStep::Insert(key, value)),
        2 => (any::<u8>(), any::<u32>()).prop_map(|(key, value)| MapStep::Add(key, value)),
        2 => any::<u8>().prop_map(MapStep::Remove),
        1 => (2..9_u8).prop_map(MapStep::Retain),
    ]
}

proptest! {
    #[test]
    fn a_map_answers_as_a_btree_map(steps in prop::collection::vec(step(), 0..400), probe in any::<u8>()) {
        let (mut map, mut tree) = (SortedMap::new(), BTreeMap::new());
        for step in steps {
            match step {
                MapStep::Insert(key, value) => prop_assert_eq!(map.insert(key, value), tree.insert(key, value)),
                MapStep::Add(key, by) => {
                    let added = map.entry(key).and_modify(|value| *value ^= by).or_insert(by);
                    prop_assert_eq!(&*added, tree.entry(key).and_modify(|value| *value ^= by).or_insert(by));
                }
                MapStep::Remove(key) => prop_assert_eq!(map.remove(&key), tree.remove(&key)),
                MapStep::Retain(by) => {
                    map.retain(|key, _| key % by != 0);
                    tree.retain(|key, _| key % by != 0);
                }
            }
            prop_assert_eq!(map.len(), tree.len());
        }
        prop_assert!(map.iter().eq(&tree));
        prop_assert!(map.iter().rev().eq(tree.iter().rev()));
        prop_assert!(map.iter_from(&probe).eq(tree.range(probe..)));
        prop_assert!(map.iter_from(&probe).rev().eq(tree.range(probe..).rev()));
        prop_assert_eq!(map.iter_from(&probe).len(), tree.range(probe..).count());
        prop_assert_eq!(map.get(&probe), tree.get(&probe));
        prop_assert_eq!(map.contains_key(&probe), tree.contains_key(&probe));
        prop_assert_eq!(map.first_key_value(), tree.first_key_value());
        prop_assert_eq!(map.last_key_value(), tree.last_key_value());
        prop_assert!(map.values_mut().eq(tree.values_mut()));
        prop_assert_eq!(&map, &tree.clone().into_iter().collect());
        prop_assert!(map.clone().into_iter().rev().eq(tree.clone().into_iter().rev()));
        prop_assert!(map.into_iter().eq(tree));
    }

    #[test]
    fn iteration_meets_in_the_middle(keys in prop::collection::btree_set(any::<u16>(), 0..60), ends in prop::collection::vec(any::<bool>(), 70)) {
        let map: SortedMap<u16, ()> = keys.iter().map(|key| (*key, ())).collect();
        let (mut left, mut right) = (map.iter(), keys.iter());
        let (mut owned, mut owned_right) = (map.clone().into_iter(), keys.clone().into_iter());
        for from_front in ends {
            let next = if from_front { left.next() } else { left.next_back() };
            prop_assert_eq!(next.map(|(key, ())| key), if from_front { right.next() } else { right.next_back() });
            let next = if from_front { owned.next() } else { owned.next_back() };
            prop_assert_eq!(next.map(|(key, ())| key), if from_front { owned_right.next() } else { owned_right.next_back() });
            prop_assert_eq!(left.len(), right.len());
        }
    }

    #[test]
    fn a_set_answers_as_a_btree_set(one in prop::collection::vec(any::<u8>(), 0..90), other in prop::collection::vec(any::<u8>(), 0..90)) {
        let sets: [SortedSet<u8>; 2] = [one.iter().copied().collect(), other.iter().copied().collect()];
        let trees: [BTreeSet<u8>; 2] = [one.into_iter().collect(), other.into_iter().collect()];
        prop_assert!(sets[0].iter().eq(&trees[0]));
        prop_assert!(sets[0].intersection(&sets[1]).eq(trees[0].intersection(&trees[1])));
        prop_assert!(sets[0].union(&sets[1]).eq(trees[0].union(&trees[1])));
        prop_assert!(sets[0].difference(&sets[1]).eq(trees[0].difference(&trees[1])));
        prop_assert_eq!(sets[0].is_subset(&sets[1]), trees[0].is_subset(&trees[1]));
        prop_assert_eq!(sets[0].is_disjoint(&sets[1]), trees[0].is_disjoint(&trees[1]));
        prop_assert_eq!(sets[0].cmp(&sets[1]), trees[0].cmp(&trees[1]));
        prop_assert_eq!(sets[0].first(), trees[0].first());
        prop_assert_eq!(sets[0].last(), trees[0].last());
        prop_assert!(sets[0].clone().into_iter().eq(trees[0].clone()));
    }
}

#[test]
fn keys_in_order_fill_their_chunks() {
    let map: SortedMap<usize, usize> = (0..100).map(|key| (key, key)).collect();
    assert_eq!(map.len(), 100);
    assert!(map.keys().copied().eq(0..100));
}
