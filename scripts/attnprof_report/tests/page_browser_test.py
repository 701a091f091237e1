"""The HTML report in headless Chromium, from disk and with the network off.

Skipped, and said so, where Chromium, its driver or selenium is missing; under ATTNPROF_EXPECT_BROWSER (CI) that fails.
"""

import contextlib
import io
import json
import os
import pathlib
import shutil
import sys
import tempfile
import unittest

SCRIPTS = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SCRIPTS))

import result_file  # noqa: E402
from attnprof_report import identity  # noqa: E402
from attnprof_report.__main__ import main  # noqa: E402
from page_test import EVIL, ending, explained, measured  # noqa: E402

try:
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys
    from selenium.webdriver.support.ui import WebDriverWait
except ImportError:
    webdriver = None

DESKTOP, PHONE, SMALL = (1280, 900), (390, 844), (320, 568)
PATIENCE = 120  # seconds, on a machine that does much else


def lacking():
    """What is missing, as a sentence, or nothing."""
    missing = [name for name in ("chromium", "chromedriver") if not shutil.which(name)] + ([] if webdriver else ["selenium"])
    return f"no {', '.join(missing)}; run scripts/setup.sh --browser" if missing else ""


def start():
    """A browser that is not to reach any network."""
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium")
    for argument in ["--headless=new", "--disable-dev-shm-usage", "--disable-gpu", "--host-resolver-rules=MAP * ~NOTFOUND"]:
        options.add_argument(argument)
    if os.geteuid() == 0:
        options.add_argument("--no-sandbox")  # Chromium's own cannot be had as root
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
    driver.set_network_conditions(offline=True, latency=0, throughput=0)
    return driver


def write_report(folder):
    """A report with all plots, findings, and cases that ended otherwise, one with markup for a reason."""
    rows = measured(result_file.default_sweep())
    rows += [rows[0] | {"tile": f"{br}x{bc}", "br": br, "bc": bc} for br in (64, 128) for bc in (32, 64)]
    rows += [ending("skipped", EVIL, n=16384), ending("failed", "a fault", n=8192), ending("skipped", "no room", tile="32x32")]
    file = result_file.write(folder / "rows.csv", rows)
    (folder / "explain.json").write_text(json.dumps(explained(file)), encoding="utf-8")
    with contextlib.redirect_stdout(io.StringIO()):
        code = main(["page", str(file), "--explain", str(folder / "explain.json"), "-o", str(folder / "report.html")])
    assert code == 0
    return folder / "report.html", rows


def setUpModule():
    """One report and one browser for all tests, each of which opens the report anew."""
    if not lacking():
        folder = tempfile.TemporaryDirectory()
        unittest.addModuleCleanup(folder.cleanup)
        Browser.path, Browser.rows = write_report(pathlib.Path(folder.name))
        Browser.driver = start()
        unittest.addModuleCleanup(Browser.driver.quit)
        return
    if os.environ.get("ATTNPROF_EXPECT_BROWSER"):
        raise AssertionError(f"the browser test cannot run: {lacking()}")
    print(f"page_browser_test skipped: {lacking()}", flush=True)
    raise unittest.SkipTest(lacking())


