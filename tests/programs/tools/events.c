/* The callback interface of shmemx.h: what events say, and every case that its comments define. */
#include <pthread.h>
#include <pshmem.h>
#include <shmemx.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHECK(condition) do { \
    if (!(condition)) { \
        fprintf(stderr, "events: line %d: %s\n", __LINE__, #condition); \
        shmem_global_exit(9); \
    } \
} while (0)

static long word, words[8];
static int me, npes, next;

struct seen {
    long enters, exits, failed;
    shmemx_event_t last;
    const void *site;
};

static void count(const shmemx_event_t *event, void *data) {
    struct seen *seen = data;
    CHECK(event->size == sizeof *event);
    if (event->phase == SHMEMX_ENTER) {
        seen->enters++;
        CHECK(*event->state == NULL);
        *event->state = seen;
    } else {
        CHECK(event->phase == SHMEMX_EXIT);
        CHECK(*event->state == seen);
        seen->exits++;
        seen->failed += event->failed;
    }
    seen->last = *event;
    seen->site = event->site;
}

static int attach(unsigned int classes, shmemx_callback_t callback, void *data) {
    int handle = 0;
    CHECK(shmemx_callback_register(classes, callback, data, &handle) == SHMEMX_SUCCESS);
    CHECK(handle > 0);
    return handle;
}

static void what_events_say(void) {
    struct seen seen = {0};
    int handle = attach(SHMEMX_CLASS_PUT | SHMEMX_CLASS_COLLECTIVE, count, &seen);
    static long source[3] = {1, 2, 3};
    shmem_long_put(words, source, 3, next);
    CHECK(seen.enters == 1 && seen.exits == 1);
    CHECK(seen.last.op == shmemx_op_find("shmem_long_put") && seen.last.op_class == SHMEMX_CLASS_PUT);
    CHECK(seen.last.peer == next && seen.last.bytes == 24 && seen.last.dest == words && seen.last.source == source);
    CHECK(seen.last.ctx == SHMEM_CTX_DEFAULT && seen.last.team == SHMEM_TEAM_INVALID);
    /* The call site is in this function's program. */
    CHECK((const char *)seen.site > (const char *)what_events_say &&
          (const char *)seen.site < (const char *)what_events_say + 4096);
    shmem_long_get(source, words, 3, me);
    shmem_barrier_all();
    CHECK(seen.enters == 1);
    CHECK(shmem_long_max_reduce(SHMEM_TEAM_WORLD, words, source, 2) == 0);
    CHECK(seen.enters == 2 && seen.last.team == SHMEM_TEAM_WORLD && seen.last.peer == -1);
    CHECK(strcmp(shmemx_op_name(seen.last.op), "shmem_long_max_reduce") == 0);
    /* Pointers to routines and name-shifted ones. */
    void (*volatile pointer)(long *, long, int) = shmem_long_p;
    pointer(&word, 1, next);
    CHECK(seen.enters == 3 && seen.last.bytes == 8 && seen.last.dest == &word && seen.last.source == NULL);
    pshmem_long_p(&word, 1, next);
    CHECK(seen.enters == 3);
    CHECK(shmemx_callback_unregister(handle) == SHMEMX_SUCCESS);
    shmem_long_p(&word, 1, next);
    CHECK(seen.enters == 3 && seen.exits == 3 && seen.failed == 0);
}

