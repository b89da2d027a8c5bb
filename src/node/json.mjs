// Comparison of messages by their JSON: a host may rebuild its objects between two calls, or load them from a database.
import { createHash } from "node:crypto";

// Returns whether two values have the same JSON, apart from the order of keys.
export function sameJson(a, b) {
  if (a === b) return true;
  if (!isObject(a) || !isObject(b)) return false;
  // Dates, URLs and buffers have no keys that tell them apart.
  if (typeof a.toJSON === "function" || typeof b.toJSON === "function") return JSON.stringify(a) === JSON.stringify(b);
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  if (a instanceof Uint8Array && b instanceof Uint8Array) return Buffer.compare(a, b) === 0;
  const keys = definedKeys(a);
  return keys.length === definedKeys(b).length && keys.every((key) => sameJson(a[key], b[key]));
}

// Returns a digest of a value's JSON that does not depend on the order of keys.
export function digestOf(value) {
  const sorted = JSON.stringify(value, (_, inner) => {
    if (!isObject(inner) || Array.isArray(inner)) return inner;
    return Object.fromEntries(Object.keys(inner).sort().map((key) => [key, inner[key]]));
  });
  return createHash("sha256").update(sorted).digest("base64url");
}

function isObject(value) {
  return typeof value === "object" && value !== null;
}

// JSON leaves out keys without a value.
function definedKeys(object) {
  return Object.keys(object).filter((key) => object[key] !== undefined);
}
