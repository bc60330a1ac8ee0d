"""Reports in a real browser: they draw, hover, sort, fit a phone, and run nothing of a name's."""

import json
import shutil
import tempfile

import numpy as np
import pandas as pd
import pytest

webdriver = pytest.importorskip("selenium.webdriver")
from selenium.common.exceptions import StaleElementReferenceException  # noqa: E402
from selenium.webdriver.chrome.service import Service  # noqa: E402
from selenium.webdriver.common.action_chains import ActionChains  # noqa: E402
from selenium.webdriver.common.by import By  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402
from selenium.webdriver.support.ui import WebDriverWait  # noqa: E402

from lorenyi import report  # noqa: E402
from lorenyi.report import Table  # noqa: E402
from lorenyi.selection import MRMR, InformationSelector  # noqa: E402

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
DRIVER = shutil.which("chromedriver")
CARD = ".card", "background-color"
PATIENCE = 60  # seconds after which a browser is taken to have stopped
pytestmark = pytest.mark.skipif(
    not (CHROMIUM and DRIVER), reason="needs chromium and chromedriver (Debian: chromium-driver)"
)

RNG = np.random.default_rng(2)
X = RNG.normal(size=(50, 5))
X[:, 4] = X[:, 1] + 0.3 * RNG.normal(size=50)
Y = (X[:, 1] + X[:, 2] > 0).astype(int)
PLAIN = [
    "height",
    "weight",
    "age",
    "income",
    "a name that is longer than a phone's screen is wide, by far",
]
HOSTILE = [
    "<script>alert(1)</script>",
    "</script><script>alert(2)</script>",
    "<img src=x onerror=alert(3)>",
    "\"'><svg onload=alert(4)> {{script}} `${alert(5)}`",
    "🦊 \u2028 \u202e reversed",
]


@pytest.fixture(scope="module")
def browser():
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        for argument in (
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            f"--user-data-dir={profile}",
        ):
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        driver = webdriver.Chrome(options=options, service=Service(DRIVER))
        driver.set_script_timeout(PATIENCE)
        yield driver
        driver.quit()


@pytest.fixture
def open_page(browser, tmp_path):
    """Open a finding's page at a width; afterwards nothing was logged and nothing was fetched."""

    def opened(found, width=1200):
        path = tmp_path / "page.html"
        found.save(path)
        assert path.stat().st_size < 1_500_000
        for log in ("browser", "performance"):
            browser.get_log(log)
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        browser.get(path.as_uri())
        until(browser, lambda: browser.find_elements(By.CSS_SELECTOR, "html[data-ready=true]"))
        settle(browser)  # what is drawn anew when its width is known
        return browser

    yield opened
    assert browser.get_log("browser") == []
    messages = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    asked = [
        m["params"]["request"]["url"]
        for m in messages
        if m["method"] == "Network.requestWillBeSent"
    ]
    assert [url for url in asked if not url.startswith(("file:", "data:", "chrome"))] == []


def selection(names, columns=None):
    frame = pd.DataFrame(X, columns=names)
    selector = InformationSelector(2, criterion=MRMR()).fit(frame, Y)
    found = report.selection(selector, frame, Y, target="y")
    found.columns = columns or Table(["column", "read as"], [[name, "numbers"] for name in names])
    found.command = "lorenyi select"
    return found


@pytest.fixture(scope="module")
def plain():
    return selection(PLAIN)


def until(page, condition):
    """Wait for a condition, also while elements are being replaced."""
    wait = WebDriverWait(page, PATIENCE, 0.02, (StaleElementReferenceException,))
    return wait.until(lambda _: condition())


def settle(page):
    """Wait for three frames: one tells of scrolling and of sizes, the next draws what they ask."""
    page.execute_async_script(
        "const done = arguments[0], frame = (left) => "
        "left ? requestAnimationFrame(() => frame(left - 1)) : done(); frame(3);"
    )


def texts(root, selector):
    return [node.text for node in root.find_elements(By.CSS_SELECTOR, selector)]


def tip(page):
    return page.find_element(By.ID, "tip")


def card(page, title):
    """Return the section with a title, in view."""
    for section in page.find_elements(By.CSS_SELECTOR, ".card"):
        if section.find_element(By.TAG_NAME, "h2").text == title:
            page.execute_script("arguments[0].scrollIntoView({block: 'center'})", section)
            settle(page)  # scrolling hides the tip, but not at once
            return section
    raise AssertionError(title)


