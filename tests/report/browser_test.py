#!/usr/bin/env python3
"""browser_test.py PROGRAM FOLDER: a real browser opens a report from disk, without network.

Every figure must be drawn, nothing may be asked of the network or logged as an error, no page may be wider than a
phone, and print must give a PDF.  Screenshots and the PDF are left in FOLDER.  Exit code 77: no Chromium, or no chart
scripts (target report-assets).
"""

import base64
import glob
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import devtools
import samples

VIEWS = (("desk-light", 1200, 900, False, "light"), ("desk-dark", 1200, 900, False, "dark"),
         ("phone-light", 390, 844, True, "light"), ("phone-dark", 390, 844, True, "dark"))

# What each figure shows, and whether it keeps to its place.
FIGURES = """
[...document.querySelectorAll("figure[data-figure]")].map((figure) => {
  const svg = figure.querySelector(".chart svg");
  const marks = ".mark-symbol:not(.role-legend-symbol) path, .mark-line path, .mark-area path, .mark-rect path";
  const drawn = (path) => (path.getAttribute("d") || "").length > 4 && !path.classList.contains("background");
  return {
    name: figure.dataset.figure,
    drawn: figure.dataset.drawn === "yes",
    marks: svg ? [...svg.querySelectorAll(marks)].filter(drawn).length : 0,
    text: svg ? [...svg.querySelectorAll("text")].map((text) => text.textContent).join(" ") : "",
    overflow: svg ? svg.getBoundingClientRect().right - figure.getBoundingClientRect().right : 0,
  };
})
"""


class Failures(list):
    def expect(self, condition, text):
        if not condition:
            self.append(text)


def open_page(browser, page, width, height, mobile, scheme):
    browser.events.clear()
    browser.send("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=2 if mobile else 1,
                 mobile=mobile)
    browser.send("Emulation.setEmulatedMedia", media="", features=[{"name": "prefers-color-scheme", "value": scheme}])
    browser.send("Page.navigate", url=page.as_uri())
    browser.wait_until("document.readyState === 'complete'")
    browser.wait_until("document.documentElement.dataset.figures === 'drawn'")


def check_quiet(browser, page, failures, view):
    for event in browser.events:
        method, detail = event["method"], event["params"]
        if method == "Runtime.exceptionThrown":
            failures.append(f"{view}: exception {detail['exceptionDetails'].get('exception', {}).get('description')}")
        elif method == "Runtime.consoleAPICalled" and detail["type"] in ("error", "warning", "assert"):
            failures.append(f"{view}: console {detail['type']}: {[a.get('value', a.get('description')) for a in detail['args']]}")
        elif method == "Log.entryAdded" and detail["entry"]["level"] in ("error", "warning"):
            failures.append(f"{view}: log {detail['entry']['level']}: {detail['entry']['text']}")
        elif method == "Page.javascriptDialogOpening":
            failures.append(f"{view}: a script of the data ran: {detail['message']}")
        elif method == "Network.requestWillBeSent" and detail["request"]["url"] != page.as_uri():
            if not detail["request"]["url"].startswith(("data:", "blob:")):
                failures.append(f"{view}: asks for {detail['request']['url']}")


def check_view(browser, page, expected, failures, view, width, scheme):
    figures = browser.evaluate(FIGURES)
    failures.expect([f["name"] for f in figures] == expected, f"{view}: figures {[f['name'] for f in figures]}")
    for figure in figures:
        where = f"{view}: {figure['name']}"
        failures.expect(figure["drawn"], f"{where} is not drawn")
        failures.expect(figure["marks"] >= 3, f"{where} has {figure['marks']} marks")
        failures.expect(figure["overflow"] < 1, f"{where} sticks out by {figure['overflow']} px")
        # NaN, null or undefined in a label is a number that got lost.
        failures.expect(not re.search(r"\b(NaN|null|undefined)\b", figure["text"]), f"{where} says {figure['text']}")
    over = browser.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    failures.expect(over <= 0, f"{view}: the page is {over} px wider than the window")
    failures.expect(browser.evaluate("document.documentElement.clientWidth") <= width, f"{view}: window grew")
    ink, paper = browser.evaluate("""["color", "backgroundColor"].map((what) => {
      const [r, g, b] = getComputedStyle(document.body)[what].match(/[\d.]+/g).map(Number);
      return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    })""")
    failures.expect((ink < paper) == (scheme == "light") and abs(ink - paper) > 150,
                    f"{view}: ink {ink:.0f} on paper {paper:.0f}")
    failures.expect(browser.evaluate("document.title") != "owned", f"{view}: a script of the data ran")
    return sum(figure["marks"] for figure in figures)


