"""The page in a real browser: what a reader clicks, types and sees."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dgb.cookbook import load_recipe, to_toml
from dgb.files.atomic import read_lines, rewrite_lines, write_json, write_text
from dgb.report.page import write_report
from tests.report.conftest import HOSTILE, make_map, make_run, with_columns, write_map

selenium = pytest.importorskip("selenium.webdriver", reason="selenium drives the browser")
waiting = pytest.importorskip("selenium.webdriver.support.ui")
FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)
SECONDS = 20  # that a page may take on a busy machine
CLASSES = [f"class {i}" for i in range(40)]  # more than have a mark; four have no labelled node


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    names = ("chromium", "chromium-browser", "google-chrome")
    browser = next((path for name in names if (path := shutil.which(name))), None)
    driver = shutil.which("chromedriver")
    if browser is None or driver is None:
        pytest.skip("no chromium with a chromedriver on this machine")
    options = selenium.ChromeOptions()
    options.binary_location = browser
    for flag in (*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    window = selenium.Chrome(options=options, service=selenium.ChromeService(driver))
    yield window
    window.quit()


class Page:
    """A page in the browser, and what a reader does with it."""

    def __init__(self, window: Any, path: Path, width: int = 1200, *, dark: bool = False) -> None:
        self.window = window
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        window.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        calm = {"name": "prefers-reduced-motion", "value": "reduce"}
        window.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme, calm]})
        window.get_log("browser")
        window.get(path.as_uri())
        self.run("localStorage.clear()")
        self.wait("!window.dgbReport?.state || window.dgbReport.state.draws > 0")

    def run(self, script: str, *values: Any) -> Any:
        return self.window.execute_script(script, *values)

    def state(self, name: str) -> Any:
        return self.run(f"return window.dgbReport.state.{name}")

    def wait(self, condition: str) -> None:
        patience = waiting.WebDriverWait(self.window, SECONDS, 0.05)
        patience.until(lambda _: self.run(f"return {condition}"))

    def find(self, selector: str) -> Any:
        return self.window.find_element("css selector", selector)

    def texts(self, selector: str) -> list[str]:
        return [found.text for found in self.window.find_elements("css selector", selector)]

    def place(self, row: int) -> tuple[float, float]:
        """Return where a row is drawn, from the middle of the canvas, as the driver counts."""
        x, y, width, height = self.run(
            "const [x, y] = window.dgbReport.screenOf(arguments[0]), box ="
            " document.getElementById('canvas').getBoundingClientRect();"
            "return [x, y, box.width, box.height]",
            row,
        )
        return round(x - width / 2), round(y - height / 2)

    def mouse(self) -> Any:
        return selenium.ActionChains(self.window, duration=20)

    def point_at(self, row: int) -> None:
        self.mouse().move_to_element_with_offset(self.find("#canvas"), *self.place(row)).perform()

    def search(self, text: str) -> None:
        self.find("#search").clear()
        self.find("#search").send_keys(text, "\ue007")

    def lasso(self) -> None:
        """Draw around the whole canvas with Shift held down."""
        canvas, mouse = self.find("#canvas"), self.mouse().key_down("\ue008")
        x, y = (int(0.49 * canvas.size[name]) for name in ("width", "height"))
        corners = [(-x, -y), (x, -y), (x, y), (-x, y), (-x, -y + 5)]
        mouse.move_to_element_with_offset(canvas, *corners[0]).click_and_hold()
        for corner in corners[1:]:
            mouse.move_to_element_with_offset(canvas, *corner)
        mouse.release().key_up("\ue008").perform()

    def errors(self) -> list[Any]:
        return list(self.window.get_log("browser"))

    def pixels(self) -> int:
        """Return how many pixels of the map are not as good as white."""
        return int(
            self.run(
                "const c = document.getElementById('canvas'), copy = c.cloneNode();"
                "const pen = copy.getContext('2d', { willReadFrequently: true });"
                "pen.drawImage(c, 0, 0); const d = pen.getImageData(0, 0, c.width, c.height).data;"
                "let n = 0; for (let i = 0; i < d.length; i += 4)"
                " n += d[i] + d[i + 1] + d[i + 2] < 720; return n"
            )
        )


@pytest.fixture
def page(chromium: Any, run: Path) -> Iterator[Page]:
    opened = Page(chromium, write_report(run))
    yield opened
    assert opened.errors() == []  # whatever the test has done


def test_it_loads_with_a_drawn_map_and_harmless_ids(page: Page) -> None:
    assert page.pixels() > 500
    assert page.state("by") == "label"
    page.search(HOSTILE)
    assert page.texts("#panel .id") == [HOSTILE]
    page.point_at(0)
    page.wait("!document.getElementById('tip').hidden")
    assert HOSTILE in page.find("#tip").text
    assert page.run("return document.images.length") == 0


ORDERS = (  # each would set window.got, or show a picture, if it were taken for markup
    "<script>window.got = 1</script>",
    "</script><script>window.got = 1</script>",
    "--></script><img src=x onerror='window.got = 1'>",
    '"><img src=x onerror="window.got = 1">',
    "' onmouseover='window.got = 1",
    "javascript:window.got=1",
    "</title></style><svg onload=window.got=1>",
    "{{7*7}}${window.got=1}",
    "<!--<script>",
)


def assert_harmless(page: Page) -> None:
    page.wait("true")
    assert page.run("return window.got") is None
    own = "return [document.images.length, document.scripts.length,"
    own += " document.querySelectorAll('svg[onload], [onerror], [onmouseover]').length]"
    assert page.run(own) == [0, page.run("return document.querySelector('#data') ? 2 : 1"), 0]
    assert page.errors() == []


@pytest.mark.parametrize("order", ORDERS)
def test_names_of_all_kinds_are_shown_and_never_run(
    chromium: Any, tmp_path: Path, order: str
) -> None:
    folder = make_run(tmp_path / "run", labels=("a", order, "c"))
    told = json.loads((folder / "scores.json").read_text("utf-8"))
    # Graph, commit and machine as scores.json has them; meta-paths are named by types of nodes.
    told |= {"graph": order, "git": order, "machine": order, "attention": {order: 0.6, "b": 0.4}}
    write_json(folder / "scores.json", told)
    sets = [f"data.{key}={json.dumps(order)}" for key in ("graph", "label", "drop", "id")]
    write_text(folder / "recipe.toml", to_toml(load_recipe("paper", sets)))
    table = make_map(60, ("a", order, "c"))
    ids = [order, *table["node_id"].to_pylist()[1:]]
    write_map(folder, table.set_column(0, "node_id", [ids]))
    page = Page(chromium, write_report(folder))
    assert page.texts("h1") == [f"DGB on {order}"]
    assert page.run("return document.title") == f"DGB on {order}"
    assert order in page.texts("table.heat tbody th") and order in page.texts(".bars .name")
    assert page.texts("dl.origin dd").count(order) == 3
    settings = page.run(
        "return [...document.querySelectorAll('.recipe .setting code')].map((c) => c.textContent)"
    )
    assert settings.count(order) == 4  # graph, label, drop and id
    page.search(order)
    assert page.texts("#panel .id") == [order]
    page.point_at(0)
    page.wait("!document.getElementById('tip').hidden")
    assert_harmless(page)


@pytest.mark.parametrize("order", ORDERS)
def test_a_comparison_shows_names_and_runs_none(
    chromium: Any, comparison: Path, order: str
) -> None:
    lines = read_lines(comparison / "compare.jsonl")
    rewrite_lines(comparison / "compare.jsonl", [line | {"graph": order} for line in lines])
    (comparison / "compare.md").write_text(f"- GAT failed: {order}\n", "utf-8")
    page = Page(chromium, write_report(comparison))
    assert page.texts("h1") == [f"Systems on {order}"]
    assert page.texts("main li") == [f"GAT failed: {order}"]
    assert_harmless(page)


def test_a_script_that_is_not_the_page_s_own_does_not_run(page: Page) -> None:
    page.run(
        "const s = document.createElement('script'); s.textContent = 'window.got = 1';"
        "document.body.append(s); document.body.insertAdjacentHTML('beforeend',"
        "'<img src=x onerror=\"window.got = 1\">')"
    )
    page.wait("true")
    assert page.run("return window.got") is None
    refused = page.errors()
    assert refused and all("Content Security Policy" in line["message"] for line in refused)


def test_search_lights_up_the_neighbors_and_centres(page: Page) -> None:
    page.search("paper-7")
    assert page.state("selected") == 7
    assert [n["row"] for n in page.state("neighbors")] == [7 + 3 * k for k in range(1, 9)]
    assert page.place(7) == (0, 0)
    assert page.texts("#panel .near .name")[:2] == ["paper-10", "paper-13"]
    assert page.texts("#panel .near .count")[0] == "0.990"
    page.find("#panel .near button").click()
    assert page.state("selected") == 10 and page.place(10) == (0, 0)
    assert "paper-10" in page.find("#status").get_attribute("textContent")


def test_a_prefix_is_completed_and_a_miss_is_said(page: Page) -> None:
    page.find("#search").send_keys("PAPER-5")
    options = page.run(
        "return [...document.querySelectorAll('#matches option')].map((o) => o.value)"
    )
    assert options == ["paper-5", *(f"paper-{i}" for i in range(50, 60))]
    page.search("nobody")
    assert page.state("selected") == -1
    assert "No node nobody in this graph" in page.find("#status").get_attribute("textContent")


def test_hover_tells_and_click_selects_and_escape_clears(page: Page) -> None:
    page.point_at(4)
    page.wait("window.dgbReport.state.hovered === 4")
    tip = page.find("#tip").text.split()
    assert tip[0] == "paper-4" and {"label", "predicted", "cluster", "degree"} <= set(tip)
    page.mouse().click().perform()
    assert page.state("selected") == 4
    page.find("#canvas").send_keys("\ue00c")
    assert page.state("selected") == -1 and page.texts("#panel > *") == []


def test_colours_and_their_legends(page: Page) -> None:
    assert page.texts(".legend .name") == ["<b>both</b>", "practice", "theory", "no label"]
    assert [int(n) for n in page.texts(".legend .count")] == [18, 18, 18, 6]
    page.run("document.getElementById('colour').value = 'degree'")
    page.run("document.getElementById('colour').dispatchEvent(new Event('change'))")
    assert page.state("by") == "degree" and "logarithmic" in page.find("#legend").text
    page.find("#colour").send_keys("cluster")
    assert page.texts(".legend .name") == ["cluster 0", "cluster 1", "cluster 2"]


def test_columns_of_the_table_colour_the_map(chromium: Any, run: Path) -> None:
    write_map(run, with_columns(make_map(60, ("a", "b"))))
    page = Page(chromium, write_report(run))
    assert page.texts("#colour option")[-3:] == ["label", "salary", "since"]

    def colour_by(value: str) -> None:
        page.run("document.getElementById('colour').value = arguments[0]", value)
        page.run("document.getElementById('colour').dispatchEvent(new Event('change'))")

    colour_by("column 0")
    assert page.texts(".legend .name") == [HOSTILE, "Bergen", "no value"]
    colour_by("column 1")
    assert page.texts("#legend .ticks span") == ["0", "44.25", "88.5"]
    assert "Without a value, in grey: 1" in page.find("#legend").text
    page.search("paper-3")
    assert {"Bergen", "4.5", "2019-04-17"} <= set(page.texts("#panel dd"))
    colour_by("column 2")
    assert page.texts("#legend .ticks span")[0] == "2019-04-14"
    colour_by("cluster")
    assert page.texts(".legend .about") == [f"town=Bergen 90% (all 33%) {HOSTILE}"]
    assert_harmless(page)


def test_a_node_of_a_list_is_shown_on_the_map(chromium: Any, run: Path) -> None:
    (run / "embeddings.parquet").write_bytes(b"")
    rows = f'paper-7,"{HOSTILE}",0.9,1\npaper-8,elsewhere,0.8,0\n'
    head = "node_id,other_id,score,common_neighbors"
    (run / "links.csv").write_text(f"{head}\n{rows}", "utf-8")
    page = Page(chromium, write_report(run))
    assert page.texts(".found .node") == ["paper-7", HOSTILE, "paper-8", "elsewhere"]
    page.run("document.querySelector('.found .node').click()")
    assert page.state("selected") == 7
    assert page.run("return document.querySelectorAll('.found .node:disabled').length") == 1
    assert_harmless(page)


def test_a_search_takes_the_tip_of_another_node_away(page: Page) -> None:
    page.point_at(4)
    page.wait("window.dgbReport.state.hovered === 4")
    page.run(
        "const box = document.getElementById('search'); box.value = 'paper-7';"
        "box.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter' }))"
    )
    assert page.state("selected") == 7 and page.state("hovered") == -1
    assert page.run("return document.getElementById('tip').hidden")


def test_a_class_can_be_hidden_and_is_then_not_found(page: Page) -> None:
    before = page.pixels()
    page.find(".legend button").click()
    page.wait("window.dgbReport.state.hidden.size === 1")
    drawn = page.state("draws")
    page.wait(f"window.dgbReport.state.draws >= {drawn}")
    row = page.run("return window.dgbReport.state.colours.rows.findIndex((c) => c === 0)")
    page.point_at(row)
    assert page.state("hovered") != row
    assert page.pixels() < before
    page.find(".legend button").click()
    assert page.state("hidden.size") == 0


def test_shift_drag_selects_what_is_shown(page: Page) -> None:
    page.find(".legend button").click()
    page.lasso()
    page.wait("window.dgbReport.state.chosen")
    assert len(page.state("chosen")) == 42
    assert "42 nodes selected" in page.find("#panel").text
    assert sorted(page.texts("#panel .parts .count")) == ["18", "18", "6"]
    assert page.texts("#panel .buttons button") == ["Copy ids", "Download CSV"]
    page.find("#canvas").send_keys("\ue00c")
    assert page.state("chosen") is None


def test_csv_is_quoted(page: Page) -> None:
    text = page.run(
        "const c = { codes: [0], names: [] };"
        "return asCsv({ ids: ['a,\"b\"'], label: c, predicted: c, cluster: [1], degree: [2] }, [0])"
    )
    assert text.splitlines()[1] == '"a,""b""",,,1,2'


