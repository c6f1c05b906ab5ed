//! Transfers: reads and writes of a program outside its buffers. The compiler numbers the transfers of a
//! program. The host that runs the program connects each number to a source or destination.

use crate::context::Context;
use crate::error::Error;

/// Fills `bytes` bytes with part `part` of the data that transfer `transfer` reads. Returns 0, or 1 with a
/// message in the context.
///
/// # Safety
/// `ctx` must point to a live [`Context`] and `to` to `bytes` writable bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hlo_rt_receive(
    ctx: *const Context,
    transfer: i64,
    part: i64,
    to: *mut u8,
    bytes: i64,
) -> i32 {
    let to: &mut [u8] = match usize::try_from(bytes) {
        // SAFETY: guaranteed by the caller.
        Ok(n) if n > 0 => unsafe { std::slice::from_raw_parts_mut(to, n) },
        _ => &mut [],
    };
    // SAFETY: guaranteed by the caller.
    unsafe { &*ctx }.transfer(|end| end.receive(number(transfer)?, number(part)?, to))
}

/// Sends `bytes` bytes as part `part` of the data that transfer `transfer` writes. Returns 0, or 1 with a
/// message in the context.
///
/// # Safety
/// `ctx` must point to a live [`Context`] and `from` to `bytes` readable bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hlo_rt_transmit(
    ctx: *const Context,
    transfer: i64,
    part: i64,
    from: *const u8,
    bytes: i64,
) -> i32 {
    let from: &[u8] = match usize::try_from(bytes) {
        // SAFETY: guaranteed by the caller.
        Ok(n) if n > 0 => unsafe { std::slice::from_raw_parts(from, n) },
        _ => &[],
    };
    // SAFETY: guaranteed by the caller.
    unsafe { &*ctx }.transfer(|end| end.transmit(number(transfer)?, number(part)?, from))
}

fn number(n: i64) -> Result<usize, Error> {
    usize::try_from(n).map_err(|_| Error(format!("internal error: transfer {n}")))
}

/// Fills `bytes` bytes with zeros. Always returns 0.
///
/// # Safety
/// `to` must point to `bytes` writable bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hlo_rt_zero(_ctx: *const Context, to: *mut u8, bytes: i64) -> i32 {
    if let Ok(n) = usize::try_from(bytes)
        && n > 0
    {
        // SAFETY: guaranteed by the caller.
        unsafe { std::ptr::write_bytes(to, 0, n) };
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transfers::Transfers;

    /// Test transfers: fill arrays with numbers that depend on the transfer and count the reads, and sum up
    /// the bytes written.
    struct Count(u8, usize);

    impl Transfers for Count {
        fn receive(&mut self, transfer: usize, part: usize, to: &mut [u8]) -> Result<(), Error> {
            self.0 += 1;
            match self.0 {
                1..=2 => to.fill(self.0 + 10 * transfer as u8 + part as u8),
                3 => panic!("gone"),
                _ => return Err(Error("empty".into())),
            }
            Ok(())
        }

        fn transmit(&mut self, _: usize, _: usize, from: &[u8]) -> Result<(), Error> {
            self.1 += from.iter().map(|&b| usize::from(b)).sum::<usize>();
            Ok(())
        }
    }

    #[test]
    fn a_run_has_an_end_and_an_error_of_its_own() {
        let shared = Context::new(2);
        let mut end = Count(0, 0);
        let mut bytes = [0u8; 2];
        // SAFETY: the buffer has two bytes.
        let mut receive =
            |ctx: &Context, part| unsafe { hlo_rt_receive(ctx, 3, part, bytes.as_mut_ptr(), 2) };
        shared.with_transfers(&mut end, None, None, |run| {
            assert_eq!(run.threads(), 2);
            assert_eq!(receive(run, 0), 0);
            assert_eq!(receive(run, 1), 0);
            assert_eq!(receive(run, 0), 1);
            assert_eq!(run.take_error().as_deref(), Some("transfer: internal error: gone"));
            assert_eq!(receive(run, 0), 1);
            assert_eq!(run.take_error().as_deref(), Some("empty"));
            // SAFETY: two bytes are read, then none.
            unsafe {
                assert_eq!(hlo_rt_transmit(run, 0, 0, [1u8, 2].as_ptr(), 2), 0);
                assert_eq!(hlo_rt_transmit(run, 0, 0, std::ptr::null(), 0), 0);
            }
        });
        assert_eq!(receive(&shared, 0), 1);
        assert_eq!(
            shared.take_error().as_deref(),
            Some("the program was given nothing to transfer from or to")
        );
        assert_eq!((bytes, end.1), ([33, 33], 3));
        // SAFETY: two bytes are written.
        unsafe { assert_eq!(hlo_rt_zero(&shared, bytes.as_mut_ptr(), 2), 0) };
        assert_eq!(bytes, [0, 0]);
    }
}
