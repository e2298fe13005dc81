"""links.py finds what leads nowhere, and accepts what should be."""

import unittest

import links

DOCUMENT = "# One page\n## A heading, with: signs\n```\n# no heading\n```\n"


def read(path):
    return DOCUMENT if path in ("docs/page.md", "page.md") else None


class LinksTest(unittest.TestCase):
    def test_links(self):
        for target in ["page.md", "page.md#one-page", "page.md#a-heading-with-signs", "https://example.org/x"]:
            self.assertEqual(links.dead_links(f"[text]({target})", "docs", read), [], target)
        for target in ["other.md", "page.md#no-heading", "../page/page.md", "#here"]:
            self.assertEqual(links.dead_links(f"# There\n[text]({target})", "docs", read), [target])
        self.assertEqual(links.dead_links("# Here\n[text](#here)", "docs", read), [])

    def test_citations(self):
        for text in [
            "// (docs/page.md)",
            "/// docs/page.md, One page: so",
            "/// (docs/page.md,\n/// One page).",
            "docs/page.md, u = 2",
        ]:
            self.assertEqual(links.dead_citations(text, read), [], text)
        for text, found in [
            ("// docs/other.md", "docs/other.md"),
            ("// docs/page.md, Two", "docs/page.md, Two"),
            ("/// docs/page.md, One page,\n/// Two.", "docs/page.md, One page, Two"),
        ]:
            self.assertEqual(links.dead_citations(text, read), [found], text)


if __name__ == "__main__":
    unittest.main()
