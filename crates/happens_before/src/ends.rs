//! Where origins begin and end: joins first, then who is alive where. Owns the order of the two.

use crate::joins::Joins;
use crate::locks::paths::Paths;
use crate::origins::Origins;
use crate::overlap::Overlap;
use crate::unique::Unique;
use crate::world::World;
use track::{Changes, Kind, Read, Single, Sizes};

pub struct Ends {
    follows: bool,
    pub joins: Single<Joins>,
    pub overlap: Overlap,
}

impl Ends {
    pub fn new(follows: bool) -> Ends {
        Ends { follows, joins: Single::default(), overlap: Overlap::new(follows) }
    }

    pub fn update(
        &mut self,
        world: &World<'_>,
        origins: &Origins,
        unique: &Unique,
        paths: &Paths,
        changes: &mut Changes,
    ) {
        let find = || Joins::new(world, origins, unique, paths);
        let before = self.joins.update(self.follows, changes, find);
        if before.is_some_and(|before| before != self.joins.value) {
            changes.add(Read::all(Kind::Joins));
        }
        self.overlap.update(world, origins, &self.joins.value, unique, changes);
    }

    pub fn sizes(&self, sizes: &mut Sizes) {
        self.overlap.sizes(sizes);
    }
}
