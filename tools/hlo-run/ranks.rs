//! Programs whose devices are spread over the ranks of a job: what the ranks agree on, and who says what.

use hlo_client::World;
use hlo_tools_common::Failure;
use std::ops::Range;

/// The ranks of the job that this process is one of.
pub trait Ranks: std::fmt::Debug {
    /// Where the devices are.
    fn world(&self) -> &dyn World;

    /// The number of this rank.
    fn rank(&self) -> usize;

    /// Tells the other ranks how something came out here, and gives a failure if it failed on one of them. All ranks come to
    /// the same of these in the same order.
    fn tell(&self, outcome: Result<(), Failure>) -> Result<(), Failure>;

    /// The texts of all ranks, at rank 0.
    fn gather(&self, text: Vec<u8>) -> Result<Option<Vec<Vec<u8>>>, Failure>;
}

/// The ranks, if there are others.
pub type OtherRanks<'a> = Option<&'a dyn Ranks>;

/// The devices of this process.
pub fn local_devices(ranks: OtherRanks<'_>, devices: usize) -> Range<usize> {
    ranks.map_or(0..devices, |ranks| ranks.world().local_devices(devices))
}

/// Ends on all ranks with a failure of one of them.
pub fn agreed<T>(ranks: OtherRanks<'_>, outcome: Result<T, Failure>) -> Result<T, Failure> {
    let Some(ranks) = ranks else { return outcome };
    match outcome {
        Ok(value) => ranks.tell(Ok(())).map(|()| value),
        Err(failure) => Err(ranks.tell(Err(failure)).err().unwrap_or(Failure::Message(String::new()))),
    }
}

/// What is printed of the devices, in their order: for each the bits of its result, in few bytes, and their text. At rank 0
/// of several; nothing at others.
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
