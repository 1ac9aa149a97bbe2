"""The only module that imports the MCP SDK: our tools, resources and prompts in its types.

The SDK is an optional extra: other modules import this one only where it is installed.
"""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import IO, Any, cast

import anyio
import mcp_types as types
from mcp.server.caching import CacheHint
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.shared.exceptions import MCPError
from starlette.requests import Request
from starlette.types import Receive, Scope, Send

from jieda.agents import prompts, resources, tools
from jieda.agents.answering import Context
from jieda.agents.answers import schema_of
from jieda.agents.opening import Opening
from jieda.agents.questions import parse_address
from jieda.entry import Language
from jieda.errors import JiedaError
from jieda.presentation import fence
from jieda.presentation.brand import OURS, handle, short_name

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


class Handlers:
    """Handlers of the protocol's requests. Each gets its context from the HTTP request that carried it, if any."""

    def __init__(self, context_of: Callable[[Any], Context]) -> None:
        self._context_of = context_of

    async def list_tools(self, _call: Call, _params: Paging) -> types.ListToolsResult:
        """List the tools with their schemas."""
        return types.ListToolsResult(tools=[_tool(each) for each in tools.TOOLS])

    async def call_tool(self, call: Call, params: types.CallToolRequestParams) -> types.CallToolResult:
        """Call a tool; return text and structured content, or an error as text that says what to do."""
        outcome = await tools.call(self._context_of(call.request), params.name, params.arguments or {})
        return types.CallToolResult(
            content=[types.TextContent(type="text", text=outcome.text)],
            structured_content=outcome.content,
            is_error=outcome.content is None,
        )

    async def list_resources(self, call: Call, params: Paging) -> types.ListResourcesResult:
        """List the entries, page by page."""
        context = self._context_of(call.request)
        try:
            found, cursor = await resources.page(context.client, params.cursor if params else None)
        except ValueError as error:
            raise MCPError(types.INVALID_PARAMS, "The cursor is not from this server.") from error
        except JiedaError as error:
            raise await _protocol_error(context, error, Language.EN) from error
        listed = [
            types.Resource(
                uri=resources.address(each.id), name=each.id, title=each.title, mime_type=resources.MEDIA_TYPE
            )
            for each in found
        ]
        return types.ListResourcesResult(resources=listed, next_cursor=cursor)

    async def list_templates(self, _call: Call, _params: Paging) -> types.ListResourceTemplatesResult:
        """Return the only resource template."""
        template = types.ResourceTemplate(
            uri_template=resources.TEMPLATE,
            name="entry",
            title="Entry",
            description=resources.DESCRIPTION,
            mime_type=resources.MEDIA_TYPE,
        )
        return types.ListResourceTemplatesResult(resource_templates=[template])

    async def read_resource(
        self, call: Call, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        """Return a whole entry inside a fence."""
        context, named = self._context_of(call.request), parse_address(str(params.uri))
        if named is None:
            raise MCPError(types.INVALID_PARAMS, resources.NONE_SUCH, {"uri": str(params.uri)})
        entry_id, lang = named
        try:
            entry = await context.client.read(entry_id, lang)
        except JiedaError as error:
            raise await _protocol_error(context, error, lang, str(params.uri)) from error
        text = f"# {entry.title}\n\n{entry.markdown.strip()}"
        text = fence.random_fence(text).around(entry.id, text)
        contents = types.TextResourceContents(uri=str(params.uri), mime_type=resources.MEDIA_TYPE, text=text)
        return types.ReadResourceResult(contents=[contents])

    async def complete(self, call: Call, params: types.CompleteRequestParams) -> types.CompleteResult:
        """Complete the variables of the template and the `lang` of a prompt."""
        given = (params.context.arguments if params.context else None) or {}
        of_prompt = isinstance(params.ref, types.PromptReference) and params.argument.name != "lang"
        name = "" if of_prompt else params.argument.name
        try:
            values, more = await resources.complete(
                self._context_of(call.request), name, params.argument.value, given.get("framework", "")
            )
        except JiedaError:
            # The framework is incomplete, or the server does not respond: no completions.
            values, more = [], False
        return types.CompleteResult(completion=types.Completion(values=values, has_more=more))

    async def list_prompts(self, _call: Call, _params: Paging) -> types.ListPromptsResult:
        """List the prompts with their arguments."""
        return types.ListPromptsResult(prompts=[_prompt(each) for each in prompts.PROMPTS])

    async def get_prompt(self, call: Call, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        """Return the text of a prompt as a user message."""
        prompt, given = prompts.NAMED.get(params.name), params.arguments or {}
        if prompt is None:
            raise MCPError(types.INVALID_PARAMS, f"The prompts are: {', '.join(prompts.NAMED)}.")
        if not given.get(prompt.argument):
            raise MCPError(types.INVALID_PARAMS, f"The prompt needs {prompt.argument}.")
        text = await prompt.make(self._context_of(call.request), given)
        message = types.PromptMessage(role="user", content=types.TextContent(type="text", text=text))
        return types.GetPromptResult(description=prompt.description, messages=[message])


async def _protocol_error(context: Context, error: JiedaError, lang: Language, uri: str = "") -> MCPError:
    """Return the error with a tool's message: clients can correct an unknown entry, but nothing else."""
    code = types.INVALID_PARAMS if tools.names_no_entry(error) else types.INTERNAL_ERROR
    return MCPError(code, tools.failure(context, error, lang), {"uri": uri} if uri else None)


def _tool(tool: tools.Tool) -> types.Tool:
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=tool.question.model_json_schema(),
        output_schema=schema_of(tool.answer, tool.view),
        annotations=READ_ONLY if tool.reads_only else COUNTING,
    )


def _prompt(prompt: prompts.Prompt) -> types.Prompt:
    arguments = [
        types.PromptArgument(name=prompt.argument, description=prompt.about, required=True),
        types.PromptArgument(name="lang", description=prompts.LANG, required=False),
    ]
    return types.Prompt(
        name=prompt.name, title=prompt.title, description=prompt.description, arguments=arguments
    )


def server_of(context_of: Callable[[Any], Context]) -> Server[Any]:
    """Create the server for any transport; it has no name yet."""
    handlers = Handlers(context_of)
    server: Server[Any] = Server(
        "",
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


def introduce(server: Server[Any], context: Context) -> None:
    """Set a server's name and instructions from the current content."""
    site = context.site()
    server.name = handle(site)
    server.title = site.name.get(Language.EN) or OURS
    server.instructions = tools.INSTRUCTIONS.replace("{site}", short_name(site, Language.EN))


async def serve_stdio(context: Context, opening: Opening) -> None:
    """Process the lines of a client until their end."""
    server = server_of(lambda _: context)
    introduce(server, context)
    lines = anyio.wrap_file(cast("IO[str]", opening))  # nothing else of the file interface is used
    async with stdio_server(lines, lines) as (received, sent):
        await server.run(received, sent, server.create_initialization_options())


class HttpEndpoint:
    """Streamable HTTP, stateless, one JSON document per response: any worker can handle any request."""

    def __init__(self, context_of: Callable[[Request], Context], most_bytes: int) -> None:
        self._context_of, self._server = context_of, server_of(context_of)
        self._manager = StreamableHTTPSessionManager(
            self._server, json_response=True, stateless=True, max_request_body_size=most_bytes
        )

    def running(self) -> AbstractAsyncContextManager[None]:
        """Handle requests while this context is open. To be entered once."""
        return self._manager.run()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request whose host, origin and size have been checked."""
        introduce(self._server, self._context_of(Request(scope)))
        await self._manager.handle_request(scope, receive, send)