def test_the_page_draws_every_picture(open_page, plain):
    page = open_page(plain)
    assert page.find_element(By.TAG_NAME, "h1").text == plain.answer[0]
    path = card(page, "Score path")
    assert len(texts(path, "li:not(.stop)")) == 5
    assert len(texts(path, "i.range")) == 5
    pictures = card(page, "Chosen columns against y")
    assert texts(pictures, "figcaption") == [row[1] for row in plain.table.rows]
    assert len(texts(pictures, "path.area")) == 4  # two columns, two classes
    assert texts(pictures, ".legend span") == ["0", "1"]
    assert len(texts(card(page, "Relevance against redundancy"), "g circle")) == 5
    assert len(texts(card(page, "Dependence of columns"), "rect.cell")) == 20
    assert len(texts(card(page, "Spectrum of the chosen columns"), "circle.point")) > 10
    assert len(texts(card(page, "Candidates"), "tbody tr")) == 5
    assert "selector.get_feature_names_out()" in page.find_element(By.ID, "method").text


def test_hovering_tells_the_numbers(open_page, plain):
    page = open_page(plain)
    row = card(page, "Score path").find_element(By.CSS_SELECTOR, "li")
    ActionChains(page).move_to_element(row).perform()
    name, value = plain.table.rows[0][1:3]
    until(page, lambda: tip(page).text.splitlines()[:2] == [name, f"{value:.3f} bits"])
    cell = card(page, "Dependence of columns").find_element(By.CSS_SELECTOR, "rect.cell")
    ActionChains(page).move_to_element(cell).perform()
    until(page, lambda: "share" in tip(page).text)
    ActionChains(page).move_to_element(page.find_element(By.TAG_NAME, "h1")).perform()
    until(page, lambda: not tip(page).is_displayed())


def test_tables_sort_and_find(open_page, plain):
    page = open_page(plain)
    table = card(page, "Candidates")
    button = table.find_element(By.XPATH, ".//th/button[text()='relevance']")

    def column():
        return [float(text) for text in texts(table, "tbody td:nth-child(3)")]

    falling = sorted(column(), reverse=True)
    assert len(set(falling)) > 1
    button.click()
    until(page, lambda: column() == falling)
    assert button.find_element(By.XPATH, "..").get_attribute("aria-sort") == "descending"
    button.click()
    until(page, lambda: column() == falling[::-1])
    table.find_element(By.XPATH, ".//th/button[text()='column']").click()
    until(page, lambda: texts(table, "tbody td:first-child") == sorted(PLAIN))


def test_a_picked_column_is_marked_everywhere(open_page, plain):
    page = open_page(plain)
    row = card(page, "Score path").find_element(By.CSS_SELECTOR, "li")
    row.click()
    marked = until(page, lambda: page.find_elements(By.CSS_SELECTOR, ".picked"))
    assert {node.get_attribute("data-column") for node in marked} == {plain.table.rows[0][1]}
    assert {node.tag_name for node in marked} == {"li", "figure", "g", "text", "tr"}
    row.send_keys(Keys.ESCAPE)
    until(page, lambda: not page.find_elements(By.CSS_SELECTOR, ".picked"))


def test_the_keyboard_is_enough(open_page, plain):
    page = open_page(plain)
    heat = card(page, "Dependence of columns").find_element(By.CSS_SELECTOR, "svg.heat")
    page.execute_script("arguments[0].focus()", heat)
    ActionChains(page).send_keys(Keys.ARROW_RIGHT, Keys.ARROW_DOWN).perform()
    until(page, lambda: tip(page).is_displayed())
    assert heat.get_attribute("aria-label")
    page.execute_script("document.activeElement.blur()")
    reached = set()
    for _ in range(50):
        ActionChains(page).send_keys(Keys.TAB).perform()
        active = page.switch_to.active_element
        reached.add(active.tag_name)
        label = active.get_attribute("aria-label") or active.text
        assert label or active.tag_name in ("input", "select", "body", "html")
    assert {"li", "figure", "g", "button", "select", "summary"} <= reached


def test_order_and_scale_can_be_changed(open_page, plain):
    page = open_page(plain)
    heat = card(page, "Dependence of columns")
    before = texts(heat, "svg text.mark")
    heat.find_element(By.XPATH, ".//option[text()='by name']").click()
    until(page, lambda: texts(heat, "svg text.mark") != before)
    after = texts(heat, "svg text.mark")
    assert [text.rsplit(" ", 1)[0][:3] for text in after] == sorted(name[:3] for name in PLAIN)
    curve = card(page, "Spectrum of the chosen columns")

    def drawn():
        return curve.find_element(By.CSS_SELECTOR, "path.curve").get_attribute("d")

    curve.find_element(By.TAG_NAME, "summary").click()
    until(page, lambda: curve.find_elements(By.CSS_SELECTOR, "path.curve"))
    logarithmic = drawn()
    curve.find_element(By.TAG_NAME, "button").click()
    until(page, lambda: drawn() != logarithmic)


