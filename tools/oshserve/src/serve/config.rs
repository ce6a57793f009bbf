//! `--web.config.file`: TLS and passwords, in the format of Prometheus' exporters (exporter-toolkit). Whatever is in
//! the file is either done or refused by its name, never ignored. It is read again when it changes, as are certificates
//! and keys.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, RandomState};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use rustls::RootCertStore;
use rustls::ServerConfig;
use rustls::server::WebPkiClientVerifier;
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use serde::Deserialize;

/// The hash that a password of an unknown user is compared with: it takes as long as one of a known one.
const NOBODY: &str = "$2b$10$abcdefghijklmnopqrstuuGcEzuLHPVTNqkmC5MbGgyYtPYCpjHiu";

/// The `client_auth_type` that asks clients for a certificate.
const REQUIRE: &str = "RequireAndVerifyClientCert";

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    tls_server_config: Option<Tls>,
    #[serde(default)]
    basic_auth_users: HashMap<String, String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Tls {
    cert_file: PathBuf,
    key_file: PathBuf,
    client_ca_file: Option<PathBuf>,
    client_auth_type: Option<String>,
    min_version: Option<String>,
}

impl Tls {
    /// Whether clients have to show a certificate.
    fn asks_for_certificates(&self) -> bool {
        self.client_auth_type.as_deref() == Some(REQUIRE)
    }
}

/// The file, and what was found out about passwords.
#[derive(Debug)]
pub struct Config {
    path: PathBuf,
    at_start: File,
    was_empty: bool,
    /// Hashes of (user, hash, password) that have been found right: bcrypt is slow on purpose.
    known: Mutex<HashSet<u64>>,
    hasher: RandomState,
}

impl Config {
    /// Reads and checks it all.
    ///
    /// # Errors
    /// What is wrong, with the file's name.
    pub fn open(path: PathBuf) -> Result<Config, String> {
        let config = Config::of(path)?;
        config.tls()?;
        Ok(config)
    }

    fn of(path: PathBuf) -> Result<Config, String> {
        let read = read(&path)?;
        let (was_empty, at_start) = (read.is_none(), read.unwrap_or_default());
        Ok(Config { path, at_start, was_empty, known: Mutex::default(), hasher: RandomState::new() })
    }

    /// Whether it had passwords at the start.
    pub fn has_users(&self) -> bool {
        !self.at_start.basic_auth_users.is_empty()
    }

    /// Whether it had a certificate at the start.
    pub fn has_tls(&self) -> bool {
        self.at_start.tls_server_config.is_some()
    }

    /// The file as it is now. One that is being written, or was left half written, opens no door that was closed at
    /// the start.
    fn now(&self) -> Result<File, String> {
        let refused = |what: &str| format!("{}: {what}: connections are refused until it is", self.path.display());
        let file = match read(&self.path)? {
            Some(file) => file,
            None if self.was_empty => return Ok(File::default()),
            None => return Err(refused("the file is not complete: it is empty, and was not at the start")),
        };
        match (&self.at_start.tls_server_config, &file.tls_server_config) {
            (Some(_), None) => Err(refused("tls_server_config, which it had at the start, is not there")),
            (Some(before), Some(now)) if before.asks_for_certificates() && !now.asks_for_certificates() => {
                Err(refused(&format!("client_auth_type is not {REQUIRE}, as at the start")))
            }
            _ => Ok(file),
        }
    }

    /// What the next connection is encrypted with.
    ///
    /// # Errors
    /// What is wrong, with the file's name: the connection is to be closed.
    pub fn tls(&self) -> Result<Option<Arc<ServerConfig>>, String> {
        let file = self.now()?;
        let folder = self.path.parent().unwrap_or(Path::new(""));
        file.tls_server_config.as_ref().map(|tls| server_config(tls, folder).map(Arc::new)).transpose()
    }

    /// Whether a request with this `Authorization` is let in. May take some tenths of a second.
    pub fn admits(&self, authorization: Option<&str>) -> bool {
        // A file that cannot be read lets nobody in.
        let Ok(file) = self.now() else { return false };
        if file.basic_auth_users.is_empty() {
            return !self.has_users();
        }
        let Some((user, password)) = authorization.and_then(credentials) else { return false };
        let hash = file.basic_auth_users.get(&user);
        let this = self.hasher.hash_one((&user, hash, &password));
        if self.known.lock().unwrap_or_else(PoisonError::into_inner).contains(&this) {
            return true;
        }
        let right = bcrypt::verify(&password, hash.map_or(NOBODY, String::as_str)).unwrap_or(false) && hash.is_some();
        if right {
            let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            // Of hashes that have been replaced.
            if known.len() > 100 {
                known.clear();
            }
            known.insert(this);
        }
        right
    }
}