def check_switch(browser, failures):
    """The held-out predictions differ from those in sample, so the picture must change."""
    look = """[...document.querySelectorAll("figure[data-figure=predicted] .mark-symbol:not(.role-legend-symbol) path")]
              .map((path) => path.getAttribute("transform")).join(" ")"""
    before = browser.evaluate(look)
    browser.evaluate("document.querySelectorAll('figure[data-figure=predicted] input[type=radio]')[1].click()")
    try:
        browser.wait_until(f"({look}) !== {before!r}", timeout=20)
    except TimeoutError:
        failures.append("predicted: the switch to held-out models changes nothing")


def check_print(browser, folder, failures):
    browser.send("Emulation.setEmulatedMedia", media="print", features=[{"name": "prefers-color-scheme", "value": "dark"}])
    paper = browser.evaluate("getComputedStyle(document.body).backgroundColor")
    failures.expect(paper == "rgb(255, 255, 255)", f"print: paper is {paper}")
    browser.send("Emulation.setEmulatedMedia", media="", features=[])
    pdf = base64.b64decode(browser.send("Page.printToPDF", printBackground=True, preferCSSPageSize=True)["data"])
    (folder / "report.pdf").write_bytes(pdf)
    pages = len(re.findall(rb"/Type\s*/Page\b(?!s)", pdf))
    failures.expect(pdf.startswith(b"%PDF-") and len(pdf) > 50_000, f"print: {len(pdf)} bytes")
    failures.expect(pages >= 3, f"print: {pages} pages")
    return pages


def screenshot(browser, path):
    # A report is long: in slices that a viewer can show.
    height = browser.evaluate("document.documentElement.scrollHeight")
    width = browser.evaluate("document.documentElement.clientWidth")
    for i, top in enumerate(range(0, height, 3000)):
        clip = {"x": 0, "y": top, "width": width, "height": min(3000, height - top), "scale": 1}
        data = browser.send("Page.captureScreenshot", format="png", clip=clip, captureBeyondViewport=True)["data"]
        path.with_name(f"{path.name}-{i:02}.png").write_bytes(base64.b64decode(data))


def check_report(browser, page, folder, failures):
    expected = [re.sub(r"\.vl\.json$", "", path.name) for path in page.parent.glob("*.vl.json")]
    in_order = re.findall(r'data-figure="([^"]+)"', page.read_text(encoding="utf-8").partition("<script")[0])
    failures.expect(sorted(in_order) == sorted(expected), f"page shows {in_order}, folder has {expected}")
    folder.mkdir(parents=True, exist_ok=True)
    marks = 0
    for view, width, height, mobile, scheme in VIEWS:
        open_page(browser, page, width, height, mobile, scheme)
        marks = check_view(browser, page, in_order, failures, view, width, scheme)
        if view == "desk-light":
            check_switch(browser, failures)
            pages = check_print(browser, folder, failures)
        check_quiet(browser, page, failures, view)
        screenshot(browser, folder / view)
    print(f"{folder.name}: {len(in_order)} figures with {marks} marks in {len(VIEWS)} views, {pages} pages in print, "
          f"{len(failures)} failures")


def main():
    program, output = sys.argv[1], pathlib.Path(sys.argv[2])
    chromium = devtools.find_chromium()
    if chromium is None:
        print("no Chromium on this machine; skipped")
        return 77
    if not (pathlib.Path(program).parent / "report-assets" / "vega.min.js").exists():
        print("the chart scripts were not built (target report-assets); skipped")
        return 77
    failures = Failures()
    with tempfile.TemporaryDirectory() as name:
        made = pathlib.Path(name) / "made.csv"
        made.write_text(samples.samples(), encoding="utf-8")
        sources = {"made": [str(made)]}
        shared = os.environ.get("FLOPWATT_SHARED", "")
        study = sorted(glob.glob(os.path.join(shared, "gpu_power_benchmark", "*.csv"))) if shared else []
        if study:
            sources["study"] = study
        browser = devtools.Browser(chromium)
        try:
            for source, files in sources.items():
                out = pathlib.Path(name) / source
                subprocess.run([program, "fit", *files, "--report", str(out)], check=True, stdout=subprocess.DEVNULL,
                               timeout=300)
                check_report(browser, out / "report.html", output / source, failures)
        finally:
            browser.close()
    for failure in failures[:40]:
        print("  " + failure)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