class Browser(unittest.TestCase):
    def setUp(self):
        self.open(DESKTOP)

    def open(self, size, dark=False, media=""):
        width, height = size
        self.command("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600)
        self.command("Emulation.setEmulatedMedia", media=media,
                     features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        for log in ("browser", "performance"):
            self.driver.get_log(log)  # what came before
        self.driver.get(self.path.as_uri())
        WebDriverWait(self.driver, PATIENCE).until(lambda _: self.js("return document.documentElement.dataset.drawn") == "yes")

    def command(self, name, **arguments):
        return self.driver.execute_cdp_cmd(name, arguments)

    def js(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def all(self, selector):
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def shown(self, selector):
        return [element for element in self.all(selector) if element.is_displayed()]

    def type_filter(self, text):
        """As a person: into the emptied field, key by key."""
        field = self.driver.find_element(By.ID, "filter")
        field.send_keys(Keys.CONTROL + "a")
        field.send_keys(Keys.DELETE + text)
        return self.shown("#row-table tbody tr")

    def column(self, name):
        heads = [button.get_attribute("title") for button in self.all("#row-table thead button")]
        cells = self.all(f"#row-table tbody td:nth-child({heads.index(name) + 1})")
        return [cell.get_attribute("title") or cell.text for cell in cells]


class Loads(Browser):
    def test_without_an_error_or_a_request(self):
        urls = [json.loads(entry["message"])["message"]["params"].get("request", {}).get("url", "")
                for entry in self.driver.get_log("performance")
                if json.loads(entry["message"])["message"]["method"] == "Network.requestWillBeSent"]
        self.assertIn(self.path.as_uri(), urls)
        self.assertEqual([url for url in urls if not url.startswith(("file:", "data:", "blob:"))], [])
        self.assertEqual(self.driver.get_log("browser"), [])
        self.js("fetch('https://example.invalid/')['catch'](() => {})")  # shows that the log would have told
        WebDriverWait(self.driver, PATIENCE).until(lambda _: self.driver.get_log("browser"))

    def test_no_cell_becomes_a_script(self):
        self.assertEqual(self.js("return document.querySelectorAll('img').length"), 0)
        self.assertIn(EVIL, self.driver.find_element(By.ID, "wrong").text)
        self.assertEqual([row.text.count(EVIL) for row in self.type_filter("onerror")], [1])

    def test_every_plot_is_drawn(self):
        for selector, least in (("#roofline .scatterlayer .trace", 8), ("#sweep_latency .scatterlayer .point", 32),
                                ("#sweep_hbm_bytes .scatterlayer .point", 32), ("#sweep_sm_bytes .scatterlayer .point", 32),
                                ("#sweep_tflops .scatterlayer .point", 32), ("#tiles_latency .heatmaplayer image", 1),
                                ("#tiles_sm_bytes .heatmaplayer image", 1), ("#model .scatterlayer .point", 32)):
            self.assertGreaterEqual(len(self.all(selector)), least, selector)
        for picture in self.all(".picture"):
            self.assertGreater(picture.size["width"], 200)
            self.assertGreater(picture.size["height"], 150)

    def test_no_button_sends_data_away(self):
        names = {button.get_attribute("data-title") for button in self.all(".modebar-btn")}
        self.assertEqual(names, {"Download plot as a PNG", "Zoom", "Pan", "Reset axes"})


class Table(Browser):
    def test_filter(self):
        self.assertEqual(len(self.shown("#row-table tbody tr")), len(self.rows))
        for text, keep in (("variant=flash2", lambda row: row["variant"] == "flash2"),
                           ("FLASH2 q_len>=2048", lambda row: row["variant"] == "flash2" and row["q_len"] >= 2048),
                           ("status!=ok", lambda row: row["disposition"] != "ok"),
                           ("fault", lambda row: row["reason"] == "a fault"),
                           ("sm_bytes<0", lambda row: False), ("", lambda row: True)):
            expected = sum(map(keep, self.rows))
            self.assertEqual(len(self.type_filter(text)), expected, text)
            self.assertIn(f"{expected} of {len(self.rows)} rows", self.driver.find_element(By.ID, "row-count").text)

    def test_sort_by_a_columns_head_with_empty_cells_last(self):
        for descending in (False, True):
            self.driver.find_element(By.CSS_SELECTOR, "#row-table button[title=latency_median_ns]").click()
            values = self.column("latency_median_ns")
            self.assertEqual(values[-3:], ["", "", ""])
            numbers = [float(value) for value in values[:-3]]
            self.assertEqual(numbers, sorted(numbers, reverse=descending))

    def test_all_columns_on_request(self):
        few = len(self.all("#row-table thead th"))
        self.driver.find_element(By.ID, "all-columns").click()
        columns = {*self.rows[0], *(column["column"] for column in identity.columns())}  # of older files their absence
        self.assertEqual(len(self.all("#row-table thead th")), len(columns) + 2)  # and file and line
        self.assertLess(few, 24)

    def test_a_row_leads_to_its_finding(self):
        link = self.driver.find_element(By.CSS_SELECTOR, "#findings-list details")
        self.assertIsNone(link.get_attribute("open"))
        self.js("location.hash = '#finding-0'")
        WebDriverWait(self.driver, PATIENCE).until(lambda _: link.get_attribute("open"))
        self.assertIn("reads S never", link.text)


class Plots(Browser):
    def test_a_name_in_the_key_hides_its_line_everywhere(self):
        points = "#sweep_latency .scatterlayer .point, #roofline .scatterlayer .point"
        before = len(self.all(points))
        key = self.driver.find_element(By.CSS_SELECTOR, "#roofline .key button[data-line=flash2]")
        key.click()
        self.assertEqual(len(self.all(points)), before - 8 - 16)  # 8 cases: once against N, in both roofline panels
        key.click()
        self.assertEqual(len(self.all(points)), before)

    def test_text_shows_in_the_dark(self):
        for dark in (False, True):
            self.open(DESKTOP, dark)
            page, text = self.js("""const label = document.querySelector('#sweep_latency .xtick text');
                return [getComputedStyle(document.body).backgroundColor, getComputedStyle(label).fill]
                  .map((colour) => colour.match(/\\d+/g).slice(0, 3).reduce((sum, part) => sum + Number(part) / 765, 0))""")
            self.assertGreater(abs(page - text), 0.7)


class Sizes(Browser):
    def test_a_phone_scrolls_down_only(self):
        for size in (PHONE, SMALL):
            self.open(size)
            self.assertLessEqual(self.js("return document.documentElement.scrollWidth"), size[0])
            wide = self.js("""return [...document.querySelectorAll('body *')]
                .filter((one) => !one.closest('.scroll, svg, .picture'))
                .filter((one) => one.getBoundingClientRect().right > innerWidth + 1)
                .map((one) => one.outerHTML.slice(0, 80))""")
            self.assertEqual(wide, [])
            for picture in self.all(".picture"):
                self.assertLessEqual(picture.size["width"], size[0])

    def test_print_has_pictures_as_wide_as_their_columns_and_no_controls(self):
        self.command("Emulation.setEmulatedMedia", media="print")
        self.command("Emulation.setDeviceMetricsOverride", width=1040, height=720, deviceScaleFactor=1, mobile=False)
        self.assertEqual(self.shown("nav, .controls, .modebar"), [])
        over = self.js("""return [...document.querySelectorAll('.main-svg')]
            .filter((svg) => svg.getBoundingClientRect().right > svg.closest('figure').getBoundingClientRect().right + 1)
            .length""")
        self.assertEqual(over, 0)
        self.assertGreater(len(self.driver.print_page()), 10000)
        head = "return getComputedStyle(document.querySelector('#row-table thead button')).display"
        self.assertEqual(self.js(head), "contents")  # else Chromium repeats no heads on later pages


if __name__ == "__main__":
    unittest.main()
