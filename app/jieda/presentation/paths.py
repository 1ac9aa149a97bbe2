"""Every path of this application, defined once: route tables match them, `urls.Urls` fills them in."""

from collections.abc import Mapping

ROOT = "/"
HOME = "/{lang}/"
SEARCH = "/{lang}/search"
DIAGNOSE = "/{lang}/diagnose"
ASKED = "/{lang}/asked"
"""Where an unexplained log is submitted to the authors; with its key, the status of the question."""
ENTRIES = "/{lang}/entries"
ENTRY = "/{lang}/entries/{framework}/{name}"
"""A page, its Markdown (`name` ends in `.md`), or an image beside the entries."""
TAG_PAGES: Mapping[str, str] = {
    "framework": "/{lang}/frameworks/{value}",
    "topic": "/{lang}/topics/{value}",
    "error_type": "/{lang}/error-types/{value}",
}
"""By facet. A kind has no page: it is a filtered search."""
ABOUT = "/{lang}/about"
PREFERENCES = "/preferences"
WORKBENCH = "/{lang}/workbench"
"""Where entries are written."""
MAINTAIN = "/{lang}/maintain"
"""Open work for maintainers."""

FEED = "/{lang}/feed.xml"
OPENSEARCH = "/{lang}/opensearch.xml"
LLMS = "/{lang}/llms.txt"
LLMS_FULL = "/{lang}/llms-full.txt"
LLMS_ALL = "/llms.txt"
LLMS_FULL_ALL = "/llms-full.txt"
SITEMAP = "/sitemap.xml"
SITEMAP_PART = "/sitemap-{number}.xml"
ROBOTS = "/robots.txt"

HEALTHZ = "/healthz"
READYZ = "/readyz"
METRICS = "/metrics"
BRAND = "/brand/{name}"
"""Logo, icon and colors of the content."""
STATIC = "/static/{name}"
DOCS = "/docs"
DOCS_FILE = "/docs/{name}"
OPENAPI = "/openapi.json"

MCP = "/mcp"
"""Model Context Protocol, for coding agents."""
AGENTS = "/{lang}/agents"
"""How to set up a coding agent."""
AGENTS_FILE = "/{lang}/agents/{name}"
"""A file for teams to copy into their repository."""

CHAT_FAMILY = "/v1/"
CHAT, CHAT_MODELS = f"{CHAT_FAMILY}chat/completions", f"{CHAT_FAMILY}models"
"""In the format of a common chat API."""

API_FAMILY = "/api/"
"""Prefix of all API versions."""
FOR_PROGRAMS = (API_FAMILY, CHAT_FAMILY, MCP)
"""Prefixes below which errors are JSON."""
API = f"{API_FAMILY}v1"
API_SEARCH = f"{API}/search"
API_SUGGEST = f"{API}/suggest"
API_ENTRIES = f"{API}/entries"
API_ENTRY_MARKDOWN = f"{API}/entries/{{framework}}/{{slug}}.md"
API_ENTRY = f"{API}/entries/{{framework}}/{{slug}}"
API_DIAGNOSE = f"{API}/diagnose"
API_DIAGNOSE_TEXT = f"{API}/diagnose.txt"
API_OUTCOMES = f"{API}/outcomes"
API_TAGS: Mapping[str, str] = {
    "framework": f"{API}/frameworks",
    "kind": f"{API}/kinds",
    "topic": f"{API}/topics",
    "error_type": f"{API}/error-types",
}
"""By facet."""
API_PROBLEMS = f"{API}/problems"
API_TRANSLATIONS = f"{API}/translations"
API_RELOAD = f"{API}/reload"
