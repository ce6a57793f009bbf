//! A job that runs on one page for a browser: `oshrun --dashboard`, `oshprof top --web`.
//!
//! The page is one document that loads nothing else; it asks for the numbers of the moment once a second and draws
//! them. It is served to those who know a word that is part of its address.
//!
//! | module | what it is |
//! |---|---|
//! | [`state`] | the numbers of the moment, as JSON |
//! | [`web`] | `oshprof top --web` |

pub mod state;
pub mod web;

use hyper::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderName, HeaderValue};
use hyper::{Method, Response, StatusCode};

use crate::serve::answer::{HttpRequest, plain, refused_method};
use crate::serve::jobs::Jobs;

/// The page; its colours and forms; what draws it.
const PAGE: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = concat!(include_str!("panels.js"), include_str!("page.js"));
/// Nothing is loaded from elsewhere, nothing is sent elsewhere, nobody puts it into a frame.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// Answers to whoever knows the word.
pub fn answer(asked: &HttpRequest, jobs: &Jobs, word: &str) -> Response<Vec<u8>> {
    if asked.method != Method::GET && asked.method != Method::HEAD {
        return refused_method();
    }
    let rest = asked.path.strip_prefix('/').and_then(|path| path.strip_prefix(word));
    let (kind, body) = match rest {
        Some("" | "/") => ("text/html; charset=utf-8", page().into_bytes()),
        Some("/state") => ("application/json", jobs.state().to_string().into_bytes()),
        _ => return plain(StatusCode::NOT_FOUND, "the address of the page is the one that was printed\n"),
    };
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    for (name, value) in [
        (CONTENT_TYPE, kind),
        (CONTENT_SECURITY_POLICY, POLICY),
        (CACHE_CONTROL, "no-store"),
        (HeaderName::from_static("referrer-policy"), "no-referrer"),
        (HeaderName::from_static("x-content-type-options"), "nosniff"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

/// The document.
pub fn page() -> String {
    PAGE.replace("/* style */", STYLE).replace("/* script */", SCRIPT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_is_one_document() {
        let page = page();
        assert!(!page.contains("/* style */") && !page.contains("/* script */"));
        // Patterns and arrow heads of its own are all that it names.
        assert_eq!(page.matches("url(").count(), page.matches("url(#").count());
        for other in ["src=", "href=", "@import", "innerHTML"] {
            assert!(!page.contains(other), "{other}");
        }
        // The name of a standard is no address.
        let addresses = page.matches("http").count();
        assert_eq!(addresses, page.matches("http://www.w3.org/2000/svg").count(), "{addresses}");
    }
}