def test_the_keyboard_moves_zooms_and_selects(page: Page) -> None:
    canvas, scale, x = page.find("#canvas"), page.state("view.scale"), page.state("view.x")
    canvas.send_keys("+", "\ue014")
    assert page.state("view.scale") > scale and page.state("view.x") > x
    canvas.send_keys("0")
    assert page.state("view.scale") == pytest.approx(scale)
    page.search("paper-7")
    canvas.send_keys("\ue00c", "\ue007")
    assert page.state("selected") == 7  # the nearest to the middle


def test_the_wheel_zooms_about_the_pointer_unless_it_scrolls_the_page(page: Page) -> None:
    turn = (
        "const c = document.getElementById('canvas'), b = c.getBoundingClientRect(),"
        " [x, y] = window.dgbReport.screenOf(5); c.dispatchEvent(new WheelEvent('wheel',"
        " { deltaY: -120, clientX: b.left + x, clientY: b.top + y, cancelable: true }))"
    )
    before, scale = page.place(5), page.state("view.scale")
    page.run(f"dispatchEvent(new Event('scroll')); {turn}")
    assert page.state("view.scale") == scale
    page.mouse().pause(0.5).perform()
    page.run(turn)
    assert page.state("view.scale") > scale
    assert page.place(5) == pytest.approx(before, abs=1)