/// `None`: there is nothing in it but comments.
fn read(path: &Path) -> Result<Option<File>, String> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    if text.lines().all(|line| line.trim().is_empty() || line.trim_start().starts_with('#')) {
        return Ok(None);
    }
    let wrong = |error: serde_yaml_ng::Error| format!("{}: {}", path.display(), without_text(&error.to_string()));
    let file: File = serde_yaml_ng::from_str(&text).map_err(wrong)?;
    let is_hash = |hash: &str| hash.parse::<bcrypt::HashParts>().is_ok();
    match file.basic_auth_users.iter().find(|(_, hash)| !is_hash(hash)) {
        Some((user, _)) => Err(format!("{}: the password of user {user:?} is no bcrypt hash", path.display())),
        None => Ok(Some(file)),
    }
}

/// A message without the text of the file that is in it: that may be a key or a password.
fn without_text(message: &str) -> String {
    const BEFORE: &str = "string \"";
    match (message.find(BEFORE), message.rfind('"')) {
        (Some(begin), Some(end)) if end >= begin + BEFORE.len() => {
            format!("{}string{}", &message[..begin], &message[end + 1..])
        }
        _ => message.to_owned(),
    }
}

fn server_config(tls: &Tls, folder: &Path) -> Result<ServerConfig, String> {
    let place = |path: &Path| folder.join(path);
    let failed = |path: &Path, error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    let list = |path: &Path| -> Result<Vec<CertificateDer<'static>>, String> {
        let all = CertificateDer::pem_file_iter(path).map_err(|error| failed(path, &error))?;
        all.collect::<Result<_, _>>().map_err(|error| failed(path, &error))
    };
    let versions: &[&rustls::SupportedProtocolVersion] = match tls.min_version.as_deref() {
        None | Some("TLS12") => &[&rustls::version::TLS12, &rustls::version::TLS13],
        Some("TLS13") => &[&rustls::version::TLS13],
        Some(other) => return Err(format!("min_version `{other}` is not supported; there are TLS12 and TLS13")),
    };
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_protocol_versions(versions)
        .map_err(|error| error.to_string())?;
    let builder = match (tls.client_auth_type.as_deref().unwrap_or("NoClientCert"), &tls.client_ca_file) {
        ("NoClientCert", _) => builder.with_no_client_auth(),
        (REQUIRE, Some(ca)) => {
            let mut roots = RootCertStore::empty();
            let ca = place(ca);
            for certificate in list(&ca)? {
                roots.add(certificate).map_err(|error| failed(&ca, &error))?;
            }
            let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider).build();
            builder.with_client_cert_verifier(verifier.map_err(|error| failed(&ca, &error))?)
        }
        (REQUIRE, None) => return Err("client_auth_type needs a client_ca_file".into()),
        (other, _) => {
            return Err(format!("client_auth_type `{other}` is not supported; there are NoClientCert and {REQUIRE}"));
        }
    };
    let (cert, key) = (place(&tls.cert_file), place(&tls.key_file));
    let private = PrivateKeyDer::from_pem_file(&key).map_err(|error| failed(&key, &error))?;
    builder.with_single_cert(list(&cert)?, private).map_err(|error| failed(&cert, &error))
}

/// User and password of `Basic BASE64`.
fn credentials(authorization: &str) -> Option<(String, String)> {
    let (kind, text) = authorization.split_once(' ')?;
    let pair = kind.eq_ignore_ascii_case("basic").then(|| decode(text.trim()))??;
    let (user, password) = std::str::from_utf8(&pair).ok()?.split_once(':')?;
    Some((user.to_owned(), password.to_owned()))
}

