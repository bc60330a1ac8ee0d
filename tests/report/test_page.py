"""The page is one small file that asks nothing of the network, in which names are only text."""

import base64
import hashlib
import json
import re
from html import unescape
from html.parser import HTMLParser
from importlib.resources import files

import numpy as np
import oracles
import pandas as pd
import pytest
from sklearn.base import clone

from lorenyi import Gaussian, Renyi, report
from lorenyi.plots.style import ACCENT, INK, SERIES, SOFT
from lorenyi.report import Finding, Table
from lorenyi.report.page import embedded, write
from lorenyi.report.pairs import clustered
from lorenyi.report.pictures import CLASSES
from lorenyi.report.wording import listed
from lorenyi.selection import JMI, InformationSelector, JointInformation
from lorenyi.selection.counts import equal_frequency

RNG = np.random.default_rng(8)
X = RNG.normal(size=(50, 4))
X[:, 3] = X[:, 0] + 0.1 * RNG.normal(size=50)
Y = (X[:, 0] + X[:, 1] > 0).astype(int)
HOSTILE = [
    "<script>alert(1)</script>",
    "</script><img src=x onerror=alert(2)>",
    "\"quoted\" & 'single' {{data}} \\u003c",
    "\u2028line\u2029 🦊 \ud800",
]
FRAME = pd.DataFrame(X, columns=[*HOSTILE[:3], "{{script}}"])


class Elements(HTMLParser):
    """The elements of a page, and the text of scripts."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.scripts, self.style, self.inside = [], [], "", None
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self.inside = tag

    def handle_endtag(self, tag):
        self.inside = None

    def handle_data(self, data):
        if self.inside == "script":
            self.scripts.append(data)
        elif self.inside == "style":
            self.style += data


def finding(name="x", columns=None):
    table = Table(["column", "bits"], [[name, 0.5]])
    section = {"kind": "table", "title": name, "columns": ["column"], "rows": [[name]]}
    answer = [f"{name} tells most.", f"Again {name}."]
    return Finding(
        f"What about {name}?",
        answer,
        [("1", name)],
        table,
        {"name": name},
        python=f"table[{name!r}]",
        sections=lambda: [section],
        columns=columns,
        command=f"lorenyi {name}",
        notes=[name],
    )


@pytest.mark.parametrize("name", HOSTILE)
def test_names_stay_text(name):
    text = finding(name).html()
    found = Elements(text)
    assert len(found.scripts) == 2
    assert json.loads(found.scripts[0])["sections"][0]["title"] == name
    assert not [tag for tag, _ in found.tags if tag == "img"]
    assert not [a for _, attributes in found.tags for a in attributes if a.startswith("on")]
    heading = re.search(r"<h1>(.*?)</h1>", text, re.DOTALL)[1]
    assert unescape(heading) == f"{name} tells most."


@pytest.mark.parametrize("value", [*HOSTILE, {"&": ["<", ">", "\u2029"]}])
def test_data_survive_the_page(value):
    text = embedded(value)
    assert not set(text) & set("<>&\u2028\u2029")
    assert json.loads(text) == value


def test_the_policy_allows_this_script_and_style_and_nothing_else():
    found = Elements(finding().html())
    policy = next(a["content"] for _, a in found.tags if "http-equiv" in a)
    assert policy.startswith("default-src 'none';")
    for kind, text in (("script-src", found.scripts[1]), ("style-src", found.style)):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{kind} 'sha256-{digest}';" in policy
    assert "unsafe" not in policy


def test_there_is_no_outside_address():
    text = finding().html()
    assert not re.findall(r"(?:https?:)?//\w[^\s]*", re.sub(r"^\s*//.*$", "", text, flags=re.M))
    assert not re.findall(r"@import|url\(", text)


def test_ten_thousand_columns_fit():
    names = [f"{'column ' * 5}{i}" for i in range(10_000)]
    rows = [[name, "numbers", 7] for name in names]
    text = finding(columns=Table(["column", "read as", "values"], rows)).html()
    assert len(text.encode()) < 1_500_000
    sections = json.loads(Elements(text).scripts[0])["sections"]
    assert len(sections[-1]["rows"]) == 10_000
    long = Table(["column"], [[f"{name} {'x' * 150}"] for name in names])
    cut = finding(columns=long).html()
    assert len(cut.encode()) < 1_500_000
    assert re.search(r"The first [\d,]+ of 10,000 are shown", cut)


def test_a_file_appears_whole_or_not_at_all(tmp_path):
    path = tmp_path / "page.html"
    path.write_text("old")
    with pytest.raises(AttributeError):
        write(None, path)
    assert path.read_text() == "old"
    finding(HOSTILE[3]).save(path)
    assert "tells most" in path.read_text(encoding="utf-8")
    assert [p.name for p in tmp_path.iterdir()] == ["page.html"]


# ------------------------------------------------------------------------------ what it shows


def sections(found):
    return {s["title"]: s for s in found.sections()}


def test_the_selection_says_what_when_and_why():
    selector = InformationSelector(2).fit(FRAME, Y)
    found = report.selection(selector, FRAME, Y, target="y")
    names = [FRAME.columns[j] for j in selector.indices_]
    assert found.answer[0] == (
        f"The 2 most informative of 4 columns about y are {names[0]} and {names[1]}."
    )
    assert "2 columns were requested." in found.answer
    whole = -np.mean(np.log2(np.where(Y, np.mean(Y), np.mean(1 - Y))))
    share = 100 * selector.scores_[-1] / whole
    assert f"({share:.0f} %)" in found.answer[1]
    shown = sections(found)
    path = shown["Score path"]
    assert [row["name"] for row in path["rows"]][:2] == names
    assert [row["hollow"] for row in path["rows"]] == [False, False, True, True]
    assert path["stop"] == 2
    points = {p["name"]: p for p in shown["Relevance against redundancy"]["points"]}
    assert [points[name]["step"] for name in names] == [1, 2]
    heat = shown["Dependence of columns"]
    i, j = (heat["names"].index(FRAME.columns[k]) for k in (0, 3))
    most = max(v for row in heat["matrix"] for v in row if v is not None)
    assert heat["matrix"][i][j] == most  # the copy with noise
    values = shown["Spectrum of the chosen columns"]["series"][0]["values"]
    assert values == sorted(values, reverse=True)


@pytest.mark.parametrize("entropy", [Renyi(2, 100), Renyi(1.01), None])
def test_the_share_is_of_the_target_as_the_selector_reads_it(entropy):
    """Its kernel is not the features', and weights count rows."""
    y = 3.0 * X[:, 0] + X[:, 1]
    weights = np.arange(len(y)) % 3 + 1.0
    points = np.repeat(y, weights.astype(int))
    z = (points - points.mean()) / points.std()
    K = np.exp(-0.5 * (z[:, None] - z) ** 2)
    if entropy is None:
        bins = equal_frequency(points, 5)
        K = np.equal.outer(bins, bins)
    whole = oracles.entropy(K / len(K), 1 if entropy is None else entropy.alpha)
    criterion = JointInformation(entropy, 5)
    selector = InformationSelector(
        2, criterion=criterion, kernel=Gaussian(0.2), standardize=False, task="regression"
    ).fit(X, y, weights)
    found = report.selection(selector, X, y, sample_weight=weights)
    assert found.extra["target_entropy"] == pytest.approx(whole, abs=1e-4)
    order = "" if entropy is None else f", order {entropy.alpha:g}"
    assert f"({100 * selector.scores_[-1] / whole:.0f} %{order})" in found.answer[1]
    assert ".fit(X, y, sample_weight)" in found.python


