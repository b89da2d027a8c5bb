// TypeScript programs that `plimsoll presets export --as typescript` writes: Node runs them, and they compile.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { long } from "./conversation.mjs";

const NAME = process.platform === "win32" ? "plimsoll.exe" : "plimsoll";
const PLIMSOLL = resolve(process.env.PLIMSOLL_REPOSITORY, process.env.PLIMSOLL ?? `target/debug/${NAME}`);
const skip = !existsSync(PLIMSOLL)
  ? `${PLIMSOLL} is missing: build it, or name another one in PLIMSOLL`
  : !process.features.typescript && `Node ${process.version} does not run TypeScript`;

const write = (folder, ...words) => execFileSync(PLIMSOLL, ["presets", "export", ...words], { cwd: folder, encoding: "utf8" });

// Turns with a tool call each, whose result has about 2,500 tokens.
function conversation(turns) {
  return Array.from({ length: turns }, (_, turn) => {
    const call = { id: `c${turn}`, type: "function", function: { name: "look", arguments: `{"at":${turn}}` } };
    return [
      { role: "user", content: `Look at berth ${turn}.` },
      { role: "assistant", content: null, tool_calls: [call] },
      { role: "tool", tool_call_id: call.id, content: long(`result ${turn}`, 2500), own: turn },
    ];
  }).flat();
}

// Runs and compiles a program in a folder beside the installed packages.
async function check(folder, text) {
  const file = join(folder, "program.mts");
  writeFileSync(file, text);
  const { manager, send } = await import(pathToFileURL(file));
  const calls = [];
  const askModel = async (...call) => {
    calls.push(call);
    return { content: "the answer" };
  };
  const history = conversation(13);
  assert.deepEqual(await send(history, askModel), { content: "the answer" });
  manager.report({ inputTokens: 12_000, outputTokens: 10 });
  assert.equal(calls.length, 1);
  const [[messages, maxTokens]] = calls;
  assert.equal(maxTokens, undefined, "only a summary request has a limit");
  assert.equal(messages.length, history.length);
  const results = messages.filter(({ role }) => role === "tool");
  assert.deepEqual(results.map(({ own }) => own), [...Array(13).keys()]);
  const isCleared = ({ content }) => content === "[Old tool result content cleared]";
  // The newest two turns stay. `prune_protect` has its default without `--set`, and would keep all of these.
  assert.ok(results.slice(0, -2).every(isCleared), results.map(isCleared).join());
  assert.ok(!results.slice(-2).some(isCleared));

  const options = { extends: "../tsconfig.json", files: ["program.mts"] };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(options));
  const tsc = join(import.meta.dirname, "node_modules/typescript/bin/tsc");
  const compiled = spawnSync(process.execPath, [tsc, "--strict", "-p", folder], { encoding: "utf8" });
  assert.equal(compiled.status, 0, compiled.stdout + compiled.stderr);
}

const FORMS = {
  "a bundled preset": (folder) => write(folder, "prune", "--set", "prune_protect=4000", "--window", "64k", "--as", "typescript"),
  "a policy file": (folder) => {
    write(folder, "prune", "--set", "prune_protect=4000", "--as", "toml", "-o", "tuned.toml");
    return write(folder, "tuned.toml", "--window", "64k", "--as", "typescript");
  },
};

for (const [name, program] of Object.entries(FORMS)) {
  test(`the program of ${name} prunes the requests that it sends, and compiles`, { skip }, async (t) => {
    const folder = mkdtempSync(join(import.meta.dirname, "forms-"));
    t.after(() => rmSync(folder, { recursive: true }));
    await check(folder, program(folder));
  });
}
