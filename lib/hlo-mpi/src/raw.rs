//! The calls of MPI that are made here, with their codes as errors.

use hlo_communicator::{Failure, Reduction, ReductionKind};
use mpi::ffi;
use std::mem::MaybeUninit;
use std::os::raw::{c_int, c_void};

/// An error code as a failure that names the call.
fn check(call: &str, code: c_int) -> Result<(), Failure> {
    // 0 is MPI_SUCCESS by the standard.
    if code == 0 {
        return Ok(());
    }
    Err(Failure::Here(format!("{call} failed with code {code}")))
}

/// A communicator of MPI. It lives until MPI is finalised.
#[derive(Clone, Copy)]
pub(crate) struct Comm(ffi::MPI_Comm);

// SAFETY: MPI is initialised so that all threads may call it; a handle is a value.
unsafe impl Send for Comm {}
// SAFETY: as above.
unsafe impl Sync for Comm {}

/// An operation that goes on.
pub(crate) struct Request(ffi::MPI_Request);

// SAFETY: as of `Comm`; a request is used by one thread at a time, for testing takes it mutably.
unsafe impl Send for Request {}

/// A message that has arrived, is matched, and has to be received.
pub(crate) struct Message {
    message: ffi::MPI_Message,
    /// Its size.
    pub(crate) bytes: usize,
    /// Its tag.
    pub(crate) tag: i32,
}

/// Which messages are looked for: of a rank, or any; with a tag, or any.
pub(crate) type Wanted = (Option<usize>, Option<i32>);

/// All ranks.
pub(crate) fn comm_world() -> Comm {
    // SAFETY: the library defines it; it is a constant.
    Comm(unsafe { ffi::RSMPI_COMM_WORLD })
}

fn int(number: usize, what: &str) -> Result<c_int, Failure> {
    c_int::try_from(number).map_err(|_| Failure::Here(format!("{what} {number} is too large for MPI")))
}

impl Comm {
    /// This rank, and how many there are.
    pub(crate) fn rank_and_size(self) -> Result<(usize, usize), Failure> {
        let (mut rank, mut size) = (0, 0);
        // SAFETY: the communicator is valid, and the results are written to integers.
        unsafe {
            check("MPI_Comm_rank", ffi::MPI_Comm_rank(self.0, &mut rank))?;
            check("MPI_Comm_size", ffi::MPI_Comm_size(self.0, &mut size))?;
        }
        Ok((rank.max(0) as usize, size.max(1) as usize))
    }

    /// Another communicator of the same ranks, whose errors are returned. All ranks have to call it.
    pub(crate) fn duplicate(self) -> Result<Comm, Failure> {
        let mut comm = MaybeUninit::uninit();
        // SAFETY: the communicator is valid; the new one is written before it is read.
        unsafe {
            check("MPI_Comm_dup", ffi::MPI_Comm_dup(self.0, comm.as_mut_ptr()))?;
            Comm(comm.assume_init()).returning_errors()
        }
    }

    /// A communicator of those ranks that are `in_it`; `None` for others. All ranks have to call it.
    pub(crate) fn split(self, in_it: bool, key: usize) -> Result<Option<Comm>, Failure> {
        let mut comm = MaybeUninit::uninit();
        // SAFETY: as above.
        unsafe {
            let color = if in_it { 0 } else { ffi::RSMPI_UNDEFINED };
            let key = int(key, "a place")?;
            check("MPI_Comm_split", ffi::MPI_Comm_split(self.0, color, key, comm.as_mut_ptr()))?;
            match in_it {
                true => Comm(comm.assume_init()).returning_errors().map(Some),
                false => Ok(None),
            }
        }
    }

    fn returning_errors(self) -> Result<Comm, Failure> {
        // SAFETY: the communicator and the handler are valid.
        let code = unsafe { ffi::MPI_Comm_set_errhandler(self.0, ffi::RSMPI_ERRORS_RETURN) };
        check("MPI_Comm_set_errhandler", code)?;
        Ok(self)
    }

    /// Ends the whole job.
    pub(crate) fn abort(self, code: i32) {
        // SAFETY: MPI is initialised and not finalised.
        unsafe { ffi::MPI_Abort(self.0, code) };
    }

    /// Begins to send.
    ///
    /// # Safety
    /// The bytes stay where they are, and are not written, until the request is complete.
    pub(crate) unsafe fn send(self, bytes: &[u8], to: usize, tag: i32) -> Result<Request, Failure> {
        let mut request = MaybeUninit::uninit();
        let (count, to) = (int(bytes.len(), "a size of")?, int(to, "rank")?);
        // SAFETY: the bytes are readable, by the caller's promise as long as it takes; the request is written if the call
        // succeeds.
        unsafe {
            let at = bytes.as_ptr().cast::<c_void>();
            let code = ffi::MPI_Isend(at, count, ffi::RSMPI_UINT8_T, to, tag, self.0, request.as_mut_ptr());
            check("MPI_Isend", code)?;
            Ok(Request(request.assume_init()))
        }
    }

