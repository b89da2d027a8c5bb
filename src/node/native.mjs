// Loads the native manager: a file beside this one, or the package of this platform.
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";

const require = createRequire(import.meta.url);
const target = `${process.platform}-${process.arch}`;
// npm installs the package of the machine's C library.
const names = process.platform === "linux" ? [`${target}-gnu`, `${target}-musl`] : [target];

function load() {
  const local = fileURLToPath(new URL("plimsoll.node", import.meta.url));
  if (existsSync(local)) return require(local);
  for (const name of names) {
    try {
      return require(`@plimsoll/context-${name}`);
    } catch (error) {
      if (error.code !== "MODULE_NOT_FOUND") throw error;
    }
  }
  throw new Error(
    `@plimsoll/context-${names[0]} is not installed: this platform has no package, or optional dependencies were left out ` +
      "(npm install --include=optional)",
  );
}

export const native = load();
