#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Opens the page of `tilewright profile --html` in a browser: whether everything is drawn, and nothing is reported on the
console. Ends with 77 and says so where there is no Chromium.

    scripts/test_pages.py --tool=build/dev/bin/tilewright
"""
import argparse
import html
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
# Appended to the page. What a user does comes first: sorting, other rows, a look at other times and at a dispatch.
CHECK = """<pre id="found"></pre><script>
{
  const drawn = canvas => {
    const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d", { willReadFrequently: true }), colors = new Set();
    copy.drawImage(canvas, 0, 0);
    const pixels = copy.getImageData(0, 0, canvas.width, canvas.height).data;
    for (let i = 0; i < pixels.length; i += 4) if (pixels[i + 3]) colors.add(pixels[i] << 16 | pixels[i + 1] << 8 | pixels[i + 2]);
    return colors.size;
  };
  const count = selector => document.querySelectorAll(selector).length;
  const timeline = document.getElementById("timeline"), by = document.getElementById("by"), tip = document.getElementById("tip");
  const before = drawn(timeline), lines = count("#table tbody tr"), rows = {};
  for (const option of by.options) {
    by.value = option.value;
    by.dispatchEvent(new Event("change"));
    document.querySelector("#table th:nth-child(4)").click();
    rows[by.value] = count("#table tbody tr");
  }
  timeline.dispatchEvent(new WheelEvent("wheel", { deltaY: -1, cancelable: true }));
  timeline.dispatchEvent(new MouseEvent("mousemove", { clientX: 9, clientY: 9 }));
  document.querySelector("#roofline circle")?.dispatchEvent(new MouseEvent("mousemove", { clientX: 9, clientY: 9 }));
  document.getElementById("found").textContent = JSON.stringify({
    head: document.getElementById("head").textContent, lines, rows, timeline: Math.min(before, drawn(timeline)),
    dots: count("#roofline circle"), roofs: count("#roofline path:not(.axis)"), bars: count("#memory rect"), tip: tip.textContent,
    placed: [...document.querySelectorAll("#roofline circle, #memory rect")].every(each => {
      const box = each.getBBox();
      return [box.x, box.y, box.width, box.height].every(Number.isFinite) && box.width > 0;
    }) });
}
</script>
"""


def opened(browser, page, folder):
    """What the page's own elements are found to be, and the lines of its console."""
    copy = folder / "page.html"
    copy.write_text(page + CHECK)
    command = [browser, "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--virtual-time-budget=5000",
               f"--user-data-dir={folder}/browser", "--dump-dom", copy.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    found = re.search(r'<pre id="found">(.*?)</pre>', done.stdout, re.S)
    if done.returncode or not found:
        raise SystemExit(f"{browser} ended with status {done.returncode} and did not open the page: {done.stderr[-500:]}")
    return json.loads(html.unescape(found[1]) or "{}"), re.findall(r".*CONSOLE.*", done.stderr)


def problems(found, console, dispatches):
    """What of the page is not as it is to be. The roofline has those of `dispatches` that compute something."""
    wrong = [f"the console says: {line}" for line in console]
    if not found:
        return wrong + ["the page could not be looked at"]
    computing = sum(dispatch["flops"] > 0 for dispatch in dispatches)
    counts = (("lines of the table", found["lines"], len(dispatches)), ("dots of the roofline", found["dots"], computing),
              ("bars of the memory", found["bars"], len(dispatches)))
    wrong += [f"{count} {what} for {wanted} dispatches" for what, count, wanted in counts if count != wanted]
    wrong += [f"no lines by {by}" for by in ("dispatch", "kernel", "module") if not found["rows"].get(by)]
    wrong += ["the timeline is empty"] * (found["timeline"] < 3)  # a dispatch, a thread and the text
    wrong += ["the roofline has no roofs"] * (found["roofs"] < 3)  # a peak, and reading of weights and of temporaries
    wrong += ["a dot or bar has no place or size"] * (not found["placed"])
    wrong += ["nothing is said of a dispatch below the mouse"] * (not found["tip"])
    return wrong + ["the head lacks the time of a call"] * ("a call takes" not in found["head"])


# What is to be found out: text of the page that is replaced, and a word of what is said then.
PLANTED = (("\nshowTable();", "", "lines of the table"), ("\ndrawTimeline();", "", "the timeline is empty"),
           ("\ndrawRoofline();", "\nnowhere();", "nowhere is not defined"), ("\ndrawMemory();", "", "bars of the memory"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", default=str(ROOT / "build/dev/bin/tilewright"))
    options = parser.parse_args()
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if not browser:
        print(f"skipped: there is none of {', '.join(BROWSERS)}")
        return 77
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        model, page = ROOT / "e2e/models/transformer_block", folder / "profile.html"
        command = [options.tool, "profile", str(model / "transformer_block.pt2"), f"--input=@{model}/c0s0_in0.npy", "--repeat=20", "--threads=2",
                   f"--html={page}", "--json"]
        dispatches = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)["dispatches"]
        text = page.read_text()
        wrong = problems(*opened(browser, text, folder), dispatches)
        for call, planted, said in PLANTED:
            spoilt = text.replace(call, planted)
            if spoilt == text or not any(said in each for each in problems(*opened(browser, spoilt, folder), dispatches)):
                wrong.append(f"a page without {call.strip()} is taken for a whole one")
    print("\n".join(wrong) or f"the page of a profile is drawn, by {pathlib.Path(browser).name}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
