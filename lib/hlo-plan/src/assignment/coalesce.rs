//! Coalescing: merges buffers so that they share memory.

use super::live::{BufferLiveness, Interval, LiveIntervals, joined};
use crate::{BufId, Buffers, Pin, Step};
use hlo_analysis::cost_model::UNKNOWN_TRIP_COUNT;

/// The classes of buffers that share memory.
#[derive(Clone, Debug)]
pub struct Classes {
    parent: Vec<u32>,
    lives: Vec<LiveIntervals>,
    bytes: Vec<u64>,
    pins: Vec<Pin>,
}

impl Classes {
    /// Returns the class of a buffer: the index of its representative.
    pub fn of(&self, b: BufId) -> usize {
        let mut at = b.0;
        while self.parent[at as usize] != at {
            at = self.parent[at as usize];
        }
        at as usize
    }

    /// Returns the indices of all classes.
    pub fn all(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.parent.len()).filter(|&i| self.parent[i] as usize == i)
    }

    /// Returns where a class must be placed.
    pub fn pin(&self, class: usize) -> Pin {
        self.pins[class]
    }

    /// Returns the size of each buffer of a class in bytes.
    pub fn bytes(&self, class: usize) -> u64 {
        self.bytes[class]
    }

    /// Returns the intervals in which a class is needed.
    pub fn intervals(&self, class: usize) -> &[Interval] {
        &self.lives[class].intervals
    }

    /// Merges two buffers if that changes no result. Returns whether they are merged.
    fn try_merge(&mut self, a: BufId, b: BufId) -> bool {
        let (a, b) = (self.of(a), self.of(b));
        if a == b {
            return true;
        }
        let pin = match (self.pins[a], self.pins[b]) {
            (Pin::Free, p) | (p, Pin::Free) if !p.is_read_only() => p,
            _ => return false,
        };
        if self.bytes[a] != self.bytes[b] {
            return false;
        }
        let Some(handed_over) = handovers(&self.lives[a], &self.lives[b]) else { return false };
        let (into, from) = (a.min(b), a.max(b));
        let other = std::mem::take(&mut self.lives[from]);
        let life = &mut self.lives[into];
        let mut intervals: Vec<Interval> = life.intervals.iter().chain(&other.intervals).copied().collect();
        intervals.sort_unstable();
        life.intervals = joined(&intervals);
        life.soft.extend(other.soft);
        life.soft.sort_unstable();
        // Reads at these times no longer end a life, so nothing else can take over the buffer there.
        life.soft.retain(|t| !handed_over.contains(t));
        self.pins[into] = pin;
        self.parent[from] = into as u32;
        true
    }
}

/// Returns `None` if both are needed at the same time. They may overlap at the moment of a write if the step
/// reads one of them softly and writes the other. Returns those moments.
fn handovers(a: &LiveIntervals, b: &LiveIntervals) -> Option<Vec<u64>> {
    let (mut i, mut k) = (0, 0);
    let mut out = Vec::new();
    while let (Some(x), Some(y)) = (a.intervals.get(i), b.intervals.get(k)) {
        let (start, end) = (x.start.max(y.start), x.end.min(y.end));
        if start < end {
            let taken = |from: &LiveIntervals, ends: &Interval, begins: &Interval| {
                ends.end == end && begins.start == start && from.soft.binary_search(&start).is_ok()
            };
            if end - start != 1 || !(taken(a, x, y) || taken(b, y, x)) {
                return None;
            }
            out.push(start);
        }
        if x.end <= y.end {
            i += 1;
        } else {
            k += 1;
        }
    }
    Some(out)
}

/// Two buffers to merge, and the number of bytes of copying that this saves.
struct MergeCandidate {
    weight: u64,
    a: BufId,
    b: BufId,
}

/// Merges the buffers that copies connect, the most expensive copies first. Then merges results with operands
/// that they may overwrite.
pub fn coalesce(steps: &[Step<BufId>], buffers: &Buffers, liveness: &BufferLiveness) -> Classes {
    let mut classes = Classes {
        parent: (0..buffers.len() as u32).collect(),
        lives: liveness.lives.clone(),
        bytes: buffers.iter().map(|b| b.bytes).collect(),
        pins: buffers.iter().map(|b| b.pin).collect(),
    };
    let (mut copies, mut overwrites) = (Vec::new(), Vec::new());
    merge_candidates(steps, buffers, 1, &mut copies, &mut overwrites);
    for mut list in [copies, overwrites] {
        // The sort is stable, so equal weights stay in program order.
        list.sort_by_key(|w| std::cmp::Reverse(w.weight));
        for wish in list {
            classes.try_merge(wish.a, wish.b);
        }
    }
    // The representative is the smallest index of its class, so one pass shortens every path to a single
    // step.
    for i in 0..classes.parent.len() {
        classes.parent[i] = classes.parent[classes.parent[i] as usize];
    }
    classes
}

fn merge_candidates(
    steps: &[Step<BufId>],
    buffers: &Buffers,
    factor: u64,
    copies: &mut Vec<MergeCandidate>,
    overwrites: &mut Vec<MergeCandidate>,
) {
    let weigh = |bytes: u64| bytes.saturating_mul(factor);
    for step in steps {
        match step {
            Step::Copy { from, to, bytes } => {
                copies.push(MergeCandidate { weight: weigh(*bytes), a: *from, b: *to })
            }
            Step::Kernel(k) => {
                for &result in &k.results {
                    let operands =
                        k.overwritable.iter().filter_map(|&i| k.operands.get(i).copied().flatten());
                    for a in operands {
                        overwrites.push(MergeCandidate {
                            weight: weigh(buffers[result].bytes),
                            a,
                            b: result,
                        });
                    }
                }
            }
            Step::Runtime(_) => {}
            Step::While { condition, body, .. } => {
                let inner = factor.saturating_mul(UNKNOWN_TRIP_COUNT);
                merge_candidates(condition, buffers, inner, copies, overwrites);
                merge_candidates(body, buffers, inner, copies, overwrites);
            }
            Step::Conditional { branches, .. } => {
                for b in branches {
                    merge_candidates(b, buffers, factor, copies, overwrites);
                }
            }
        }
    }
}
