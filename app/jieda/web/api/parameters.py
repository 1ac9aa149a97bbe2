"""Parameters of the API routes. Scripts depend on these names, so they must stay stable."""

import re
from collections.abc import Sequence
from datetime import date
from difflib import get_close_matches
from typing import Annotated, Any

from fastapi import Path
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, WithJsonSchema
from pydantic_core import PydanticCustomError

from jieda.entry import Language
from jieda.feedback import TriedOutcome
from jieda.search.answers import SearchRequest
from jieda.taxonomy import FACETS, MAX_LIST_OFFSET, MAX_RANKED_OFFSET, Filters, Window
from jieda.usecases.entries import MAX_TAGS
from jieda.web.http.problems import HttpProblem, field_errors
from jieda.web.http.respond import LANGUAGE_PATTERN, parse_language

MAX_LIMIT = 50
MOST_ERRORS = 10
"""Reported errors: finding the nearest name takes a third of a millisecond, and a client may send thousands."""


def _written_as(form: str, error: str, message: str) -> BeforeValidator:
    """Accept only the documented notation: pydantic also accepts `0.0` for 0, `yes` for true, 0 for a day in 1970."""
    pattern = re.compile(form, re.ASCII | re.IGNORECASE)

    def check(value: object) -> object:
        if isinstance(value, str) and not pattern.fullmatch(value):
            raise PydanticCustomError(error, message)
        return value

    return BeforeValidator(check)


Number = Annotated[int, _written_as(r"-?\d{1,99}", "int_parsing", "must be a whole number")]
Switch = Annotated[bool, _written_as("true|false|1|0", "bool_parsing", "must be true or false")]
Day = Annotated[date, _written_as(r"\d{4}-\d\d-\d\d", "date_parsing", "must be a date")]


def _language(value: object) -> Language:
    lang = parse_language(value) if isinstance(value, str) else None
    if lang is None:
        raise PydanticCustomError("language", "must be en or zh")
    return lang


AskedLanguage = Annotated[
    Language, BeforeValidator(_language), WithJsonSchema({"type": "string", "pattern": LANGUAGE_PATTERN})
]
Edition = Annotated[Language | None, BeforeValidator(lambda value: value or None)]
Tags = Annotated[list[str], Field(max_length=MAX_TAGS)]
Framework = Annotated[str, Path(description="Framework of the entry: what its id begins with.")]
Slug = Annotated[str, Path(description="Name of the entry: what follows the slash in its id.")]


def bad_parameters(error: ValidationError, model: type[BaseModel]) -> HttpProblem:
    """Return a refusal with the first MOST_ERRORS errors. For an unknown name it suggests the nearest field."""
    first = error.errors(include_url=False, include_input=False)[:MOST_ERRORS]
    errors = [dict[str, Any](each) for each in first]
    for each in errors:
        if each["type"] == "extra_forbidden":
            expected = nearest(str(each["loc"][0]).lower(), tuple(model.model_fields))
            each["ctx"] = {"expected": ", ".join(expected)}
    return HttpProblem(422, "problem.bad_parameter", errors=field_errors(errors))


def nearest(name: str, known: tuple[str, ...]) -> Sequence[str]:
    """Return the known name that is a prefix of `name` or the reverse (`query`: `q`), else the most similar or all."""
    short = [each for each in known if name.startswith(each) or each.startswith(name)]
    return short[:1] or get_close_matches(name, known, 1) or known


class LanguageParameters(BaseModel):
    """The parameter that every route has. Parameters that a route does not know are refused."""

    model_config = ConfigDict(extra="forbid")

    lang: AskedLanguage | None = Field(
        None,
        description="Language of the response: `en` or `zh` (`zh-CN` and the like count as `zh`). "
        "By default the one that Accept-Language prefers, or else `en`. Filters nothing.",
    )


class OneEntry(LanguageParameters):
    """Parameters of a single entry."""

    source: Switch = Field(False, description="The file as it is, with front matter.")


class ListParameters(LanguageParameters):
    """Parameters of every list."""

    limit: Number = Field(10, ge=1, le=MAX_LIMIT, description="Maximum number of items.")
    offset: Number = Field(0, ge=0, le=MAX_RANKED_OFFSET, description="Number of items to skip.")

    def window(self) -> Window:
        return Window(self.limit, self.offset)


class FilterParameters(ListParameters):
    """Filters: any of the values within one, and all filters together."""

    framework: Tags = Field([], description="Framework ids, see `/frameworks`.")
    kind: Tags = Field([], description="Kinds, see `/kinds`.")
    topic: Tags = Field([], description="Topic ids, see `/topics`.")
    error_type: Tags = Field([], description="Error type ids, see `/error-types`.")
    edition: Edition = Field(None, description="Only entries that exist in this language.")
    version: Tags = Field(
        [],
        description="Leaves out entries that do not apply to this version, such as `trainer 0.2.4` or "
        "`trainer==0.2.4`. Entries that mention no versions stay.",
    )

    def filters(self) -> Filters:
        """Return the filters for search; empty values, as forms send them, are dropped."""
        lists = {name: tuple(filter(None, getattr(self, name))) for name in (*FACETS, "version")}
        return Filters(**lists, edition=(self.edition,) if self.edition else ())


class SearchParameters(FilterParameters):
    """Parameters of a search."""

    q: str = Field(description="What to search for: words, a question, an identifier or an error line.")
    verbatim: Switch = Field(
        False,
        description="Search for exactly what was typed, without spelling correction. `1` and `0` work as well.",
    )
    unfinished: Switch = Field(
        False,
        description="For a search at every keystroke: the last word may be half typed, and nothing is corrected.",
    )

    def wanted(self, lang: Language) -> SearchRequest:
        return SearchRequest(
            text=self.q,
            lang=lang,
            filters=self.filters(),
            limit=self.limit,
            offset=self.offset,
            verbatim=self.verbatim,
            unfinished=self.unfinished,
        )


class EntryParameters(FilterParameters):
    """Parameters of the list of entries."""

    offset: Number = Field(0, ge=0, le=MAX_LIST_OFFSET, description="Number of items to skip.")
    updated_since: Day | None = Field(None, description="Only entries changed on or after this day.")


class SuggestParameters(LanguageParameters):
    """Parameters of a completion."""

    q: str = Field(description="What has been typed so far.")
    limit: Number = Field(10, ge=1, le=MAX_LIMIT, description="Maximum number of completions.")


class DiagnoseParameters(LanguageParameters):
    """What can be said beside a log: as parameters of a raw body, as fields of a JSON body."""

    framework: str = Field("", description="Id of the framework that printed the log, if known.")


class DiagnoseBody(DiagnoseParameters):
    """A log to diagnose. Unknown fields are ignored, so that a program can send what it keeps with a log."""

    model_config = ConfigDict(extra="ignore")

    text: str = Field(
        min_length=1,
        description="An error line, a traceback or a whole log. Of more than 1 MiB (as UTF-8), the end and the part "
        "around the first failure are read.",
    )


class OutcomeBody(LanguageParameters):
    """Whether an entry helped somebody who tried it."""

    id: str = Field(max_length=200, description="Id of the entry.")
    outcome: TriedOutcome = Field(
        description="`solved`; `did_not_work`: the right problem, but no help; `outdated`: for another version; "
        "`unclear`: a step is missing; `other_problem`: about something else."
    )
    text: str = Field(
        "",
        max_length=300,
        description="A line for the maintainers. Values, paths, names and addresses in it are not kept.",
    )
