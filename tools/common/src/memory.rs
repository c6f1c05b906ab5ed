//! How much memory there is, asked before large allocations: a module may name a petabyte.

/// The bytes that can still be allocated without running the machine, or the control group that the process is
/// in, out of memory; `usize::MAX` where that can't be told.
pub fn available_bytes() -> usize {
    let machine = std::fs::read_to_string("/proc/meminfo").ok().and_then(|text| {
        let line = text.lines().find_map(|l| l.strip_prefix("MemAvailable:"))?;
        line.trim().strip_suffix("kB")?.trim().parse::<usize>().ok()?.checked_mul(1024)
    });
    machine.unwrap_or(usize::MAX).min(control_group_bytes().unwrap_or(usize::MAX))
}

/// What the control group (version 2, or version 1 at its usual place) leaves.
fn control_group_bytes() -> Option<usize> {
    let read = |path: &str| std::fs::read_to_string(path).ok()?.trim().parse::<usize>().ok();
    let own = std::fs::read_to_string("/proc/self/cgroup").ok();
    let path = own.as_deref().and_then(|t| t.lines().find_map(|l| l.strip_prefix("0::"))).unwrap_or("/");
    let version_2 = [format!("/sys/fs/cgroup{}", path.trim_end_matches('/')), "/sys/fs/cgroup".to_string()];
    for folder in version_2 {
        if let Some(max) = read(&format!("{folder}/memory.max")) {
            return Some(max.saturating_sub(read(&format!("{folder}/memory.current")).unwrap_or(0)));
        }
    }
    let max = read("/sys/fs/cgroup/memory/memory.limit_in_bytes")?;
    Some(max.saturating_sub(read("/sys/fs/cgroup/memory/memory.usage_in_bytes").unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn some_memory_is_available() {
        assert!(available_bytes() > 1 << 20);
    }
}
