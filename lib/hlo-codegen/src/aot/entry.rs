//! The entry of an ahead-of-time program in LLVM IR: the function that C calls.

use super::interface::{Interface, Leaf};
use crate::executable::ARENA_ALIGNMENT;
use crate::host::MAIN;
use crate::kernel_table::BUFFER_ALIGNMENT;
use std::fmt::Write;

/// The status that the entry returns if a pointer is null or not aligned.
pub const BAD_POINTER: i32 = 2;

/// The name of the list of the addresses of constants.
pub(super) const CONSTANT_TABLE_SYMBOL: &str = "hlo_constants";

/// Returns the LLVM IR of the entry. It checks the pointers. If the program needs a context, the entry calls
/// the host function through the runtime.
pub(super) fn text(interface: &Interface, takes_context: bool) -> String {
    let mut out = String::new();
    let mut checks = Checks { text: String::new(), count: 0 };
    for (list, leaves) in [("arguments", &interface.parameters), ("results", &interface.results)] {
        if leaves.iter().any(|leaf| leaf.bytes > 0) {
            checks.pointer(&format!("%{list}"), align_of::<u64>());
        }
        checks.list(list, leaves);
    }
    if interface.arena_bytes > 0 {
        checks.pointer("%arena", ARENA_ALIGNMENT);
    }
    let lists = format!("ptr %arguments, ptr %results, ptr %arena, ptr @{CONSTANT_TABLE_SYMBOL}");
    let parameters = "ptr, ptr, ptr, ptr, ptr";
    let call = if takes_context {
        format!("@{}(ptr %context, ptr @{MAIN}, {lists})", super::RUN_SYMBOL)
    } else {
        format!("@{MAIN}(ptr null, {lists})")
    };
    let _ = writeln!(out, "@{CONSTANT_TABLE_SYMBOL} = external constant ptr");
    let _ = writeln!(out, "declare i32 @{MAIN}({parameters})");
    if takes_context {
        let _ = writeln!(out, "declare i32 @{}(ptr, {parameters})", super::RUN_SYMBOL);
    }
    let _ = writeln!(
        out,
        "define i32 @{}(ptr %arguments, ptr %results, ptr %arena, ptr %context) nounwind {{\nentry:\n  br label %check0\n\
         {}check{}:\n  %status = call i32 {call}\n  ret i32 %status\nbad:\n  ret i32 {BAD_POINTER}\n}}",
        interface.name, checks.text, checks.count
    );
    out
}

/// The blocks that check pointers. `count` is the number of the next block.
struct Checks {
    text: String,
    count: usize,
}

impl Checks {
    /// Adds checks of the pointers of a list. The pointers of empty buffers are not checked.
    fn list(&mut self, list: &str, leaves: &[Leaf]) {
        let mut from = 0;
        for run in leaves.chunk_by(|a, b| (a.bytes > 0) == (b.bytes > 0)) {
            if run.first().is_some_and(|leaf| leaf.bytes > 0) {
                self.run(list, from, from + run.len());
            }
            from += run.len();
        }
    }

    /// Adds a check of the pointers `from..to` of a list.
    fn run(&mut self, list: &str, from: usize, to: usize) {
        let n = self.count;
        let _ = writeln!(
            self.text,
            "check{n}:\n  br label %each{n}\neach{n}:\n  %i{n} = phi i64 [ {from}, %check{n} ], [ %j{n}, %next{n} ]\n  \
             %a{n} = getelementptr ptr, ptr %{list}, i64 %i{n}\n  %p{n} = load ptr, ptr %a{n}"
        );
        self.condition(&format!("%p{n}"), BUFFER_ALIGNMENT as usize, &format!("%next{n}"));
        let _ = writeln!(
            self.text,
            "next{n}:\n  %j{n} = add i64 %i{n}, 1\n  %more{n} = icmp ult i64 %j{n}, {to}\n  \
             br i1 %more{n}, label %each{n}, label %check{}",
            n + 1
        );
        self.count += 1;
    }

    /// Adds a check of one pointer.
    fn pointer(&mut self, pointer: &str, alignment: usize) {
        let _ = writeln!(self.text, "check{}:", self.count);
        self.condition(pointer, alignment, &format!("%check{}", self.count + 1));
        self.count += 1;
    }

    fn condition(&mut self, pointer: &str, alignment: usize, good: &str) {
        let n = self.count;
        let _ = writeln!(
            self.text,
            "  %w{n} = ptrtoint ptr {pointer} to i64\n  %null{n} = icmp eq i64 %w{n}, 0\n  \
             %low{n} = and i64 %w{n}, {}\n  %off{n} = icmp ne i64 %low{n}, 0\n  %bad{n} = or i1 %null{n}, %off{n}\n  \
             br i1 %bad{n}, label %bad, label {good}",
            alignment - 1
        );
    }
}

/// `hlo_rt_parallel_for` of programs for one thread: runs the same chunks one after the other.
pub(super) const SINGLE_THREADED_PARALLEL_FOR: &str = "
define void @hlo_rt_parallel_for(ptr %context, ptr %body, ptr %list, i64 %iterations, i64 %grain) nounwind {
entry:
  %some = icmp sgt i64 %iterations, 0
  br i1 %some, label %chunk, label %done
chunk:
  %begin = phi i64 [ 0, %entry ], [ %end, %chunk ]
  %left = sub i64 %iterations, %begin
  %short = icmp slt i64 %left, %grain
  %count = select i1 %short, i64 %left, i64 %grain
  %end = add i64 %begin, %count
  call void %body(ptr %list, i64 %begin, i64 %end)
  %more = icmp slt i64 %end, %iterations
  br i1 %more, label %chunk, label %done
done:
  ret void
}
";
