"""`jieda export`: the site as static files."""

import asyncio
import json
import os
import tempfile
from pathlib import Path

import click

from jieda.cli.running import content_option, translate
from jieda.export.pages import export_site
from jieda.settings import Settings
from jieda.snapshot.knowledge import Knowledge
from jieda.web.app import create_app

MARK = "search.json"
"""A file in every export, which has these keys among others."""
MARK_KEYS = {"entries", "terms", "members"}
ASIDE = ".export-"
"""Prefix of the folder that an export is written to; one that was killed leaves it behind, the next one removes it."""


@click.command("export")
@click.argument("directory", type=click.Path(file_okay=False, path_type=Path))
@click.option("--base-url", help="Scheme and host at which the files will be served.")
@click.option("--root-path", help="Path under which they will be served, such as /kb.")
@content_option
def command(
    directory: Path, base_url: str | None, root_path: str | None, directories: tuple[Path, ...]
) -> None:
    """Write all pages, their Markdown and a search that runs in the browser to DIRECTORY.

    An earlier export there is replaced. Diagnosing logs needs a server.
    """
    if not _is_free(directory) and not _is_export(directory):
        raise click.UsageError(f"{directory} is neither empty nor an export; name another folder")
    options = {
        "base_url": base_url,
        "root_path": root_path,
        "workbench": "0",
        "gaps": "0",
        "allowed_hosts": "",
    }
    settings = Settings.load(os.environ, content=directories, **options)
    knowledge = Knowledge(settings)
    knowledge.open()
    directory.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=ASIDE, dir=directory) as folder:
        new, old = Path(folder) / "new", Path(folder) / "old"
        count = asyncio.run(_write(create_app(settings, knowledge), new))
        old.mkdir()
        # Not the directory itself, which may be a mount point, a link or a shell's current directory.
        for source, target in ((directory, old), (new, directory)):
            for each in [*source.iterdir()]:
                if each != Path(folder):
                    each.rename(target / each.name)
    click.echo(translate(f"{count} files in {directory}"))


def _is_free(directory: Path) -> bool:
    return not directory.exists() or all(each.name.startswith(ASIDE) for each in directory.iterdir())


def _is_export(directory: Path) -> bool:
    try:
        found = json.loads((directory / MARK).read_bytes())
    except (OSError, ValueError):
        return False
    return isinstance(found, dict) and found.keys() >= MARK_KEYS


async def _write(app: object, folder: Path) -> int:
    count = 0
    async for name, content in export_site(app):  # type: ignore[arg-type] # FastAPI is known to `jieda.web` alone
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        count += 1
    return count
