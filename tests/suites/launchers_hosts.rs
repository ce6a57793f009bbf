//! Jobs under other launchers than ours on several hosts, which are network namespaces: how a host that is lost ends
//! them.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use harness::compile::Build;
use harness::hosts::Hosts;
use harness::launchers::{self, Launcher};
use harness::{system, tree};
use libtest_mimic::{Arguments, Failed, Trial};

/// How soon a job is over after something went wrong: a host is lost after 6 s of silence, and the machine has more to
/// do.
const SOON: Duration = Duration::from_secs(20);

fn main() -> ExitCode {
    let mut arguments = Arguments::from_args();
    // They wait, most of the time.
    arguments.test_threads.get_or_insert(4);
    let mut trials = Vec::new();
    for (name, launcher, what) in [
        ("mpirun", launchers::open_mpi(), "until"),
        ("mpirun 5", launchers::open_mpi_5(), "compute"),
        ("mpiexec.hydra", launchers::hydra(), "barrier"),
        ("mpiexec 5", launchers::mpich_5(), "until"),
    ] {
        let launcher = match launcher {
            Ok(launcher) => launcher,
            Err(reason) => {
                println!("not tested: {name}: {reason}");
                continue;
            }
        };
        let title = format!("{name}: a link is cut, PEs wait: {what}");
        trials.push(Trial::test(title, move || a_link_is_cut(&launcher, what).map_err(Failed::from)));
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// Nobody is told: the library itself has to notice, and to end the job on both sides.
fn a_link_is_cut(launcher: &Launcher, what: &str) -> Result<(), String> {
    let Some(net) = Hosts::new(2) else { return Ok(()) };
    let launcher = launcher.across(&net, 2)?;
    let name = format!("waits-{}", net.agent().file_stem().unwrap_or_default().display());
    let binary = Build::program("launchers/waits.c").named(&name).build();
    let ready = tree::fresh(&name).join("ready");
    let running = launcher.job(4).arg(&binary).arg(what).arg(&ready).limit(40).start();
    if !system::wait_until(Duration::from_secs(20), || ready.exists()) {
        return Err(format!("4 PEs start\n{}", running.wait().describe()));
    }
    let before = Instant::now();
    net.cut("b");
    let left = system::wait_for_no_process(&binary, SOON);
    let took = before.elapsed();
    // Its daemons there have lost their connection, and take their time.
    net.processes("b").into_iter().for_each(|pid| _ = system::signal(pid, libc::SIGKILL));
    let outcome = running.wait();
    if !left.is_empty() {
        return Err(format!("after {took:?} there are still PEs: {left:?}\n{}", outcome.describe()));
    }
    let says = |text: &str| outcome.stderr.contains(text) || outcome.stdout.contains(text);
    if !says("lost host b, where PE ") {
        return Err(format!("it is not said that host b is lost\n{}", outcome.describe()));
    }
    Ok(())
}
