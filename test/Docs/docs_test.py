"""docs.py finds a wrong output, a wrong status, and accepts what it should."""

import unittest

import docs


class DocsTest(unittest.TestCase):
    def test_difference(self):
        for expected, found in [
            ("", ""),
            ("a  b\nc", "a b c\n"),
            ("a … d", "a b c d"),
            ("… b …", "a b c"),
            ("a …", "a "),
        ]:
            self.assertIsNone(docs.difference(expected, found), expected)
        for expected, found in [
            ("", "a"),
            ("a b", "a c"),
            ("a … e", "a b c d"),
            ("a … c", "a c d"),
            ("b …", "a b"),
            ("… c … b …", "a b c"),
            # The same text may not serve two pieces.
            ("ab … b", "ab"),
        ]:
            self.assertIsNotNone(docs.difference(expected, found), expected)

    def test_examples(self):
        text = "text\n```console\n$ one \\\n  more\nout 1\nout 2\n$ two\n```\n```sh\n$ not run\n```\n"
        found = [(e.command, e.expected, e.line) for e in docs.examples_of(text, "doc")]
        self.assertEqual(found, [("one \\\n  more", "out 1\nout 2\n", 3), ("two", "", 7)])
        with self.assertRaises(SystemExit):
            docs.examples_of("```console\nout\n```\n", "doc")

    def test_run(self):
        examples = docs.examples_of("```console\n$ A=5; echo x >&2\n$ echo $A; false\n```\n", "doc")
        self.assertEqual(docs.run(examples, "."), [("x\n", 0), ("5\n", 1)])


if __name__ == "__main__":
    unittest.main()
