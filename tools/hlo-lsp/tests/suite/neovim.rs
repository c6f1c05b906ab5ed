//! Tests the Neovim configurations in docs/editors.md with Neovim. If there is no `nvim`, the test prints a
//! note and checks nothing.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Returns the minor version number: 11 for 0.11.2. Returns `None` without Neovim.
fn minor_version() -> Option<u32> {
    let out = Command::new("nvim").arg("--version").output().ok()?;
    let text = String::from_utf8(out.stdout).ok()?;
    text.lines().next()?.split('.').nth(1)?.parse().ok()
}

/// Returns the Lua code in the Neovim section.
fn set_ups() -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/editors.md");
    let text = std::fs::read_to_string(path).unwrap();
    let section = text.split("\n## ").find(|s| s.starts_with("Neovim")).unwrap();
    let blocks = section.split("```lua\n").skip(1);
    blocks.map(|b| b.split("```").next().unwrap().to_owned()).collect()
}

/// Prints the diagnostics that Neovim received from the server for a file.
const CHECK: &str = r#"
vim.wait(30000, function() return #vim.diagnostic.get(0) > 0 end, 20)
for _, d in ipairs(vim.diagnostic.get(0)) do
  io.stdout:write(vim.bo.filetype, " ", d.lnum, " ", d.col, " ", d.message, "\n")
end
vim.cmd("qa!")
"#;

/// Returns Neovim's output for a file with an error and a configuration.
fn session(folder: &Path, init: &str, (name, text): (&str, &str)) -> String {
    std::fs::create_dir_all(folder).unwrap();
    let write = |name: &str, text: &str| {
        std::fs::write(folder.join(name), text).unwrap();
    };
    write("init.lua", init);
    write("check.lua", CHECK);
    write(name, text);
    let server = PathBuf::from(env!("CARGO_BIN_EXE_hlo-lsp"));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::iter::once(server.parent().unwrap().to_owned()).chain(std::env::split_paths(&path));
    let out = Command::new("nvim")
        .args(["--headless", "-u", "init.lua", name, "-S", "check.lua"])
        .current_dir(folder)
        .env("PATH", std::env::join_paths(folders).unwrap())
        .envs(["XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME"].map(|v| (v, folder)))
        .output()
        .unwrap();
    String::from_utf8_lossy(&out.stdout).into_owned() + &String::from_utf8_lossy(&out.stderr)
}

#[test]
fn the_documented_set_ups_start_the_server() {
    let set_ups = set_ups();
    assert_eq!(set_ups.len(), 2);
    let Some(version) = minor_version() else {
        eprintln!("skipped: there is no nvim");
        return;
    };
    // The first configuration requires 0.11.
    let skipped = usize::from(version < 11);
    for (n, init) in set_ups.iter().enumerate().skip(skipped) {
        for (file, expected) in [
            (
                ("m.hlo", "ENTRY e {\n  p = f32[4] parameter(0)\n  ROOT n = f32[4] negat(p)\n}\n"),
                "hlo 2 18 unknown opcode `negat`",
            ),
            (("m.tile", "# tile: A: f32[2]\ndef f(A):\n  return B\n"), "tile 2 9 `B` is not defined"),
        ] {
            let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("neovim-{n}"));
            let said = session(&folder, init, file);
            assert!(said.contains(expected), "set-up {n} in 0.{version}: {said}");
        }
    }
}
