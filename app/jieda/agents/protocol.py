"""The only module that imports the MCP SDK: our tools, resources and prompts in its types.

The SDK is an optional extra: other modules import this one only where it is installed.
"""

import sys
from dataclasses import dataclass
from typing import IO, Any, cast
from urllib.parse import quote

import anyio
import mcp_types as types
from mcp.server.caching import CacheHint
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.shared.exceptions import MCPError
from starlette.types import Message, Receive, Scope, Send

from jieda.agents import tools
from jieda.agents.answering import Context
from jieda.agents.answers import schema_of
from jieda.agents.opening import Opening
from jieda.agents.questions import DiagnoseQuestion, SearchQuestion, known_language, parse_address
from jieda.client import Client
from jieda.entry import Language
from jieda.errors import JiedaError
from jieda.locales.translations import translate, translator
from jieda.presentation.brand import OURS, handle, short_name
from jieda.presentation.entry_text import entry_form
from jieda.presentation.fence import random_fence
from jieda.taxonomy import Filters, Window

Call = ServerRequestContext[Any, Any]
Paging = types.PaginatedRequestParams | None
READ_ONLY = types.ToolAnnotations(
    read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)
COUNTING = types.ToolAnnotations(
    read_only_hint=False, destructive_hint=False, idempotent_hint=False, open_world_hint=False
)
FIXED = CacheHint(ttl_ms=3_600_000, scope="public")
"""Responses that do not depend on the content may be cached for an hour."""


ENTRIES = types.ResourceTemplate(
    uri_template="jieda://entry/{framework}/{slug}{?lang}",
    name="entry",
    mime_type="text/markdown",
    **tools.TEXTS["entry"],
)
"""Every entry is a resource."""
PAGE = 50
"""Entries in a page of the list of resources."""
MAX_CURSOR = 18
"""Digits of a cursor."""
MOST_PAGES = 20
"""Pages of entries that a completion searches."""
MOST_VALUES = 100
"""Completion values that the protocol allows."""


async def explain_log(context: Context, log: str, lang: Language | None) -> str:
    """Diagnose the log here; the prompt contains only those of its lines that support a match."""
    reply_lang = DiagnoseQuestion.model_validate({"text": log, "lang": lang}).reply_lang
    outcome = await tools.call(context, "diagnose", {"text": log, "lang": reply_lang.value})
    site = short_name(context.site(), reply_lang)
    return translate(reply_lang, "agents.prompt.explain", answer=outcome.text, site=site)


async def write_entry(context: Context, question: str, lang: Language | None) -> str:
    """Describe the format of an entry and the commands that check it."""
    reply_lang = SearchQuestion.model_validate({"query": question, "lang": lang}).reply_lang
    site = short_name(context.site(), reply_lang)
    return translate(reply_lang, "agents.prompt.write", question=question, site=site)


PROMPTS = {
    name: (types.Prompt(name=name, **tools.TEXTS["prompts"][name]), make)
    for name, make in (("explain-this-log", explain_log), ("write-an-entry", write_entry))
}
"""Prompts for users, each with the function that makes its text from its first argument."""


