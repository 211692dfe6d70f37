"""The wire as documents: complete, kept up to date, and understood by other people's programs."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from gateway.cli import app
from gateway.contracts import CONTRACTS, NOTIFICATIONS, SERVER_REQUESTS
from gateway.contracts.openrpc import document, text
from gateway.contracts.typescript import declarations

DOCS = Path(__file__).parents[3] / "docs"
HERMES = json.loads((Path(__file__).parent / "hermes.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("name", "form"), [("gateway.openrpc.json", "openrpc"), ("gateway.d.ts", "typescript")]
)
def test_the_documents_are_not_stale(name: str, form: str) -> None:
    """What is kept under docs/ is what the registry says now: run `hermes-gateway contracts`."""
    made = CliRunner().invoke(app, ["contracts", form])
    assert made.exit_code == 0
    assert (DOCS / name).read_text(encoding="utf-8") == made.stdout


def test_an_unknown_form_is_refused() -> None:
    """With what there is."""
    made = CliRunner().invoke(app, ["contracts", "yaml"])
    assert made.exit_code == 2
    assert "openrpc or typescript" in made.output


def test_everything_is_described() -> None:
    """Each method, question and notification, with what it does and how it is refused."""
    whole = document()
    assert {row["name"] for row in whole["methods"]} == set(CONTRACTS)
    assert {row["name"] for row in whole["x-server-requests"]} == set(SERVER_REQUESTS)
    assert {row["name"] for row in whole["x-notifications"]} == set(NOTIFICATIONS)
    for row in whole["methods"]:
        assert row["summary"]
        assert {error["code"] for error in row["errors"]} >= {-32602, 4000}


def test_every_reference_leads_somewhere() -> None:
    """No shape is named that is not there, and none is there that nobody names."""
    schemas = document()["components"]["schemas"]
    named = set(re.findall(r'"#/components/schemas/(\w+)"', text()))
    assert named == set(schemas) - {"GatewayReady"}  # the payload of an event


def test_shapes_say_what_hermes_says() -> None:
    """Every key of Hermes's params is in ours (P-2): its clients are understood."""
    whole = document()
    refs = {row["name"]: row["params"][0]["schema"]["$ref"] for row in whole["methods"]}
    for method, known in HERMES["methods"].items():
        schema: dict[str, Any] = whole["components"]["schemas"][refs[method].rpartition("/")[2]]
        assert set(known["keys"]) <= set(schema["properties"]), method


CONSUMER = """
import type { Methods, ServerRequests, Notifications, EventNotification } from "./gateway";

type Call = <M extends keyof Methods>(m: M, p: Methods[M]["params"]) => Promise<Methods[M]["result"]>;

export async function use(call: Call): Promise<number> {
  const session = await call("session.create", { cwd: ".", cols: 80 });
  const seq: number = session.latest_seq;
  const page = await call("session.events.since", { session_id: session.session_id, last_seen: seq });
  const lock = await call("clarify.lock", { request_id: "x", question_id: "q0", answer: null });
  const status: "ok" | "expired" = lock.status;
  // @ts-expect-error a session is needed
  await call("session.resume", {});
  // @ts-expect-error no such method
  await call("session.nothing", {});
  const choice: ServerRequests["approval"]["result"]["choice"] = "once";
  const event: EventNotification = { type: "message.delta" } as Notifications["event"]["params"];
  return page.latest_seq + status.length + choice.length + event.type.length;
}
"""


@pytest.mark.timeout(180)
@pytest.mark.skipif(not shutil.which("npm"), reason="npm is not installed")
def test_the_compiler_takes_it(tmp_path: Path) -> None:
    """The npm registry's own TypeScript compiles the declarations, and a program that uses them."""
    (tmp_path / "gateway.d.ts").write_text(declarations(), encoding="utf-8")
    (tmp_path / "use.ts").write_text(CONSUMER, encoding="utf-8")
    (tmp_path / "package.json").write_text('{"private": true}', encoding="utf-8")
    install = ["npm", "install", "--no-audit", "--no-fund", "typescript@5"]
    installed = subprocess.run(
        install, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=150
    )
    if installed.returncode:
        pytest.skip(f"typescript cannot be installed: {installed.stderr[-200:]}")
    compiler = tmp_path / "node_modules" / ".bin" / "tsc"
    compile_ = [
        str(compiler),
        "--noEmit",
        "--strict",
        "--target",
        "es2020",
        "gateway.d.ts",
        "use.ts",
    ]
    compiled = subprocess.run(
        compile_, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60
    )
    assert compiled.stdout == ""
    assert compiled.returncode == 0
