//! What calls pass on if only some objects get to the caller: each restriction stored once, and each question answered
//! once. Knows neither locks nor walks.

use super::keys::Keys;
use super::narrow::{Narrow, Params, widen};
use super::room::Live;
use super::telling::Call;
use arena::{Interner, define_id};
use rustc_hash::FxHashMap;
use std::sync::{Mutex, PoisonError};
use track::{Asked, Changes, Kind, Read, Sizes};

define_id! {
    /// What may get to the parameters of an activation; 0 for anything.
    Restriction
}

pub struct Passing {
    restrictions: Interner<Restriction, Params>,
    /// `None` if no receiver gets there.
    entered: Asked<(Call, Restriction), Option<Restriction>>,
    known_widened: FxHashMap<(Restriction, Restriction), Restriction>,
}

impl Passing {
    pub fn new(follows: bool) -> Passing {
        let mut restrictions = Interner::new();
        restrictions.intern(Params::new());
        let entered = Asked::new(Kind::Enters, follows);
        Passing { restrictions, entered, known_widened: FxHashMap::default() }
    }

    /// What no walk has read is forgotten when it may be another.
    pub fn update(&mut self, keys: &Keys<'_, '_>, is_read: impl Fn(Read) -> bool, changes: &mut Changes) {
        let restrictions = Mutex::new(&mut self.restrictions);
        self.entered.refresh_read(changes, is_read, |&(call, params)| {
            let mut restrictions = restrictions.lock().unwrap_or_else(PoisonError::into_inner);
            enter(keys, &mut restrictions, call, params)
        });
    }

    pub fn add(&mut self, params: Params) -> Restriction {
        self.restrictions.intern(params)
    }

    pub fn params(&self, restriction: Restriction) -> &Params {
        &self.restrictions[restriction]
    }

    pub fn enter(&mut self, keys: &Keys<'_, '_>, call: Call, params: Restriction) -> Option<Restriction> {
        let Passing { restrictions, entered, .. } = self;
        entered.ask(&(call, params), || enter(keys, restrictions, call, params))
    }

    /// What gets there on one of two ways.
    pub fn widened(&mut self, a: Restriction, b: Restriction) -> Restriction {
        if a == b || a == Restriction(0) {
            return a;
        }
        let Passing { restrictions, known_widened, .. } = self;
        *known_widened.entry((a, b)).or_insert_with(|| {
            let mut params = restrictions[a].clone();
            widen(&mut params, &restrictions[b]);
            restrictions.intern(params)
        })
    }

    pub fn forget_unread(&mut self, changes: &mut Changes, is_read: impl Fn(Read) -> bool) {
        self.entered.forget_all_unread(changes, is_read);
    }

    pub fn show(&self, live: &mut Live) {
        self.entered.each(|&(_, params), entered| {
            [params].into_iter().chain(*entered).for_each(|params| live.add_restriction(params));
        });
    }

    pub fn retain(&mut self, live: &Live) {
        self.restrictions.retain(|params| live.has_restriction(params));
        let is_live = |params: &Restriction| live.has_restriction(*params);
        self.known_widened.retain(|(a, b), both| is_live(a) && is_live(b) && is_live(both));
    }

    pub fn sizes(&self, sizes: &mut Sizes) {
        self.entered.sizes(sizes);
        sizes.add("restrictions", self.restrictions.len());
        sizes.add("restrictions widened", self.known_widened.len());
    }
}

fn enter(
    keys: &Keys<'_, '_>,
    restrictions: &mut Interner<Restriction, Params>,
    call: Call,
    params: Restriction,
) -> Option<Restriction> {
    let stmt = call.stmt(keys.world)?;
    let narrow = Narrow { world: keys.world, paths: keys.paths };
    let entered = narrow.enter(call.caller, &restrictions[params], stmt, call.callee)?;
    Some(restrictions.intern(entered))
}
