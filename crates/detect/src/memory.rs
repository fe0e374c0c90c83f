//! Memory by kind, and the statements that touch it: which of them meet somewhere, kept up to date as accesses come and
//! go. Judges nothing.

use crate::Stages;
use crate::access::{Access, AccessId, Accesses, Location, Touched, What};
use crate::pair::Pair;
use arena::{IndexVec, Interner, define_id};
use happens_before::{Content, Origin};
use ir::{ClassId, MethodId, StmtId};
use pointsto::{Act, Obj};
use rustc_hash::FxHashMap;
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use track::{Changes, Memo, Sizes};

define_id! {
    /// Memory whose pairs have nothing to do with those on other memory.
    KindId
}

define_id! {
    /// A statement, as far as it touches memory of one kind.
    TouchId
}

/// A field; or the elements or contents of objects of one class.
pub(crate) type Key = (What, Option<ClassId>);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Touch {
    pub(crate) kind: KindId,
    pub(crate) method: MethodId,
    pub(crate) stmt: StmtId,
}

/// For each object that a statement touches, by number, the accesses to it, in the order of content.
pub(crate) type Places = Vec<(Option<Obj>, Vec<AccessId>)>;

pub(crate) struct Memory {
    kinds: Interner<KindId, Key>,
    touches: Interner<TouchId, Touch>,
    /// For each statement its accesses, ascending, and to how many locations each is.
    accesses: IndexVec<TouchId, BTreeMap<AccessId, u32>>,
    /// How many of its accesses are to objects that nobody else knows yet, and how many of those write.
    private: IndexVec<TouchId, [u32; 2]>,
    /// All statements that ever touched memory of a kind.
    by_kind: IndexVec<KindId, Vec<TouchId>>,
    places: Memo<TouchId, Places>,
    locations: FxHashMap<Location, Spot>,
}

#[derive(Default)]
struct Spot {
    accesses: BTreeSet<AccessId>,
    /// Somebody writes it, and two threads can be at work here at all.
    is_shared: bool,
}

/// Statements with other accesses to a location than before. They may meet others there now, or no longer.
type Dirty = BTreeMap<Location, BTreeSet<TouchId>>;

impl Memory {
    pub(crate) fn new(follows: bool) -> Memory {
        Memory {
            kinds: Interner::new(),
            touches: Interner::new(),
            accesses: IndexVec::new(),
            private: IndexVec::new(),
            by_kind: IndexVec::new(),
            places: Memo::new(track::Kind::Touching, follows),
            locations: FxHashMap::default(),
        }
    }

    /// Follows activations that touch other memory than before. Pairs of statements that may meet elsewhere now, or not
    /// at all.
    pub(crate) fn update(
        &mut self,
        stages: &Stages<'_>,
        content: &Content<'_>,
        accesses: &Accesses,
        differing: &[(Act, Touched)],
        changes: &Changes,
    ) -> BTreeSet<Pair> {
        let mut dirty = Dirty::default();
        let mut locations: BTreeSet<Location> = BTreeSet::new();
        for (act, before) in differing {
            let after = accesses.of(*act);
            for (access, gone) in differences(before, after) {
                self.remove(stages, access, gone, &mut dirty);
            }
            for (access, new) in differences(after, before) {
                self.add(stages, access, new, &mut dirty);
            }
            if before.origins != after.origins {
                locations.extend(after.accesses.iter().flat_map(Access::locations));
            }
        }
        locations.extend(dirty.keys());
        if changes.of::<Origin>(track::Kind::Origin).next().is_some() {
            // Who is alone with a location may meet itself now, or not any more.
            locations.extend(self.locations.keys());
        }
        let mut pairs = Pairs::default();
        let mut shared: BTreeSet<Location> = BTreeSet::new();
        for location in locations {
            if self.look_at(stages, accesses, location, &mut pairs) {
                shared.insert(location);
            }
        }
        self.put_in_order(stages, content, accesses, changes, &mut dirty);
        for (&location, touches) in &dirty {
            if !shared.contains(&location) && !self.is_shared(location) {
                continue;
            }
            let met = self.met_at(stages, accesses, location);
            let others: BTreeSet<TouchId> = met.chain(touches.iter().copied()).collect();
            for &touch in touches {
                // Those before it that are dirty, too, have met it already.
                let is_new = |other: &&TouchId| **other >= touch || !touches.contains(other);
                pairs.add(others.iter().filter(is_new).map(|&other| Pair::of(touch, other)));
            }
        }
        pairs.all()
    }