def test_two_fingers_zoom(page: Page) -> None:
    scale = page.state("view.scale")
    left, top, width, height = page.run(
        "const b = document.getElementById('canvas').getBoundingClientRect();"
        "return [b.left, b.top, b.width, b.height]"
    )

    def touch(kind: str, *gaps: int) -> None:
        x, y = left + width / 2, top + height / 2
        points = [{"x": x + gap, "y": y, "id": i} for i, gap in enumerate(gaps)]
        event = {"type": kind, "touchPoints": points}
        page.window.execute_cdp_cmd("Input.dispatchTouchEvent", event)

    touch("touchStart", -40, 40)
    touch("touchMove", -80, 80)
    touch("touchMove", -120, 120)
    touch("touchEnd")
    page.wait(f"window.dgbReport.state.view.scale > {2 * scale}")
    assert page.state("selected") == -1


def test_light_and_dark(chromium: Any, run: Path) -> None:
    path = write_report(run)
    colour = "return getComputedStyle(document.body).backgroundColor"
    light = Page(chromium, path).run(colour)
    page = Page(chromium, path, dark=True)
    assert page.run(colour) != light
    page.find("#theme").click()
    assert page.run(colour) == light
    assert page.errors() == []


@pytest.mark.parametrize("width", [340, 700, 1400])
def test_nothing_is_wider_than_the_screen(chromium: Any, run: Path, width: int) -> None:
    page = Page(chromium, write_report(run), width)
    assert page.run("return document.documentElement.scrollWidth") <= width
    page.search("paper-7")
    assert page.run("return document.documentElement.scrollWidth") <= width


