// Scripted server of model APIs on loopback.
import { createServer } from "node:http";

export const TOO_LONG = {
  openai: {
    error: {
      message:
        "This model's maximum context length is 128000 tokens. However, your messages resulted in 131072 tokens. " +
        "Please reduce the length of the messages.",
      type: "invalid_request_error",
      param: "messages",
      code: "context_length_exceeded",
    },
  },
  anthropic: {
    type: "error",
    error: { type: "invalid_request_error", message: "prompt is too long: 205114 tokens > 200000 maximum" },
  },
};

// Starts a server. `answer(body, path)` returns JSON, a list of events for a stream, or `{ status, body }` for an error.
export async function serve(answer) {
  const requests = [];
  const server = createServer(async (request, response) => {
    let text = "";
    for await (const chunk of request) text += chunk;
    const body = JSON.parse(text);
    requests.push(body);
    const reply = answer(body, request.url);
    if (Array.isArray(reply)) {
      response.writeHead(200, { "content-type": "text/event-stream" });
      for (const event of reply) {
        const name = event.type ? `event: ${event.type}\n` : "";
        response.write(`${name}data: ${typeof event === "string" ? event : JSON.stringify(event)}\n\n`);
      }
      response.end();
    } else {
      response.writeHead(reply.status ?? 200, { "content-type": "application/json" });
      response.end(JSON.stringify(reply.status ? reply.body : reply));
    }
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${server.address().port}`;
  return { url, requests, close: () => new Promise((resolve) => server.close(resolve)) };
}
