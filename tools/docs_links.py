#!/usr/bin/env python3
"""Makes the links of the HTML that Doxygen wrote lead somewhere.

    tools/docs_links.py FOLDER     exit status: 0 every link does, 1 no, with a line for each that does not

Doxygen resolves neither a link to a heading of another document nor one to a file of the repository that is no
document. The first gets the name that Doxygen gave the heading, the second a copy of the file.
"""

import html
import re
import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HEADING = re.compile(r'<h[1-6][^>]*><a class="anchor" id="([^"]+)"></a>\s*(.*?)</h[1-6]>', re.DOTALL)


def page_of(document):
    """The HTML file of a document, as Doxygen names it"""
    if document == ROOT / "README.md":
        return "index.html"
    name = str(document.relative_to(ROOT).with_suffix(""))
    return f"md_{name.replace('/', '_')}.html"


def slug(heading):
    """The anchor of a heading, as in a repository's pages"""
    text = html.unescape(re.sub(r"<[^>]*>", "", heading)).strip().lower()
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")


class Pages:
    def __init__(self, folder):
        self.folder = folder
        self.documents = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")]
        self.documents += (ROOT / "docs").glob("*.md")
        self.texts = {path.name: path.read_text(errors="replace") for path in folder.glob("*.html")}
        self.ids = {name: set(re.findall(r'(?:id|name)="([^"]+)"', text)) for name, text in self.texts.items()}

    def leads_somewhere(self, page, link):
        path, _, anchor = link.partition("#")
        name = path or page
        return (self.folder / name).is_file() and (not anchor or anchor in self.ids.get(name, {anchor}))

    def resolved(self, page, link):
        """The link in its place, None where there is nothing to link to"""
        path, _, anchor = link.partition("#")
        source = next((document for document in self.documents if page_of(document) == page), None)
        if not source or not path:
            return None
        target = (source.parent / path).resolve()
        if target in self.documents:
            name = page_of(target)
            ids = {slug(text): number for number, text in HEADING.findall(self.texts[name])}
            return f"{name}#{ids[anchor]}" if anchor in ids else None
        if not target.is_file() or ROOT not in target.parents:
            return None
        copy = Path("files") / target.relative_to(ROOT)
        (self.folder / copy).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(target, self.folder / copy)
        return str(copy)


def main():
    pages, good = Pages(Path(sys.argv[1])), True
    for page, text in sorted(pages.texts.items()):
        # the summary of a class whose nested classes are all hidden (Doxygen 1.9.4)
        if "nested-classes" not in pages.ids[page]:
            text = re.sub(r'<a href="#nested-classes">[^<]*</a>\s*(&#124;)?', "", text)
        for link in sorted(set(re.findall(r'(?:href|src)="([^"]+)"', text))):
            plain = html.unescape(link)
            if re.match(r"\w+:", plain) or pages.leads_somewhere(page, plain):
                continue
            better = pages.resolved(page, plain)
            if better is None:
                print(f"{page}: the link to '{plain}' leads nowhere")
                good = False
            else:
                text = text.replace(f'="{link}"', f'="{html.escape(better)}"')
        (pages.folder / page).write_text(text)
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
