"""Addresses at other sites, where somebody may know what no entry says. Followed by a click, never by Jieda."""

from collections.abc import Mapping
from urllib.parse import quote, urlsplit

ISSUE_SEARCH: Mapping[str, str] = {
    "github": "{repository}/issues?q={query}",
    "gitlab": "{repository}/-/issues?search={query}&state=all",
    "gitee": "{repository}/issues?search={query}",
    "codeberg": "{repository}/issues?q={query}&state=all",
}
"""By the name that the host of a repository begins with: how its issues are searched."""


def issue_search(repository: str, query: str) -> str:
    """Where the issues of a repository are searched for `query`; empty where its host is not known."""
    host = (urlsplit(repository).hostname or "").removeprefix("www.")
    template = ISSUE_SEARCH.get(host.partition(".")[0], "")
    return template.replace("{repository}", repository.rstrip("/")).replace("{query}", quote(query, safe=""))


def filled(template: str, **values: str) -> str:
    """`template` with each `{name}` replaced by its value, fit for an address; empty where there is no template."""
    for name, value in values.items():
        template = template.replace(f"{{{name}}}", quote(value, safe=""))
    return template
