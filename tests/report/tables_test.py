#!/usr/bin/env python3
"""tables_test.py PROGRAM: the tables of a report hold the numbers of `fit --json`, to the last digit.

Runs on rows that it makes, and on the public study's files where FLOPWATT_SHARED names them.
"""

import glob
import hashlib
import html.parser
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import samples


class Tables(html.parser.HTMLParser):
    """Tables by id: a list of rows, each {key of the column: (text, exact number or None)} and the columns in order."""

    def __init__(self, text):
        super().__init__()
        self.tables, self.columns, self.cell, self.texts = {}, {}, None, []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if tag == "table":
            self.name = attributes["id"]
            self.tables[self.name], self.columns[self.name] = [], []
        elif tag == "th" and "data-key" in attributes:
            self.columns[self.name].append(attributes["data-key"])
        elif tag == "tr":
            self.row = []
        elif tag in ("td", "th"):
            self.cell = ["", None]
        elif tag == "data":
            self.cell[1] = attributes["value"]

    def handle_data(self, data):
        if self.cell is not None:
            self.cell[0] += data
        if data.strip():
            self.texts.append(data.strip())

    def handle_endtag(self, tag):
        if tag in ("td", "th") and self.cell is not None:
            self.row.append(tuple(self.cell))
            self.cell = None
        elif tag == "tr" and self.row and len(self.row) == len(self.columns[self.name]) and self.columns[self.name]:
            if self.tables[self.name] or self.row[0][0] != "device":
                self.tables[self.name].append(self.row)


class Check:
    def __init__(self, tables, answer):
        self.tables, self.answer, self.compared, self.failures = tables, answer, 0, []

    def same(self, where, cell, expected, scale=1):
        """The exact number behind the cell, and its text: the same number rounded to the digits it shows."""
        self.compared += 1
        text, number = cell
        if expected is None:
            if text != "–":
                self.failures.append(f"{where}: shows {text}, the answer has none")
            return
        if number is None or float(number) != expected / scale:
            self.failures.append(f"{where}: {number} behind it, the answer has {expected / scale}")
            return
        shown = re.match(r"-?[\d.]+(?:e[-+]?\d+)?", text)
        factor = 100 if where.endswith("mfu_mean") or where.endswith("_mfu") else 1
        digits = len(shown.group().partition(".")[2]) if shown and "e" not in shown.group() else None
        if shown is None:
            self.failures.append(f"{where}: shows {text}")
        elif digits is not None and abs(float(shown.group()) - factor * float(number)) > 0.5000001 * 10**-digits:
            self.failures.append(f"{where}: shows {text} for {number}")

    def rows(self, name):
        columns = self.tables.columns[name]
        for row in self.tables.tables[name]:
            yield row, dict(zip(columns, row)), self.device(row[0][0])

    def device(self, name):
        return next(d for d in self.answer["devices"] if d["device"] == name)

    def fold_table(self, name, axis):
        n = 0
        for row, cells, device in self.rows(name):
            folds = device["cross_validation"][axis][row[1][0]]
            for key in ("mape_pct", "p95_pct", "bias_pct"):
                self.same(f"{name} {row[0][0]} {row[1][0]} {key}", cells[key], folds[key])
            n += 1
        if n != sum(1 for d in self.answer["devices"] for f in d["cross_validation"][axis].values() if f):
            self.failures.append(f"{name}: {n} rows")


