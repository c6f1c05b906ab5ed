//! The available memory. It is checked before large allocations, because a module may request a petabyte.

/// Returns the number of bytes that can still be allocated. The limits are the memory of the machine, the
/// limit of the process's control group, and the limit of the address space (`ulimit -v`). Returns
/// `usize::MAX` if none of them is known.
pub fn available_bytes() -> usize {
    let machine = std::fs::read_to_string("/proc/meminfo")
        .ok()
        .and_then(|text| field(&text, "MemAvailable:")?.parse::<usize>().ok()?.checked_mul(1024));
    let limits = [machine, control_group_bytes(), address_space_bytes()];
    limits.into_iter().flatten().min().unwrap_or(usize::MAX)
}

/// Returns the bytes that remain within the limit of the address space, if there is one.
fn address_space_bytes() -> Option<usize> {
    let limits = std::fs::read_to_string("/proc/self/limits").ok()?;
    let limit: usize = field(&limits, "Max address space")?.parse().ok()?;
    let used: usize = field(&std::fs::read_to_string("/proc/self/status").ok()?, "VmSize:")?.parse().ok()?;
    Some(limit.saturating_sub(used.saturating_mul(1024)))
}

/// Returns the first word after `name` on the line that begins with it.
fn field<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    text.lines().find_map(|line| line.strip_prefix(name))?.split_whitespace().next()
}

/// Returns the bytes that remain within the limit of the control group (version 2, or version 1 at its usual
/// path).
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

    #[test]
    fn fields_are_found_by_their_names() {
        let text =
            "VmPeak:\t  100 kB\nVmSize:\t  42 kB\nMax address space         unlimited   unlimited   bytes\n";
        assert_eq!(field(text, "VmSize:"), Some("42"));
        assert_eq!(field(text, "Max address space").and_then(|n| n.parse::<usize>().ok()), None);
        assert_eq!(field(text, "VmRSS:"), None);
    }
}
