#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Goes through docs/python-tutorial.md as a newcomer does who has the source: in a copy of this checkout it runs the
# page's commands, up to the `pip install` that builds the package into a fresh environment, and then the page's Python,
# block after block, as python/tests/test_docs.py does. What ccache has of a release build is not compiled again.
#   scripts/test_tutorial.sh
set -euo pipefail
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
git ls-files -z --cached --others --exclude-standard | tar --null --ignore-failed-read -T - -cf - | tar -xf - -C "$work"
cd "$work"
# The build folder lies as deep as those of the presets, whose launcher this is: ccache compares relative paths.
export SKBUILD_BUILD_DIR=build/pip CMAKE_C_COMPILER_LAUNCHER=ccache CMAKE_CXX_COMPILER_LAUNCHER=ccache
export CCACHE_BASEDIR=$work CCACHE_NOHASHDIR=true
export CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
unset PYTHONPATH
commands=$(sed -n 's/^    \$ //p' docs/python-tutorial.md)
grep -q "^pip install '\.\[torch\]'" <<< "$commands" # else the page has other marks, and nothing would be tested
bash -euo pipefail -xc "$commands
pip install --quiet pytest
python -m pytest -q -p no:cacheprovider python/tests/test_docs.py -k python-tutorial"
