"""Real agents: where they come from, how they are started, and how they are kept on loopback.

Each gets a home of its own, a dummy key, the script for a model and for a proxy, and its documented
settings against telemetry and updates.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tests.gateway.agents.model import Model

KEY: Final = "a-key-of-no-account"


@dataclass(frozen=True, slots=True)
class RealAgent:
    """An agent as npm has it. *environment* also writes the settings that it reads from files."""

    name: str
    package: str
    argv: tuple[str, ...]
    """Relative to the folder of the installed commands."""
    environment: Callable[[Path, Model], Mapping[str, str]]
    forks: bool = True
    """It has `session/fork`."""
    writes_through_us: bool = False
    """It writes files through its client, if that offers to."""
    makes_no_files: bool = False
    """It reads a file through its client before it writes it, and takes the answer that there is
    none for a failure, though it means not to: it looks for a code in the words of an object that
    has none."""
    by_the_minute: bool = False
    """It takes up a session only in a later minute of the clock than that in which it began it:
    before, it opens the file that it is named by anew, and finds it empty."""

    def surroundings(self, home: Path, model: Model) -> dict[str, str]:
        """Return the environment in which it is started; *home* becomes its home."""
        home.mkdir(parents=True, exist_ok=True)
        # Nothing of the tester's own: neither keys nor settings.
        kept = {key: os.environ[key] for key in ("PATH", "LANG", "TMPDIR") if key in os.environ}
        proxies = ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy")
        return {
            **kept,
            "HOME": str(home),
            "XDG_CONFIG_HOME": str(home / "config"),
            "XDG_DATA_HOME": str(home / "share"),
            "XDG_CACHE_HOME": str(home / "cache"),
            "XDG_STATE_HOME": str(home / "state"),
            **dict.fromkeys(proxies, model.url),
            "NO_PROXY": "127.0.0.1,localhost",
            "no_proxy": "127.0.0.1,localhost",
            "NODE_USE_ENV_PROXY": "1",
            **self.environment(home, model),
        }


def _claude(home: Path, model: Model) -> Mapping[str, str]:
    return {
        "ANTHROPIC_BASE_URL": model.url,
        "ANTHROPIC_API_KEY": KEY,
        "CLAUDE_CONFIG_DIR": str(home / ".claude"),
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
        "DISABLE_ERROR_REPORTING": "1",
        "DISABLE_TELEMETRY": "1",
    }


CODEX: Final = """\
model = "script"
model_provider = "script"
check_for_update_on_startup = false

[analytics]
enabled = false

[otel]
exporter = "none"

[model_providers.script]
name = "Script"
base_url = "{url}/v1"
env_key = "SCRIPT_KEY"
wire_api = "responses"
"""


def _codex(home: Path, model: Model) -> Mapping[str, str]:
    folder = home / ".codex"
    folder.mkdir(exist_ok=True)
    (folder / "config.toml").write_text(CODEX.format(url=model.url))
    return {
        "CODEX_HOME": str(folder),
        "INITIAL_AGENT_MODE": "read-only",  # in the others a model judges what a person would
        "SCRIPT_KEY": KEY,
    }


def _gemini(home: Path, model: Model) -> Mapping[str, str]:
    settings: dict[str, Any] = {
        "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False},
        "privacy": {"usageStatisticsEnabled": False},
        "security": {
            "auth": {"selectedType": "gemini-api-key"},
            "folderTrust": {"enabled": False},  # else it has no modes but the first
        },
        "telemetry": {"enabled": False},
    }
    folder = home / ".gemini"
    folder.mkdir(exist_ok=True)
    (folder / "settings.json").write_text(json.dumps(settings))
    return {
        "GEMINI_API_KEY": KEY,
        "GEMINI_MODEL": "gemini-2.5-flash",
        "GOOGLE_GEMINI_BASE_URL": model.url,
    }


def _opencode(_: Path, model: Model) -> Mapping[str, str]:
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "name": "Script",
        "options": {"baseURL": f"{model.url}/v1", "apiKey": KEY},
        "models": {"script": {"name": "Script", "tool_call": True}},
    }
    settings = {
        "autoupdate": False,
        "share": "disabled",
        "model": "script/script",
        "small_model": "script/script",
        "enabled_providers": ["script"],
        "permission": {"bash": "ask", "edit": "ask"},
        "provider": {"script": provider},
    }
    return {
        "OPENCODE_CONFIG_CONTENT": json.dumps(settings),
        "OPENCODE_DISABLE_AUTOUPDATE": "1",
        "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1",
        "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
        "OPENCODE_DISABLE_MODELS_FETCH": "1",
    }


AGENTS: Final = (
    RealAgent(
        "claude", "@agentclientprotocol/claude-agent-acp@0.49.0", ("claude-agent-acp",), _claude
    ),
    RealAgent("codex", "@agentclientprotocol/codex-acp@2.6.0", ("codex-acp",), _codex),
    RealAgent(
        "gemini",
        "@google/gemini-cli@0.61.0",
        ("gemini", "--acp"),
        _gemini,
        forks=False,
        writes_through_us=True,
        makes_no_files=True,
        by_the_minute=True,
    ),
    RealAgent(
        "opencode",
        "opencode-ai@1.18.33",
        ("opencode", "acp"),
        _opencode,
        writes_through_us=True,
    ),
)
