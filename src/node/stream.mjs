// Passes each event of a client's stream to `watch` before the host gets it. Returns the same stream.
export function watched(stream, watch) {
  const iterate = stream[Symbol.asyncIterator].bind(stream);
  stream[Symbol.asyncIterator] = async function* () {
    for await (const event of { [Symbol.asyncIterator]: iterate }) {
      watch(event);
      yield event;
    }
  };
  return stream;
}