    /// An access is no longer to these locations.
    fn remove(&mut self, stages: &Stages<'_>, access: &Access, gone: Vec<Location>, dirty: &mut Dirty) {
        if let Some(touch) = self.private_touch(stages, access) {
            self.private[touch][0] -= 1;
            self.private[touch][1] -= u32::from(access.write);
        }
        for location in gone {
            let touch = self.touch(stages, location, access);
            dirty.entry(location).or_default().insert(touch);
            if let Some(spot) = self.locations.get_mut(&location) {
                spot.accesses.remove(&access.id());
            }
            // Of its kind there may be others that it is still to.
            let counts = &mut self.accesses[touch];
            if let Some(count) = counts.get_mut(&access.id()) {
                *count -= 1;
                if *count == 0 {
                    counts.remove(&access.id());
                }
            }
        }
    }

    fn add(&mut self, stages: &Stages<'_>, access: &Access, new: Vec<Location>, dirty: &mut Dirty) {
        if let Some(touch) = self.private_touch(stages, access) {
            self.private[touch][0] += 1;
            self.private[touch][1] += u32::from(access.write);
        }
        for location in new {
            let touch = self.touch(stages, location, access);
            dirty.entry(location).or_default().insert(touch);
            self.locations.entry(location).or_default().accesses.insert(access.id());
            *self.accesses[touch].entry(access.id()).or_default() += 1;
        }
    }

    fn touch(&mut self, stages: &Stages<'_>, location: Location, access: &Access) -> TouchId {
        let kind = self.kinds.intern(key(stages, location));
        let (touch, is_new) =
            self.touches.intern_new(Touch { kind, method: access.method, stmt: access.stmt });
        if is_new {
            self.accesses.push(BTreeMap::new());
            self.private.push([0; 2]);
            self.by_kind.at(kind).push(touch);
        }
        touch
    }

    /// The statement of an access to the field of an object that nobody else knows yet.
    fn private_touch(&mut self, stages: &Stages<'_>, access: &Access) -> Option<TouchId> {
        let is_private = !access.published && matches!(access.what, What::Field(_));
        is_private.then(|| self.touch(stages, Location { what: access.what, obj: None }, access))
    }

    /// Whether a location is shared may be otherwise now. True if it is, or was.
    fn look_at(
        &mut self,
        stages: &Stages<'_>,
        accesses: &Accesses,
        location: Location,
        pairs: &mut Pairs,
    ) -> bool {
        let Some(spot) = self.locations.get_mut(&location) else { return false };
        let is_shared = is_shared(stages, accesses, &spot.accesses);
        let was_shared = std::mem::replace(&mut spot.is_shared, is_shared);
        if was_shared != is_shared {
            let met: Vec<TouchId> = self.met_at(stages, accesses, location).collect();
            for (at, &one) in met.iter().enumerate() {
                pairs.add(met[at..].iter().map(|&other| Pair::of(one, other)));
            }
        }
        if self.locations.get(&location).is_some_and(|spot| spot.accesses.is_empty()) {
            self.locations.remove(&location);
        }
        is_shared || was_shared
    }

    /// Where the statements are, as far as that may be otherwise now.
    fn put_in_order(
        &mut self,
        stages: &Stages<'_>,
        content: &Content<'_>,
        accesses: &Accesses,
        changes: &Changes,
        dirty: &mut Dirty,
    ) {
        let mut touches: BTreeSet<TouchId> = dirty.values().flatten().copied().collect();
        touches.extend(self.places.stale(changes));
        for touch in touches {
            let kind = self.kinds.items()[self.kind_of(touch)];
            let places = || places(stages, content, accesses, kind, &self.accesses[touch]);
            let (places, reads) = self.places.record(places);
            let before = self.places.set(touch, Some(places), reads).unwrap_or_default();
            let what = self.what(touch);
            for obj in differing_places(&before, self.places(touch)) {
                dirty.entry(Location { what, obj }).or_default().insert(touch);
            }
        }
    }

