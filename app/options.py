"""The table of settings: each row is an environment variable and an option of `jieda serve`."""

import os
from pathlib import Path

from app.address import HOST, PORT
from app.cluster_settings import CLUSTER
from app.values import (
    NOBODY,
    Option,
    address_with,
    addresses,
    base_url,
    directories,
    edit_urls,
    file,
    new_url,
    one_of,
    proxies,
    root_path,
    switch,
    whole_number,
    words,
)

ROOT = Path(__file__).resolve().parent.parent
"""The checkout, or the folder of the image that stands for it."""
CONTENT, DATA = ROOT / "content", ROOT / ".jieda"
"""What is shipped, and where its index is kept by default; that of other content lies in a folder of its own below."""

OPTIONS: tuple[Option, ...] = (
    Option("host", HOST, str, "Address to listen on."),
    Option("port", PORT, whole_number(1, 65535), "Port to listen on."),
    Option("workers", "1", whole_number(1, 64), "Worker processes."),
    Option(
        "content",
        str(CONTENT),
        directories,
        f"Content directories, separated by '{os.pathsep}'; a later one overrides.",
    ),
    Option(
        "data",
        str(DATA),
        lambda text: Path(text).expanduser().absolute(),
        "Where the index is kept, by one server at a time; made if missing. By default, other content has a folder "
        "of its own below this one.",
    ),
    Option(
        "base_url",
        "",
        base_url,
        "Scheme and host for absolute addresses in feeds, sitemap and canonical links.",
    ),
    Option("allowed_hosts", "", words, "Host names to answer to, separated by commas; empty or *: any."),
    Option("root_path", "", root_path, "Path under which a proxy serves this, such as /kb."),
    Option(
        "trusted_proxies",
        "127.0.0.1",
        proxies,
        f"Proxies whose X-Forwarded-* are believed, separated by commas; {NOBODY}: nobody's.",
    ),
    Option("reload_token", "", str, "Secret for POST /api/v1/reload; empty: closed."),
    Option(
        "metrics",
        "127.0.0.0/8 ::1",
        addresses,
        f"Who may ask for /metrics: addresses and networks, or * for anybody; {NOBODY}: nobody.",
    ),
    Option(
        "edit_url",
        "",
        edit_urls,
        "Address of a file's editor, with {path}, such as https://git.example.com/faq/edit/main/content/{path}; "
        "several, separated by spaces, belong to the last content directories in their order.",
    ),
    Option(
        "new_url",
        "",
        new_url,
        "Form of your git host for a new file, with {path} and {content}, such as "
        "https://git.example.com/faq/new/main?filename=content/{path}&value={content}.",
    ),
    Option(
        "help_url",
        "",
        address_with("query"),
        "Where your team asks for help, with {query}, such as https://chat.example.com/search?q={query}.",
    ),
    Option(
        "issue_url",
        "",
        address_with("title"),
        "Form for a new issue, with {title} and perhaps {body}, such as "
        "https://git.example.com/faq/issues/new?title={title}&body={body}.",
    ),
    Option("workbench", "0", switch, "Serve the pages for maintainers, where entries are written."),
    Option(
        "workbench_token",
        "",
        str,
        "Secret for the pages for maintainers: the password that the browser asks for; empty: open to everybody.",
    ),
    Option(
        "workbench_write",
        "0",
        switch,
        "Let the workbench write entries into the content directory and commit them; needs the token.",
    ),
    Option(
        "gaps",
        "0",
        switch,
        "Keep what was asked in vain, redacted, and count what was read; see docs/maintaining.md.",
    ),
    Option("gaps_days", "90", whole_number(1, 3650), "Days after which that is forgotten."),
    Option(
        "gaps_megabytes",
        "16",
        whole_number(1, 1024),
        "Megabytes that it may take; what is rarest goes first.",
    ),
    Option("log_format", "text", one_of("text", "json"), "Log lines as text or json."),
    Option(
        "max_log_bytes", str(1 << 20), whole_number(1 << 10, 1 << 26), "Largest text to diagnose, in bytes."
    ),
    Option(
        "max_query_chars",
        "2000",
        whole_number(100, 100_000),
        "Longest query to search, in characters; the rest is not read.",
    ),
    Option("limits", "1", switch, "Refuse what one client asks beyond the limits; 0: no limits."),
    Option(
        "searches_per_minute",
        "600",
        whole_number(1, 10**6),
        "Searches and completions of one client in a minute, in each worker; coding agents count here, too.",
    ),
    Option(
        "diagnoses_per_minute",
        "120",
        whole_number(1, 10**6),
        "Diagnoses of one client in a minute, in each worker.",
    ),
    Option(
        "pages_per_minute",
        "1200",
        whole_number(1, 10**6),
        "Whatever else one client asks for in a minute, in each worker.",
    ),
    Option("reload_content", "0", switch, "Watch the content and serve what changed."),
    Option(
        "watch",
        "auto",
        one_of("auto", "events", "poll"),
        "How changes are noticed: auto takes the system's events and looks now and then; events only the former, "
        "poll only the latter (network volumes).",
    ),
    Option(
        "semantic",
        "1",
        switch,
        "Find what says the same in other words, where the extra jieda[semantic] is installed; 0: words only.",
    ),
    Option(
        "dictionary",
        "",
        file,
        "File in CC-CEDICT's format, by which entries are found that lack the language they are asked for in.",
    ),
    Option(
        "cache",
        "16",
        whole_number(0, 4096),
        "MiB of answers to searches and of entries that each worker keeps for whoever asks again; 0: none.",
    ),
    Option(
        "build_processes",
        "0",
        whole_number(0, 64),
        "Processes that share the work where many entries are to be built; 0: as many as processors, at most 8, where "
        "there is memory for them; 1: none but the builder.",
    ),
    Option(
        "engine",
        "embedded",
        one_of("embedded", "opensearch"),
        "What searches: embedded, an index in each process; or opensearch, a cluster of your own.",
    ),
    *CLUSTER,
)
