"""Prompts that a user can start from in a client, as text for the model."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from jieda.agents import questions, tools
from jieda.agents.answering import Context
from jieda.presentation.brand import short_name

Arguments = Mapping[str, str]


LANG = "en or zh; by default the language of what you send."
"""Description of `lang`, which every prompt takes as well."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """A row of the table: `argument` is the required one, described by `about`; `make` returns the text for the
    model."""

    name: str
    title: str
    description: str
    argument: str
    about: str
    make: Callable[[Context, Arguments], Awaitable[str]]


async def explain(context: Context, given: Arguments) -> str:
    """Diagnose the log here; the prompt contains only those of its lines that support a match."""
    asked = questions.DiagnoseQuestion.model_validate(
        {"text": given["log"], "lang": questions.known_language(given.get("lang", ""))}
    )
    outcome = await tools.call(context, "diagnose", {"text": asked.text, "lang": asked.reply_lang.value})
    return context.words(asked.reply_lang)(
        "agents.prompt.explain", answer=outcome.text, site=short_name(context.site(), asked.reply_lang)
    )


async def write(context: Context, given: Arguments) -> str:
    """Describe the format of an entry and the commands that check it."""
    asked = questions.SearchQuestion.model_validate(
        {"query": given["question"], "lang": questions.known_language(given.get("lang", ""))}
    )
    return context.words(asked.reply_lang)(
        "agents.prompt.write", question=asked.query, site=short_name(context.site(), asked.reply_lang)
    )


PROMPTS: tuple[Prompt, ...] = (
    Prompt(
        "explain-this-log",
        "Explain this log",
        "Diagnose a log and explain in plain words what went wrong and what to do, or say that no entry knows it.",
        "log",
        "What the program printed.",
        explain,
    ),
    Prompt(
        "write-an-entry",
        "Write an entry",
        "Turn a problem that you have just solved into an entry of this knowledge base, in its format.",
        "question",
        "What the entry is to answer, as people ask it.",
        write,
    ),
)
NAMED: Mapping[str, Prompt] = {prompt.name: prompt for prompt in PROMPTS}
