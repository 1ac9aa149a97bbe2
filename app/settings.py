"""Settings, read from the environment and the options of `jieda serve` by the table of `options`."""

import hashlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.address import set_in
from app.errors import SettingsError
from app.options import CONTENT, DATA, OPTIONS, ROOT

UNGUARDED_WRITING = (
    "JIEDA_WORKBENCH_WRITE (--workbench-write): whoever may write has to bring a token: set JIEDA_WORKBENCH_TOKEN to "
    "a long random text as well, such as what `openssl rand -hex 16` prints"
)


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that can be set, resolved: paths absolute, lists split."""

    host: str
    port: int
    workers: int
    content: tuple[Path, ...]
    data: Path
    base_url: str
    allowed_hosts: tuple[str, ...]
    root_path: str
    trusted_proxies: tuple[str, ...]
    reload_token: str
    metrics: tuple[str, ...]
    """Addresses and networks that may ask for the figures."""
    edit_url: tuple[str, ...]
    """Editors of the last content directories, in the order of those; often one, for the last."""
    new_url: str
    help_url: str
    issue_url: str
    workbench: bool
    workbench_token: str
    workbench_write: bool
    gaps: bool
    gaps_days: int
    gaps_megabytes: int
    log_format: str
    max_log_bytes: int
    max_query_chars: int
    limits: bool
    searches_per_minute: int
    diagnoses_per_minute: int
    pages_per_minute: int
    reload_content: bool
    watch: str
    semantic: bool
    dictionary: str
    """Path of a file, or empty."""
    cache: int
    """MiB."""
    build_processes: int
    engine: str
    opensearch_url: tuple[str, ...]
    opensearch_user: str
    opensearch_password: str
    opensearch_aws_region: str
    opensearch_aws_service: str
    opensearch_ca: str
    opensearch_prefix: str
    opensearch_shards: int
    opensearch_replicas: int
    opensearch_timeout: int
    static: Path = ROOT / "static"

    @classmethod
    def load(cls, environ: Mapping[str, str], **given: str | None) -> "Settings":
        """Settings from `given` (options, by field name), then `environ`, then the defaults of `OPTIONS`.

        A variable that is set to nothing is not set.

        Raises SettingsError, naming everything that is wrong at once.
        """
        values: dict[str, Any] = {}
        problems: list[str] = []
        for option in OPTIONS:
            chosen = given.get(option.name)
            text = set_in(environ, option.env, option.default) if chosen is None else chosen
            try:
                values[option.name] = option.parse(text.strip())
            except ValueError as error:
                problems.append(f"{option.env} ({option.flag}): {error}; it is {text!r}")
        if values.get("workbench_write") and not values.get("workbench_token"):
            problems.append(UNGUARDED_WRITING)
        if values.get("engine") == "opensearch" and not values.get("opensearch_url", "wrong"):
            problems.append(
                "JIEDA_OPENSEARCH_URL (--opensearch-url): the engine opensearch needs addresses of its nodes"
            )
        if values.get("opensearch_aws_region") and values.get("opensearch_user"):
            problems.append(
                "JIEDA_OPENSEARCH_AWS_REGION (--opensearch-aws-region): requests are either signed or carry user and "
                "password: leave JIEDA_OPENSEARCH_USER empty"
            )
        if problems:
            raise SettingsError(problems)
        if values["data"] == DATA:
            values["data"] = data_of(values["content"])
        return cls(**values)

    def to_environ(self) -> dict[str, str]:
        """The environment from which `load` gives these settings again, for worker processes."""
        return {option.env: _as_text(getattr(self, option.name)) for option in OPTIONS}


def data_of(content: Sequence[Path]) -> Path:
    """The default data directory of some content; that of a team's own is not that of the shipped one."""
    if list(content) == [CONTENT]:
        return DATA
    paths = os.pathsep.join(map(os.path.realpath, content))
    return DATA / hashlib.sha256(os.fsencode(paths)).hexdigest()[:12]


def _as_text(value: object) -> str:
    if isinstance(value, tuple):
        # Between paths as `directories` reads them, between all others a space, which both other lists take.
        separator = os.pathsep if value and isinstance(value[0], Path) else " "
        return separator.join(str(part) for part in value)
    return {True: "1", False: "0"}[value] if isinstance(value, bool) else str(value)
