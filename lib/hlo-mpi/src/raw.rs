//! The MPI functions that this crate calls, with their error codes as errors.

use hlo_communicator::{Failure, Reduction, ReductionKind};
use mpi::ffi;
use std::mem::MaybeUninit;
use std::os::raw::{c_int, c_void};

/// The type of `MPI_Isend` and `MPI_Issend`.
type SendFunction = unsafe extern "C" fn(
    *const c_void,
    c_int,
    ffi::MPI_Datatype,
    c_int,
    c_int,
    ffi::MPI_Comm,
    *mut ffi::MPI_Request,
) -> c_int;

/// Converts an error code to a failure that names the call.
fn check(call: &str, code: c_int) -> Result<(), Failure> {
    // The MPI standard defines MPI_SUCCESS as 0.
    if code == 0 {
        return Ok(());
    }
    Err(Failure::Local(format!("{call} failed with code {code}")))
}

/// An MPI communicator. It is valid until MPI is finalised.
#[derive(Clone, Copy)]
pub(crate) struct Comm(ffi::MPI_Comm);

// SAFETY: MPI is initialized such that all threads may call it. A handle is a plain value.
unsafe impl Send for Comm {}
// SAFETY: as above.
unsafe impl Sync for Comm {}

/// A pending operation.
pub(crate) struct Request(ffi::MPI_Request);

// SAFETY: as for `Comm`. Only one thread at a time uses a request, because testing takes `&mut self`.
unsafe impl Send for Request {}

/// A message that has arrived, is matched, and must be received.
pub(crate) struct Message {
    message: ffi::MPI_Message,
    /// The size in bytes.
    pub(crate) bytes: usize,
    /// The tag.
    pub(crate) tag: i32,
}

/// A filter for messages: the rank, or `None` for any, and the tag, or `None` for any.
pub(crate) type MessageFilter = (Option<usize>, Option<i32>);

/// Returns the communicator of all ranks.
pub(crate) fn comm_world() -> Comm {
    // SAFETY: a constant that the library defines.
    Comm(unsafe { ffi::RSMPI_COMM_WORLD })
}

fn int(number: usize, what: &str) -> Result<c_int, Failure> {
    c_int::try_from(number).map_err(|_| Failure::Local(format!("{what} {number} is too large for MPI")))
}

impl Comm {
    /// Returns the number of this rank, and the number of ranks.
    pub(crate) fn rank_and_size(self) -> Result<(usize, usize), Failure> {
        let (mut rank, mut size) = (0, 0);
        // SAFETY: the communicator is valid, and the results are written to integers.
        unsafe {
            check("MPI_Comm_rank", ffi::MPI_Comm_rank(self.0, &mut rank))?;
            check("MPI_Comm_size", ffi::MPI_Comm_size(self.0, &mut size))?;
        }
        Ok((rank.max(0) as usize, size.max(1) as usize))
    }

    /// Returns another communicator of the same ranks, whose errors are returned. All ranks must call this.
    pub(crate) fn duplicate(self) -> Result<Comm, Failure> {
        let mut comm = MaybeUninit::uninit();
        // SAFETY: the communicator is valid. The new one is written before it is read.
        unsafe {
            check("MPI_Comm_dup", ffi::MPI_Comm_dup(self.0, comm.as_mut_ptr()))?;
            Comm(comm.assume_init()).returning_errors()
        }
    }

    /// Returns a communicator of the ranks that pass `in_it`, or `None` on other ranks. All ranks must call
    /// this.
    pub(crate) fn split(self, in_it: bool, key: usize) -> Result<Option<Comm>, Failure> {
        let mut comm = MaybeUninit::uninit();
        // SAFETY: as above.
        unsafe {
            let color = if in_it { 0 } else { ffi::RSMPI_UNDEFINED };
            let key = int(key, "a place")?;
            check("MPI_Comm_split", ffi::MPI_Comm_split(self.0, color, key, comm.as_mut_ptr()))?;
            if in_it { Comm(comm.assume_init()).returning_errors().map(Some) } else { Ok(None) }
        }
    }

    fn returning_errors(self) -> Result<Comm, Failure> {
        // SAFETY: the communicator and the handler are valid.
        let code = unsafe { ffi::MPI_Comm_set_errhandler(self.0, ffi::RSMPI_ERRORS_RETURN) };
        check("MPI_Comm_set_errhandler", code)?;
        Ok(self)
    }

    /// Aborts the whole job.
    pub(crate) fn abort(self, code: i32) {
        // SAFETY: MPI is initialized and not finalised.
        unsafe { ffi::MPI_Abort(self.0, code) };
    }

