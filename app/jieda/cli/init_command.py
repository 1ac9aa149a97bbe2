"""`jieda init`: a site of one's own, with one entry that is found by its log."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from string import Template

import click

from jieda import git
from jieda.cli.running import run, writing
from jieda.content.authoring.source_text import sync_twins
from jieda.content.markdown.links import slug
from jieda.content.read.load import load_corpus
from jieda.entry import Language
from jieda.errors import JiedaError

START = Path(__file__).parent / "start"
ENTRY = "connection-refused"
SAMPLES = ("curl.log", "script.log")
AROUND = ("compose.yaml", "jieda.service", "README.md")
"""What stands beside the content, for whoever serves it."""


@click.command("init")
@click.argument("directory", metavar="DIR", type=click.Path(file_okay=False, path_type=Path))
@click.option("--name", default="Our answers", show_default=True, help="What the site is called.")
@click.option("--field", default="Our service", show_default=True, help="What its entries are about.")
@click.option(
    "--lang",
    type=click.Choice([lang.value for lang in Language]),
    help="Write the first entry in this language only.",
)
@click.option("--git", "as_repository", is_flag=True, help="Make DIR a git repository.")
def command(directory: Path, name: str, field: str, lang: str | None, as_repository: bool) -> None:
    """Write a site of your own into DIR, without the shipped entries.

    DIR has a taxonomy with the site's name, one entry with sample logs, and files to serve it with Docker or systemd.
    It is refused where there is something in it already.
    """
    if directory.exists() and any(directory.iterdir()):
        raise JiedaError(f"{directory} is not empty")
    languages = [Language(lang)] if lang else list(Language)
    with writing():
        for path, text in _files(name, field, languages):
            place = directory / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text, encoding="utf-8")
            click.echo(str(place))
        if len(languages) > 1:
            sync_twins(load_corpus([directory / "content"]), [f"{_id_of(field)}/{ENTRY}"])
    if as_repository:
        git.run(directory, "init", "--quiet")
    click.echo(f"next: jieda serve --content {directory / 'content'}", err=True)


def _files(name: str, field: str, languages: list[Language]) -> Iterator[tuple[str, str]]:
    """Paths below the directory, and what is written there."""
    field_id = _id_of(field)
    quoted = {key: json.dumps(text, ensure_ascii=False) for key, text in (("name", name), ("field", field))}
    about = {
        "about_en": json.dumps(f"Questions about {field}.", ensure_ascii=False),
        "about_zh": json.dumps(f"关于 {field} 的问题。", ensure_ascii=False),
    }
    today = datetime.now(UTC).date().isoformat()
    values = quoted | about | {"title": name, "field_id": field_id, "today": today}
    made = {"content/taxonomy.yaml": "taxonomy.yaml"}
    made |= {f"content/{lang}/{field_id}/{ENTRY}.md": f"entry.{lang}.md" for lang in languages}
    made |= {f"content/samples/{field_id}/{ENTRY}/{name}": name for name in SAMPLES}
    made |= {each: each for each in AROUND}
    for path, template in made.items():
        yield path, Template((START / template).read_text(encoding="utf-8")).substitute(values)
    yield ".gitignore", ".jieda/\n"


def _id_of(field: str) -> str:
    """The folder of the entries; a name without Latin letters has none of its own."""
    kept = "".join(each if each.isascii() and each.isalnum() else " " for each in slug(field))
    return "-".join(kept.split())[:60] or "answers"


if __name__ == "__main__":
    run(command)