static void registration(void) {
    struct seen one = {0}, other = {0};
    int first = attach(SHMEMX_CLASS_PUT, count, &one), again = 0;
    CHECK(shmemx_callback_register(SHMEMX_CLASS_GET, count, &one, &again) == SHMEMX_ERROR_EXISTS && again == first);
    int second = attach(SHMEMX_CLASS_PUT, count, &other);
    CHECK(second != first);
    shmem_long_p(&word, 1, next);
    CHECK(one.enters == 1 && other.enters == 1);
    CHECK(shmemx_callback_unregister(first) == SHMEMX_SUCCESS);
    CHECK(shmemx_callback_unregister(first) == SHMEMX_ERROR_NO_SUCH);
    shmem_long_p(&word, 1, next);
    CHECK(one.enters == 1 && other.enters == 2);
    CHECK(shmemx_callback_unregister(second) == SHMEMX_SUCCESS);
    CHECK(shmemx_callback_unregister(0) == SHMEMX_ERROR_NO_SUCH &&
          shmemx_callback_unregister(-7) == SHMEMX_ERROR_NO_SUCH);
    CHECK(shmemx_callback_register(SHMEMX_CLASS_ALL, NULL, NULL, NULL) == SHMEMX_ERROR_ARGUMENT);
    CHECK(shmemx_callback_register(0, count, &one, NULL) == SHMEMX_ERROR_ARGUMENT);
    /* One is there since before the start. */
    int handles[31];
    static struct seen many[32];
    for (int k = 0; k < 31; k++) handles[k] = attach(SHMEMX_CLASS_LOCK, count, &many[k]);
    CHECK(shmemx_callback_register(SHMEMX_CLASS_LOCK, count, &many[31], NULL) == SHMEMX_ERROR_FULL);
    for (int k = 0; k < 31; k++) CHECK(shmemx_callback_unregister(handles[k]) == SHMEMX_SUCCESS);
}

/* A callback that calls routines is not called back, and may leave in the middle of an event. */
static int own_handle, inner_handle;
static long self_calls;
static void calls_and_leaves(const shmemx_event_t *event, void *data) {
    static long mine;
    long got;
    (void)data;
    self_calls++;
    shmem_long_p(&mine, 5, me);
    got = shmem_long_g(&mine, me);
    CHECK(got == 5);
    if (event->phase == SHMEMX_ENTER && self_calls > 3) {
        CHECK(shmemx_callback_unregister(own_handle) == SHMEMX_SUCCESS);
        CHECK(shmemx_callback_unregister(own_handle) == SHMEMX_ERROR_NO_SUCH);
    }
}

static void registers_inside(const shmemx_event_t *event, void *data) {
    if (event->phase == SHMEMX_ENTER) inner_handle = attach(SHMEMX_CLASS_PUT, count, data);
}

static void during_an_event(void) {
    own_handle = attach(SHMEMX_CLASS_PUT | SHMEMX_CLASS_GET, calls_and_leaves, NULL);
    for (int k = 0; k < 5; k++) shmem_long_p(&word, 1, me);
    /* Two whole calls, two events each; the third call's beginning was the last event. */
    CHECK(self_calls == 5);
    struct seen seen = {0};
    int outer = attach(SHMEMX_CLASS_ORDER, registers_inside, &seen);
    shmem_quiet();
    CHECK(shmemx_callback_unregister(outer) == SHMEMX_SUCCESS);
    CHECK(seen.exits == 0);
    shmem_long_p(&word, 1, me);
    CHECK(seen.enters == 1 && seen.exits == 1);
    CHECK(shmemx_callback_unregister(inner_handle) == SHMEMX_SUCCESS);
}

/* A callback that blocks holds up its own thread, and who unregisters it. */
static volatile int blocked, let_go, unregistered;
static int blocking_handle;
static void blocks(const shmemx_event_t *event, void *data) {
    (void)data;
    /* The first one only: the others call while it does. */
    if (event->phase == SHMEMX_ENTER && !blocked) {
        blocked = 1;
        while (!let_go) usleep(100);
    }
}
static void *calls(void *unused) {
    shmem_long_atomic_inc(&word, me);
    return unused;
}
static void *unregisters(void *unused) {
    CHECK(shmemx_callback_unregister(blocking_handle) == SHMEMX_SUCCESS);
    unregistered = 1;
    return unused;
}
static void a_blocking_callback(void) {
    pthread_t caller, remover;
    blocking_handle = attach(SHMEMX_CLASS_AMO, blocks, NULL);
    pthread_create(&caller, NULL, calls, NULL);
    while (!blocked) usleep(100);
    shmem_long_p(&word, 1, me);
    shmem_barrier_all();
    pthread_create(&remover, NULL, unregisters, NULL);
    usleep(20000);
    CHECK(!unregistered);
    shmem_long_atomic_inc(&words[7], me);
    let_go = 1;
    pthread_join(remover, NULL);
    pthread_join(caller, NULL);
    CHECK(unregistered);
}

