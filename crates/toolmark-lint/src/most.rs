//! The most serious of many. A hostile definition can hold a hundred thousand mistakes; a finding lists a few and counts the rest,
//! and the worst of them is never crowded out by the others.

use toolmark_core::severity::Severity;

/// Up to a fixed number of things, the most serious ones, and how many there were.
#[derive(Debug)]
pub(crate) struct Most<T> {
    kept: Vec<(Severity, T)>,
    count: usize,
}

/// How many are kept.
const KEPT: usize = 30;

impl<T> Default for Most<T> {
    fn default() -> Self {
        Self { kept: Vec::new(), count: 0 }
    }
}

impl<T> Most<T> {
    /// Notes one. What it says is only worked out if it is kept.
    pub(crate) fn push(&mut self, severity: Severity, say: impl FnOnce() -> T) {
        self.count += 1;
        if self.kept.len() < KEPT {
            self.kept.push((severity, say()));
        } else if let Some(mildest) = self.kept.iter_mut().min_by_key(|(severity, _)| *severity)
            && mildest.0 < severity
        {
            *mildest = (severity, say());
        }
    }

    /// The first of the most serious.
    pub(crate) fn worst(&self) -> Option<&(Severity, T)> {
        let worst = self.kept.iter().map(|(severity, _)| *severity).max()?;
        self.kept.iter().find(|(severity, _)| *severity == worst)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &(Severity, T)> {
        self.kept.iter()
    }

    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// ` (+3 more)`, or nothing if there is only one.
    pub(crate) fn and_more(&self) -> String {
        match self.count {
            0 | 1 => String::new(),
            count => format!(" (+{} more)", count - 1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_is_kept_however_many_come_before_and_after() {
        let mut most = Most::default();
        for at in 0..1000 {
            most.push(if at == 700 { Severity::Critical } else { Severity::Low }, || at);
        }
        assert_eq!(most.worst(), Some(&(Severity::Critical, 700)));
        assert_eq!((most.iter().count(), most.count()), (KEPT, 1000));
        assert_eq!(most.and_more(), " (+999 more)");
    }
}
