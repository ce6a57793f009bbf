//! What handlers may not do is refused, and says why.

use super::messages::{self, Pe, counts};
use super::{on_all_pes, ways};
use pellucid_core::am::{HANDLERS, Handler, Messages};
use pellucid_core::transport::{RemoteAddress, SegmentId};
use std::sync::Mutex;
use std::sync::atomic::Ordering;

static WORDS: Mutex<Vec<String>> = Mutex::new(Vec::new());

fn note(result: Result<(), pellucid_core::base::Fault>) {
    WORDS.lock().unwrap().push(result.map_or_else(|fault| fault.to_string(), |()| "done".into()));
}

/// The address of the only PE's messages, for the handler that does what it must not.
static ME: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);

#[allow(unsafe_code)]
fn me() -> &'static Messages {
    // SAFETY: set below to what lives for ever.
    unsafe { &*(ME.load(Ordering::Acquire) as *const Messages) }
}

#[test]
fn handlers_that_break_the_rules_are_told_which() {
    let pes = messages::job(&ways()[0], 1);
    let pe = &pes[0];
    ME.store(std::ptr::from_ref(pe.messages) as usize, Ordering::Release);
    pe.register(5, "rude", |message, context| {
        note(me().request_short(0, 5, &[]));
        note(me().try_request(0, 5, &[], None).map(drop));
        assert_eq!(me().poll().unwrap(), 0);
        note(message.reply_short(6, &[]));
        note(message.reply_short(6, &[]));
        counts(context)[0].fetch_add(1, Ordering::AcqRel);
    });
    pe.register(6, "answer", |message, context| {
        note(message.reply_short(6, &[]));
        counts(context)[1].fetch_add(1, Ordering::AcqRel);
    });
    pe.messages.request_short(0, 5, &[]).unwrap();
    pe.until(|| pe.count(1) == 1);
    let words = WORDS.lock().unwrap();
    assert_eq!(words.len(), 5);
    assert!(words[0].contains("handler 5 (rude)") && words[0].contains("sends a request"), "{words:?}");
    assert_eq!(words[0], words[1]);
    assert_eq!(words[2], "done");
    assert!(words[3].contains("a second time"), "{words:?}");
    assert!(words[4].contains("handler 6 (answer)") && words[4].contains("replies to a reply"), "{words:?}");
}

#[test]
fn what_cannot_be_sent_is_named() {
    on_all_pes(&[2], |pe: &Pe| {
        let handler = Handler { name: "x", run: |_, _| (), context: 0 };
        let large = pe.messages.register(HANDLERS, handler).unwrap_err().to_string();
        assert!(large.contains("handler = 512"), "{large}");
        pe.register(1, "nothing", |_, _| ());
        pe.barrier();
        for nobody in [-1, pe.npes, i32::MAX] {
            let fault = pe.messages.request_short(nobody, 1, &[]).unwrap_err().to_string();
            assert!(fault.contains(&format!("pe = {nobody}")), "{fault}");
        }
        pe.barrier();
        if pe.me == 0 {
            pe.messages.request_short(1, 7, &[]).unwrap();
            let far = RemoteAddress { pe: 1, segment: SegmentId(77), offset: 0 };
            pe.messages.request_long(1, &[], &[], far).unwrap();
        } else {
            // In whatever order they come.
            let mut unknown = [false; 2];
            while unknown != [true; 2] {
                let Err(fault) = pe.messages.poll() else { continue };
                let text = fault.to_string();
                let which = [text.contains("handler 7"), text.contains("segment 77")];
                assert!(text.contains("PE 0") && which[0] != which[1], "{text}");
                unknown = [unknown[0] || which[0], unknown[1] || which[1]];
            }
        }
    });
}

#[test]
fn before_the_start_everything_is_refused() {
    let messages = Messages::new();
    assert_eq!(messages.poll().unwrap(), 0);
    assert!(messages.request_short(0, 1, &[]).unwrap_err().to_string().contains("before shmem_init"));
}