    /// Begins to send a message. If `is_synchronous` is set, the request is complete only when the receiver has begun to
    /// receive the message. Otherwise MPI may copy a small message, and the request is complete at once.
    ///
    /// # Safety
    /// The bytes must not be moved or written until the request is complete.
    pub(crate) unsafe fn send(
        self,
        bytes: &[u8],
        to: usize,
        tag: i32,
        is_synchronous: bool,
    ) -> Result<Request, Failure> {
        let mut request = MaybeUninit::uninit();
        let (count, to) = (int(bytes.len(), "a size of")?, int(to, "rank")?);
        // SAFETY: the caller guarantees that the bytes are readable until the request is complete. The
        // request is written if the call succeeds.
        unsafe {
            let at = bytes.as_ptr().cast::<c_void>();
            let (name, send) = if is_synchronous {
                ("MPI_Issend", ffi::MPI_Issend as SendFunction)
            } else {
                ("MPI_Isend", ffi::MPI_Isend as SendFunction)
            };
            check(name, send(at, count, ffi::RSMPI_UINT8_T, to, tag, self.0, request.as_mut_ptr()))?;
            Ok(Request(request.assume_init()))
        }
    }

    /// Returns a message that has arrived, if any. Later calls do not return the same message.
    pub(crate) fn take_arrived(self, (from, tag): MessageFilter) -> Result<Option<Message>, Failure> {
        let mut found = 0;
        let mut message = MaybeUninit::uninit();
        let mut status = MaybeUninit::<ffi::MPI_Status>::uninit();
        let mut count = 0;
        // SAFETY: the constants are the library's. The message and the status are written if a message was
        // found.
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

    /// Begins a reduction of the elements of all ranks, of `element_bytes` bytes each. Returns `None` if MPI
    /// has no such element type.
    ///
    /// # Safety
    /// The memory must not be moved, `from` must not be written, and `to` must not be accessed until the
    /// request is complete.
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
        // SAFETY: the caller guarantees that both have `count` elements of the type until the request is
        // complete.
        unsafe {
            let (from, to) = (from.as_ptr().cast::<c_void>(), to.as_mut_ptr().cast::<c_void>());
            let op = operation(reduction.kind);
            let code = ffi::MPI_Iallreduce(from, to, count, kind, op, self.0, request.as_mut_ptr());
            check("MPI_Iallreduce", code)?;
            Ok(Some(Request(request.assume_init())))
        }
    }
}

/// Returns whether MPI reduces elements of this size to the correct bits. It does not for sums and products
/// of one-byte and two-byte elements. On CPUs with AVX, Open MPI 4.1 saturates these at the type's limits
/// (its `op/avx`). C leaves this unspecified, but HLO does not.
pub(crate) fn reduces(element_bytes: usize, reduction: Reduction) -> bool {
    match (element_bytes, reduction.kind) {
        (1 | 2, ReductionKind::Add | ReductionKind::Multiply) => false,
        (bytes, _) => matches!(bytes, 1 | 2 | 4 | 8),
    }
}

fn element_type(element_bytes: usize, reduction: Reduction) -> Option<ffi::MPI_Datatype> {
    // Sums and products of unsigned integers have the same bits as signed ones, and C defines that they wrap
    // around.
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
    /// Begins to receive the message.
    ///
    /// # Safety
    /// The memory must not be moved or accessed until the request is complete.
    pub(crate) unsafe fn receive(mut self, to: &mut [MaybeUninit<u8>]) -> Result<Request, Failure> {
        let mut request = MaybeUninit::uninit();
        let count = int(self.bytes.min(to.len()), "a size of")?;
        // SAFETY: the caller guarantees that the memory is writable until the request is complete. The
        // request is written if the call succeeds.
        unsafe {
            let (at, message) = (to.as_mut_ptr().cast::<c_void>(), &mut self.message);
            let code = ffi::MPI_Imrecv(at, count, ffi::RSMPI_UINT8_T, message, request.as_mut_ptr());
            check("MPI_Imrecv", code)?;
            Ok(Request(request.assume_init()))
        }
    }
}

impl Request {
    /// Returns whether the request is complete.
    pub(crate) fn is_complete(&mut self) -> Result<bool, Failure> {
        let mut flag = 0;
        // SAFETY: the request is valid, or null if it is complete. The status is not read.
        let code = unsafe { ffi::MPI_Test(&mut self.0, &mut flag, ffi::RSMPI_STATUS_IGNORE) };
        check("MPI_Test", code)?;
        Ok(flag != 0)
    }
}
