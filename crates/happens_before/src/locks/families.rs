//! What the origins that run an activation hold, each on its own: few such families are ever different, so each is
//! stored once and what two have in common is worked out once. Knows neither activations nor calls.

use super::room::Live;
use super::table::SetId;
use super::telling::Telling;
use crate::types::Origin;
use arena::{Interner, define_id};
use rustc_hash::FxHashMap;
use track::Sizes;

define_id! {
    /// For some origins a set of locks each; 0 is for no origin.
    Family
}

pub struct Families {
    /// By origin, ascending. What an origin holds of which nothing is said is not limited.
    items: Interner<Family, Vec<(Origin, SetId)>>,
    known_bare: FxHashMap<Family, Family>,
    known_under: FxHashMap<(Family, SetId), Family>,
    known_met: FxHashMap<(Family, Family), Family>,
}

impl Default for Families {
    fn default() -> Families {
        let mut items = Interner::new();
        items.intern(Vec::new());
        let (known_under, known_met) = (FxHashMap::default(), FxHashMap::default());
        Families { items, known_bare: FxHashMap::default(), known_under, known_met }
    }
}

impl std::fmt::Debug for Families {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Families({})", self.items.len())
    }
}

impl Families {
    pub fn add(&mut self, family: Vec<(Origin, SetId)>) -> Family {
        self.items.intern(family)
    }

    pub fn of(&self, family: Family) -> &[(Origin, SetId)] {
        &self.items[family]
    }

    pub fn of_origin(&self, family: Family, origin: Origin) -> SetId {
        let of = self.of(family);
        of.binary_search_by_key(&origin, |&(origin, _)| origin).map_or(SetId(0), |at| of[at].1)
    }

    /// Whoever certainly holds nothing, and only those.
    pub fn bare(&mut self, family: Family) -> Family {
        if let Some(&known) = self.known_bare.get(&family) {
            return known;
        }
        let bare = self.of(family).iter().copied().filter(|&(_, set)| set == SetId(0)).collect();
        let bare = self.add(bare);
        self.known_bare.insert(family, bare);
        bare
    }

    /// The same with more locks each.
    pub fn under(&mut self, telling: &mut Telling<'_, '_>, family: Family, held: SetId) -> Family {
        if held == SetId(0) {
            return family;
        }
        if let Some(&known) = self.known_under.get(&(family, held)) {
            return known;
        }
        let under = self.map(family, |set| telling.union(set, held));
        self.known_under.insert((family, held), under);
        under
    }

    pub fn map(&mut self, family: Family, mut of: impl FnMut(SetId) -> SetId) -> Family {
        let (mut known, mut differs): (Vec<(SetId, SetId)>, bool) = (Vec::new(), false);
        let mut mapped = Vec::with_capacity(self.of(family).len());
        for &(origin, set) in self.of(family) {
            let to = match known.iter().find(|&&(from, _)| from == set) {
                Some(&(_, to)) => to,
                None => {
                    let to = of(set);
                    known.push((set, to));
                    to
                }
            };
            differs |= set != to;
            mapped.push((origin, to));
        }
        if differs { self.add(mapped) } else { family }
    }

    /// What each holds on both ways.
    pub fn meet(&mut self, telling: &mut Telling<'_, '_>, a: Family, b: Family) -> Family {
        if a == b || b == Family(0) {
            return a;
        }
        if a == Family(0) {
            return b;
        }
        if let Some(&known) = self.known_met.get(&(a, b)) {
            return known;
        }
        let (mut first, mut second) = (self.of(a).iter().peekable(), self.of(b).iter().peekable());
        let mut met = Vec::with_capacity(first.len().max(second.len()));
        while let (Some(&&(one, held)), Some(&&(other, too))) = (first.peek(), second.peek()) {
            met.push(match one.cmp(&other) {
                std::cmp::Ordering::Less => (one, held),
                std::cmp::Ordering::Greater => (other, too),
                std::cmp::Ordering::Equal => (one, telling.meet(held, too)),
            });
            first.next_if(|next| next.0 <= other);
            second.next_if(|next| next.0 <= one);
        }
        met.extend(first.chain(second));
        let met = self.add(met);
        self.known_met.insert((a, b), met);
        met
    }

    /// The sets of families that are spoken of.
    pub fn show(&self, live: &mut Live) {
        for (family, sets) in self.items.items().iter() {
            if live.has_family(family) {
                sets.iter().for_each(|&(_, set)| live.add_set(set));
            }
        }
    }

    pub fn retain(&mut self, live: &Live) {
        let is_live = |family: &Family| live.has_family(*family);
        self.items.retain(|family| is_live(&family));
        self.known_bare.retain(|of, bare| is_live(of) && is_live(bare));
        self.known_under.retain(|(of, held), under| is_live(of) && live.has_set(*held) && is_live(under));
        self.known_met.retain(|(a, b), met| is_live(a) && is_live(b) && is_live(met));
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.items.kept()
    }

    pub fn sizes(&self, sizes: &mut Sizes) {
        sizes.add("families", self.items.len());
        sizes.add("families met", self.known_bare.len() + self.known_under.len() + self.known_met.len());
    }
}
