# How Sphinx reads the guide; make_guide.py beside it makes the pictures and lists that it shows.
import os

project = author = copyright = "Accelscope"
version = release = os.environ.get("ACCELSCOPE_VERSION", "")
extensions = ["myst_parser"]
myst_heading_anchors = 3
suppress_warnings = ["myst.header"]
exclude_patterns = ["theme", "stand_ins"]
html_title = "Accelscope guide"
html_theme_path = ["."]
html_theme = "theme"
html_favicon = "accelscope.svg"
html_static_path = ["accelscope.svg"]
html_show_sourcelink = False
html_use_index = False
html_copy_source = False
html_show_search_summary = False  # reads the pages anew, which browsers forbid where they are files
highlight_language = "none"
