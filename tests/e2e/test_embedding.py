"""`<jieda-search>` on a page of another site, and what the API says to such pages."""

import functools
import http.server
import re
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from tempfile import mkdtemp

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect

from tests.support.inside import Inside
from tests.support.server import ROOT

DOCUSAURUS = """<!doctype html><html lang="en" data-theme="light"><head><meta charset="utf-8"><title>Trainer</title>
<script src="SCRIPT" type="module"></script>
<style>.navbar { position: sticky; top: 0; z-index: 200; background: #fff } [class^=docRoot] { display: flex }
.markdown > h1 { font-size: 3rem } main { width: 100% }</style></head>
<body><div id="__docusaurus"></div><script>
const pages = { "/docs/": ["Trainer", "<jieda-search></jieda-search>"], "/docs/next": ["Next", "<p>More.</p>"] };
const links = Object.entries(pages).map(([path, [name]]) => `<a class="navbar__link" href="${path}">${name}</a>`);
const root = document.getElementById("__docusaurus");
const show = (path) => {
  const [name, body] = pages[path];
  root.innerHTML = `<nav class="navbar navbar--fixed-top">${links.join(" ")}</nav><div class="docRoot_UBD9"><main>
    <article><div class="theme-doc-markdown markdown"><h1>${name}</h1>${body}</div></article></main></div>`;
};
root.addEventListener("click", (event) => {
  if (event.target.localName !== "a") return;
  event.preventDefault();
  show(event.target.getAttribute("href"));
  history.pushState({}, "", event.target.href);
});
document.addEventListener("keydown", (event) => {
  if (event.key === "/" && !["INPUT", "TEXTAREA"].includes(event.target.tagName)) root.querySelector("a").focus();
});
show("/docs/");
</script></body></html>
"""
"""Content that a script puts in place, pages that change without loading, a bar that stays, `/` for the search."""


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name that the base class has
        pass


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of another site."""
    return tmp_path_factory.mktemp("elsewhere")


@pytest.fixture(scope="module")
def elsewhere(folder: Path) -> Iterator[str]:
    """The address of another site, which serves the files of `folder`."""
    handler = functools.partial(Quiet, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as site:
        threading.Thread(target=site.serve_forever, daemon=True).start()
        yield f"http://localhost:{site.server_port}"
        site.shutdown()


@pytest.fixture(scope="module")
def asked(elsewhere: str, inside: Callable[..., AbstractContextManager[Inside]]) -> Iterator[httpx.Client]:
    """A client of the server that the other site may ask."""
    with inside(cors_origins=elsewhere) as server, server.client() as client:
        yield client


@pytest.fixture(scope="module")
def base(asked: httpx.Client) -> str:
    """The address of that server."""
    return str(asked.base_url).rstrip("/")


@pytest.fixture
def embedded(browser: Browser, elsewhere: str, folder: Path, base: str) -> Iterator[Callable[..., Page]]:
    """Opens a page of the other site with the element, `embedded(attributes)`."""
    context = browser.new_context(viewport={"width": 360, "height": 740})

    def opened(attributes: str = "") -> Page:
        script = f'<script type="module" src="{base}/static/jieda-search.js"></script>'
        (folder / "index.html").write_text(
            f"<!doctype html><html lang=en><meta charset=utf-8>{script}<body>"
            f"<style>input {{ display: none }}</style><jieda-search {attributes}></jieda-search>"
        )
        page = context.new_page()
        page.goto(f"{elsewhere}/index.html")
        return page

    yield opened
    context.close()


def test_it_finds_and_leads_to_the_entry_by_keys_alone(embedded: Callable[..., Page]) -> None:
    page = embedded()
    field = page.locator("jieda-search input")
    field.fill("restart slime from the last checkpoint")
    options = page.locator("jieda-search [role=option]")
    expect(options.first).to_contain_text("slime")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    field.press("ArrowDown")
    expect(options.first).to_have_attribute("aria-selected", "true")
    expect(field).to_have_attribute("aria-activedescendant", "option-0")
    field.press("Enter")
    page.wait_for_url("**/en/entries/slime/resume-training")
    assert page.context.cookies() == []


def test_it_speaks_chinese_waits_for_an_input_method_and_says_when_nothing_fits(
    embedded: Callable[..., Page], base: str
) -> None:
    page = embedded(f'lang="zh" framework="slime" limit="99" server="{base.removeprefix("http:")}/"')
    field = page.locator("jieda-search input")
    expect(field).to_have_attribute("placeholder", "粘贴报错或输入问题")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    field.dispatch_event("compositionstart")
    field.fill("xian")
    page.wait_for_timeout(500)
    assert asked == []
    field.fill("显存不足")
    field.dispatch_event("compositionend")
    expect(page.locator("jieda-search [role=option]").first).to_be_visible()
    assert all("framework=slime" in each for each in asked)
    field.press("Escape")
    expect(page.locator("jieda-search [role=listbox]")).to_be_hidden()
    field.fill("怎么做红烧肉")
    listed = page.locator("jieda-search [role=listbox]")
    expect(listed).to_contain_text("没有")


def test_code_stays_code_in_what_is_found(embedded: Callable[..., Page]) -> None:
    page = embedded('lang="zh"')
    page.locator("jieda-search input").fill("怎么设置 max_tokens_per_gpu")
    expect(page.locator("jieda-search code mark").first).to_contain_text("max-tokens-per-gpu")
    line = page.locator("jieda-search small:has(code)").first
    size, font = "n => getComputedStyle(n).fontSize", "n => getComputedStyle(n).fontFamily"
    assert line.evaluate(font) != line.locator("code").first.evaluate(font)
    assert line.evaluate(size) != line.locator("code").first.evaluate(size)


def test_an_error_of_several_frameworks_is_asked_about_before_its_entries(
    embedded: Callable[..., Page],
) -> None:
    page = embedded()
    field, listed = page.locator("jieda-search input"), page.locator("jieda-search [role=listbox]")
    field.fill("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 9.28 GiB.")
    expect(listed).to_contain_text("Which framework?")
    titles = page.locator("jieda-search strong").all_text_contents()
    assert {name for name in ("slime", "ROLL", "ChatLearn") if name in " ".join(titles[:3])} == {
        "slime",
        "ROLL",
        "ChatLearn",
    }
    assert len(set(titles)) == len(titles)
    field.fill("how do I resume training in slime")
    expect(listed).to_contain_text("saved checkpoint")
    expect(listed).not_to_contain_text("check the cause")


def documented(language: str, marker: str, base: str) -> str:
    """The lines for a site generator in docs/embedding.md, for a server at `base`."""
    text = (ROOT / "docs/embedding.md").read_text(encoding="utf-8")
    blocks = re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)
    (found,) = [block for block in blocks if marker in block]
    return str(found).replace("https://faq.example.com", base)


def generator(name: str) -> Path:
    program = ROOT / ".venv-sites/bin" / name
    if not program.is_file():
        pytest.skip(f"{name} is not installed: make sites")
    return program


def mkdocs(folder: Path, base: str) -> None:
    settings = (
        "site_name: Trainer\nuse_directory_urls: false\ntheme: {name: mkdocs, highlightjs: false}\n"
        + documented("yaml", "extra_javascript", base)
    )
    (folder / "mkdocs.yml").write_text(settings)
    (folder / "docs").mkdir()
    (folder / "docs/index.md").write_text(
        "# Trainer\n\n" + documented("html", "<script", base).splitlines()[1]
    )
    (folder / "docs/next.md").write_text("# Next\n")
    built(generator("mkdocs"), "build", "--strict", "-f", folder / "mkdocs.yml", "-d", folder / "site")


def sphinx(folder: Path, base: str) -> None:
    keys = 'project = "Trainer"\nhtml_theme_options = {"navigation_with_keys": True}\n'
    (folder / "conf.py").write_text(keys + documented("python", "html_js_files", base))
    page = f"Trainer\n=======\n\n{documented('rst', 'raw', base)}\n.. toctree::\n\n   next\n"
    (folder / "index.rst").write_text(page)
    (folder / "next.rst").write_text("Next\n====\n")
    built(generator("sphinx-build"), "-W", "-q", folder, folder / "site")


def docusaurus(folder: Path, base: str) -> None:
    """A page with the structure of one, not one that Docusaurus built: see docs/decisions.md."""
    (script,) = re.findall(r'src: "([^"]+)", type: "module"', documented("js", "scripts", base))
    site = folder / "site"
    site.mkdir()
    (site / "index.html").write_text(DOCUSAURUS.replace("SCRIPT", script))


def built(*command: str | Path) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("build", [mkdocs, sphinx, docusaurus])
def test_it_works_on_the_pages_of_site_generators(
    build: Callable[[Path, str], None], browser: Browser, elsewhere: str, folder: Path, base: str
) -> None:
    # A folder of its own each time: the test is tried again where a busy machine holds the browser up.
    files = Path(mkdtemp(dir=folder))
    build(files, base)
    page = browser.new_page()
    failed: list[str] = []
    page.on("pageerror", lambda error: failed.append(str(error)))
    page.goto(f"{elsewhere}/{files.name}/site/index.html")
    if build is docusaurus:
        for name in ("Next", "Trainer"):
            page.get_by_role("link", name=name).click()
            expect(page.locator("h1")).to_have_text(name)
    here = page.url
    field, first = page.locator("jieda-search input"), page.locator("jieda-search [role=option]").first
    # Letters that are shortcuts of these pages: next, previous, search, help.
    field.press_sequentially("n p s / ? ")
    expect(field).to_be_focused()
    field.fill("restart slime from the last checkpoint")
    expect(first).to_contain_text("slime")
    field.press("ArrowRight")
    field.press("ArrowLeft")
    box = first.bounding_box()
    assert box
    middle = [box["x"] + box["width"] / 2, box["y"] + box["height"] / 2]
    on_top = page.evaluate("([x, y]) => document.elementFromPoint(x, y).localName", middle)
    assert (on_top, page.url) == ("jieda-search", here)
    field.press("ArrowDown")
    field.press("Enter")
    page.wait_for_url("**/en/entries/slime/resume-training")
    assert failed == []
    page.close()


def test_a_server_that_does_not_answer_is_told(embedded: Callable[..., Page]) -> None:
    page = embedded('server="http://127.0.0.1:9"')
    page.locator("jieda-search input").fill("anything")
    expect(page.locator("jieda-search [role=listbox]")).to_have_text("The search does not answer.")


def test_only_the_sites_that_are_named_may_ask_and_only_the_api(
    asked: httpx.Client, client: httpx.Client, elsewhere: str
) -> None:
    theirs, others = {"Origin": elsewhere}, {"Origin": "https://evil.example"}
    preflight = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "content-type"}
    search, diagnose = "/api/v1/search?q=oom", "/api/v1/diagnose"
    allowed = "access-control-allow-origin"
    for _ in range(2):  # the second time from the cache of answers
        assert asked.get(search, headers=theirs).headers[allowed] == theirs["Origin"]
        assert allowed not in asked.get(search, headers=others).headers
        assert allowed not in asked.get(search).headers
    assert asked.options(diagnose, headers=theirs | preflight).headers[allowed] == theirs["Origin"]
    assert asked.options(diagnose, headers=others | preflight).status_code == 400
    answer = asked.get(search, headers=theirs)
    assert "access-control-allow-credentials" not in answer.headers
    assert "etag" in answer.headers["access-control-expose-headers"].lower()
    again = {"Access-Control-Request-Method": "GET", "Access-Control-Request-Headers": "if-none-match"}
    assert asked.options(search, headers=theirs | again).status_code == 200
    for path in ("/en/", "/en/entries/slime/resume-training", "/static/app.js"):
        assert allowed not in asked.get(path, headers=theirs).headers
    assert allowed not in client.get(search, headers=theirs).headers


def test_the_element_is_small() -> None:
    assert (ROOT / "static/jieda-search.js").stat().st_size < 15_000