fn decode(text: &str) -> Option<Vec<u8>> {
    use base64::Engine;
    base64::engine::general_purpose::STANDARD.decode(text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file that ends with this, also where a test fails.
    struct Written(PathBuf);

    impl Written {
        fn new(text: &str) -> Self {
            let name = format!("oshserve-config-{}-{:x}", std::process::id(), RandomState::new().hash_one(text));
            let written = Self(std::env::temp_dir().join(name));
            std::fs::write(&written.0, text).unwrap();
            written
        }

        fn open(&self) -> Result<Config, String> {
            Config::open(self.0.clone())
        }
    }

    impl Drop for Written {
        fn drop(&mut self) {
            let _ = std::fs::remove_file(&self.0);
        }
    }

    #[test]
    fn what_is_in_another_file_is_not_told() {
        for text in
            ["-----BEGIN KEY-----\nMIIsecret+/=\n-----END KEY-----\n", "basic_auth_users: \"a \\\"MIIsecret\\\" b\"\n"]
        {
            let said = Written::new(text).open().map(drop).unwrap_err();
            assert!(!said.contains("secret") && said.contains("invalid type: string"), "{said}");
        }
        let said = Written::new("tls_server: {}\n").open().map(drop).unwrap_err();
        assert!(said.contains("tls_server"), "{said}");
    }

    #[test]
    fn passwords() {
        let hash = bcrypt::hash("secret", 4).unwrap();
        let file = Written::new(&format!("basic_auth_users:\n  ada: {hash}\n"));
        let config = file.open().unwrap();
        let basic = |text: &str| {
            use base64::Engine;
            format!("Basic {}", base64::engine::general_purpose::STANDARD.encode(text))
        };
        assert!(config.admits(Some(&basic("ada:secret"))));
        assert!(config.admits(Some(&basic("ada:secret"))), "from memory");
        for wrong in ["ada:Secret", "ada:", "eve:secret", "ada", ":"] {
            assert!(!config.admits(Some(&basic(wrong))), "{wrong}");
        }
        assert!(!config.admits(None) && !config.admits(Some("Bearer x")) && !config.admits(Some("Basic %%%")));
        std::fs::write(&file.0, "basic_auth_users: {}\n").unwrap();
        assert!(!config.admits(None), "users who are taken away do not open the door");
        std::fs::remove_file(&file.0).unwrap();
        assert!(!config.admits(Some(&basic("ada:secret"))), "nor does a file that is taken away");
    }

    #[test]
    fn a_file_that_is_cut_off_opens_no_door() {
        let tls = "tls_server_config:\n  cert_file: a\n  key_file: b\n";
        let asks = format!("{tls}  client_ca_file: c\n  client_auth_type: RequireAndVerifyClientCert\n");
        let file = Written::new(&asks);
        let config = Config::of(file.0.clone()).unwrap();
        assert!(config.has_tls() && config.admits(None));
        for (text, said) in [
            ("", "is not complete"),
            ("# made by a tool\n", "is not complete"),
            ("basic_auth_users: {}\n", "tls_server_config"),
            (tls, "client_auth_type"),
        ] {
            std::fs::write(&file.0, text).unwrap();
            let error = config.tls().unwrap_err();
            assert!(error.contains(said) && error.contains(&file.0.display().to_string()), "{text:?}: {error}");
            assert!(!config.admits(None), "{text:?}");
        }
        std::fs::write(&file.0, asks).unwrap();
        assert!(config.now().is_ok() && config.admits(None));
        // One that has asked for nothing may go on so.
        let empty = Written::new("# nothing yet\n");
        let config = empty.open().unwrap();
        std::fs::write(&empty.0, "").unwrap();
        assert!(config.tls().unwrap().is_none() && config.admits(None));
    }

    #[test]
    fn what_is_not_done_is_refused_by_name() {
        for (text, part) in [
            ("http_server_config:\n  http2: true\n", "http_server_config"),
            ("tls_server_config:\n  cert_file: a\n  key_file: b\n  cipher_suites: [x]\n", "cipher_suites"),
            ("tls_server_config:\n  cert_file: /nowhere/a\n  key_file: /nowhere/b\n", "/nowhere/b"),
            ("tls_server_config:\n  cert_file: a\n  key_file: b\n  min_version: TLS10\n", "`TLS10` is not supported"),
            ("tls_server_config:\n  cert_file: a\n  key_file: b\n  client_auth_type: Maybe\n", "`Maybe`"),
            ("basic_auth_users: [", "line"),
        ] {
            let message = Written::new(text).open().unwrap_err();
            assert!(message.contains(part), "{text}: {message}");
        }
        assert!(!Written::new("").open().unwrap().has_users());
    }
}