/* Attached and detached by one thread while others call. */
static volatile int stop;
static void *traffic(void *count) {
    while (!stop) {
        shmem_long_p(&words[2], 1, next);
        ++*(long *)count;
    }
    return NULL;
}
static void from_other_threads(void) {
    pthread_t threads[3];
    long counts[3] = {0};
    for (int k = 0; k < 3; k++) pthread_create(&threads[k], NULL, traffic, &counts[k]);
    for (int k = 0; k < 200; k++) {
        /* Freed at once: nobody may be in the callback any more. */
        long *data = calloc(1, sizeof(struct seen));
        CHECK(shmemx_callback_unregister(attach(SHMEMX_CLASS_PUT, (shmemx_callback_t)count, data)) == SHMEMX_SUCCESS);
        memset(data, 0xff, sizeof(struct seen));
        free(data);
    }
    stop = 1;
    for (int k = 0; k < 3; k++) pthread_join(threads[k], NULL);
}

static int64_t value(const char *name) {
    int64_t value = -1;
    CHECK(shmemx_var_read(shmemx_var_find(name), &value, 1) >= 1);
    return value;
}

static void variables(void) {
    shmemx_var_info_t info = {.size = sizeof info};
    int counters = 0, histograms = 0, controls = 0;
    for (int var = 0; var < shmemx_var_count(); var++) {
        CHECK(shmemx_var_info(var, &info) == SHMEMX_SUCCESS);
        CHECK(shmemx_var_find(info.name) == var && info.unit[0] && info.description[0] && info.count >= 1);
        counters += info.kind == SHMEMX_VAR_COUNTER;
        histograms += info.kind == SHMEMX_VAR_HISTOGRAM;
        controls += info.kind == SHMEMX_VAR_CONTROL;
        if (info.op >= 0) CHECK(strstr(info.name, shmemx_op_name(info.op)) == info.name);
        if (var > 200) var += 97;
    }
    CHECK(counters > 0 && histograms > 0 && controls >= 3);
    int64_t calls = value("shmem_long_put.calls"), bytes = value("shmem_long_put.bytes");
    long source[4] = {0};
    for (int k = 0; k < 6; k++) shmem_long_put(words, source, 4, next);
    CHECK(value("shmem_long_put.calls") == calls + 6 && value("shmem_long_put.bytes") == bytes + 6 * 32);
    CHECK(value("shmem_long_put.errors") == 0 && value("shmem_barrier_all.time") > 0);
    /* Off, and on again. */
    int level = shmemx_var_find("profile.level");
    CHECK(value("profile.level") == 1 && shmemx_var_write(level, 0) == SHMEMX_SUCCESS && value("profile.level") == 0);
    shmem_long_put(words, source, 4, next);
    CHECK(shmemx_var_write(level, 1) == SHMEMX_SUCCESS);
    CHECK(value("shmem_long_put.calls") == calls + 6);
    CHECK(shmemx_var_write(level, 17) == SHMEMX_ERROR_ARGUMENT && value("profile.level") == 1);
    CHECK(shmemx_var_write(shmemx_var_find("tools.loaded"), 1) == SHMEMX_ERROR_READ_ONLY);
    CHECK(shmemx_var_write(shmemx_var_find("shmem_long_put.calls"), 1) == SHMEMX_ERROR_READ_ONLY);
    /* A histogram has a bucket for every timed call. */
    int latency = shmemx_var_find("shmem_barrier_all.latency");
    CHECK(shmemx_var_info(latency, &info) == SHMEMX_SUCCESS && info.count > 1);
    int64_t *buckets = calloc(info.count, sizeof *buckets), low, high, sum = 0, end = -1;
    CHECK(shmemx_var_read(latency, buckets, info.count) == (int)info.count);
    for (size_t k = 0; k < info.count; k++) {
        sum += buckets[k];
        CHECK(shmemx_var_bucket(latency, k, &low, &high) == SHMEMX_SUCCESS && low == end + 1 && high >= low);
        end = high;
        if (high == INT64_MAX) break;
    }
    CHECK(sum == value("shmem_barrier_all.calls"));
    free(buckets);
    CHECK(shmemx_var_read(latency, NULL, 0) == (int)info.count);
    CHECK(shmemx_var_bucket(level, 0, &low, &high) == SHMEMX_ERROR_ARGUMENT);
    /* What is not there. */
    CHECK(shmemx_var_find("no.such") == SHMEMX_ERROR_NO_SUCH &&
          shmemx_var_find("shmem_long_put") == SHMEMX_ERROR_NO_SUCH);
    CHECK(shmemx_var_find(NULL) == SHMEMX_ERROR_ARGUMENT && shmemx_var_info(-1, &info) == SHMEMX_ERROR_NO_SUCH);
    CHECK(shmemx_var_info(shmemx_var_count(), &info) == SHMEMX_ERROR_NO_SUCH &&
          shmemx_var_info(0, NULL) == SHMEMX_ERROR_ARGUMENT);
    CHECK(shmemx_op_name(-1) == NULL && shmemx_op_name(shmemx_op_count()) == NULL && shmemx_op_class(1 << 20) == 0);
    CHECK(shmemx_op_class(shmemx_op_count()) == 0 && shmemx_op_find("shmem_nothing") == SHMEMX_ERROR_NO_SUCH);
    CHECK(shmemx_op_find("gex_AM_RequestShort") == SHMEMX_ERROR_NO_SUCH);
    struct seen seen = {0};
    int handle = attach(SHMEMX_CLASS_PUT, count, &seen), enabled = shmemx_var_find("callbacks.enabled");
    CHECK(shmemx_var_write(enabled, 0) == SHMEMX_SUCCESS);
    shmem_long_p(&word, 1, next);
    CHECK(seen.enters == 0 && shmemx_var_write(enabled, 1) == SHMEMX_SUCCESS);
    shmem_long_p(&word, 1, next);
    CHECK(seen.enters == 1 && shmemx_callback_unregister(handle) == SHMEMX_SUCCESS);
}

