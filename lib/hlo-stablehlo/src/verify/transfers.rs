//! Rules on transfers between devices and with the host.

use super::check::Check;
use crate::text::type_text;
use crate::tree::{Attribute, TypeKind};

/// The type number of a channel between devices.
const DEVICES: i64 = 1;

/// Checks the type of the channel. `host` is the type for a transfer with the host.
fn channel(check: &mut Check<'_, '_>, host: i64) {
    let operation = check.operation;
    let with_host = operation.attribute("is_host_transfer").and_then(Attribute::as_bool) == Some(true);
    let fields = operation.attribute("channel_handle").and_then(|a| a.fields("stablehlo.channel_handle"));
    let Some(found) = fields.and_then(|f| f.get("type")).and_then(Attribute::as_int) else { return };
    let (wanted, of) = if with_host { (host, "with the host") } else { (DEVICES, "between devices") };
    check.require(found == wanted, "", || format!("a channel {of} is of type {wanted}, found {found}"));
}

/// Checks `send`: a transfer to the host uses a channel of type 2.
pub(super) fn send(check: &mut Check<'_, '_>) {
    channel(check, 2);
}

/// Checks `recv`: a transfer from the host uses a channel of type 3. The last result is a token, the others
/// are arrays.
pub(super) fn recv(check: &mut Check<'_, '_>) {
    channel(check, 3);
    let Some(last) = check.operation.results.len().checked_sub(1) else { return };
    for index in 0..=last {
        let Some(ty) = check.result(index) else { continue };
        let is_token = matches!(**ty, TypeKind::Token);
        let what = if index == last { "a token" } else { "an array" };
        check.require(is_token == (index == last), "C2", || {
            format!("result {index} is {what}, found {}", type_text(ty))
        });
    }
}
