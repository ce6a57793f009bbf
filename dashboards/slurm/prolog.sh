#!/bin/sh
# Slurm prolog (Prolog= in slurm.conf, as root on each host): an exporter for hosts without systemd. One that runs
# already keeps its address, and the new one ends at once. Jobs name themselves by SLURM_JOB_ID: nothing is written for
# each job. A Prometheus on another host needs an address that it reaches, as :9745, in place of the one below.
if ! curl -fs -m 2 http://127.0.0.1:9745/-/healthy >/dev/null 2>&1; then
    setsid /usr/local/bin/oshprof serve --listen 127.0.0.1:9745 </dev/null >/var/log/pellucid-exporter.log 2>&1 &
fi
exit 0
