// Maps a host's messages to those of the native manager.
//
// A slot is a message at both sides: `message` is the host's own object, `index` the position in the native manager. Added
// and edited messages have `wire`, the native manager's JSON of them; added ones have no `index`. After a restore, a slot has
// a `digest` until the host's message is seen again, and a `wireDigest` until the native manager returns its JSON again.
//
// A system prompt at the start is the same message with any text: hosts put times and open files into it.
import { digestOf, sameJson } from "./json.mjs";

export class History {
  // One slot for each message of the native manager.
  #known = [];
  // The messages that the last step returned, and those known since then.
  #returned = [];
  // The messages that the host passed for the last step.
  #passed = [];
  // The parts of the last plan; the slots that the last read plan became; and the number of slots up to the end of each part,
  // as far as both plans are the same.
  #plan = [];
  #read = [];
  #ends = [];
  // Number of known messages when the returned ones were last decided anew.
  #decided = 0;

  // Forgets what a host has rewound. Returns the position of the host's first new message.
  //
  // A host passes its whole history, or continues the list that it got. If its request failed, it may continue the list that
  // it passed. Else it has rewound one of these.
  align(history) {
    const own = common(this.#known, history);
    if (own === this.#known.length) {
      this.#passed = [...this.#known];
      return own;
    }
    for (const list of [this.#returned, this.#passed]) {
      const start = common(list, history);
      if (start === 0 || start < list.length) continue;
      this.#passed = [...list];
      return start;
    }
    const start = this.#rewind(history, own);
    this.#passed = [...this.#returned];
    return start;
  }

  #rewind(history, own) {
    const start = common(this.#returned, history);
    const returned = this.#returned.slice(0, start);
    const known = returned.reduce((most, slot) => Math.max(most, (slot.index ?? -1) + 1), 0);
    // Below `#decided`, the native manager forgets the summaries of the returned list: the host's list is all that is left.
    if (known >= this.#decided && known > own) {
      this.#known.length = known;
      this.#returned = returned;
      return start;
    }
    this.#known.length = own;
    this.#returned = [...this.#known];
    this.#decided = Math.min(this.#decided, own);
    return own;
  }

  push(message) {
    const slot = { message, index: this.#known.length };
    this.#known.push(slot);
    this.#returned.push(slot);
    this.#passed.push(slot);
  }

  get length() {
    return this.#known.length;
  }

  // Takes the plan of a step: the first `same` parts of the last plan, and `parts`.
  plan({ same, parts }) {
    this.#plan = [...this.#plan.slice(0, same), ...parts];
    this.#ends.length = Math.min(this.#ends.length, same);
  }

  // Returns the host's messages for the plan. An edited or added message that was in the last step is the same object again.
  read(fromWire) {
    const before = this.#returned;
    const slots = this.#read.slice(0, this.#ends.at(-1) ?? 0);
    const ends = [...this.#ends];
    const written = before.filter(isWritten);
    const edited = new Map(written.map((slot) => [slot.index, slot]));
    const added = written.filter((slot) => slot.index === undefined);
    for (const part of this.#plan.slice(ends.length)) {
      if (part.keep !== undefined) for (const slot of this.#known.slice(...part.keep)) slots.push(slot);
      else slots.push(this.#written(part, part.edit === undefined ? added : [edited.get(part.edit)].filter(Boolean), fromWire));
      ends.push(slots.length);
    }
    if (before.some((slot, position) => slot !== slots[position])) this.#decided = this.#known.length;
    [this.#returned, this.#read, this.#ends] = [[...slots], slots, ends];
    return slots.map((slot) => slot.message);
  }

  // Returns the slot of an edited or added message. `last` are those of the last step that it may be.
  #written({ edit: index, message, add }, last, fromWire) {
    const wire = index === undefined ? add : message;
    const slot = last.find((slot) => hasWire(slot, wire)) ?? { index };
    slot.wire = wire;
    // After a restore, a host that continues its returned list has only the edited message.
    slot.message ??= fromWire(wire, index === undefined ? undefined : (this.#known[index].message ?? last[0]?.message));
    return slot;
  }

  // Returns JSON from which `restored` continues. It has digests instead of messages.
  state() {
    const digest = (slot, position) => (slot.digest ??= digestAt(position, slot.message));
    // Written slots follow the known ones. A slot of both lists is one again after the restore.
    const written = new Map();
    const numbered = (slot, position) => {
      if (!isWritten(slot)) return slot.index;
      if (!written.has(slot)) {
        const wireDigest = (slot.wireDigest ??= digestOf(slot.wire));
        written.set(slot, { number: this.#known.length + written.size, digest: digest(slot, position), index: slot.index, wireDigest });
      }
      return written.get(slot).number;
    };
    const [returned, passed] = [this.#returned, this.#passed].map((list) => list.map(numbered));
    return { known: this.#known.map(digest), written: [...written.values()], returned, passed, decided: this.#decided };
  }

  static restored({ known, written, returned, passed, decided }) {
    const history = new History();
    history.#known = known.map((digest, index) => ({ digest, index }));
    const slots = [...history.#known, ...written.map(({ digest, index, wireDigest }) => ({ digest, index, wireDigest }))];
    history.#returned = returned.map((number) => slots[number]);
    history.#passed = passed.map((number) => slots[number]);
    history.#decided = decided;
    return history;
  }
}

function isWritten({ wire, wireDigest }) {
  return wire !== undefined || wireDigest !== undefined;
}

function hasWire(slot, wire) {
  return slot.wire === undefined ? slot.wireDigest === digestOf(wire) : sameJson(slot.wire, wire);
}

// Returns the number of leading messages that the slots contain. The slots then hold the host's newest objects.
function common(slots, history) {
  const limit = Math.min(slots.length, history.length);
  let count = 0;
  while (count < limit && matches(slots[count], history[count], count)) count++;
  return count;
}

function matches(slot, message, position) {
  if (slot.message === message) return true;
  const isSystem = position === 0 && isSystemPrompt(message) && isSystemPrompt(slot.message);
  const isKnown = slot.message !== undefined;
  const isSame = isKnown ? isSystem || sameJson(slot.message, message) : slot.digest === digestAt(position, message);
  if (isSame) slot.message = message;
  return isSame;
}

function digestAt(position, message) {
  return position === 0 && isSystemPrompt(message) ? "system" : digestOf(message);
}

function isSystemPrompt(message) {
  return message?.role === "system" || message?.role === "developer";
}
