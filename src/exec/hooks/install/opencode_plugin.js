// Plugin of Plimsoll. `plimsoll hook uninstall opencode` removes this file.
//
// Adds the user's constraints to the request for a summary, and those that the summary lacks to the context after it.
// A failure changes nothing; `plimsoll hook log` shows it.
import { spawn } from "node:child_process"

const COMMAND = "PLIMSOLL"
const LIMIT_MS = 2000
// A failure is not remembered, but a plimsoll that always fails must not delay every request.
const MAX_FAILURES = 3

// Returns the output, which is empty after a failure.
function ask(event) {
  return new Promise((resolve) => {
    let text = ""
    const child = spawn(COMMAND, ["hook", "opencode"], { stdio: ["pipe", "pipe", "ignore"] })
    const timer = setTimeout(() => {
      child.kill("SIGKILL")
      resolve("")
    }, LIMIT_MS)
    const finish = (result) => {
      clearTimeout(timer)
      resolve(result)
    }
    child.on("error", () => finish(""))
    child.on("close", (code) => finish(code === 0 ? text : ""))
    child.stdout.on("data", (chunk) => (text += chunk))
    child.stdin.on("error", () => {})
    child.stdin.end(JSON.stringify(event))
  })
}

export const Plimsoll = async ({ client }) => {
  const handedBack = new Map()
  const failures = new Map()

  async function constraints(name, id) {
    try {
      const path = { id }
      const [info, messages] = await Promise.all([client.session.get({ path }), client.session.messages({ path })])
      const session = { info: info.data, messages: messages.data }
      return await ask({ hook_event_name: name, session_id: id, session })
    } catch {
      return ""
    }
  }

  return {
    "experimental.session.compacting": async ({ sessionID }, output) => {
      const text = await constraints("experimental.session.compacting", sessionID)
      if (text) output.context.push(text)
    },
    "experimental.chat.messages.transform": async (_, output) => {
      const summary = output.messages.findLast(({ info }) => info.role === "assistant" && info.summary === true)
      if (!summary || !summary.info.time?.completed) return
      const { id, sessionID } = summary.info
      const failed = failures.get(id) ?? 0
      if (!handedBack.has(id) && failed < MAX_FAILURES) {
        const answer = await constraints("experimental.chat.messages.transform", sessionID)
        if (answer) handedBack.set(id, answer.trim())
        else failures.set(id, failed + 1)
      }
      const text = handedBack.get(id)
      const last = summary.parts.findLast((part) => part.type === "text")
      if (text && last) last.text += `\n\n${text}`
    },
  }
}
