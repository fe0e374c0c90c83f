//! How sure a deadlock is: what is assumed in its favour, each assumption with its words.

use findings::Confidence;
use happens_before::Nesting;

/// A call that may lead to more methods than this says little about any of them.
const MANY_CHOICES: usize = 8;
/// Over more calls between the two locks something is easily overlooked.
const MANY_CALLS: usize = 8;

/// A reason to believe a deadlock a little less.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Doubt {
    /// The threads may meet on different locks from one allocation site.
    ManyLocks,
    /// Parents before children, one node of a list after the other: an order that seldom turns around.
    Downwards,
    /// Which of the two comes first is chosen by a condition: perhaps always in one order.
    Chosen,
    /// Code that is not analysed has to call back.
    CalledBack,
    /// One of the calls on the way may lead to many methods.
    ManyChoices,
    /// One of them may lead to some other method.
    Choices,
    /// There are many calls between the locks.
    Far,
    /// Code of several threads is analysed together.
    MergedCode,
    /// The wait gives up after a time.
    Timed,
    /// What is waited for may be another from the same place.
    OtherEnd,
}

impl Doubt {
    pub(super) fn text(self) -> String {
        match self {
            Doubt::ManyLocks => "not proven that both threads lock the same two objects".into(),
            Doubt::Downwards => {
                "the second object is reached from the first, as a child from its parent".into()
            }
            Doubt::Chosen => {
                "a condition chooses which of the two objects is locked first, perhaps always in one order"
                    .into()
            }
            Doubt::CalledBack => {
                "code that is not analysed is taken to call an object that was passed to it".into()
            }
            Doubt::ManyChoices => {
                "a call on the way may lead to many methods, and has to lead to this one".into()
            }
            Doubt::Choices => "a call on the way may lead to another method".into(),
            Doubt::Far => "many calls away: one of the calls may lead elsewhere".into(),
            Doubt::MergedCode => "the code of several threads is analysed together here".into(),
            Doubt::Timed => {
                "the wait gives up when its time is over: until then, both threads stand still".into()
            }
            Doubt::OtherEnd => {
                "what is waited for may be another thread or executor that was made in the same place".into()
            }
        }
    }
}

/// All doubts there are, in the order in which they are told.
const ALL: [Doubt; 10] = [
    Doubt::ManyLocks,
    Doubt::Downwards,
    Doubt::Chosen,
    Doubt::CalledBack,
    Doubt::ManyChoices,
    Doubt::Choices,
    Doubt::Far,
    Doubt::MergedCode,
    Doubt::Timed,
    Doubt::OtherEnd,
];

/// Those that leave little of it.
const GRAVE: u16 = bit(Doubt::Downwards)
    | bit(Doubt::Chosen)
    | bit(Doubt::CalledBack)
    | bit(Doubt::ManyChoices)
    | bit(Doubt::MergedCode);

const fn bit(doubt: Doubt) -> u16 {
    1 << doubt as u8
}

/// The doubts about one deadlock, or about a part of it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Doubts(u16);

impl Doubts {
    pub(super) fn add(&mut self, doubt: Doubt, applies: bool) {
        if applies {
            self.0 |= bit(doubt);
        }
    }

    /// What the calls between the two locks leave open.
    pub(super) fn add_way(&mut self, nesting: &Nesting) {
        self.add(Doubt::CalledBack, nesting.called_back);
        self.add(Doubt::ManyChoices, nesting.choices > MANY_CHOICES);
        self.add(Doubt::Choices, (2..=MANY_CHOICES).contains(&nesting.choices));
        self.add(Doubt::Far, nesting.calls.len() > MANY_CALLS);
    }

    pub(super) fn with(self, other: Doubts) -> Doubts {
        Doubts(self.0 | other.0)
    }

    pub(super) fn common(self, other: Doubts) -> Doubts {
        Doubts(self.0 & other.0)
    }

    pub(super) fn contains(self, doubt: Doubt) -> bool {
        self.0 & bit(doubt) != 0
    }

    pub(super) fn iter(self) -> impl Iterator<Item = Doubt> {
        ALL.into_iter().filter(move |&doubt| self.contains(doubt))
    }

    pub(super) fn confidence(self) -> Confidence {
        match self.0 {
            0 => Confidence::High,
            // One limits the confidence, two together leave little of it.
            doubts if doubts & GRAVE == 0 && doubts.count_ones() == 1 => Confidence::Medium,
            _ => Confidence::Low,
        }
    }

    /// How sure it is at best, and how many doubts there are at least.
    pub(super) fn rank(self) -> (Confidence, usize) {
        (self.confidence(), self.0.count_ones() as usize)
    }
}
