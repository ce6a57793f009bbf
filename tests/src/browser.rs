//! A real browser without a screen, led by its driver (WebDriver, W3C).

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use crate::exporter::{LONG, free_port, wait_for};
use crate::system;

/// A browser with a page; ended when dropped.
pub struct Browser {
    driver: Child,
    address: SocketAddr,
    session: String,
}

impl Browser {
    /// Starts one; `None`, and said: there is none.
    pub fn start(folder: &Path) -> Option<Browser> {
        let (browser, driver) = (system::find(&["chromium"]), system::find(&["chromedriver"]));
        let (Some(browser), Some(driver)) = (browser, driver) else {
            println!("skipped: chromium or its driver is not installed");
            return None;
        };
        let address = SocketAddr::from(([127, 0, 0, 1], free_port()));
        let log = std::fs::File::create(folder.join("driver.log")).expect("a log");
        let driver = Command::new(driver)
            .arg(format!("--port={}", address.port()))
            .stdin(Stdio::null())
            .stdout(log.try_clone().expect("a log"))
            .stderr(log)
            .spawn()
            .expect("the driver starts");
        let mut made = Browser { driver, address, session: String::new() };
        wait_for("the driver", || TcpStream::connect(address).ok());
        let profile = format!("--user-data-dir={}", folder.join("browser").display());
        let arguments = [
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--no-first-run",
            "--disable-background-networking",
            "--window-size=1400,1500",
            &profile,
        ];
        let options = json!({ "binary": browser, "args": arguments });
        let logs = json!({ "browser": "ALL", "performance": "ALL" });
        let wanted = json!({ "goog:chromeOptions": options, "goog:loggingPrefs": logs });
        let answer = made.ask("POST", "/session", &json!({ "capabilities": { "alwaysMatch": wanted } }));
        made.session = answer["sessionId"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned();
        Some(made)
    }

    /// Goes to an address.
    pub fn open(&self, url: &str) {
        self.of_session("POST", "url", &json!({ "url": url }));
    }

    /// What a function body gives in the page.
    pub fn value(&self, script: &str) -> Value {
        self.of_session("POST", "execute/sync", &json!({ "script": script, "args": [] }))
    }

    /// Presses keys, one after another.
    pub fn press(&self, keys: &[&str]) {
        let one = |kind: &str, key: &str| json!({ "type": kind, "value": key });
        let actions: Vec<Value> = keys.iter().flat_map(|key| [one("keyDown", key), one("keyUp", key)]).collect();
        let keyboard = json!([{ "type": "key", "id": "keyboard", "actions": actions }]);
        self.of_session("POST", "actions", &json!({ "actions": keyboard }));
    }

    /// Light or dark.
    pub fn prefer(&self, scheme: &str) {
        let feature = json!([{ "name": "prefers-color-scheme", "value": scheme }]);
        let command = json!({ "cmd": "Emulation.setEmulatedMedia", "params": { "features": feature } });
        self.of_session("POST", "goog/cdp/execute", &command);
    }

    /// Keeps a picture of the page.
    pub fn picture(&self, file: &Path) {
        let answer = self.of_session("GET", "screenshot", &Value::Null);
        let text = answer.as_str().unwrap_or_default();
        assert!(text.len() > 1000, "a picture");
        std::fs::write(file, decode(text)).expect("a file");
    }

    /// Complaints of the page, and addresses that it has asked for.
    pub fn logs(&self) -> (Vec<String>, Vec<String>) {
        let of = |kind: &str| self.of_session("POST", "se/log", &json!({ "type": kind }));
        let text = |list: Value| -> Vec<String> {
            let list = list.as_array().cloned().unwrap_or_default();
            list.iter().map(|entry| entry["message"].as_str().unwrap_or_default().to_owned()).collect()
        };
        let requests = text(of("performance")).into_iter().filter_map(|line| {
            let event: Value = serde_json::from_str(&line).ok()?;
            let is_request = event["message"]["method"] == "Network.requestWillBeSent";
            is_request.then(|| event["message"]["params"]["request"]["url"].as_str().map(str::to_owned))?
        });
        let requests = requests.collect();
        (text(of("browser")), requests)
    }

    fn of_session(&self, method: &str, what: &str, body: &Value) -> Value {
        self.ask(method, &format!("/session/{}/{what}", self.session), body)
    }

    fn ask(&self, method: &str, path: &str, body: &Value) -> Value {
        let json = self.send(method, path, body).expect("an answer of the driver");
        let answer: Value =
            serde_json::from_str(&json).unwrap_or_else(|error| panic!("{method} {path}: {error}: {json}"));
        assert!(answer["value"]["error"].is_null(), "{method} {path}: {answer}");
        answer["value"].clone()
    }

    /// The body of the answer.
    fn send(&self, method: &str, path: &str, body: &Value) -> std::io::Result<String> {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let mut stream = TcpStream::connect(self.address)?;
        stream.set_read_timeout(Some(LONG))?;
        let head = format!("{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n");
        let length = format!("Content-Type: application/json\r\nContent-Length: {}\r\n\r\n", body.len());
        stream.write_all((head + &length + &body).as_bytes())?;
        Ok(body_of(&mut BufReader::new(stream)))
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // The driver ends its browser, also where a test panics: then this must not panic.
        if !self.session.is_empty() {
            let _ = self.send("DELETE", &format!("/session/{}", self.session), &Value::Null);
        }
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}

/// What follows the head of an answer: the driver leaves the connection open.
fn body_of(stream: &mut impl BufRead) -> String {
    let (mut line, mut bytes) = (String::new(), 0);
    while stream.read_line(&mut line).is_ok_and(|read| read > 0) && !line.trim().is_empty() {
        if let Some(("content-length", length)) = line.to_ascii_lowercase().split_once(':') {
            bytes = length.trim().parse().unwrap_or(0);
        }
        line.clear();
    }
    let mut body = vec![0; bytes];
    let _ = stream.read_exact(&mut body);
    String::from_utf8_lossy(&body).into_owned()
}

/// Base64.
fn decode(text: &str) -> Vec<u8> {
    let value = |byte: u8| match byte {
        b'A'..=b'Z' => Some(byte - b'A'),
        b'a'..=b'z' => Some(byte - b'a' + 26),
        b'0'..=b'9' => Some(byte - b'0' + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    };
    let digits: Vec<u32> = text.bytes().filter_map(value).map(u32::from).collect();
    let bytes = |four: &[u32]| {
        let word = four.iter().fold(0, |word, digit| word << 6 | digit) << (6 * (4 - four.len()));
        word.to_be_bytes()[1..four.len().max(2)].to_vec()
    };
    digits.chunks(4).flat_map(bytes).collect()
}
