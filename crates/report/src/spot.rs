//! The one place at which tools show a finding that cannot show all of it. Knows nothing of what they show there.

use crate::files::Files;
use findings::{Finding, Place, Site};
use std::ops::Range;

pub(crate) struct Spot<'a> {
    /// The site that it is; none if the finding has no site.
    pub site: Option<&'a Site>,
    /// Its columns, from the first to the one after the last, if they are known.
    pub columns: Option<Range<usize>>,
}

impl<'a> Spot<'a> {
    /// The first site with a source that the reader has, or else the first in a known file, or else the first.
    pub fn of(finding: &'a Finding, files: &Files<'_>) -> Spot<'a> {
        let sites = &finding.sites;
        let site = sites.iter().find(|site| files.is_known(&site.place.file));
        let site = site.or_else(|| sites.iter().find(|site| !site.place.file.is_empty()));
        let site = site.or(sites.first());
        Spot { site, columns: site.and_then(|site| files.columns(site, finding)) }
    }

    pub fn place(&self) -> Place {
        self.site.map(|site| site.place.clone()).unwrap_or_default()
    }

    pub fn method(&self) -> &'a str {
        self.site.map_or("", |site| &site.method)
    }

    /// Where a line is demanded, the first stands for one that is not known.
    pub fn some_line(&self) -> u32 {
        self.place().line.max(1)
    }
}
