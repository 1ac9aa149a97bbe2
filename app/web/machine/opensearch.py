"""The OpenSearch description: how a browser can search here from its address bar."""

from dataclasses import dataclass

from app.web.pages.context import PageContext


@dataclass(frozen=True, slots=True)
class OpenSearchView:
    """What `opensearch.xml` shows; addresses are absolute where a base address is configured."""

    name: str
    description: str
    lang: str
    icon: str
    search: str
    self: str


def opensearch(context: PageContext) -> str:
    """The description as XML."""
    urls, lang = context.urls, context.lang
    view = OpenSearchView(
        name=context.t("opensearch.name"),
        description=context.t("opensearch.description"),
        lang=lang.tag,
        icon=urls.absolute(urls.static("icon.svg")),
        search=urls.absolute(urls.search(lang)),
        self=urls.absolute(urls.opensearch(lang)),
    )
    return context.site.renderer.render("opensearch.xml", lang, view=view)
