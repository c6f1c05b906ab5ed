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

/// A number of bytes in a person's units.
pub fn human_bytes(bytes: usize) -> String {
    const UNITS: &[&str] = &["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    if bytes < 1024 {
        return format!("{bytes} bytes");
    }
    let mut value = bytes as f64 / 1024.0;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    format!("{value:.1} {}", UNITS[unit])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_in_units() {
        assert_eq!(human_bytes(17), "17 bytes");
        assert_eq!(human_bytes(1536), "1.5 KiB");
        assert_eq!(human_bytes(1 << 50), "1.0 PiB");
    }

    #[test]
    fn some_memory_is_available() {
        assert!(available_bytes() > 1 << 20);
    }
}