@pytest.mark.parametrize("width", [380, 700, 1200])
def test_nothing_is_wider_than_the_screen(open_page, plain, width):
    page = open_page(plain, width)
    wide = page.execute_script("return document.documentElement.scrollWidth")
    assert wide <= width
    for svg in page.find_elements(By.CSS_SELECTOR, "main svg"):
        assert svg.rect["x"] + svg.rect["width"] <= width


def test_hostile_names_stay_text(open_page):
    found = selection(HOSTILE)
    page = open_page(found)  # an alert would make every command fail
    assert page.execute_script("return document.scripts.length") == 2
    assert not page.find_elements(By.TAG_NAME, "img")
    shown = page.execute_script(
        "return [...document.querySelectorAll('tbody tr')].map(row => row.dataset.column)"
    )
    assert set(HOSTILE) <= set(shown)
    row = card(page, "Score path").find_element(By.CSS_SELECTOR, "li")
    ActionChains(page).move_to_element(row).click().perform()
    shown = "return document.getElementById('tip').firstChild?.textContent"
    until(page, lambda: page.execute_script(shown) in HOSTILE)
    assert page.execute_script("return document.scripts.length") == 2


def test_ten_thousand_columns_are_found_and_sorted(open_page):
    names = [f"{HOSTILE[i % 5]} {i}" for i in range(10_000)]
    columns = Table(["column", "different values"], [[n, i] for i, n in enumerate(names)])
    page = open_page(selection(PLAIN, columns))
    table = card(page, "Columns")
    table.find_element(By.TAG_NAME, "summary").click()
    table.find_element(By.TAG_NAME, "input").send_keys("9999")
    until(page, lambda: texts(table, "tbody td:last-child") == ["9,999"])
    table.find_element(By.TAG_NAME, "input").clear()
    table.find_element(By.TAG_NAME, "input").send_keys(" ")
    table.find_element(By.XPATH, ".//th/button[text()='different values']").click()
    until(page, lambda: texts(table, "tbody td:last-child")[:2] == ["9,999", "9,998"])


@pytest.mark.parametrize("width", [390, 1200])
def test_a_described_table_is_drawn(open_page, width):
    words = [HOSTILE[i % 5] for i in range(50)]
    frame = pd.DataFrame(X, columns=PLAIN).assign(words=words)
    frame.loc[3:9, "age"] = np.nan
    page = open_page(report.describe(frame, target="weight"), width)
    assert page.execute_script("return document.documentElement.scrollWidth") <= width
    shown = card(page, "Distributions")
    assert texts(shown, "figcaption") == [*PLAIN, "words"]
    assert "14 % missing" in texts(shown, "figure > small")[2]
    assert len(texts(shown, "rect.column")) > 5
    assert {text[:10] for text in texts(shown, ".levels > span") if "%" not in text} >= {
        HOSTILE[0][:10]
    }
    bars = card(page, "Dependence of weight")
    assert len(texts(bars, "i.chance")) == len(texts(bars, "i.ceiling")) == 5
    cell = card(page, "Dependence of columns").find_element(By.CSS_SELECTOR, "rect.cell.less")
    ActionChains(page).move_to_element(cell).perform()
    until(page, lambda: "no more than chance" in tip(page).text)
    assert "p = " in tip(page).text


@pytest.mark.parametrize("kind", ["measure", "matrix", "spectrum"])
def test_the_other_findings_draw_too(open_page, kind):
    frame = pd.DataFrame(X, columns=PLAIN)
    found = {
        "measure": lambda: report.measure(frame, PLAIN[:2], PLAIN[2:3], PLAIN[3:4]),
        "matrix": lambda: report.matrix(frame, PLAIN),
        "spectrum": lambda: report.spectrum(frame),
    }[kind]()
    page = open_page(found, 380)
    assert page.execute_script("return document.documentElement.scrollWidth") <= 380
    assert page.find_element(By.TAG_NAME, "h1").text == found.answer[0]
    assert len(page.find_elements(By.CSS_SELECTOR, ".card")) == len(found.sections())


def test_dark_and_printed_pages_are_legible(open_page, plain):
    page = open_page(plain)

    def brightness(element, what):
        color = page.find_element(By.CSS_SELECTOR, element).value_of_css_property(what)
        red, green, blue = (float(v) for v in color[color.index("(") + 1 : -1].split(",")[:3])
        return 0.3 * red + 0.6 * green + 0.1 * blue

    dark = {"features": [{"name": "prefers-color-scheme", "value": "dark"}]}
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", dark)
    until(page, lambda: brightness(".card h2", "color") > 150 + brightness(*CARD))
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print", "features": []})
    until(page, lambda: brightness(*CARD) > 200 + brightness(".card h2", "color"))
    assert not page.find_element(By.CSS_SELECTOR, ".copy").is_displayed()
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": []})
    printed = page.print_page()
    assert len(printed) > 10_000
