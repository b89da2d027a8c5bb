"""How each agent is set up in a scratch home folder and resumed against the server."""

import json
import os
import shutil
import subprocess

PROMPT = "And now the last question."


class Agent:
    """An agent: its format, its executable, and how it is configured and resumed."""

    def __init__(self, name, format, executable, setup, resume):
        self.name, self.format, self.executable = name, format, executable
        self.setup, self.resume = setup, resume

    def find(self, folder):
        candidates = [os.path.join(folder, d, self.executable) for d in ("node_modules/.bin", "bin", "")]
        return next((path for path in candidates if os.path.exists(path)), None)


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        file.write(text)


def claude(home, project, url):
    os.makedirs(f"{home}/.claude", exist_ok=True)
    return {"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": "sk-ant-test", "ANTHROPIC_MODEL": "claude-sonnet-4-5",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_AUTOUPDATER": "1", "DISABLE_TELEMETRY": "1"}


def codex(home, project, url):
    write(f"{home}/.codex/config.toml", f"""
model = "gpt-5.1-codex"
model_provider = "stub"
[model_providers.stub]
name = "stub"
base_url = "{url}/v1"
wire_api = "responses"
env_key = "STUB_KEY"
request_max_retries = 0
stream_max_retries = 0
""")
    return {"STUB_KEY": "test"}


def gemini(home, project, url):
    write(f"{home}/.gemini/settings.json", json.dumps({"security": {"auth": {"selectedType": "gemini-api-key"}}}))
    # A first run registers the project.
    slug = f"{home}/.gemini/tmp/project"
    write(f"{slug}/.project_root", project)
    write(f"{home}/.gemini/projects.json", json.dumps({"projects": {project: "project"}}))
    return {"GEMINI_API_KEY": "test", "GOOGLE_GEMINI_BASE_URL": url, "GEMINI_TELEMETRY_ENABLED": "false",
            "GEMINI_CLI_TRUST_WORKSPACE": "true"}


def opencode(home, project, url):
    provider = {"npm": "@ai-sdk/openai-compatible", "name": "stub", "options": {"baseURL": f"{url}/v1", "apiKey": "test"},
                "models": {"stub-model": {"name": "stub", "limit": {"context": 200000, "output": 8000}}}}
    write(f"{home}/.config/opencode/opencode.json",
          json.dumps({"provider": {"stub": provider}, "model": "stub/stub-model", "small_model": "stub/stub-model",
                      "autoupdate": False, "share": "disabled"}))
    return {"OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_MODELS_FETCH": "1", "OPENCODE_DISABLE_LSP_DOWNLOAD": "1"}


def pi(home, project, url):
    model = {"id": "stub-model", "name": "stub", "reasoning": False, "input": ["text", "image"], "contextWindow": 200000,
             "maxTokens": 8000, "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0}}
    provider = {"baseUrl": f"{url}/v1", "apiKey": "test", "api": "openai-completions", "models": [model]}
    write(f"{home}/.pi/agent/models.json", json.dumps({"providers": {"stub": provider}}))
    return {"PI_OFFLINE": "1"}


AGENTS = [
    Agent("claude", "claude_code", "claude", claude,
          lambda exe, id, path: [[exe, "-p", "--resume", id, PROMPT]]),
    Agent("codex", "codex_rollout", "codex", codex,
          lambda exe, id, path: [[exe, "exec", "--skip-git-repo-check", "resume", id, PROMPT]]),
    Agent("opencode", "opencode", "opencode", opencode,
          lambda exe, id, path: [[exe, "import", path], [exe, "run", "--session", id, "-m", "stub/stub-model", PROMPT]]),
    Agent("gemini", "gemini_cli", "gemini", gemini,
          lambda exe, id, path: [[exe, "--skip-trust", "--resume", id, "-m", "gemini-2.5-pro", "-p", PROMPT]]),
    Agent("pi", "pi", "pi", pi,
          lambda exe, id, path: [[exe, "-p", "--session", id, "--provider", "stub", "--model", "stub-model", PROMPT]]),
]


def environment(home, extra):
    kept = {key: os.environ[key] for key in ("PATH", "LANG", "TMPDIR") if key in os.environ}
    return {**kept, "HOME": home, "NO_COLOR": "1", "CI": "1", **extra}


def run(commands, project, env, timeout=180):
    """Runs the commands; returns the output of the last, and whether all succeeded."""
    output = ""
    for command in commands:
        try:
            done = subprocess.run(command, cwd=project, env=env, stdin=subprocess.DEVNULL, capture_output=True,
                                  text=True, timeout=timeout, errors="replace")
        except subprocess.TimeoutExpired as error:
            return f"timeout: {command}: {error.stderr or ''}", False
        output = done.stdout + done.stderr
        if done.returncode != 0:
            return f"{command} exited with {done.returncode}: {output}", False
    return output, True
