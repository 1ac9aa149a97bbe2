"""Ways on where nothing fits: the project's issues, the team's own place to ask, a report that an answer is missing.

What goes into an address is the type of a failure and words that any dictionary or this library has: a paste may
hold names and secrets, and an address ends up in logs that are not ours.
"""

from dataclasses import dataclass

from app.diagnosis.answers import Diagnosis
from app.presentation.outward import filled, issue_search
from app.web.pages.context import PageContext
from app.web.pages.parts import Link, name_of

MOST_WORDS = 8
LONGEST_QUERY = 200
"""Characters of a query that go along: other sites answer longer ones with an error."""
MOST_PROJECTS = 4
"""Where it is not known which framework is asked about, so many are offered at most."""


@dataclass(frozen=True, slots=True)
class Unanswered:
    """What no entry answers: words to search for, the type of the failure and where it comes from, or empty."""

    words: str
    failure: str
    framework: str


def of_diagnosis(context: PageContext, diagnosis: Diagnosis) -> Unanswered:
    """What a log asks."""
    failure = diagnosis.errors[-1] if diagnosis.errors else None
    known = context.served.searcher.known_words
    words = known(failure.message if failure else diagnosis.query)[:MOST_WORDS]
    kind = failure.type if failure else ""
    return Unanswered(" ".join(filter(None, (kind, *words))), kind, diagnosis.framework)


def of_query(text: str, frameworks: tuple[str, ...]) -> Unanswered:
    """What a search asks; its words are in the address of the page as it is."""
    return Unanswered(text.strip()[:LONGEST_QUERY], "", frameworks[0] if len(frameworks) == 1 else "")


def exits(context: PageContext, asked: Unanswered) -> tuple[Link, ...]:
    """The ways on that there are: a project without a known place for issues has none, nor has a setting not made."""
    settings, t = context.site.settings, context.t
    tags = context.library.taxonomy.framework
    name = name_of(context, "framework", asked.framework) if asked.framework in tags else ""
    repositories = [tags[asked.framework]] if name else list(tags.values())[:MOST_PROJECTS]
    found = [
        Link(t("exit.upstream", name=tag.name[context.lang]), issue_search(tag.repository, asked.words))
        for tag in repositories
        if asked.words
    ]
    found.append(Link(t("exit.help"), filled(settings.help_url, query=asked.words)))
    title = t("exit.missing_title", what=asked.failure or asked.words[:80] or t("exit.missing_what"))
    body = t(
        "exit.missing_body", failure=asked.failure or "–", framework=name or "–", generation=context.digest
    )
    found.append(Link(t("exit.missing"), filled(settings.issue_url, title=title, body=body)))
    return tuple(link for link in found if link.url)
