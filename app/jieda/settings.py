"""The settings: each is an environment variable and an option of `jieda serve`, and one row of the table below."""

import hashlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field, ValidationError, model_validator
from pydantic.dataclasses import dataclass
from pydantic.fields import FieldInfo

from jieda.address import HOST, PORT, read_variable
from jieda.errors import SettingsError
from jieda.places import CONTENT, DATA
from jieda.setting_forms import (
    BASE_URL,
    EDITOR,
    HOST_NAME,
    NOBODY,
    NODE,
    ORIGIN,
    absolute,
    address_with,
    check_networks,
    directories,
    existing_file,
    hosting_path,
    matching,
    parsed_by,
    split_proxies,
    split_words,
)


def row(default: Any, help_text: str, low: int | None = None, high: int | None = None) -> Any:
    """Return a row of the table; `low` and `high` are the bounds of a number."""
    return Field(default, description=help_text, ge=low, le=high)


@dataclass(frozen=True, slots=True, config={"validate_default": True, "extra": "forbid"})
class Settings:
    """All settings with resolved values: paths absolute, lists split."""

    host: Annotated[str, matching(r"\S+", "must be an address such as 0.0.0.0")] = row(
        HOST, "Address to listen on."
    )
    port: int = row(int(PORT), "Port to listen on.", 1, 65535)
    workers: int = row(1, "Worker processes.", 1, 64)
    content: Annotated[tuple[Path, ...], BeforeValidator(directories)] = row(
        (CONTENT,), f"Content directories, separated by '{os.pathsep}'; a later one overrides."
    )
    shipped: bool = row(
        False,
        "Also serve the entries that come with Jieda; those of the content directories override them. Without content "
        "directories, they are served anyway.",
    )
    data: Annotated[Path, AfterValidator(absolute)] = row(
        DATA,
        "Directory of the index, for one server at a time; created if missing. Unless it is set, content other than "
        "the shipped entries gets a folder of its own in the default directory.",
    )
    base_url: Annotated[str, AfterValidator(lambda text: text.rstrip("/")), BASE_URL] = row(
        "", "Scheme and host of absolute addresses; empty: an allowed or local Host header of the request."
    )
    allowed_hosts: Annotated[tuple[Annotated[str, HOST_NAME], ...], parsed_by(split_words)] = row(
        (), "Host names to answer to, separated by commas; empty or *: any."
    )
    cors_origins: Annotated[tuple[Annotated[str, ORIGIN], ...], parsed_by(split_words)] = row(
        (),
        "Sites whose pages may call the API, such as https://docs.example.com, separated by commas; *: any.",
    )
    root_path: Annotated[str, AfterValidator(hosting_path)] = row(
        "", "Path under which a proxy serves this, such as /kb."
    )
    trusted_proxies: Annotated[tuple[str, ...], parsed_by(split_proxies), AfterValidator(check_networks)] = (
        row(
            ("127.0.0.1",),
            f"Proxies whose X-Forwarded-* headers are trusted, separated by commas; {NOBODY}: no proxy's.",
        )
    )
    reload_token: str = row("", "Secret for POST /api/v1/reload; empty: nobody may reload.")
    metrics: Annotated[tuple[str, ...], parsed_by(split_proxies), AfterValidator(check_networks)] = row(
        ("127.0.0.0/8", "::1"),
        f"Who may read /metrics: addresses and networks, or * for anybody; {NOBODY}: nobody.",
    )
    edit_url: Annotated[tuple[Annotated[str, EDITOR], ...], parsed_by(str.split)] = row(
        (),
        "Address of a file's editor, with {path}, such as "
        "https://git.example.com/faq/edit/main/content/{path}; "
        "several, separated by spaces, belong to the last content directories in the same order.",
    )
    new_url: Annotated[str, address_with("path", "content")] = row(
        "",
        "Your git host's form for a new file, with {path} and {content}, such as "
        "https://git.example.com/faq/new/main?filename=content/{path}&value={content}.",
    )
    help_url: Annotated[str, address_with("query")] = row(
        "", "Where your team asks for help, with {query}, such as https://chat.example.com/search?q={query}."
    )
    issue_url: Annotated[str, address_with("title")] = row(
        "",
        "Form for a new issue, with {title} and optionally {body}, such as "
        "https://git.example.com/faq/issues/new?title={title}&body={body}.",
    )
    chat: bool = row(False, "Answer POST /v1/chat/completions from the entries, for chat bridges.")
    workbench: bool = row(False, "Serve the pages for maintainers, where entries are written.")
    workbench_token: str = row(
        "",
        "Secret for the pages for maintainers: the password that the browser asks for; empty: open to everybody.",
    )
    user_header: Annotated[
        str, matching(r"([A-Za-z][A-Za-z0-9-]{0,60})?", "must be the name of a header, such as Remote-User")
    ] = row(
        "",
        "Header in which a trusted proxy names the logged-in user, such as Remote-User: that user may open the pages "
        "for maintainers and writes under that name.",
    )
    workbench_write: bool = row(
        False,
        "Let the workbench write entries into the content directory and commit them; needs the token or the header.",
    )
    gaps: bool = row(False, "Keep unanswered questions, redacted, and count reads; see docs/maintaining.md.")
    gaps_days: int = row(90, "Days after which these are deleted.", 1, 3650)
    gaps_megabytes: int = row(16, "Megabytes that they may take; the rarest are deleted first.", 1, 1024)
    log_format: Literal["text", "json"] = row("text", "Log lines as text or json.")
    max_log_bytes: int = row(1 << 20, "Bytes of a log that are read, its end first.", 1 << 10, 1 << 26)
    max_query_chars: int = row(
        2000, "Characters of a query that are read; the rest is ignored.", 100, 100_000
    )
    limits: bool = row(True, "Refuse requests of a client beyond the limits; 0: no limits.")
    searches_per_minute: int = row(
        600,
        "Searches and completions per client and minute, in each worker; those of coding agents count, too.",
        1,
        10**6,
    )
    diagnoses_per_minute: int = row(120, "Diagnoses per client and minute, in each worker.", 1, 10**6)
    pages_per_minute: int = row(1200, "All other requests per client and minute, in each worker.", 1, 10**6)
    reload_content: bool = row(False, "Watch the content and serve its changes.")
    watch: Literal["auto", "events", "poll"] = row(
        "auto",
        "How changes are noticed: events uses system events, poll only polls (for network volumes), auto uses events "
        "and polls now and then.",
    )
    semantic: bool = row(
        True, "Also search by meaning, to find other words and the other language; 0: match words only."
    )
    embeddings_url: Annotated[
        str,
        matching(
            r"(https?://[^/?#@\s]+/[^#@\s]*)?", "must be like http://gpu1:8000/v1/embeddings, without a user"
        ),
    ] = row(
        "",
        "Address of your own embedding model with OpenAI's /v1/embeddings API, such as "
        "http://gpu1:8000/v1/embeddings. Entries and queries are sent to it. Empty: the installed encoder.",
    )
    embeddings_model: str = row("", "Name of that model.")
    embeddings_key: str = row("", "API key for it; better set as a variable than as an option.")
    embeddings_query: str = row("", "Prefix that it expects before a query, such as query:")
    embeddings_passage: str = row("", "Prefix that it expects before a text of an entry, such as passage:")
    embeddings_batch: int = row(32, "Texts per request to it.", 1, 1024)
    embeddings_timeout: int = row(
        2,
        "Seconds that a search waits for it before words alone are searched. A batch may take ten times as long.",
        1,
        60,
    )
    dictionary: Annotated[str, AfterValidator(existing_file)] = row(
        "",
        "Dictionary file in CC-CEDICT's format, to find entries that do not exist in the language of the query.",
    )
    cache: int = row(16, "MiB of search results and entries that each worker caches; 0: none.", 0, 4096)
    build_processes: int = row(
        0,
        "Processes that share the work if many entries are to be built; 0: one per processor, at most 8, as memory "
        "allows; 1: the builder alone.",
        0,
        64,
    )
    engine: Literal["whoosh", "opensearch"] = row(
        "whoosh", "Search engine: whoosh, an index in each process; or opensearch, your own cluster."
    )
    opensearch_url: Annotated[tuple[Annotated[str, NODE], ...], parsed_by(str.split)] = row(
        (), "Addresses of the cluster's nodes, separated by spaces, such as https://os1.example.com:9200."
    )
    opensearch_user: str = row("", "User of the cluster; empty: no authentication.")
    opensearch_password: str = row("", "Password of that user; better set as a variable than as an option.")
    opensearch_aws_region: Annotated[
        str, matching(r"([a-z]{2,}(-[a-z]+)+-\d+)?", "must be a region such as eu-west-1")
    ] = row(
        "",
        "AWS region to sign requests for, such as eu-west-1, instead of user and password; with the keys in "
        "AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN. Empty: nothing is signed.",
    )
    opensearch_aws_service: Literal["es", "aoss"] = row(
        "es", "Service to sign for: es, a domain of OpenSearch Service; aoss, a serverless collection."
    )
    opensearch_ca: Annotated[str, AfterValidator(existing_file)] = row(
        "", "File of certificates (PEM) to trust for https in place of the system's."
    )
    opensearch_prefix: Annotated[
        str,
        matching(
            r"[a-z][a-z0-9_-]{0,60}",
            "must be a lowercase letter, then at most 60 lowercase letters, digits, - or _",
        ),
    ] = row("jieda", "Prefix of the names of its indexes in the cluster.")
    opensearch_shards: int = row(1, "Shards of an index in the cluster.", 1, 100)
    opensearch_replicas: int = row(1, "Copies of each shard.", 0, 10)
    opensearch_timeout: int = row(
        2, "Seconds until another node is asked; a search takes twice that at most.", 1, 60
    )

    @model_validator(mode="after")
    def _check_consistency(self) -> Self:
        """Check for settings that contradict one another. Raises ValueError with a line for each problem."""
        problems = {
            "JIEDA_WORKBENCH_WRITE (--workbench-write): writing needs a token: set JIEDA_WORKBENCH_TOKEN to a long "
            "random text as well, such as what `openssl rand -hex 16` prints": (
                self.workbench_write and not self.workbench_token and not self.user_header
            ),
            "JIEDA_USER_HEADER (--user-header): name the proxies that may send it in JIEDA_TRUSTED_PROXIES, and not "
            "by *": self.user_header and {"*", NOBODY} & set(self.trusted_proxies),
            "JIEDA_OPENSEARCH_URL (--opensearch-url): the engine opensearch needs the addresses of its nodes": (
                self.engine == "opensearch" and not self.opensearch_url
            ),
            "JIEDA_OPENSEARCH_AWS_REGION (--opensearch-aws-region): requests are either signed or carry user and "
            "password: leave JIEDA_OPENSEARCH_USER empty": self.opensearch_aws_region
            and self.opensearch_user,
        }
        if found := [problem for problem, exists in problems.items() if exists]:
            raise ValueError("\n".join(found))
        return self

    @classmethod
    def load(
        cls, environ: Mapping[str, str], **options: str | Sequence[str | os.PathLike[str]] | None
    ) -> "Settings":
        """Return settings from `options` (by field name), then `environ`, then the defaults.

        `content` may be a sequence of directories; it replaces the shipped content, too. An empty variable, None and an
        empty sequence count as unset. Raises SettingsError, which lists all problems at once.
        """
        values: dict[str, Any] = {}
        for name in TABLE:
            if text := read_variable(environ, env_of(name), ""):
                values[name] = text
        if options.get("content"):
            values.pop("shipped", None)
        for name, value in options.items():
            if value or value == "":
                values[name] = value.strip() if isinstance(value, str) else value
        try:
            settings = cls(**values)
        except ValidationError as error:
            problems = "\n".join(map(_problem, error.errors()))
            raise SettingsError(problems.split("\n")) from None
        if settings.shipped and CONTENT not in settings.content:
            settings = replace(settings, content=(CONTENT, *settings.content))
        return settings if values.get("data") else replace(settings, data=data_of(settings.content))


