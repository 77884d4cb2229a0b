#!/usr/bin/env python3
"""Drives a headless Chromium without scripts of the page, and reports what a person meets.

browser.py [--shots FOLDER] URL STEP…: opens the URL, performs the steps, and prints one JSON object: what each `look` saw, and
everything that the browser complained about. A step is

  title TEXT   waits until the page with this title has been loaded
  type TEXT    types into the element that has the focus
  press KEY    presses Tab, Enter or Space
  look         reports the page in light and dark, wide and narrow

The browser is controlled over a pipe (--remote-debugging-pipe), with the Chrome DevTools Protocol.
"""

import base64
import json
import os
import signal
import subprocess
import sys
import tempfile

KEYS = {"Tab": ("Tab", 9, ""), "Enter": ("Enter", 13, "\r"), "Space": ("Space", 32, " ")}

# What the page shows: its names for assistive technology come from the accessibility tree instead. The contrast is that of WCAG 2.2,
# of every text with the first background that is not transparent.
LOOK = """(() => {
  const channels = (color) => color.match(/[\\d.]+/g).map(Number);
  const luminance = (color) => {
    const [r, g, b] = channels(color).map((c) => (c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const isOpaque = (color) => channels(color).length < 4 || channels(color)[3] > 0;
  const background = (element) => {
    for (let e = element; e; e = e.parentElement) {
      const color = getComputedStyle(e).backgroundColor;
      if (isOpaque(color)) return color;
    }
    return matchMedia("(prefers-color-scheme: dark)").matches ? "rgb(18, 18, 18)" : "rgb(255, 255, 255)";
  };
  const ratios = [];
  for (const element of document.body.querySelectorAll("*")) {
    const own = [...element.childNodes].some((n) => n.nodeType === 3 && n.data.trim());
    if (!own && element.localName !== "input" && element.localName !== "svg") continue;
    if (!element.getClientRects().length) continue;
    const pair = [luminance(getComputedStyle(element).color), luminance(background(element))].sort((a, b) => b - a);
    ratios.push((pair[0] + 0.05) / (pair[1] + 0.05));
  }
  return {
    url: location.href, title: document.title, language: document.documentElement.lang,
    text: document.body.innerText, background: getComputedStyle(document.body).backgroundColor,
    contrast: Math.min(...ratios), scrollsSideways: document.documentElement.scrollWidth > innerWidth,
    scripts: document.scripts.length,
  };
})()"""