    /// A statement as far as it touches memory of this kind.
    pub(crate) fn find(
        &self,
        stages: &Stages<'_>,
        location: Location,
        (method, stmt): (MethodId, StmtId),
    ) -> Option<TouchId> {
        let kind = self.kinds.get(&key(stages, location))?;
        self.touches.get(&Touch { kind, method, stmt })
    }

    /// All kinds of memory that were ever touched.
    pub(crate) fn kinds_of_memory(&self) -> impl Iterator<Item = KindId> {
        self.by_kind.ids()
    }

    /// Every statement that touches memory of a kind now, other threads knowing the object or not.
    pub(crate) fn touches_of(&self, kind: KindId) -> impl Iterator<Item = &TouchId> {
        let is_there = |touch: &&TouchId| !self.accesses[**touch].is_empty() || self.private[**touch][0] > 0;
        self.by_kind[kind].iter().filter(is_there)
    }

    /// Does the statement write memory of objects that nobody else knows yet?
    pub(crate) fn writes_in_private(&self, touch: TouchId) -> bool {
        self.private[touch][1] > 0
    }

    pub(crate) fn key(&self, kind: KindId) -> Key {
        self.kinds.items()[kind]
    }

    pub(crate) fn kind_of(&self, touch: TouchId) -> KindId {
        self.touches.items()[touch].kind
    }

    pub(crate) fn statement(&self, touch: TouchId) -> (MethodId, StmtId) {
        let Touch { method, stmt, .. } = self.touches.items()[touch];
        (method, stmt)
    }

    pub(crate) fn places(&self, touch: TouchId) -> &[(Option<Obj>, Vec<AccessId>)] {
        self.places.peek(touch).map_or(&[], Vec::as_slice)
    }

    pub(crate) fn what(&self, touch: TouchId) -> What {
        self.kinds.items()[self.kind_of(touch)].0
    }

    pub(crate) fn is_shared(&self, location: Location) -> bool {
        self.locations.get(&location).is_some_and(|spot| spot.is_shared)
    }

    /// Statements that touch a location.
    fn met_at(
        &self,
        stages: &Stages<'_>,
        accesses: &Accesses,
        location: Location,
    ) -> impl Iterator<Item = TouchId> {
        let kind = self.kinds.get(&key(stages, location));
        let touch = |id: &AccessId| {
            let access = accesses.get(*id);
            self.touches.get(&Touch { kind: kind?, method: access.method, stmt: access.stmt })
        };
        let spot = self.locations.get(&location).into_iter();
        let mut met: Vec<TouchId> = spot.flat_map(|spot| &spot.accesses).filter_map(touch).collect();
        met.sort_unstable();
        met.dedup();
        met.into_iter()
    }

    /// The order of two kinds by content.
    pub(crate) fn kinds(&self, content: &Content<'_>, a: KindId, b: KindId) -> Ordering {
        keys(content, self.kinds.items()[a], self.kinds.items()[b])
    }

    /// The order of two statements of one kind by content.
    pub(crate) fn statements(&self, content: &Content<'_>, a: TouchId, b: TouchId) -> Ordering {
        let ((method, stmt), (other, at)) = (self.statement(a), self.statement(b));
        content.methods(method, other).then(stmt.cmp(&at))
    }

    pub(crate) fn sizes(&self, sizes: &mut Sizes) {
        self.places.sizes(sizes);
        sizes.add("kinds of memory", self.kinds.len());
        sizes.add("touches", self.touches.len());
        sizes.add("locations", self.locations.len());
    }
}

/// Pairs that are found again and again, at every object that a field may be of.
#[derive(Default)]
struct Pairs {
    /// Sorted, each once.
    known: Vec<Pair>,
    new: Vec<Pair>,
}

impl Pairs {
    /// So many are put in order at once at least.
    const MANY: usize = 1 << 16;