    /// Looks for a message that has arrived, and takes it out of what others may look for.
    pub(crate) fn look(self, (from, tag): Wanted) -> Result<Option<Message>, Failure> {
        let mut found = 0;
        let mut message = MaybeUninit::uninit();
        let mut status = MaybeUninit::<ffi::MPI_Status>::uninit();
        let mut count = 0;
        // SAFETY: the constants are the library's; message and status are written if one was found.
        unsafe {
            let from = from.map_or(Ok(ffi::RSMPI_ANY_SOURCE), |rank| int(rank, "rank"))?;
            let tag = tag.unwrap_or(ffi::RSMPI_ANY_TAG);
            let (to, state) = (message.as_mut_ptr(), status.as_mut_ptr());
            check("MPI_Improbe", ffi::MPI_Improbe(from, tag, self.0, &mut found, to, state))?;
            if found == 0 {
                return Ok(None);
            }
            check("MPI_Get_count", ffi::MPI_Get_count(state, ffi::RSMPI_UINT8_T, &mut count))?;
            let status = status.assume_init();
            Ok(Some(Message {
                message: message.assume_init(),
                bytes: count.max(0) as usize,
                tag: status.MPI_TAG,
            }))
        }
    }

    /// Begins a reduction of all ranks' elements, of so many bytes each. `None` if MPI has no such elements.
    ///
    /// # Safety
    /// The memory stays where it is, `from` is not written, and nobody looks at `to`, until the request is complete.
    pub(crate) unsafe fn all_reduce(
        self,
        from: &[u8],
        to: &mut [u8],
        element_bytes: usize,
        reduction: Reduction,
    ) -> Result<Option<Request>, Failure> {
        let Some(kind) = element_type(element_bytes, reduction) else { return Ok(None) };
        let count = int(from.len().min(to.len()) / element_bytes, "a number of elements of")?;
        let mut request = MaybeUninit::uninit();
        // SAFETY: both have `count` elements of the type, by the caller's promise as long as it takes.
        unsafe {
            let (from, to) = (from.as_ptr().cast::<c_void>(), to.as_mut_ptr().cast::<c_void>());
            let op = operation(reduction.kind);
            let code = ffi::MPI_Iallreduce(from, to, count, kind, op, self.0, request.as_mut_ptr());
            check("MPI_Iallreduce", code)?;
            Ok(Some(Request(request.assume_init())))
        }
    }
}

/// Whether MPI reduces elements of so many bytes to the right bits. Sums of one and two bytes it does not: where there is
/// AVX, Open MPI 4.1 has them end at the type's limits (its `op/avx`), which C leaves open and HLO does not.
pub(crate) fn reduces(element_bytes: usize, reduction: Reduction) -> bool {
    match (element_bytes, reduction.kind) {
        (1 | 2, ReductionKind::Add | ReductionKind::Multiply) => false,
        (bytes, _) => matches!(bytes, 1 | 2 | 4 | 8),
    }
}

fn element_type(element_bytes: usize, reduction: Reduction) -> Option<ffi::MPI_Datatype> {
    // Sums and products of unsigned integers have the same bits, and wrap around by C's rules.
    let orders = matches!(reduction.kind, ReductionKind::Minimum | ReductionKind::Maximum);
    // SAFETY: constants of the library.
    unsafe {
        Some(match (element_bytes, reduction.is_signed && orders) {
            (1, true) => ffi::RSMPI_INT8_T,
            (2, true) => ffi::RSMPI_INT16_T,
            (4, true) => ffi::RSMPI_INT32_T,
            (8, true) => ffi::RSMPI_INT64_T,
            (1, false) => ffi::RSMPI_UINT8_T,
            (2, false) => ffi::RSMPI_UINT16_T,
            (4, false) => ffi::RSMPI_UINT32_T,
            (8, false) => ffi::RSMPI_UINT64_T,
            _ => return None,
        })
    }
}

fn operation(kind: ReductionKind) -> ffi::MPI_Op {
    // SAFETY: constants of the library.
    unsafe {
        match kind {
            ReductionKind::Add => ffi::RSMPI_SUM,
            ReductionKind::Multiply => ffi::RSMPI_PROD,
            ReductionKind::Minimum => ffi::RSMPI_MIN,
            ReductionKind::Maximum => ffi::RSMPI_MAX,
            ReductionKind::And => ffi::RSMPI_BAND,
            ReductionKind::Or => ffi::RSMPI_BOR,
            ReductionKind::Xor => ffi::RSMPI_BXOR,
        }
    }
}

impl Message {
    /// Begins to receive it.
    ///
    /// # Safety
    /// The memory stays where it is, and nobody looks at it, until the request is complete.
    pub(crate) unsafe fn receive(mut self, to: &mut [MaybeUninit<u8>]) -> Result<Request, Failure> {
        let mut request = MaybeUninit::uninit();
        let count = int(self.bytes.min(to.len()), "a size of")?;
        // SAFETY: the memory is writable, by the caller's promise as long as it takes; the request is written if the call
        // succeeds.
        unsafe {
            let (at, message) = (to.as_mut_ptr().cast::<c_void>(), &mut self.message);
            let code = ffi::MPI_Imrecv(at, count, ffi::RSMPI_UINT8_T, message, request.as_mut_ptr());
            check("MPI_Imrecv", code)?;
            Ok(Request(request.assume_init()))
        }
    }
}

impl Request {
    /// True once it is complete.
    pub(crate) fn is_complete(&mut self) -> Result<bool, Failure> {
        let mut flag = 0;
        // SAFETY: the request is valid, or null once it is complete; nobody looks at the status.
        let code = unsafe { ffi::MPI_Test(&mut self.0, &mut flag, ffi::RSMPI_STATUS_IGNORE) };
        check("MPI_Test", code)?;
        Ok(flag != 0)
    }
}
