// A small real model behind an OpenAI-compatible server, on loopback only: for tests/real_model/run.sh.
//   node server.mjs MODEL.gguf PORT CONTEXT
// A prompt that does not fit is refused as providers do: status 400, code context_length_exceeded.
import http from "node:http";
import {getLlama, LlamaChatSession} from "node-llama-cpp";

const [modelPath, port, context] = process.argv.slice(2);
const size = Number(context);
const llama = await getLlama({build: "never", gpu: false, maxThreads: 1, skipDownload: true});
const model = await llama.loadModel({modelPath});
const sequence = (await model.createContext({contextSize: size})).getSequence();
const count = text => model.tokenize(text ?? "").length;
const text = content => typeof content === "string" ? content : (content ?? []).map(part => part.text ?? "").join("\n");

function answer(response, status, value) {
  response.writeHead(status, {"content-type": "application/json"});
  response.end(JSON.stringify(value));
}

async function complete(response, request) {
  const of = isSystem => request.messages.filter(m => (m.role === "system") === isSystem);
  const system = of(true).map(m => text(m.content)).join("\n") || undefined;
  const said = of(false).map(m => `${m.role}: ${text(m.content)}`).join("\n");
  const most = request.max_completion_tokens ?? request.max_tokens;
  const sent = count(system) + count(said) + 16;
  if (sent + most > size) {
    const message = `This model's maximum context length is ${size} tokens. However, you requested ${sent + most} tokens.`;
    return answer(response, 400, {error: {message, type: "invalid_request_error", code: "context_length_exceeded"}});
  }
  const abort = new AbortController();
  response.on("close", () => abort.abort());
  await sequence.clearHistory();
  const session = new LlamaChatSession({contextSequence: sequence, systemPrompt: system, autoDisposeSequence: false});
  response.writeHead(200, {"content-type": "text/event-stream"});
  const event = (delta, finish_reason, usage) => response.write(`data: ${JSON.stringify({
    object: "chat.completion.chunk", model: request.model, choices: [{index: 0, delta, finish_reason}], usage,
  })}\n\n`);
  const whole = await session.prompt(said, {
    maxTokens: most, temperature: 0, signal: abort.signal, stopOnAbortSignal: true,
    onTextChunk: chunk => event({content: chunk}, null),
  });
  session.dispose();
  const received = count(whole);
  event({}, received >= most ? "length" : "stop", {prompt_tokens: sent, completion_tokens: received, total_tokens: sent + received});
  response.end("data: [DONE]\n\n");
}

let busy = Promise.resolve();
http.createServer((request, response) => {
  if (request.url === "/v1/models")
    return answer(response, 200, {object: "list", data: [{id: "smollm2-135m-instruct", object: "model", max_model_len: size}]});
  let body = "";
  request.on("data", chunk => body += chunk);
  request.on("end", () => {
    busy = busy.then(() => complete(response, JSON.parse(body))).catch(error => {
      console.error(String(error));
      response.headersSent ? response.end() : answer(response, 500, {error: {message: String(error)}});
    });
  });
}).listen(Number(port), "127.0.0.1", () => console.log(`ready on ${port}`));
