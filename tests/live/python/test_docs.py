"""The examples of the documentation name what exists."""

import ast
import importlib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
PAGES = [ROOT / "docs/embedding.md", ROOT / "src/python/README.md"]
BLOCKS = [block.split("```")[0] for page in PAGES for block in page.read_text(encoding="utf-8").split("```python\n")[1:]]


@pytest.mark.parametrize("block", BLOCKS)
def test_names_of_the_package_exist(block):
    tree = compile(block, "example", "exec", ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            module = importlib.import_module(node.module)
            assert all(hasattr(module, name.name) for name in node.names)
        elif isinstance(node, ast.Import):
            for name in node.names:
                importlib.import_module(name.name)
        elif isinstance(node, ast.Attribute) and ast.unparse(node).startswith("plimsoll."):
            module, _, name = ast.unparse(node).rpartition(".")
            assert module == "plimsoll" or hasattr(importlib.import_module(module), name)


def test_examples_are_found():
    assert len(BLOCKS) >= 7
