"""`jieda init`: creates a site of your own, with one entry and sample logs that it explains."""

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from shlex import quote
from string import Template

import click

from jieda import git
from jieda.cli.import_command import PAGE, import_pages
from jieda.cli.running import note
from jieda.content.authoring.source_text import sync_twins
from jieda.content.authoring.writing import Create, carry_out
from jieda.content.markdown.links import slug
from jieda.content.read.load import Loaded
from jieda.entry import Language
from jieda.errors import JiedaError
from jieda.importing.plan import ImportRequest
from jieda.importing.sources import ImportSources
from jieda.locales.translations import filled
from jieda.places import DEPLOY

START = Path(__file__).parent / "start"
ENTRY = "connection-refused"
NAMES = {Language.EN: "{field} answers", Language.ZH: "{field} 问答"}
FIELDS = {Language.EN: "Our service", Language.ZH: "我们的服务"}
ABOUT = {Language.EN: "Questions about {field}.", Language.ZH: "关于 {field} 的问题。"}
AND = {Language.EN: " and ", Language.ZH: " 和 "}
READMES = {Language.EN: "README.md", Language.ZH: "README.zh-CN.md"}
AROUND = {
    "compose.yaml": START / "compose.yaml",
    "jieda.env": START / "jieda.env",
    "jieda.service": DEPLOY / "jieda.service",
    "nginx.conf": DEPLOY / "nginx.conf",
    "Caddyfile": DEPLOY / "Caddyfile",
    ".pre-commit-config.yaml": START / "pre-commit.yaml",
    ".github/workflows/entries.yaml": START / "check.yaml",
    ".gitignore": START / "gitignore",
}
"""Files beside the content, for serving and checking it."""
IN_BOTH = re.compile(r"\{en: (?P<en>\"[^\"]*\"|[^,{}]+), zh: (?P<zh>\"[^\"]*\"|[^,{}]+)\}")
"""A text in both languages, of which a site in one language keeps one."""


@click.command("init")
@click.argument("directory", metavar="DIR", type=click.Path(file_okay=False, path_type=Path))
@click.option("--name", help="Name of the site.  [default: made from the field]")
@click.option("--field", help="What its entries are about, such as PostgreSQL.  [default: Our service]")
@click.option(
    "--lang",
    type=click.Choice([lang.value for lang in Language]),
    help="Write everything in this language only.  [default: both]",
)
@click.option(
    "--from",
    "pages",
    metavar="PAGE",
    multiple=True,
    type=PAGE,
    help="Page or directory to import; may be repeated.",
)
@click.option("--git", "as_repository", is_flag=True, help="Make DIR a git repository.")
def command(  # noqa: PLR0913 - one parameter for each option
    *,
    directory: Path,
    name: str | None,
    field: str | None,
    lang: str | None,
    pages: tuple[Path, ...],
    as_repository: bool,
) -> int:
    """Create a site of your own in DIR, without the shipped entries.

    DIR gets a taxonomy with the site's name, one entry with sample logs, files to serve it with Docker, systemd, nginx
    or Caddy, and checks for pre-commit and GitHub. Pages given with --from become drafts, as with jieda import. DIR
    must be new or empty.
    """
    if directory.exists() and any(directory.iterdir()):
        raise JiedaError(f"{directory}: is not empty")
    languages = [Language(lang)] if lang else list(Language)
    name, field = (" ".join((each or "").split()) for each in (name, field))
    fields = {each: field or FIELDS[each] for each in languages}
    names = {each: name or filled(NAMES[each], {"field": fields[each]}) for each in languages}
    folder, content = _folder_name(fields[languages[0]]), directory / "content"
    steps = [Create(directory / path, text.encode()) for path, text in _files(names, fields, folder)]
    carry_out(steps)
    for step in steps:
        click.echo(str(step.path))
    if len(languages) > 1:
        sync_twins(Loaded([content]).corpus, [f"{folder}/{ENTRY}"])
    if as_repository:
        git.run(directory, "init", "--quiet")
    request = ImportRequest(ImportSources({}, pages, {}), (content,), folder)
    code = import_pages(request, languages[0]) if pages else 0
    note(f"next: jieda serve --reload-content --content {quote(str(content))}")
    return code


def _files(names: dict[Language, str], fields: dict[Language, str], folder: str) -> Iterator[tuple[str, str]]:
    """Yield paths below the directory with their contents, in the languages of the names."""
    languages = list(names)
    values = {"field_id": folder, "today": datetime.now(UTC).date().isoformat()}
    for lang in languages:
        values[f"title_{lang}"] = names[lang]
        values[f"folders_{lang}"] = AND[lang].join(f"`content/{each}/{folder}/`" for each in languages)
        quoted = {
            "name": names[lang],
            "field": fields[lang],
            "about": filled(ABOUT[lang], {"field": fields[lang]}),
        }
        values |= {f"{key}_{lang}": json.dumps(text, ensure_ascii=False) for key, text in quoted.items()}
    templates = {"content/taxonomy.yaml": START / "taxonomy.yaml"}
    templates |= {f"content/{lang}/{folder}/{ENTRY}.md": START / f"entry.{lang}.md" for lang in languages}
    templates |= {
        f"content/samples/{folder}/{ENTRY}/{log}": START / log for log in ("curl.log", "script.log")
    }
    templates |= {
        READMES[lang] if len(languages) > 1 else "README.md": START / READMES[lang] for lang in languages
    }
    for path, template in (templates | AROUND).items():
        text = template.read_text(encoding="utf-8")
        if len(languages) == 1:
            text = IN_BOTH.sub(rf"\g<{languages[0]}>", text)
        # nginx and workflows have variables of their own, which stay.
        yield path, Template(text).safe_substitute(values)


def _folder_name(field: str) -> str:
    """Return the directory name of the entries; a fixed one for a name without Latin letters."""
    kept = "".join(each if each.isascii() and each.isalnum() else " " for each in slug(field))
    return "-".join(kept.split())[:60] or "answers"