    fn add(&mut self, pairs: impl Iterator<Item = Pair>) {
        self.new.extend(pairs);
        if self.new.len() > self.known.len().max(Pairs::MANY) {
            self.put_in_order();
        }
    }

    fn put_in_order(&mut self) {
        self.known.append(&mut self.new);
        // Quickest for what is in order in large parts.
        self.known.sort();
        self.known.dedup();
    }

    fn all(mut self) -> BTreeSet<Pair> {
        self.put_in_order();
        self.known.into_iter().collect()
    }
}

fn key(stages: &Stages<'_>, location: Location) -> Key {
    let class = match location.what {
        What::Elements | What::Contents => location.obj.map(|obj| stages.pointsto.object(obj).class),
        What::Field(_) | What::Static(_) => None,
    };
    (location.what, class)
}

fn keys(content: &Content<'_>, (a, of): Key, (b, other): Key) -> Ordering {
    let number = |what: What| match what {
        What::Field(_) => 0,
        What::Static(_) => 1,
        What::Elements => 2,
        What::Contents => 3,
    };
    let by_class = || match (of, other) {
        (Some(class), Some(other)) => content.classes(class, other),
        (class, other) => class.is_some().cmp(&other.is_some()),
    };
    match (a, b) {
        (What::Field(a), What::Field(b)) | (What::Static(a), What::Static(b)) => content.fields(a, b),
        _ => number(a).cmp(&number(b)).then_with(by_class),
    }
}

fn places(
    stages: &Stages<'_>,
    content: &Content<'_>,
    accesses: &Accesses,
    kind: Key,
    ids: &BTreeMap<AccessId, u32>,
) -> Places {
    let mut ids: Vec<AccessId> = ids.keys().copied().collect();
    ids.sort_by(|a, b| content.acts(a.act, b.act).then((a.stmt, a.nth).cmp(&(b.stmt, b.nth))));
    let mut places: FxHashMap<Option<Obj>, Vec<AccessId>> = FxHashMap::default();
    for id in ids {
        for location in accesses.get(id).locations().filter(|&location| key(stages, location) == kind) {
            places.entry(location.obj).or_default().push(id);
        }
    }
    let mut places: Places = places.into_iter().collect();
    places.sort_unstable_by_key(|&(obj, _)| obj);
    places
}

/// Accesses of the first that the second has not, or other ones: with the locations that only they are to.
fn differences<'t>(
    one: &'t Touched,
    other: &'t Touched,
) -> impl Iterator<Item = (&'t Access, Vec<Location>)> + 't {
    one.accesses.iter().filter_map(|access| {
        let at = other.accesses.binary_search_by_key(&access.id(), Access::id);
        let only = match at.map(|at| &other.accesses[at]) {
            Ok(same) if same == access => return None,
            Ok(other) => access.only(other),
            Err(_) => None,
        };
        Some((access, only.unwrap_or_else(|| access.locations().collect())))
    })
}

/// Objects that are touched otherwise; both ascending.
fn differing_places(before: &Places, now: &[(Option<Obj>, Vec<AccessId>)]) -> BTreeSet<Option<Obj>> {
    let is_in = |places: &[(Option<Obj>, Vec<AccessId>)], place: &(Option<Obj>, Vec<AccessId>)| {
        places.binary_search_by_key(&place.0, |other| other.0).is_ok_and(|at| places[at] == *place)
    };
    let gone = before.iter().filter(|place| !is_in(now, place));
    gone.chain(now.iter().filter(|place| !is_in(before, place))).map(|place| place.0).collect()
}

/// Does anybody write here, and can two threads be at work at all?
fn is_shared(stages: &Stages<'_>, accesses: &Accesses, ids: &BTreeSet<AccessId>) -> bool {
    let mut origins = ids.iter().flat_map(|id| accesses.of(id.act).origins.iter());
    let Some(&first) = origins.next() else { return false };
    let are_several =
        stages.happens_before.origin(first).overlaps_itself || origins.any(|&origin| origin != first);
    are_several && ids.iter().any(|&id| accesses.get(id).write)
}
