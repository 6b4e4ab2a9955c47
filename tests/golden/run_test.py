#!/usr/bin/env python3
"""The transcript runner sees what differs: a runner that passes everything would guard nothing."""
import contextlib
import io
import os
import pathlib
import sys
import tempfile
import unittest
from unittest import mock

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import run  # noqa: E402

# Stands for the program: prints its first argument, then fails with the second.
PROGRAM = '#!/bin/sh\nprintf "%b" "$1"\nprintf "%b" "$3" >&2\nexit ${2:-0}\n'


class Run(unittest.TestCase):
    def outcome(self, text, name="a.test"):
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
            program, transcript = pathlib.Path(folder, "flopwatt"), pathlib.Path(folder, name)
            program.write_text(PROGRAM, encoding="utf-8")
            program.chmod(0o755)
            transcript.write_text(text, encoding="utf-8")
            return run.main(str(program), str(transcript))

    def test_lines(self):
        self.assertEqual(self.outcome("$ flopwatt 'a\\nb\\n'\n> a\n> b\n"), 0)
        self.assertEqual(self.outcome("$ flopwatt 'a\\nb\\n'\n> a\n"), 1)
        self.assertEqual(self.outcome("$ flopwatt 'a\\nb\\n'\n> a\n> ...\n"), 0)
        self.assertEqual(self.outcome("$ flopwatt 'a1\\n'\n>~ a\\d\n"), 0)
        self.assertEqual(self.outcome("$ flopwatt 'a.\\n'\n> ab\n"), 1)

    def test_a_stream_without_expectations_is_empty(self):
        self.assertEqual(self.outcome("$ flopwatt ''\n"), 0)
        self.assertEqual(self.outcome("$ flopwatt 'a\\n'\n"), 1)
        self.assertEqual(self.outcome("$ flopwatt '' 0 'a\\n'\n"), 1)
        self.assertEqual(self.outcome("$ flopwatt '' 0 'a\\n'\n! a\n"), 0)

    def test_exit_codes(self):
        self.assertEqual(self.outcome("$ flopwatt '' 3\n? 3\n"), 0)
        self.assertEqual(self.outcome("$ flopwatt '' 3\n? 2\n"), 1)
        self.assertEqual(self.outcome("$ flopwatt '' 3\n"), 1)

    def test_json_values(self):
        command = "$ flopwatt '{\"a\":{\"b\":[1.5,18446744073709551617]}}'\n"
        self.assertEqual(self.outcome(command + "= a.b.1 18446744073709551617\n"), 0)
        self.assertEqual(self.outcome(command + "= a.b.1 18446744073709551616\n"), 1)
        self.assertEqual(self.outcome(command + "= a.b.0 1.4 ~0.1\n= a *\n"), 0)
        self.assertEqual(self.outcome(command + "= a.b.0 1.4 ~0.01\n"), 1)
        self.assertEqual(self.outcome(command + "= a.c *\n"), 1)
        self.assertEqual(self.outcome("$ flopwatt 'no'\n= a *\n"), 1)
        for value, expectation, outcome in (("7", "7.0", 0), ("7", "7.1 ~0.1", 0), ("true", "1", 1), ("null", "1 ~1", 1),
                                            ('["a"]', '["a"]', 0), ('["a"]', '["b"]', 1), ("NaN", "*", 1)):
            with self.subTest(value):
                text = f"$ flopwatt '{{\"a\":{value}}}'\n= a {expectation}\n"
                try:
                    self.assertEqual(self.outcome(text), outcome)
                except SystemExit:  # NaN is refused outright
                    self.assertEqual(value, "NaN")

    def test_transcripts_without_meaning_are_refused(self):
        self.assertEqual(self.outcome("# nothing\n"), 1)
        with self.assertRaises(SystemExit):
            self.outcome("$ flopwatt ''\nwhat is this\n")

    def test_data_that_is_absent_skips(self):
        os.environ.pop("FLOPWATT_SHARED", None)
        self.assertEqual(self.outcome("# data\nneeds shared\n$ flopwatt ''\n"), run.SKIPPED)

    def test_markdown_examples(self):
        page = "Text\n```console\n$ make run\n$ build/release/flopwatt 'a\\nb\\n'\na\n...\n```\n"
        self.assertEqual(self.outcome(page, "a.md"), 0)
        self.assertEqual(self.outcome(page.replace("\na\n...", "\nb\n..."), "a.md"), 1)
        self.assertEqual(self.outcome(page.replace("\na\n...", "\n…"), "a.md"), 0)
        self.assertEqual(self.outcome(page.replace("\na\n...", "\n…\nc"), "a.md"), 1)

    def test_markdown_examples_of_measured_files(self):
        page = "```console needs shared\n$ flopwatt 'a\\n'\nb\n```\n"
        os.environ.pop("FLOPWATT_SHARED", None)
        self.assertEqual(self.outcome(page, "a.md"), 0)  # left out
        with tempfile.TemporaryDirectory() as shared, mock.patch.dict(os.environ, {"FLOPWATT_SHARED": shared}):
            pathlib.Path(shared, "study").mkdir()
            pathlib.Path(shared, "study", "a.csv").write_text("", encoding="utf-8")
            self.assertEqual(self.outcome(page, "a.md"), 1)
            self.assertEqual(self.outcome(page.replace("\nb", "\na"), "a.md"), 0)


if __name__ == "__main__":
    unittest.main()
