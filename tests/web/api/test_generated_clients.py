"""Clients that generators make of the description of the API, in two languages, against a running server.

The one in TypeScript takes npm ci --prefix tests/web/api/typescript --ignore-scripts, which continuous integration runs
where there is npm.
"""

import json
import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.support.server import ROOT, Server

TYPESCRIPT = ROOT / "tests/web/api/typescript"
TOOLS = TYPESCRIPT / "node_modules/.bin"
LOG = min((ROOT / "content/samples/roll/node2pg-keyerror").glob("*.log")).read_text(encoding="utf-8")
ENTRY = "roll/node2pg-keyerror"


def ran(folder: Path, *command: str | Path) -> str:
    """What a command prints, run in a folder."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def described(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the description of the API."""
    folder = tmp_path_factory.mktemp("clients")
    (folder / "openapi.json").write_text(
        httpx.get(f"{server.base}/openapi.json", trust_env=False).text, "utf-8"
    )
    return folder


@pytest.fixture(scope="module")
def generated(described: Path) -> Any:
    """Imports a module of the client in Python, under the name that the generator takes from the title."""
    (described / "config.yml").write_text("post_hooks: []\n", encoding="utf-8")
    program = Path(sys.executable).with_name("openapi-python-client")
    how = ("--path", "openapi.json", "--config", "config.yml", "--meta", "none", "--fail-on-warning")
    said = ran(described, program, "generate", *how)
    assert "WARNING" not in said.upper(), said
    sys.path.insert(0, str(described))
    yield lambda name: import_module(f"jieda_api_client.{name}")
    sys.path.remove(str(described))


def test_the_one_in_python_searches_diagnoses_reads_and_learns_why_not(
    generated: Any, server: Server
) -> None:
    models = generated("models")
    with generated("client").Client(base_url=server.base, httpx_args={"trust_env": False}) as client:
        found = generated("api.find.search").sync(client=client, q="node2pg", framework=["roll"])
        assert isinstance(found, models.SearchResult)
        assert found.hits[0].id == ENTRY
        assert found.hits[0].url == f"{server.base}/en/entries/{ENTRY}"
        read = generated("api.read.get_entry").sync("roll", "node2pg-keyerror", client=client, lang="zh")
        assert (read.lang, read.id) == ("zh", ENTRY)
        diagnosed = generated("api.find.diagnose").sync(client=client, body=models.DiagnoseBody(text=LOG))
        assert (diagnosed.outcome, diagnosed.matches[0].id) == ("known", ENTRY)
        refused = generated("api.find.search").sync_detailed(client=client, q="oom", framework=["none-such"])
        assert (refused.status_code, type(refused.parsed)) == (422, models.Problem)
        assert refused.parsed.errors[0].field == "framework"


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
@pytest.mark.skipif(
    not (TOOLS / "tsc").is_file(),
    reason="the generator is not installed: npm ci --prefix tests/web/api/typescript",
)
def test_the_one_in_typescript_compiles_strictly_and_needs_no_cast(described: Path, server: Server) -> None:
    (described / "node_modules").symlink_to(TYPESCRIPT / "node_modules")
    (described / "package.json").write_text('{"type": "module"}', encoding="utf-8")
    shutil.copy(TYPESCRIPT / "ask.ts", described)
    ran(described, TOOLS / "openapi-typescript", "openapi.json", "-o", "schema.d.ts")
    strictly = ("--strict", "--skipLibCheck", "--exactOptionalPropertyTypes", "--noUncheckedIndexedAccess")
    how = ("--target", "es2022", "--module", "nodenext", "--lib", "es2022,dom")
    ran(described, TOOLS / "tsc", *strictly, *how, "ask.ts")
    assert json.loads(ran(described, "node", "ask.js", server.base, LOG)) == {
        "hit": {"id": ENTRY, "url": f"{server.base}/en/entries/{ENTRY}", "score": "number"},
        "entry": {
            "lang": "zh",
            "fix": httpx.get(f"{server.base}/api/v1/entries/{ENTRY}?lang=zh").json()["fix"],
        },
        "diagnosis": {"outcome": "known", "match": ENTRY},
        "refused": {"status": 422, "field": "framework"},
    }
