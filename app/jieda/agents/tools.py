"""The MCP tools, and how one is called. Clients see fixed text."""

import logging
import tomllib
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from jieda.agents import answering, answers, questions
from jieda.agents.answering import Context
from jieda.agents.answers import Json
from jieda.entry import Language
from jieda.errors import (
    BadParameter,
    JiedaError,
    RemoteError,
    RemoteRefusal,
    RequestError,
    UnknownEntry,
    frames_of,
)
from jieda.locales.translations import Translate, translator
from jieda.presentation import schemas

ERRORS = logging.getLogger("jieda.errors")

VERSION = "1.0.0"
"""Version of the tools: of their arguments and results."""
TEXTS = tomllib.loads(Path(__file__).with_name("tools.toml").read_text(encoding="utf-8"))
"""The instructions; title and description of each tool by its name, of the resources, and of the prompts."""
INSTRUCTIONS: str = TEXTS["instructions"]


@dataclass(frozen=True, slots=True)
class Tool:
    """A row of the table: `question` is the model of the arguments; `answer` the API model of which the result has the
    fields in `view`; `run` computes the result, `text` puts it into words."""

    name: str
    question: type[questions.Question]
    answer: type[BaseModel]
    view: answers.View
    run: Callable[[Context, Any], Awaitable[Json]]
    text: Callable[[Json, Translate], str]
    reads_only: bool = True


TOOLS: tuple[Tool, ...] = (
    Tool(
        "diagnose",
        questions.DiagnoseQuestion,
        schemas.ApiDiagnosis,
        answers.DIAGNOSIS,
        answering.diagnose,
        answers.diagnosis_text,
    ),
    Tool(
        "search",
        questions.SearchQuestion,
        schemas.SearchResult,
        answers.SEARCH,
        answering.search,
        answers.search_text,
    ),
    Tool(
        "read",
        questions.ReadQuestion,
        schemas.ApiEntry,
        answers.READ,
        answering.read,
        answers.entry_text,
    ),
    Tool(
        "list",
        questions.ListQuestion,
        schemas.SummaryList,
        answers.LISTING,
        answering.list_entries,
        answers.listing_text,
    ),
    Tool(
        "report_outcome",
        questions.OutcomeQuestion,
        schemas.Reported,
        answers.REPORTED,
        answering.report,
        answers.report_text,
        reads_only=False,
    ),
)
NAMED: Mapping[str, Tool] = {tool.name: tool for tool in TOOLS}


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a call. If it failed, `content` is None, and `text` says what to do."""

    text: str
    content: Json | None


async def call(context: Context, name: str, arguments: Mapping[str, Any]) -> Outcome:
    """Call a tool. Never raises because of its arguments; neither logs nor error texts contain them."""
    tool = NAMED.get(name)
    if tool is None:
        return Outcome(f"Unknown tool. The tools are: {', '.join(NAMED)}.", None)
    try:
        question = tool.question.model_validate(arguments)
    except ValidationError as error:
        return Outcome(_wrong_arguments(tool, error), None)
    t = translator(question.reply_lang)
    try:
        answer = await tool.run(context, question)
        return Outcome(tool.text(answer, t), answer)
    except JiedaError as error:
        return Outcome(failure(error, question.reply_lang), None)
    except Exception as error:  # noqa: BLE001 - the agent gets an answer, the operator a log line
        ERRORS.error("%s", frames_of(error))
        return Outcome(t("problem.internal.detail"), None)


def _wrong_arguments(tool: Tool, error: ValidationError) -> str:
    problems = []
    for problem in error.errors(include_url=False, include_input=False, include_context=False):
        name = str(problem["loc"][0]) if problem["loc"] else "arguments"
        is_unknown = problem["type"] == "extra_forbidden"
        problems.append("an argument is unknown" if is_unknown else f"{name}: {problem['msg']}")
    parameters = ", ".join(tool.question.model_fields)
    return f"{tool.name} was not called: {'; '.join(problems)}. It takes {parameters}."


def names_no_entry(error: JiedaError) -> bool:
    """Return whether an error means that the requested entry does not exist, here or on the remote server."""
    is_missing_there = isinstance(error, RemoteRefusal) and error.status == UnknownEntry.status
    return is_missing_there or isinstance(error, UnknownEntry)


def failure(error: JiedaError, lang: Language) -> str:
    """Describe an error and its remedy, in a sentence or two."""
    t = translator(lang)
    match error:
        case BadParameter():
            return t(f"agents.error.{error.arguments['field']}", known=error.arguments["expected"])
        case RequestError():
            return t(f"{error.key}.detail", **error.arguments)
        case RemoteRefusal():
            return str(error)
        case RemoteError():
            return f"{error}. {t('agents.error.remote')}"
        case _:
            return t("problem.internal.detail")
