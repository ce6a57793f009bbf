//! Comments of a pull request, as GitHub and GitLab serve them: what scripts of pipelines talk to in tests.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

/// One request.
#[derive(Clone, Debug)]
pub struct Request {
    /// `GET`, `POST` ...
    pub method: String,
    /// Path and query.
    pub path: String,
    /// What it authenticates with.
    pub token: String,
}

#[derive(Default)]
struct State {
    comments: Vec<(u64, String)>,
    requests: Vec<Request>,
    refuses: bool,
}

/// A server on the loopback interface.
pub struct Forge {
    /// Its address, as `http://127.0.0.1:PORT`.
    pub url: String,
    state: Arc<Mutex<State>>,
}

impl Forge {
    /// Starts one below whose pull request others have written so many comments.
    pub fn start(others: usize) -> Forge {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let comments =
            (0..others as u64).map(|id| (id, format!("> <!-- pellucid-perf:default -->\nno {id}"))).collect();
        let state = Arc::new(Mutex::new(State { comments, ..State::default() }));
        let shared = state.clone();
        // It ends with the process.
        std::thread::spawn(move || {
            listener.incoming().flatten().for_each(|stream| {
                let _ = answer(stream, &shared);
            });
        });
        Forge { url, state }
    }

    /// From now on nothing may be written.
    pub fn refuse(&self) {
        self.state.lock().expect("a lock").refuses = true;
    }

    /// All comments.
    pub fn comments(&self) -> Vec<String> {
        self.state.lock().expect("a lock").comments.iter().map(|(_, text)| text.clone()).collect()
    }

    /// All requests.
    pub fn requests(&self) -> Vec<Request> {
        self.state.lock().expect("a lock").requests.clone()
    }
}

fn answer(mut stream: TcpStream, state: &Mutex<State>) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let mut words = line.split_whitespace().map(str::to_owned);
    let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let (mut length, mut token) = (0, String::new());
    loop {
        line.clear();
        reader.read_line(&mut line)?;
        let Some((name, value)) = line.trim().split_once(": ") else { break };
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = value.parse().unwrap_or(0),
            "authorization" | "private-token" => token = value.to_owned(),
            _ => {}
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let text = serde_json::from_slice::<Value>(&body).ok().and_then(|v| v["body"].as_str().map(str::to_owned));
    let mut state = state.lock().expect("a lock");
    let (status, value) = state.serve(&method, &path, text);
    state.requests.push(Request { method, path, token });
    let page = value.to_string();
    let length = page.len();
    write!(stream, "HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{page}")
}

impl State {
    fn serve(&mut self, method: &str, path: &str, text: Option<String>) -> (&'static str, Value) {
        let query = |name: &str| {
            let pairs = path.split_once('?').map_or("", |(_, query)| query).split('&');
            pairs.filter_map(|pair| pair.split_once('=')).find(|(n, _)| *n == name).and_then(|(_, v)| v.parse().ok())
        };
        let shown = |(id, text): &(u64, String)| json!({ "id": id, "body": text });
        match (method, text) {
            ("GET", _) => {
                let (size, page) = (query("per_page").unwrap_or(30), query("page").unwrap_or(1_usize));
                ("200 OK", self.comments.iter().skip(size * (page - 1)).take(size).map(shown).collect())
            }
            _ if self.refuses => ("403 Forbidden", json!({ "message": "not accessible" })),
            ("POST", Some(text)) => {
                self.comments.push((7000, text));
                ("201 Created", shown(&self.comments[self.comments.len() - 1]))
            }
            ("PATCH" | "PUT", Some(text)) => {
                let id = path.rsplit('/').next().and_then(|id| id.parse::<u64>().ok());
                match self.comments.iter_mut().find(|(known, _)| Some(*known) == id) {
                    Some(comment) => {
                        comment.1 = text;
                        ("200 OK", shown(comment))
                    }
                    None => ("404 Not Found", json!({})),
                }
            }
            _ => ("400 Bad Request", json!({})),
        }
    }
}
