//! Programs whose devices are spread over the ranks of a job: agreement of the ranks, and collecting their
//! output.

use hlo_client::World;
use hlo_tools_common::Failure;
use std::ops::Range;

/// The ranks of the job that this process belongs to.
pub trait Ranks: std::fmt::Debug {
    /// Returns the world that connects the devices.
    fn world(&self) -> &dyn World;

    /// Returns the number of this rank.
    fn rank(&self) -> usize;

    /// Tells the other ranks whether something succeeded here. Returns a failure if it failed on any rank.
    /// All ranks must make the same calls in the same order.
    fn share_outcome(&self, outcome: Result<(), Failure>) -> Result<(), Failure>;

    /// Collects the texts of all ranks at rank 0.
    fn gather(&self, text: Vec<u8>) -> Result<Option<Vec<Vec<u8>>>, Failure>;
}

/// The ranks, if there is more than one.
pub type OtherRanks<'a> = Option<&'a dyn Ranks>;

/// Returns the devices of this process.
pub fn local_devices(ranks: OtherRanks<'_>, devices: usize) -> Range<usize> {
    ranks.map_or(0..devices, |ranks| ranks.world().local_devices(devices))
}

/// Returns a failure on all ranks if one of them failed.
pub fn fail_on_all_ranks<T>(ranks: OtherRanks<'_>, outcome: Result<T, Failure>) -> Result<T, Failure> {
    let Some(ranks) = ranks else { return outcome };
    match outcome {
        Ok(value) => ranks.share_outcome(Ok(())).map(|()| value),
        Err(failure) => {
            Err(ranks.share_outcome(Err(failure)).err().unwrap_or(Failure::Message(String::new())))
        }
    }
}

/// Collects the output of all devices at rank 0, in order: a hash of the bits of each result, and its text.
/// Returns `None` at other ranks.
pub fn gathered(
    ranks: OtherRanks<'_>,
    own: Vec<(u64, String)>,
) -> Result<Option<Vec<(u64, String)>>, Failure> {
    let Some(ranks) = ranks else { return Ok(Some(own)) };
    let message = serde_json::to_vec(&own);
    let unreadable = |e: serde_json::Error| Failure::Message(format!("internal error: {e}"));
    let Some(texts) = ranks.gather(message.map_err(unreadable)?)? else { return Ok(None) };
    let mut all = Vec::new();
    for text in texts {
        all.extend(serde_json::from_slice::<Vec<(u64, String)>>(&text).map_err(unreadable)?);
    }
    Ok(Some(all))
}
