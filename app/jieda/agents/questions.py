"""Arguments of the tools. Clients see their schemas: fixed text, none of it from content."""

import re
from typing import Annotated, Any
from urllib.parse import parse_qs, unquote, urlsplit

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema, model_validator

from jieda.entry import Language
from jieda.feedback import TriedOutcome
from jieda.han import count_han
from jieda.taxonomy import FACETS, MAX_LIST_OFFSET, MAX_RANKED_OFFSET, Filters

MAX_TAGS = 10
LANGUAGE_SAMPLE = 8000
"""Characters at the end of a log that its language is detected from."""
CHINESE_SHARE = 0.2
"""Share of Han characters among letters above which a log counts as Chinese: a few quoted words must not suffice."""

ENTRY_PATH = r".*/(?:(en|zh)|api/v1)/entries/([^/]+)/([^/]+?)(?:\.md)?/?"
"""The path of an entry's page, or of its API address."""
_LETTER = re.compile(r"[^\W\d_]")
_OMITTED = (None, "")


def _as_list(value: object) -> object:
    """Accept a single value for a list, and drop null and empty members: models often send both."""
    return [each for each in value if each not in _OMITTED] if isinstance(value, list) else [value]


def _lower(value: object) -> object:
    """Lowercase a value: models write enum values like names."""
    return value.lower() if isinstance(value, str) else value


def known_language(tag: str) -> Language | None:
    """Return the language that a tag such as `zh-CN` names; None for any but ours."""
    return next((lang for lang in Language if lang == tag[:2].lower()), None)


def parse_address(uri: str) -> tuple[str, Language] | None:
    """Return the id and the language in the address of a resource, `jieda://entry/roll/a?lang=zh`, or of an entry's
    page, `https://faq.example.com/zh/entries/roll/a`; None for any other text."""
    try:
        parts = urlsplit(uri)
    except ValueError:  # a malformed host, such as a single bracket
        return None
    is_resource = parts.scheme == "jieda" and parts.netloc == "entry"
    path = re.fullmatch(r"()/([^/]+)/([^/]+)" if is_resource else ENTRY_PATH, parts.path)
    if path is None or not (is_resource or parts.netloc):
        return None
    lang = known_language(path[1] or parse_qs(parts.query).get("lang", [""])[0])
    return f"{unquote(path[2])}/{unquote(path[3])}", lang or Language.EN


Lang = Annotated[
    Language | None,
    BeforeValidator(lambda tag: tag[:2].lower() if isinstance(tag, str) else tag),  # `zh-CN` is `zh`
    WithJsonSchema({"type": "string", "enum": [lang.value for lang in Language]}),
    Field(
        description="Language of the answer. By default that of the text you send, else English. "
        "Commands and identifiers are never translated."
    ),
]
Tags = Annotated[list[str], BeforeValidator(_as_list), Field(max_length=MAX_TAGS)]
EntryId = Annotated[str, Field(pattern=r"^[^/\s]+/[^/\s]+$")]


class Question(BaseModel):
    """Base of what is asked: an argument that a tool does not have is refused, not passed over."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    lang: Lang = None

    @model_validator(mode="before")
    @classmethod
    def _drop_empty(cls, arguments: Any) -> Any:
        """Treat null and empty optional arguments as omitted: many clients send every argument."""
        if not isinstance(arguments, dict):
            return arguments
        optional = {name for name, field in cls.model_fields.items() if not field.is_required()}
        return {
            name: value for name, value in arguments.items() if name not in optional or value not in _OMITTED
        }

    @property
    def reply_lang(self) -> Language:
        return self.lang or Language.EN


class DiagnoseQuestion(Question):
    """Arguments of `diagnose`."""

    text: str = Field(
        min_length=1,
        description="What the program printed, verbatim: a line, a traceback or a whole log. "
        "Send it uncut and unedited; prefixes, colors and timestamps do no harm.",
    )
    framework: str = Field(
        "", description="Id of the framework that the log comes from, if you know it (see `list`)."
    )

    @property
    def reply_lang(self) -> Language:
        """Chinese by default for a text that is largely Chinese."""
        sample = self.text[-LANGUAGE_SAMPLE:]
        is_chinese = count_han(sample) > CHINESE_SHARE * len(_LETTER.findall(sample))
        return self.lang or (Language.ZH if is_chinese else Language.EN)


class FilteredQuestion(Question):
    """Filters that combine: or within one, and between them."""

    framework: Tags = Field([], description="Only these frameworks, by id (see `list`).")
    kind: Tags = Field([], description="Only these kinds: error, how-to, concept.")
    topic: Tags = Field([], description="Only these topics, by id (see `list`).")
    error_type: Tags = Field([], description="Only these error types, by id (see `list`).")
    version: Tags = Field(
        [], description="Leave out entries that do not apply to these versions, such as `<framework> 0.2.4`."
    )
    offset: int = Field(
        0, ge=0, le=MAX_RANKED_OFFSET, description="Entries to skip: `next_offset` of the previous answer."
    )

    def filters(self) -> Filters:
        return Filters(**{name: tuple(getattr(self, name)) for name in (*FACETS, "version")})


class SearchQuestion(FilteredQuestion):
    """Arguments of `search`."""

    query: str = Field(
        min_length=1,
        description="A question, a few words, a parameter or an error message, in English, Chinese or both.",
    )
    limit: int = Field(5, ge=1, le=20, description="Maximum number of entries.")

    @property
    def reply_lang(self) -> Language:
        """Chinese by default for a query that contains Han characters."""
        return self.lang or Language.of(self.query)


class EntryQuestion(Question):
    """What is asked about one entry, which the address of its resource names as well."""

    @model_validator(mode="before")
    @classmethod
    def _read_address(cls, arguments: Any) -> Any:
        entry_id = arguments.get("id") if isinstance(arguments, dict) else None
        address = parse_address(entry_id) if isinstance(entry_id, str) else None
        if address is None:
            return arguments
        return arguments | {"id": address[0], "lang": arguments.get("lang") or address[1]}


class ReadQuestion(EntryQuestion):
    """Arguments of `read`."""

    id: EntryId = Field(
        description="Id of the entry, <framework>/<slug>, as `diagnose`, `search` and `list` give it."
    )
    section: Annotated[str, BeforeValidator(_lower)] = Field(
        "",
        description="Only this section: fix, cause, symptom, verify, answer, steps, example, notes, see-also.",
    )
    offset: int = Field(0, ge=0, description="Characters to skip: `next_offset` of the previous answer.")


class OutcomeQuestion(EntryQuestion):
    """Arguments of `report_outcome`."""

    id: EntryId = Field(description="Id of the entry that was tried.")
    outcome: Annotated[TriedOutcome, BeforeValidator(_lower)] = Field(
        description="solved; did_not_work: the right problem, but no help; outdated: for another version; unclear: "
        "a step is missing; other_problem: about something else."
    )
    text: str = Field(
        "",
        max_length=300,
        description="One line for the maintainers, if there is something to say. Values, paths and names are not kept.",
    )


class ListQuestion(FilteredQuestion):
    """Arguments of `list`."""

    offset: int = Field(
        0, ge=0, le=MAX_LIST_OFFSET, description="Entries to skip: `next_offset` of the previous answer."
    )
    limit: int = Field(20, ge=1, le=50, description="Maximum number of entries.")
