"""The page about the site itself: what it is, where its answers come from, what becomes of what people paste."""

from dataclasses import dataclass

from app.presentation.outward import filled
from app.usecases.tags import used_tags
from app.version import VERSION
from app.web.pages.context import PageContext
from app.web.pages.layout import Head, render_page
from app.web.pages.parts import TagLink, tag_link


@dataclass(frozen=True, slots=True)
class AboutView:
    """What `about.html` shows."""

    what: str
    frameworks: tuple[TagLink, ...]
    version: str
    generation: str
    report: str
    """Where something wrong is reported, or empty."""


def about_page(context: PageContext) -> str:
    """The page in the reader's language."""
    title = context.t("about.title")
    view = AboutView(
        what=context.t("about.what", count=len(context.library)),
        frameworks=tuple(
            tag_link(context, "framework", each) for each in used_tags(context.library, "framework")
        ),
        version=VERSION,
        generation=context.digest,
        report=filled(context.site.settings.issue_url, title="", body=""),
    )
    head = Head(
        name="about",
        title=f"{title} · {context.t('site.name')}",
        description=view.what,
        here=context.urls.about,
    )
    return render_page(context, "about.html", head, view)
