#!/usr/bin/env node
// Starts the program of this platform's package.
"use strict";
const { spawn } = require("node:child_process");
const name = `@plimsoll/${process.platform}-${process.arch}`;
const file = process.platform === "win32" ? "plimsoll.exe" : "plimsoll";

let program;
try {
  program = require.resolve(`${name}/bin/${file}`);
} catch {
  console.error(`plimsoll: the package ${name} is not installed.`);
  console.error("Either this platform has none, or npm left out optional dependencies (npm install --include=optional).");
  process.exit(2);
}

const child = spawn(program, process.argv.slice(2), { stdio: "inherit" });
// The terminal sends Ctrl+C to the program, too. The starter waits for its end and passes the result on.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  process.on(signal, () => child.kill(signal));
}
child.on("error", (error) => {
  console.error(`plimsoll: cannot start ${program}: ${error.message}`);
  process.exit(2);
});
child.on("exit", (code, signal) => {
  if (signal) {
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  } else {
    process.exit(code);
  }
});
