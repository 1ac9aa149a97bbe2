"""llms.txt and llms-full.txt: the entries for language models that read sites."""

from app.content.shelf import beside_framework
from app.entry import Entry, Summary
from app.web.pages.context import PageContext
from app.web.pages.parts import name_of


def llms_list(context: PageContext) -> str:
    """The list of entries in llms.txt's form: title, summary, a section of links per framework."""
    urls, lang, library = context.urls, context.lang, context.library
    lines = [f"# {context.t('site.name')}", "", f"> {context.t('llms.summary')}", ""]
    lines += [context.t("llms.search_text", **_api_addresses(context)), ""]
    lines += [context.t("llms.agents", **_agent_addresses(context)), ""]
    for framework in library.taxonomy.framework.values():
        entries = sorted(library.tagged("framework", framework.id), key=lambda each: each.id)
        if entries:
            lines += [f"## {framework.name[lang]}", "", framework.description[lang], ""]
            lines += [*(_line(context, entry) for entry in entries), ""]
    lines += ["## Optional", ""]
    lines += [f"- [{context.t('llms.full')}]({urls.absolute(urls.llms_full(lang))})"]
    lines += [f"- [{lang.other.own_name}]({urls.absolute(urls.llms(lang.other))})", ""]
    return "\n".join(lines)


def llms_full(context: PageContext) -> str:
    """All entries in one text."""
    parts = [f"# {context.t('site.name')}\n\n> {context.t('llms.summary')}\n"]
    entries = (context.library.entry(entry_id) for entry_id in context.library.ids)
    parts += [_whole(context, entry) for entry in entries if entry]
    return "\n\n---\n\n".join(parts)


def _line(context: PageContext, entry: Summary) -> str:
    edition, shown = entry.edition(context.lang), entry.shown(context.lang)
    tags = [name_of(context, "kind", entry.kind.value)]
    tags += [name_of(context, "topic", value) for value in entry.topics]
    framework = name_of(context, "framework", entry.framework)
    applies_to = beside_framework(framework, edition.applies_to)
    title = edition.title.replace("[", "\\[").replace("]", "\\]")
    address = context.urls.absolute(context.urls.entry_markdown(shown, entry.id))
    notes = [applies_to] if applies_to else []
    notes += [] if shown is context.lang else [shown.own_name]
    note = "".join(context.t("list.parenthesis", text=text) for text in notes)
    return f"- [{title}]({address}): {context.t('list.join').join(tags)}{note}"


def _whole(context: PageContext, entry: Entry) -> str:
    edition = entry.edition(context.lang)
    address = context.urls.absolute(context.urls.entry(context.lang, entry.id))
    applies_to = (
        f"\n\n{context.t('diagnosis.applies_to', text=edition.applies_to)}" if edition.applies_to else ""
    )
    return f"# {edition.title}\n\n{address}{applies_to}\n\n{edition.markdown.strip()}"


def _agent_addresses(context: PageContext) -> dict[str, str]:
    urls, lang = context.urls, context.lang
    return {
        "mcp": urls.absolute(urls.mcp()),
        "page": urls.absolute(urls.agents(lang)),
        "skill": urls.absolute(urls.agents(lang, "SKILL.md")),
    }


def _api_addresses(context: PageContext) -> dict[str, str]:
    urls = context.urls
    return {
        "search": urls.absolute(urls.api_search(q="QUERY")),
        "diagnose": urls.absolute(urls.api_diagnose()),
        "openapi": urls.absolute(urls.openapi()),
    }
