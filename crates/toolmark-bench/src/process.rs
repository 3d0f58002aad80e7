//! What does a process cost, with everything it started? Read from `/proc`; elsewhere there is no figure.

use std::collections::HashMap;
use std::fs;

/// The kernel counts processor time in hundredths of a second.
const TICK_MS: u64 = 10;

/// What a tree of processes has used so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Usage {
    pub(crate) cpu_ms: u64,
    pub(crate) memory_kib: u64,
}

struct Process {
    parent: u32,
    name: String,
    ticks: u64,
}

/// The usage of a process and its children, without those that are this very program: servers behind a gateway are not its cost.
pub(crate) fn usage(root: u32) -> Usage {
    let all: HashMap<u32, Process> = fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .filter_map(|entry| {
            let pid = entry.ok()?.file_name().to_str()?.parse().ok()?;
            Some((pid, read(pid)?))
        })
        .collect();
    let belongs = |pid: u32| {
        let mut at = pid;
        // No tree of processes is as deep as that.
        for _ in 0..64 {
            if at == root {
                return true;
            }
            match all.get(&at) {
                Some(process) if process.parent > 1 => at = process.parent,
                _ => return false,
            }
        }
        false
    };
    let own = |pid: u32, process: &Process| pid == root || process.name != "toolmark-bench";
    all.iter().filter(|(pid, process)| belongs(**pid) && own(**pid, process)).fold(
        Usage::default(),
        |sum, (pid, process)| Usage {
            cpu_ms: sum.cpu_ms + process.ticks * TICK_MS,
            memory_kib: sum.memory_kib + memory_kib(*pid).unwrap_or(0),
        },
    )
}

fn read(pid: u32) -> Option<Process> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name is in brackets and may hold anything, brackets too.
    let (head, tail) = stat.rsplit_once(')')?;
    let name = head.split_once('(')?.1.to_owned();
    let fields: Vec<&str> = tail.split_whitespace().collect();
    let ticks = fields.get(11)?.parse::<u64>().ok()? + fields.get(12)?.parse::<u64>().ok()?;
    Some(Process { parent: fields.get(1)?.parse().ok()?, name, ticks })
}

fn memory_kib(pid: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.split_whitespace().next()?.parse().ok()
}
