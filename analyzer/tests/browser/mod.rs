//! A headless Chromium, driven through its debugging pipe: no port, no driver program, no dependency.
//!
//! Debian's package `chromium` brings it; `CHROMIUM` names another. Without one tests are skipped with a loud line; with
//! `CI=true` they fail.

#![allow(
    dead_code,
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "each test file uses its own part; helpers of tests"
)]

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

/// The program, or `None` after a loud line.
pub(crate) fn chromium() -> Option<PathBuf> {
    let named = std::env::var_os("CHROMIUM").map(PathBuf::from);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let mut known = std::env::split_paths(&path).flat_map(|folder| names.map(|name| folder.join(name)));
    let found = named.or_else(|| known.find(|program| program.is_file()));
    if found.is_none() {
        assert!(
            std::env::var("CI").as_deref() != Ok("true"),
            "chromium is missing: Debian's package chromium brings it"
        );
        eprintln!("SKIPPED: chromium is not installed, the page is not opened");
    }
    found
}

/// A browser with one page. It ends with this value.
pub(crate) struct Browser {
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    session: String,
    next: u64,
    /// Console errors and warnings, exceptions, and requests for anything but the page itself.
    pub(crate) complaints: Vec<String>,
    page: String,
    _profile: TempDir,
}

impl Browser {
    /// Starts a browser with a window of `width` x `height`.
    pub(crate) fn start(program: &Path, width: u32, height: u32) -> Self {
        let profile = tempfile::tempdir().unwrap();
        // The pipe is expected at descriptors 3 and 4.
        let mut child = Command::new("sh")
            .args(["-c", "exec \"$0\" \"$@\" 3<&0 4>&1 0</dev/null 1>/dev/null"])
            .arg(program)
            .args([
                "--headless=new",
                "--remote-debugging-pipe",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-extensions",
                "--no-first-run",
                "--hide-scrollbars",
                "--force-color-profile=srgb",
                "--font-render-hinting=none",
            ])
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .arg("about:blank")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let (to, from) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let mut browser = Self {
            child,
            to,
            from: BufReader::new(from),
            session: String::new(),
            next: 0,
            complaints: Vec::new(),
            page: String::new(),
            _profile: profile,
        };
        let targets = browser.call("Target.getTargets", &json!({}));
        let pages = targets["targetInfos"].as_array().unwrap();
        let page = pages.iter().find(|target| target["type"] == "page").unwrap();
        let attached = browser.call(
            "Target.attachToTarget",
            &json!({"targetId": page["targetId"], "flatten": true}),
        );
        attached["sessionId"].as_str().unwrap().clone_into(&mut browser.session);
        for domain in ["Page", "Runtime", "Log", "Network"] {
            browser.call(&format!("{domain}.enable"), &json!({}));
        }
        browser.resize(width, height);
        browser
    }

