/* advice RULE as-is|advised [PARTS]: what a rule of `oshprof advise` is for, and the same as the rule advises. PE 0
 * says how long it took. */
#include "gets.h"
#include "meetings.h"
#include "puts.h"

static const struct {
    const char *name;
    void (*run)(int advised);
} RULES[] = {
    {"small-puts", small_puts},       {"quiet-often", quiet_often},
    {"put-then-flag", put_then_flag}, {"strided", strided},
    {"first-touch", first_touch},     {"network-small", network_small},
    {"small-gets", small_gets},       {"get-and-wait", get_and_wait},
    {"own-memory", own_memory},
    {"polling", polling},             {"heap", heap},
    {"queries", queries},             {"contended-atomics", contended_atomics},
    {"compare-and-swap", compare_and_swap},
    {"contexts-and-teams", contexts_and_teams},
    {"locks", locks},                 {"hot-pe", hot_pe},
    {"barrier-late", barrier_late},   {"barriers-per-byte", barriers_per_byte},
    {"serial-pe", serial_pe},         {"larger-team", larger_team},
    {"waits-for", waits_for},         {"algorithm", algorithm},
    {"serialized", serialized},       {"uneven-work", uneven_work},
    {"uneven-steps", uneven_steps},
};

int main(int count, char **arguments) {
    if (count < 3) return 2;
    if (count > 3) parts = atol(arguments[3]);
    if (parts < 1) parts = 1;
    /* As a script sets it that was written for another machine. */
    if (strcmp(arguments[1], "algorithm") == 0 && strcmp(arguments[2], "advised") != 0) {
        setenv("SHMEM_COLLECTIVES", "reduce:whole", 1);
    }
    shmem_init();
    me = shmem_my_pe();
    npes = shmem_n_pes();
    next_pe = (me + 1) % npes;
    int found = 0;
    for (size_t i = 0; i < sizeof RULES / sizeof *RULES; i++) {
        if (strcmp(RULES[i].name, arguments[1]) != 0) continue;
        found = 1;
        shmem_sync_all();
        double begin = seconds(CLOCK_MONOTONIC);
        RULES[i].run(strcmp(arguments[2], "advised") == 0);
        shmem_sync_all();
        if (me == 0) printf("%.3f ms\n", 1e3 * (seconds(CLOCK_MONOTONIC) - begin));
    }
    shmem_finalize();
    return found ? 0 : 2;
}