def check_tables(check):
    answer = check.answer
    for row, cells, device in check.rows("table-predictors"):
        predictor = device["predictors"]["mfu" if row[1][0] == "MFU" else "utilization"]
        for key in ("rows", "r2", "mape_pct", "slope_watts_per_pct", "intercept_watts"):
            check.same(f"predictors {row[0][0]} {key}", cells[key], predictor[key])
    for row, cells, device in check.rows("table-models"):
        model = device["models"][row[1][0]]
        for key in ("rows", "mape_pct", "r2"):
            check.same(f"models {row[0][0]} {row[1][0]} {key}", cells[key], model[key])
        if "r2_median" in model:
            check.same(f"models {row[0][0]} {row[1][0]} r2_median", cells["r2_median"], model["r2_median"])
    for row, cells, device in check.rows("table-residuals"):
        sd, regimes = device["residual_sd_pct"], device["regimes"]
        for key in ("device", "cell"):
            check.same(f"residuals {key}", cells[f"residual_sd_{key}_pct"], sd[key])
        check.same("residuals repeats", cells["repeat_noise_pct"], sd["repeat_noise"])
        for end, regime in (("smallest", regimes[0]), ("largest", regimes[-1])):
            check.same(f"residuals {end}_batch", cells[f"{end}_batch"], regime["batch"])
            check.same(f"residuals {end}_mfu", cells[f"{end}_mfu"], regime["mfu_mean"])
            check.same(f"residuals {end}_power", cells[f"{end}_power_watts"], regime["power_watts_mean"])
    for row, cells, device in check.rows("table-regimes"):
        regime = next(r for r in device["regimes"] if r["batch"] == int(row[1][0]))
        for key in ("rows", "mfu_mean", "power_watts_mean"):
            check.same(f"regimes {key}", cells[key], regime[key])
    check.fold_table("table-held-out", "leave_one_model_out")
    check.fold_table("table-batch-out", "leave_one_batch_out")
    check.fold_table("table-dtype-out", "leave_one_dtype_out")
    for row, cells, device in check.rows("table-held-out"):
        by_batch = device["held_out_by_batch"][row[1][0]]
        check.same("held-out batch 1", cells["batch_one_mape_pct"], by_batch["batch_one_mape_pct"])
        check.same("held-out others", cells["other_batches_mape_pct"], by_batch["other_batches_mape_pct"])
        check.same("held-out coverage", cells["coverage_90"],
                   device["coverage_of_90_pct_interval"][row[1][0]]["pooled"])
    for row, cells, device in check.rows("table-folds"):
        for form, coverage in device["coverage_of_90_pct_interval"].items():
            check.same(f"folds {form}", cells[f"{form}_coverage_90"], coverage["folds"].get(row[1][0]))
        for form, errors in device["cross_validation"]["leave_one_model_out"].items():
            if errors:
                check.same(f"folds {form} error", cells[f"{form}_mape_pct"], errors["folds"][row[1][0]]["mape_pct"])
    for row, cells, device in check.rows("table-peaks"):
        peak = next(p for p in device["peaks"] if p["dtype"] == row[1][0])
        check.same("peaks", cells["teraflops_per_second"], peak["flops_per_second"], 1e12)
        if peak["path"] and cells["path"][0] != peak["path"].replace("_", " "):
            check.failures.append(f"peaks: path {cells['path'][0]}")
    for row, cells, device in check.rows("table-devices"):
        check.same("devices read", cells["rows_read"], device["rows_read"])
        check.same("devices used", cells["rows"], device["rows"])
    for row, cells, device in check.rows("table-parameters"):
        check.same(f"parameters {row[1][0]}", cells["value"], device["models"]["saturating"]["parameters"][row[1][0]])
    if [d["device"] for d in answer["devices"]] != [row[0][0] for row in check.tables.tables["table-devices"]]:
        check.failures.append("devices: other ones")


def check_sources(check, files, calibrations):
    hashes = {row[1][0]: cells["sha256"][0] for row, cells, _ in check.rows("table-sources") if row[1][0] != "calibration"}
    for file in files:
        expected = hashlib.sha256(pathlib.Path(file).read_bytes()).hexdigest()
        if hashes.get(os.path.basename(file)) != expected:
            check.failures.append(f"sources: {file} is {expected}")
    made = {hashlib.sha256(path.read_bytes()).hexdigest() for path in calibrations.iterdir()}
    for row, cells, _ in check.rows("table-sources"):
        if row[1][0] == "calibration" and cells["sha256"][0] not in made:
            check.failures.append(f"sources: no calibration {cells['sha256'][0]} of {row[0][0]}")


def check_findings(check, findings):
    """Code and text of every finding, in the order of the audit."""
    at = 0
    for finding in findings:
        for text in (finding["code"], finding["text"]):
            try:
                at = check.tables.texts.index(text.strip(), at) + 1
            except ValueError:
                check.failures.append(f"findings: {finding['device']} {text} is missing")


def run(program, *words):
    return subprocess.run([program, *words], check=True, capture_output=True, text=True, timeout=300).stdout


def check_report(program, files, folder):
    out, calibrations = folder / "out", folder / "calibrations"
    calibrations.mkdir()
    # Without slashes in it, a device's name is the name of a file.
    answer = json.loads(run(program, "fit", *files, "--json", "--report", str(out)))
    plain = json.loads(run(program, "fit", *files, "--json"))
    tables = Tables((out / "report.html").read_text(encoding="utf-8"))
    check = Check(tables, answer)
    if answer["devices"] != plain["devices"]:
        check.failures.append("a report changes the answer")
    check_tables(check)
    for device in answer["devices"]:
        if device["device"] == samples.EVIL:
            break
    else:
        run(program, "fit", *files, "-o", str(calibrations) + "/")
        check_sources(check, files, calibrations)
    check_findings(check, json.loads(run(program, "audit", *files, "--json"))["findings"])
    size = (out / "report.html").stat().st_size
    if size > 3_000_000:
        check.failures.append(f"the page has {size} bytes")
    print(f"{len(files)} files: {check.compared} numbers compared, {len(check.failures)} differ; page {size} bytes")
    for failure in check.failures[:20]:
        print("  " + failure)
    return not check.failures and check.compared > 100


def main():
    program = sys.argv[1]
    sources = []
    with tempfile.TemporaryDirectory() as name:
        made = pathlib.Path(name) / "made.csv"
        made.write_text(samples.samples(), encoding="utf-8")
        sources.append([str(made)])
        shared = os.environ.get("FLOPWATT_SHARED", "")
        study = sorted(glob.glob(os.path.join(shared, "gpu_power_benchmark", "*.csv"))) if shared else []
        if study:
            sources.append(study)
        good = True
        for i, files in enumerate(sources):
            folder = pathlib.Path(name) / str(i)
            folder.mkdir()
            good = check_report(program, files, folder) and good
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