static void classes(void) {
    const struct { const char *name; unsigned int bit; } rows[] = {
        {"shmem_init", SHMEMX_CLASS_SETUP}, {"shmem_malloc", SHMEMX_CLASS_MEMORY},
        {"shmem_team_sync", SHMEMX_CLASS_BARRIER},
        {"shmem_team_destroy", SHMEMX_CLASS_TEAM}, {"shmem_ctx_create", SHMEMX_CLASS_CONTEXT},
        {"shmem_putmem", SHMEMX_CLASS_PUT}, {"shmem_getmem", SHMEMX_CLASS_GET},
        {"shmem_int_atomic_inc", SHMEMX_CLASS_AMO},
        {"shmem_signal_fetch", SHMEMX_CLASS_SIGNAL}, {"shmem_int_wait_until", SHMEMX_CLASS_WAIT},
        {"shmem_int_test", SHMEMX_CLASS_TEST}, {"shmem_quiet", SHMEMX_CLASS_ORDER},
        {"shmem_broadcastmem", SHMEMX_CLASS_COLLECTIVE}, {"shmem_set_lock", SHMEMX_CLASS_LOCK},
        {"shmem_my_pe", SHMEMX_CLASS_QUERY}, {"shmem_pcontrol", SHMEMX_CLASS_CONTROL},
    };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        int op = shmemx_op_find(rows[k].name);
        CHECK(op >= 0 && shmemx_op_class(op) == rows[k].bit);
    }
}

int main(void) {
    struct seen all = {0};
    int early = attach(SHMEMX_CLASS_SETUP, count, &all), provided;
    shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
    me = shmem_my_pe(), npes = shmem_n_pes(), next = (me + 1) % npes;
    CHECK(all.enters == 1 && all.exits == 1 && all.last.op == shmemx_op_find("shmem_init_thread"));
    what_events_say();
    registration();
    during_an_event();
    a_blocking_callback();
    from_other_threads();
    variables();
    classes();
    shmem_barrier_all();
    shmem_finalize();
    CHECK(all.enters == 2 && all.exits == 2);
    CHECK(shmemx_callback_unregister(early) == SHMEMX_SUCCESS);
    printf("events in order on %d\n", me);
    return 0;
}
