#!/usr/bin/env python3
"""Plants one violation of every rule of check_layers.py in a tree of its own, and code that looks like one but is not."""
import pathlib
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import check_layers  # noqa: E402

LAYERS = "# floors\nbase\nunits stats\nmodel\nreport\npure: base units\n"


class CheckLayers(unittest.TestCase):
    def violations(self, files):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for name, text in {"tools/layers.txt": LAYERS, **files}.items():
                path = root / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
            return check_layers.check_tree(root)

    def test_lower_floors_are_allowed(self):
        text = '#include <vector>\n#include "flopwatt/base/result.hpp"\n#include "flopwatt/units/count.hpp"\n'
        text += "namespace flopwatt::model {\n}\n"
        self.assertEqual(self.violations({"flopwatt/model/a.cpp": text}), [])

    def test_upwards_is_refused(self):
        found = self.violations({"flopwatt/units/a.cpp": '\n#include "flopwatt/report/table.hpp"\n'})
        self.assertEqual(found, ["flopwatt/units/a.cpp:2: units may not include report: it is not on a lower floor"])

    def test_siblings_are_refused(self):
        found = self.violations({"flopwatt/units/a.hpp": '#  include "flopwatt/stats/ols.hpp"\n'})
        self.assertEqual(found, ["flopwatt/units/a.hpp:1: units may not include stats: it is not on a lower floor"])

    def test_tests_keep_to_the_floors_too(self):
        self.assertEqual(len(self.violations({"flopwatt/base/a_test.cpp": '#include "flopwatt/units/a.hpp"\n'})), 1)

    def test_unknown_modules_are_refused(self):
        self.assertEqual(len(self.violations({"flopwatt/extra/a.cpp": ""})), 1)
        self.assertEqual(len(self.violations({"flopwatt/model/a.cpp": '#include "flopwatt/extra/a.hpp"\n'})), 1)

    def test_includes_give_the_full_path(self):
        self.assertEqual(len(self.violations({"flopwatt/model/a.cpp": '#include "architecture.hpp"\n'})), 1)

    def test_the_namespace_is_the_folder(self):
        self.assertEqual(len(self.violations({"flopwatt/model/a.cpp": "namespace flopwatt::units {\n"})), 1)
        self.assertEqual(len(self.violations({"flopwatt/model/a.cpp": "namespace flopwatt::model::detail {\n"})), 0)
        self.assertEqual(len(self.violations({"flopwatt/model/a.cpp": "namespace flopwatt {\n"})), 0)

    def test_pure_modules_touch_nothing(self):
        for text in ("#include <fstream>\n", "#include <thread>\n", "  throw 1;\n"):
            self.assertEqual(len(self.violations({"flopwatt/units/a.cpp": text})), 1, text)
            self.assertEqual(self.violations({"flopwatt/report/a.cpp": text}), [], text)
            self.assertEqual(self.violations({"flopwatt/units/a_test.cpp": text}), [], text)

    def test_words_in_comments_and_strings_are_not_code(self):
        text = '// throw nothing\nconst char* s = "throw //";\n'
        self.assertEqual(self.violations({"flopwatt/units/a.cpp": text}), [])


if __name__ == "__main__":
    unittest.main()