@dataclass(frozen=True, slots=True)
class Handlers:
    """Handlers of the protocol's requests."""

    context: Context

    async def list_tools(self, _call: Call, _params: Paging) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[_tool(each) for each in tools.TOOLS])

    async def call_tool(self, _call: Call, params: types.CallToolRequestParams) -> types.CallToolResult:
        """Call a tool; return text and structured content, or a text that describes the error and its remedy."""
        outcome = await tools.call(self.context, params.name, params.arguments or {})
        return types.CallToolResult(
            content=[types.TextContent(type="text", text=outcome.text)],
            structured_content=outcome.content,
            is_error=outcome.content is None,
        )

    async def list_resources(self, _call: Call, params: Paging) -> types.ListResourcesResult:
        """List the entries, page by page; the cursor of a page is the number of entries before it."""
        cursor = (params.cursor if params else None) or "0"
        if not cursor.isdecimal() or len(cursor) > MAX_CURSOR:
            raise MCPError(types.INVALID_PARAMS, "The cursor is not from this server.")
        try:
            found = await self.context.client.entries(Filters(), Language.EN, Window(PAGE, int(cursor)))
        except JiedaError as error:
            raise _protocol_error(error, Language.EN) from error
        listed = [
            types.Resource(
                uri=f"jieda://entry/{quote(each.id)}",
                name=each.id,
                title=each.title,
                mime_type=ENTRIES.mime_type,
            )
            for each in found.items
        ]
        end = int(cursor) + len(listed)
        following = str(end) if listed and end < found.total else None
        return types.ListResourcesResult(resources=listed, next_cursor=following)

    async def list_templates(self, _call: Call, _params: Paging) -> types.ListResourceTemplatesResult:
        return types.ListResourceTemplatesResult(resource_templates=[ENTRIES])

    async def read_resource(
        self, _call: Call, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        context, uri = self.context, str(params.uri)
        address = parse_address(uri)
        if address is None:
            unknown = "There is no such resource. `search` and `list` give ids of entries."
            raise MCPError(types.INVALID_PARAMS, unknown, {"uri": uri})
        entry_id, lang = address
        try:
            entry = await context.client.read(entry_id, lang)
        except JiedaError as error:
            raise _protocol_error(error, lang, uri) from error
        text = entry_form(entry, translator(entry.lang)).rstrip()
        text = random_fence(text).around(entry.id, text)
        contents = types.TextResourceContents(uri=uri, mime_type=ENTRIES.mime_type, text=text)
        return types.ReadResourceResult(contents=[contents])

    async def complete(self, _call: Call, params: types.CompleteRequestParams) -> types.CompleteResult:
        try:
            values = await _values(self.context.client, params)
        except JiedaError:
            values = []  # the framework is incomplete, or the server does not respond
        matching = sorted({value for value in values if value.startswith(params.argument.value)})
        completion = types.Completion(values=matching[:MOST_VALUES], has_more=len(matching) > MOST_VALUES)
        return types.CompleteResult(completion=completion)

    async def list_prompts(self, _call: Call, _params: Paging) -> types.ListPromptsResult:
        return types.ListPromptsResult(prompts=[prompt for prompt, _ in PROMPTS.values()])

    async def get_prompt(self, _call: Call, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        if params.name not in PROMPTS:
            raise MCPError(types.INVALID_PARAMS, f"The prompts are: {', '.join(PROMPTS)}.")
        prompt, make = PROMPTS[params.name]
        arguments, required = params.arguments or {}, next(iter(prompt.arguments or ())).name
        if not arguments.get(required):
            raise MCPError(types.INVALID_PARAMS, f"The prompt needs {required}.")
        lang = known_language(arguments.get("lang", ""))
        text = await make(self.context, arguments[required], lang)
        message = types.PromptMessage(role="user", content=types.TextContent(type="text", text=text))
        return types.GetPromptResult(description=prompt.description, messages=[message])


async def _values(client: Client, params: types.CompleteRequestParams) -> list[str]:
    """Return the possible values of a variable of the template, or of the `lang` of a prompt."""
    name = params.argument.name
    if name == "lang":
        return [lang.value for lang in Language]
    if name not in {"framework", "slug"} or isinstance(params.ref, types.PromptReference):
        return []
    if name == "framework":
        return [tag.id for tag in await client.tags("framework", Language.EN) if tag.count]
    arguments = (params.context.arguments if params.context else None) or {}
    framework = arguments.get("framework", "")
    return await _slugs(client, Filters(framework=(framework,)) if framework else Filters())


async def _slugs(client: Client, filters: Filters) -> list[str]:
    slugs: list[str] = []
    for number in range(MOST_PAGES):
        found = await client.entries(filters, Language.EN, Window(PAGE, number * PAGE))
        slugs += [each.id.partition("/")[2] for each in found.items]
        if len(slugs) >= found.total:
            break
    return slugs


def _protocol_error(error: JiedaError, lang: Language, uri: str = "") -> MCPError:
    """Return an error with the message of a tool; only an unknown entry is the client's fault."""
    code = types.INVALID_PARAMS if tools.names_no_entry(error) else types.INTERNAL_ERROR
    return MCPError(code, tools.failure(error, lang), {"uri": uri} if uri else None)


def _tool(tool: tools.Tool) -> types.Tool:
    return types.Tool(
        name=tool.name,
        **tools.TEXTS[tool.name],
        input_schema=tool.question.model_json_schema(),
        output_schema=schema_of(tool.answer, tool.view),
        annotations=READ_ONLY if tool.reads_only else COUNTING,
    )


def server_of(context: Context) -> Server[Any]:
    """Create the server for any transport, with the name and instructions of the current content."""
    handlers, site = Handlers(context), context.site()
    server: Server[Any] = Server(
        handle(site),
        title=site.name.get(Language.EN) or OURS,
        instructions=tools.INSTRUCTIONS.replace("{site}", short_name(site, Language.EN)),
        version=tools.VERSION,
        cache_hints={"tools/list": FIXED, "prompts/list": FIXED, "resources/templates/list": FIXED},
        on_list_tools=handlers.list_tools,
        on_call_tool=handlers.call_tool,
        on_list_resources=handlers.list_resources,
        on_list_resource_templates=handlers.list_templates,
        on_read_resource=handlers.read_resource,
        on_completion=handlers.complete,
        on_list_prompts=handlers.list_prompts,
        on_get_prompt=handlers.get_prompt,
    )
    # By default the SDK sends every call to any collector that the environment names.
    server.middleware.clear()
    return server


async def serve_stdio(context: Context, opening: Opening) -> None:
    """Process the lines of a client until their end."""
    server = server_of(context)
    lines = anyio.wrap_file(cast("IO[str]", opening))  # nothing else of the file interface is used
    async with stdio_server(lines, lines) as (received, sent):
        await server.run(received, sent, server.create_initialization_options())


async def serve_request(context: Context, body: bytes, scope: Scope, receive: Receive, send: Send) -> None:
    """Handle an HTTP request whose host, origin and `body` have been checked; nothing remains of it, so any worker can
    handle the next. One JSON document is the response."""
    replayed = iter([{"type": "http.request", "body": body, "more_body": False}])

    async def received() -> Message:
        return next(replayed, None) or await receive()

    manager = StreamableHTTPSessionManager(
        server_of(context), json_response=True, stateless=True, max_request_body_size=sys.maxsize
    )
    async with manager.run():
        await manager.handle_request(scope, received, send)
