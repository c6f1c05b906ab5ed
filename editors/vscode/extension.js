// Starts hlo-lsp and passes it everything about files of HLO, StableHLO and Tile.

const { workspace, commands, window } = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

async function start() {
  const command = workspace.getConfiguration("hlo").get("server.path") || "hlo-lsp";
  const server = { command };
  const options = { documentSelector: [{ language: "hlo" }, { language: "mlir" }, { language: "tile" }] };
  client = new LanguageClient("hlo", "HLO", server, options);
  try {
    await client.start();
  } catch (error) {
    client = undefined;
    window.showErrorMessage(
      `HLO: can't start the language server "${command}": ${error.message ?? error}. ` +
        "Install it with `cargo install --path tools/hlo-lsp`, or set hlo.server.path."
    );
  }
}

async function stop() {
  const running = client;
  client = undefined;
  await running?.stop();
}

async function restart() {
  await stop();
  await start();
}

async function activate(context) {
  context.subscriptions.push(
    commands.registerCommand("hlo.restartServer", restart),
    workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration("hlo.server.path")) {
        restart();
      }
    })
  );
  await start();
}

module.exports = { activate, deactivate: stop };