def env_of(name: str) -> str:
    """Return the environment variable of a setting."""
    return f"JIEDA_{name.upper()}"


def flag_of(name: str) -> str:
    """Return the command-line option of a setting."""
    return "--" + name.replace("_", "-")


def misspelled_variables(environ: Mapping[str, str]) -> dict[str, str]:
    """Map the variables of `environ` that look like a misspelled setting to that setting. Other variables that begin
    with JIEDA_ may belong to somebody else: Kubernetes sets some for a service of that name."""
    known = set(map(env_of, TABLE))
    similar = {name: get_close_matches(name, known, 1, 0.85) for name in environ if name not in known}
    return {name: matches[0] for name, matches in similar.items() if matches}


def content_directories(directories: tuple[Path, ...]) -> tuple[Path, ...]:
    """Return the content directories, or if there are none, those of the environment. Raises SettingsError."""
    return directories or Settings.load(os.environ).content


def data_of(content: Sequence[Path]) -> Path:
    """Return the default data directory of some content: one for the shipped content, others for a team's own."""
    if list(content) == [CONTENT]:
        return DATA
    paths = os.pathsep.join(map(os.path.realpath, content))
    return DATA / hashlib.sha256(os.fsencode(paths)).hexdigest()[:12]


def _problem(error: Mapping[str, Any]) -> str:
    """Describe the error of a setting by its variable and its option."""
    message = error["msg"].replace("Input should", "should").partition(", unable")[0]
    reason = str(error.get("ctx", {}).get("error", message))
    if not error["loc"]:
        return reason
    name = str(error["loc"][0])
    if name not in TABLE:
        hint = "".join(f": is {similar} meant?" for similar in get_close_matches(name, TABLE, 1))
        return f"there is no setting {name}{hint}"
    value = as_text(error["input"])
    # A password may precede the @.
    shown = "" if "@" in value or reason.endswith(f": {value}") else f"; it is {value!r}"
    return f"{env_of(name)} ({flag_of(name)}): {reason}{shown}"


def as_text(value: object) -> str:
    """Return the text of a value, as an environment variable has it."""
    if isinstance(value, tuple):
        # `directories` splits at the path separator; all other lists accept spaces.
        separator = os.pathsep if value and isinstance(value[0], Path) else " "
        return separator.join(str(part) for part in value)
    return {True: "1", False: "0"}[value] if isinstance(value, bool) else str(value)


TABLE: Mapping[str, FieldInfo] = Settings.__pydantic_fields__  # type: ignore[attr-defined] # pydantic puts it there
