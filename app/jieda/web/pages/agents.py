"""The setup page for coding agents: configuration to copy for each client, with this server's address filled in."""

from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from string import Template

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from jieda.address import own_address
from jieda.presentation.brand import handle, short_name
from jieda.web.http.respond import respond
from jieda.web.pages.context import MARKDOWN, PageContext, context_of
from jieda.web.pages.layout import Head, render_page

FILES = Path(__file__).parent / "agent_files"
NAMES = ("SKILL.md", "AGENTS.md")
"""Files for teams to copy into their repository; in `FILES`, the language precedes the extension."""
TOOLS = ("diagnose", "search", "read", "list", "report_outcome")


def _json(server: str, key: str = "mcpServers") -> str:
    """Return a configuration file that names one server."""
    return f'{{\n  "{key}": {{\n    "$name": {{ {server} }}\n  }}\n}}'


STDIO = _json('"command": "jieda", "args": ["mcp", "--url", "$base"]')
"""For clients that start a program."""
SETUPS = (
    ("Claude Code", "", "claude mcp add --transport http $name $mcp"),
    ("Claude Code", ".mcp.json", _json('"type": "http", "url": "$mcp"')),
    ("Claude Desktop", "claude_desktop_config.json", STDIO),
    ("Cursor", ".cursor/mcp.json", _json('"url": "$mcp"')),
    ("VS Code", ".vscode/mcp.json", _json('"type": "http", "url": "$mcp"', "servers")),
    ("Codex CLI", "~/.codex/config.toml", '[mcp_servers.$name]\nurl = "$mcp"'),
    ("Gemini CLI", "", "gemini mcp add --transport http $name $mcp"),
    ("Cline", "cline_mcp_settings.json", _json('"type": "streamableHttp", "url": "$mcp"')),
    ("Windsurf", "~/.codeium/windsurf/mcp_config.json", _json('"serverUrl": "$mcp"')),
)
"""For each client, the file that its configuration goes into, or empty for a command, and the configuration, with
`$mcp` for the MCP address, `$base` for the site's, `$name` for its name."""
SHELL = (
    "python run.py 2>&1 | jieda diagnose --json --url $base\n"
    "python run.py 2>&1 | curl -sS --data-binary @- $base/api/v1/diagnose"
)


def agents_page(context: PageContext) -> str:
    """Render the page."""
    t, values = context.t, placeholders(context)
    head = Head("agents", t("agents.title"), t("agents.lead"), context.urls.agents, names_site=True)
    return render_page(
        context,
        head,
        mcp=values["mcp"],
        has_endpoint=find_spec("mcp") is not None,
        setups=[(client, file, Template(code).substitute(values)) for client, file, code in SETUPS],
        stdio=Template(STDIO).substitute(values),
        shell=Template(SHELL).substitute(values),
        files={name: file_text(context, name) for name in NAMES},
        tools=TOOLS,
    )


def file_text(context: PageContext, name: str) -> str:
    """Return one of `NAMES` in the reader's language with addresses filled in."""
    stem = name.removesuffix(".md")
    text = (FILES / f"{stem}.{context.lang}.md").read_text(encoding="utf-8")
    return Template(text).substitute(placeholders(context))


def placeholders(context: PageContext) -> Mapping[str, str]:
    """Return the values of the placeholders: the names of the site and its addresses."""
    urls = context.urls
    host = origin(context)
    content = context.site_texts
    return {
        "name": handle(content),
        "site": short_name(content, context.lang),
        "base": host + urls.root().rstrip("/"),
        "mcp": host + urls.mcp(),
        "page": host + urls.agents(context.lang),
    }


def origin(context: PageContext) -> str:
    """Return scheme and host of this server, as configured or as it listens."""
    settings = context.site.settings
    return context.urls.base_url or own_address(settings.host, settings.port)


async def send_agents_file(request: Request) -> Response:
    """Send a file for teams to copy."""
    context = await context_of(request)
    name = request.path_params["name"]
    if name not in NAMES:
        raise HTTPException(404)
    return await respond(request, file_text(context, name), MARKDOWN, lang=context.lang)