    /// Another size of the window; below 700 pixels a phone.
    pub(crate) fn resize(&mut self, width: u32, height: u32) {
        let metrics = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 700});
        self.call("Emulation.setDeviceMetricsOverride", &metrics);
    }

    /// Light or dark, screen or print.
    pub(crate) fn media(&mut self, scheme: &str, media: &str) {
        let features = json!([{"name": "prefers-color-scheme", "value": scheme}]);
        self.call(
            "Emulation.setEmulatedMedia",
            &json!({"media": media, "features": features}),
        );
    }

    /// Opens a file and waits until its charts are there.
    pub(crate) fn open(&mut self, file: &Path) {
        // As the browser itself writes it.
        let encoded = file.to_str().unwrap().bytes().map(|byte| match byte {
            b' ' | b'%' | b'#' | b'?' | 0x80.. => format!("%{byte:02X}"),
            byte => char::from(byte).to_string(),
        });
        self.page = format!("file://{}", encoded.collect::<String>());
        let (url, page) = (
            self.page.clone(),
            self.call("Page.navigate", &json!({"url": self.page})),
        );
        assert!(page["errorText"].is_null(), "{url}: {page}");
        self.wait("document.documentElement?.dataset.ready === 'true'");
    }

    /// Waits until an expression holds, at most about half a minute.
    #[track_caller]
    pub(crate) fn wait(&mut self, expression: &str) {
        for _ in 0..600 {
            if self.eval(expression) == Value::Bool(true) {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
        panic!("`{expression}` never held; {:?}", self.complaints);
    }

    /// The value of an expression; promises are awaited.
    #[track_caller]
    pub(crate) fn eval(&mut self, expression: &str) -> Value {
        let result = self.call(
            "Runtime.evaluate",
            &json!({"expression": expression, "returnByValue": true, "awaitPromise": true, "userGesture": true}),
        );
        assert!(result["exceptionDetails"].is_null(), "`{expression}`: {result}");
        result["result"]["value"].clone()
    }

    /// Presses a key: `Enter`, `ArrowDown`, `/`.
    pub(crate) fn press(&mut self, key: &str) {
        let text = if key.len() == 1 { key } else { "" };
        self.call(
            "Input.dispatchKeyEvent",
            &json!({"type": "keyDown", "key": key, "text": text}),
        );
        self.call("Input.dispatchKeyEvent", &json!({"type": "keyUp", "key": key}));
    }

    /// Types text into what has the focus.
    pub(crate) fn type_text(&mut self, text: &str) {
        self.call("Input.insertText", &json!({"text": text}));
    }

    /// Clicks at a place of the window.
    pub(crate) fn click(&mut self, x: f64, y: f64) {
        for kind in ["mouseMoved", "mousePressed", "mouseReleased"] {
            let event = json!({"type": kind, "x": x, "y": y, "button": if kind == "mouseMoved" { "none" } else { "left" }, "clickCount": u8::from(kind != "mouseMoved")});
            self.call("Input.dispatchMouseEvent", &event);
        }
    }

    /// Calls a method of the protocol and gives its result.
    #[track_caller]
    pub(crate) fn call(&mut self, method: &str, params: &Value) -> Value {
        self.next += 1;
        let id = self.next;
        let mut message = json!({"id": id, "method": method, "params": params});
        if !self.session.is_empty() {
            message["sessionId"] = json!(self.session);
        }
        let mut bytes = serde_json::to_vec(&message).unwrap();
        bytes.push(0);
        self.to.write_all(&bytes).unwrap();
        self.to.flush().unwrap();
        loop {
            let mut bytes = Vec::new();
            self.from.read_until(0, &mut bytes).unwrap();
            assert_eq!(bytes.pop(), Some(0), "the browser ended during {method}");
            let mut answer: Value = serde_json::from_slice(&bytes).unwrap();
            if answer["id"] == id {
                assert!(answer["error"].is_null(), "{method}: {answer}");
                return answer["result"].take();
            }
            self.hear(&answer);
        }
    }

    fn hear(&mut self, event: &Value) {
        let params = &event["params"];
        match event["method"].as_str() {
            Some("Runtime.exceptionThrown") => self.complaints.push(params["exceptionDetails"].to_string()),
            Some("Runtime.consoleAPICalled") if ["error", "warning", "assert"].iter().any(|t| params["type"] == *t) => {
                self.complaints.push(params["args"].to_string());
            }
            Some("Log.entryAdded") if params["entry"]["level"] != "verbose" => {
                self.complaints.push(params["entry"].to_string());
            }
            Some("Network.requestWillBeSent") => {
                let url = params["request"]["url"].as_str().unwrap_or_default();
                let itself = url.split('#').next() == Some(self.page.as_str());
                if !(itself || url.starts_with("data:") || url.starts_with("about:") || url.starts_with("blob:")) {
                    self.complaints.push(format!("request: {url}"));
                }
            }
            _ => {}
        }
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // The process that was started is the browser itself; its helpers end with it.
        _ = self.child.kill();
        _ = self.child.wait();
    }
}