def leaves(thing):
    """The values in nested lists and mappings, in order."""
    if isinstance(thing, dict):
        thing = list(thing.values())
    return [v for part in thing for v in leaves(part)] if isinstance(thing, list) else [thing]


def test_weighted_rows_have_the_pictures_of_repeated_ones():
    weights = np.arange(len(Y)) % 3 + 1
    often = FRAME.loc[FRAME.index.repeat(weights)], np.repeat(Y, weights)
    selector = InformationSelector(2, random_state=0)
    one = report.selection(
        clone(selector).fit(FRAME, Y, weights), FRAME, Y, sample_weight=weights
    ).sections()
    other = report.selection(clone(selector).fit(*often), *often).sections()
    for left, right in zip(leaves(one), leaves(other), strict=True):
        close = isinstance(left, float) and left == pytest.approx(right, abs=1e-6)
        assert close or left == right


def test_other_criteria_and_the_automatic_stop_have_their_words():
    selector = InformationSelector(criterion=JMI(bins=2), level=0.08).fit(X, Y)
    found = report.selection(selector, X, Y)
    assert len(found.table.rows) >= 1
    assert "stopped by itself" in " ".join(found.answer)
    assert "adds" not in found.table.columns
    assert "p" in found.table.columns
    assert found.settings["information"] == "Shannon's, 2 bins of equal frequency"
    assert "from" not in sections(found)["Score path"]["rows"][0]


def test_columns_that_are_relevant_by_themselves_are_no_steps():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(400, 4))
    x[:, 3] = x[:, 0]
    y = np.where(x[:, 0] + x[:, 1] > 0, "a", "b")
    selector = InformationSelector("relevant").fit(x, y)
    assert len(selector.indices_) > len(selector.path_)
    found = report.selection(selector, x, y)
    assert "nan" not in " ".join(found.answer)
    assert "informative only without the others" in " ".join(found.answer)
    assert "<html" in found.html()


def test_names_in_a_row():
    assert [listed(["a"]), listed(["a", "b"]), listed(list("abcd"), 2)] == [
        "a",
        "a and b",
        "a, b and 2 more",
    ]


def test_constant_columns_do_not_disturb_the_clusters():
    shared = np.array([[1.0, 0.9, 0.0], [0.9, 1.0, 0.0], [0.0, 0.0, 0.0]])
    order, groups = clustered(shared)
    assert sorted(order) == [0, 1, 2]
    assert [sorted(group) for group in groups] == [[0, 1]]


def test_the_page_has_the_colors_of_the_plots():
    css = files("lorenyi.report").joinpath("page.css").read_text(encoding="utf-8")
    light = css[: css.index("@media")]  # dark pages have lighter ones
    found = dict(re.findall(r"--(\w+): (#[0-9a-f]{6})", light))
    hues = re.findall(r"\.series\d \{ --hue: var\(--(\w+)\)", css)
    assert [found[hue] for hue in hues] == list(SERIES[: len(hues)])
    assert len(hues) == CLASSES
    assert (found["ink"], found["soft"], found["pick"]) == (INK, SOFT, ACCENT)
