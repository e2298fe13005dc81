"""ops.py finds an op without a row, a row without an op, and another rule."""

import unittest

import ops

DIALECT = 'def DTrain_AOp : DTrain_ComputeOp<"a", "m -> m"\n    " | sum 0",\n    (ins)>\ndef DTrain_BOp : DTrain_ComputeOp<"b", "", (ins)>\n'
DOCUMENT = "| op | rule | notes |\n|---|---|---|\n| `a` | `m -> m \\| sum 0` | |\n| `b` | *any* | |\n"


class OpsTest(unittest.TestCase):
    def check(self, document):
        return ops.differences(ops.declared(DIALECT), ops.documented(document))

    def test_equal(self):
        self.assertEqual(self.check(DOCUMENT), [])

    def test_differences(self):
        for old, new, found in [
            ("sum 0", "sum 1", "op a: expected m -> m | sum 0, found `m -> m | sum 1`"),
            ("*any*", "`m`", "op b: expected words in italics, found `m`"),
            ("| `b` | *any* | |\n", "", "expected a row for op b, found none"),
            ("`b`", "`c`", "expected a row for op b, found none"),
        ]:
            self.assertIn(found, self.check(DOCUMENT.replace(old, new)))
        self.assertIn("expected an op of the dialect, found c", self.check(DOCUMENT.replace("`b`", "`c`")))


if __name__ == "__main__":
    unittest.main()
