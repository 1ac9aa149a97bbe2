"""The page that sets clients up, the files that it offers, and what leads there."""

import re
from html import unescape

import pytest
import yaml
from jieda.web.pages.agents import SETUPS

from tests.support.server import Server


@pytest.mark.parametrize(("lang", "words"), [("en", "Set your client up"), ("zh", "配置你的客户端")])
def test_every_set_up_has_the_address_of_this_server(server: Server, lang: str, words: str) -> None:
    with server.client() as client:
        page = client.get(f"/{lang}/agents").text
        home = client.get(f"/{lang}/").text
        listed = client.get(f"/{lang}/llms.txt").text
        skill = client.get(f"/{lang}/agents/SKILL.md")
        paragraph = client.get(f"/{lang}/agents/AGENTS.md")
        missing = client.get(f"/{lang}/agents/other.md")
    assert words in page
    blocks = [
        unescape(block)
        for block in re.findall(r"<pre tabindex=\"0\"><code>(.*?)</code></pre>", page, re.DOTALL)
    ]
    assert len(blocks) == len(SETUPS) + 5
    assert not [block for block in blocks if server.base not in block]
    assert f'href="/{lang}/agents"' in home
    assert f"/{lang}/agents/SKILL.md" in listed
    assert skill.headers["content-type"].startswith("text/markdown")
    front_matter = yaml.safe_load(skill.text.split("---")[1])
    assert front_matter["name"] == "jieda"
    assert front_matter["description"]
    assert server.base in skill.text
    assert server.base in paragraph.text
    assert {"`known`", "`possible`", "`near`", "`unknown`"} <= set(re.findall("`[a-z]+`", paragraph.text))
    assert "`matched`" not in paragraph.text, "no tool says so"
    assert missing.status_code == 404