def test_values_under_the_pointer_on_a_curve(page: Page) -> None:
    figure = page.find("figure.curve")
    assert "0.3333 at epoch 12" in figure.text
    svg = page.find("figure.curve svg")
    page.mouse().move_to_element_with_offset(svg, -svg.size["width"] // 2 + 2, 0).perform()
    assert "4 at epoch 1" in figure.text


def test_pages_without_a_map_load_quietly(chromium: Any, run: Path, comparison: Path) -> None:
    (run / "map.parquet").unlink()
    for folder in (run, comparison):
        path = write_report(folder)
        chromium.get_log("browser")
        chromium.get(path.as_uri())
        assert chromium.get_log("browser") == []


def test_twenty_thousand_points(chromium: Any, tmp_path: Path) -> None:
    folder = make_run(tmp_path / "large", 20_000, CLASSES)
    write_map(folder, make_map(20_000, CLASSES), nodes=169_343)
    page = Page(chromium, write_report(folder))
    assert page.texts("#map-note")[0].startswith("20,000 of 169,343 nodes, drawn at random")
    names = page.run("return window.dgbReport.state.colours.classes.map((c) => c.name)")
    assert len(names) == 34 and names[-2:] == ["4 smaller classes", "no label"]
    painted, draws = page.pixels(), page.state("draws")
    page.find("#zoom-in").click()
    page.wait(f"window.dgbReport.state.draws > {draws}")
    assert painted > 10_000
    page.search("paper-12345")
    assert len(page.state("neighbors")) == 8
    page.point_at(12345)
    page.wait("window.dgbReport.state.hovered === 12345")
    page.lasso()
    page.wait("window.dgbReport.state.chosen")
    assert page.errors() == []