class Browser:
    """A headless Chromium with one page."""

    def __init__(self, folder):
        to_browser, self.out = os.pipe()
        self.input, from_browser = os.pipe()
        arguments = [
            "chromium", "--headless=new", "--remote-debugging-pipe", f"--user-data-dir={folder}", "--no-first-run",
            "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking", "--force-device-scale-factor=1",
        ]
        if os.geteuid() == 0:
            arguments.append("--no-sandbox")

        def inherit():  # the protocol's descriptors are 3 and 4
            first, second = os.dup(to_browser), os.dup(from_browser)
            os.dup2(first, 3)
            os.dup2(second, 4)

        environment = dict(os.environ, HOME=folder, XDG_CONFIG_HOME=folder, XDG_CACHE_HOME=folder)
        self.process = subprocess.Popen(
            [*arguments, "about:blank"], preexec_fn=inherit, close_fds=False, env=environment,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self.buffer = b""
        self.number = 0
        self.session = None
        self.complaints = []
        self.changes = 0
        targets = self.call("Target.getTargets")["targetInfos"]
        page = next(t for t in targets if t["type"] == "page")
        self.session = self.call("Target.attachToTarget", targetId=page["targetId"], flatten=True)["sessionId"]
        for domain in ["Page", "Log", "Runtime", "Audits", "Accessibility", "Network"]:
            self.call(f"{domain}.enable")
        self.call("Emulation.setScriptExecutionDisabled", value=True)

    def call(self, method, tolerant=False, **parameters):
        """Send a command and return its result; events that come before it are looked at."""
        self.number += 1
        command = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            command["sessionId"] = self.session
        os.write(self.out, json.dumps(command).encode() + b"\0")
        while True:
            message = self.receive()
            if message.get("id") == self.number:
                if "error" in message and not tolerant:
                    sys.exit(f"{method}: {message['error']}")
                return message.get("result", {})

    def receive(self):
        while b"\0" not in self.buffer:
            piece = os.read(self.input, 65536)
            if not piece:
                sys.exit("the browser has ended")
            self.buffer += piece
        text, self.buffer = self.buffer.split(b"\0", 1)
        message = json.loads(text)
        self.note(message.get("method"), message.get("params", {}))
        return message

    def note(self, event, details):
        """Count changes of the page, and keep what the browser complains about."""
        if event in {"Page.loadEventFired", "Page.frameNavigated", "Page.domContentEventFired"}:
            self.changes += 1
        if event == "Log.entryAdded":
            entry = details["entry"]
            # A browser asks every server for this picture, and is told that there is none.
            if not entry.get("url", "").endswith("/favicon.ico"):
                self.complaints.append(f"{entry['level']}: {entry['text']}")
        elif event == "Runtime.exceptionThrown":
            self.complaints.append(details["exceptionDetails"]["text"])
        elif event == "Audits.issueAdded":
            self.complaints.append(json.dumps(details["issue"]))

    def wait_for_title(self, title):
        """Wait until a page with this title is complete: after each event that can have changed it, look again."""
        while True:
            seen = self.changes
            if self.evaluate("document.readyState + ':' + document.title") == f"complete:{title}":
                return
            while self.changes == seen:
                self.receive()

    def evaluate(self, expression):
        """Evaluate an expression; None if the page is replaced meanwhile."""
        reply = self.call("Runtime.evaluate", tolerant=True, expression=expression, returnByValue=True)
        return reply.get("result", {}).get("value")

    def press(self, key):
        code, number, text = KEYS[key]
        event = {"key": code, "code": code, "windowsVirtualKeyCode": number}
        self.call("Input.dispatchKeyEvent", type="keyDown", text=text, **event)
        self.call("Input.dispatchKeyEvent", type="keyUp", **event)

    def look(self, shots):
        names = []
        for node in self.call("Accessibility.getFullAXTree")["nodes"]:
            role = node.get("role", {}).get("value")
            if not node.get("ignored") and role in {"heading", "link", "button", "textbox", "main", "banner", "contentinfo"}:
                names.append(f"{role}: {node.get('name', {}).get('value', '')}".strip())
        report = {"names": names, "views": []}
        for scheme in ["light", "dark"]:
            self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
            for width in [1000, 320]:
                self.call("Emulation.setDeviceMetricsOverride", width=width, height=640, deviceScaleFactor=1, mobile=False)
                view = self.evaluate(LOOK)
                report["views"].append(dict(view, scheme=scheme, width=width))
                if shots:
                    name = "".join(c if c.isalnum() else "-" for c in view["title"].lower())
                    picture = base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"])
                    with open(f"{shots}/{name}-{scheme}-{width}.png", "wb") as file:
                        file.write(picture)
        self.call("Emulation.clearDeviceMetricsOverride")
        return report


def main():
    arguments = sys.argv[1:]
    shots = None
    if arguments[0] == "--shots":
        shots, arguments = arguments[1], arguments[2:]
    url, steps = arguments[0], arguments[1:]
    looks = []
    signal.alarm(180)  # ends a wait for a page that never comes
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        browser = Browser(folder)
        try:
            browser.call("Page.navigate", url=url)
            for step in steps:
                verb, _, rest = step.partition(" ")
                if verb == "title":
                    browser.wait_for_title(rest)
                elif verb == "type":
                    browser.call("Input.insertText", text=rest)
                elif verb == "press":
                    browser.press(rest)
                elif verb == "look":
                    looks.append(browser.look(shots))
                else:
                    sys.exit(f"unknown step: {step}")
        finally:
            browser.process.kill()
            browser.process.wait()
    print(json.dumps({"looks": looks, "complaints": browser.complaints}))


if __name__ == "__main__":
    main()
