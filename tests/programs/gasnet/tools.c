/*
 * GASNet tools, as clients use them that do not communicate: numbers and variables, locks of readers and writers,
 * stops for a debugger, limits, variables that the library knows and the client defines.
 */
#include <gasnet_tools.h>

#include <errno.h>
#include <gasnet_portable_platform.h>

#if !PLATFORM_COMPILER_VERSION_GE(4, 0, 0) || PLATFORM_COMPILER_VERSION_LT(4, 0, 0) || \
    PLATFORM_COMPILER_VERSION_EQ(1, 2, 3) || !PLATFORM_COMPILER_VERSION_GT(3, 9, 255) || \
    PLATFORM_COMPILER_VERSION_LE(0, 0, 1)
#error the version of the compiler
#endif
#ifdef GASNETT_USING_GETTIMEOFDAY
#error the time is not taken by gettimeofday
#endif

#define CHECK(condition) \
    do { \
        if (!(condition)) \
            gasnett_fatalerror("%s:%d: %s", __FILE__, __LINE__, #condition); \
    } while (0)

/* The client's own, which is the one that the program has. */
static int stack(int fd)
{
    return fd < 0;
}
gasnett_backtrace_type_t gasnett_backtrace_user = {"TOOLS", stack, 1};

static void numbers(void)
{
    static const struct {
        const char *text;
        uint64_t unit;
        int64_t value;
    } all[] = {
        {"0 B", 1, 0},
        {"1 KB", 1, 1024},
        {"1.5GB", 1, INT64_C(3) << 29},
        {"0.25m", 1, 262144},
        {".5k", 1, 512},
        {"-2k", 1, -2048},
        {"10", 1 << 20, 10 << 20},
        {"0.333333333333333333 MB", 1, 349525},
        {"0x10", 1, 16},
        {"0xffffffffffffffff", 0, -1},
        {"-5", 0, -5},
        {"1e3", 1, 1000},
        {"9007199254740993", 1, INT64_C(9007199254740993)},
        {"9223372036854775807", 1, INT64_MAX},
        {"9007199254740991.5k", 1, INT64_C(9223372036854775296)},
        {"-9223372036854775808", 1, INT64_MIN},
        {"9223372036854775807", 0, INT64_MAX},
    };
    char text[64];
    size_t i;
    int k;
    for (i = 0; i < sizeof all / sizeof *all; i++)
        if (gasnett_parse_int(all[i].text, all[i].unit) != all[i].value)
            gasnett_fatalerror("%s: %lld", all[i].text, (long long)gasnett_parse_int(all[i].text, all[i].unit));
    for (i = 0; i < 63; i++)
        for (k = -1; k < 2; k++) {
            int64_t value = (INT64_C(1) << i) + (i < 62 ? k : 0);
            CHECK(gasnett_parse_int(gasnett_format_number(value, text, sizeof text, 1), 1) == value);
            CHECK(gasnett_parse_int(gasnett_format_number(-value, text, sizeof text, 0), 0) == -value);
        }
}

static void variables(void)
{
    gasnett_setenv("TOOLS_NUMBER", "9007199254740993");
    CHECK(gasnett_getenv_int_withdefault("TOOLS_NUMBER", 1, 1) == INT64_C(9007199254740993));
    CHECK(strcmp(gasnett_getenv_withdefault("TOOLS_NUMBER", "x"), "9007199254740993") == 0);
    gasnett_unsetenv("TOOLS_NUMBER");
    CHECK(gasnett_getenv("TOOLS_NUMBER") == NULL && gasnett_getenv_int_withdefault("TOOLS_NUMBER", 7, 0) == 7);
    CHECK(strcmp(gasnett_getenv_withdefault("TOOLS_NUMBER", "x"), "x") == 0);
}

static gasnett_rwlock_t lock = GASNETT_RWLOCK_INITIALIZER;
static int shared[2];

static void *writer(void *count)
{
    int i;
    for (i = 0; i < *(int *)count; i++) {
        gasnett_rwlock_wrlock(&lock);
        shared[0]++, shared[1]++;
        gasnett_rwlock_unlock(&lock);
        gasnett_rwlock_rdlock(&lock);
        CHECK(shared[0] == shared[1]);
        gasnett_rwlock_unlock(&lock);
    }
    return NULL;
}

static void locks(void)
{
    gasnett_rwlock_t other;
    gasnett_mutex_t mutex = GASNETT_MUTEX_INITIALIZER;
    pthread_t threads[4];
    int i, count = 20000;
    for (i = 0; i < 4; i++)
        CHECK(pthread_create(&threads[i], NULL, writer, &count) == 0);
    for (i = 0; i < 4; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK(shared[0] == 80000 && shared[1] == 80000);
    gasnett_rwlock_init(&other);
    CHECK(gasnett_rwlock_tryrdlock(&other) == 0 && gasnett_rwlock_tryrdlock(&other) == 0);
    gasnett_rwlock_assertrdlocked(&other);
    CHECK(gasnett_rwlock_trywrlock(&other) == EBUSY);
    gasnett_rwlock_unlock(&other), gasnett_rwlock_unlock(&other);
    CHECK(gasnett_rwlock_trywrlock(&other) == 0);
    CHECK(gasnett_rwlock_tryrdlock(&other) != 0);
    gasnett_rwlock_unlock(&other);
    gasnett_rwlock_destroy(&other);
    CHECK(gasnett_mutex_destroy_ignoreerr(&mutex) == 0);
}

/* What a debugger would do. */
static volatile int frozen = 2;
static void *thaws(void *nothing)
{
    while (frozen != 1)
        gasnett_nsleep(1000000);
    frozen = 0;
    return nothing;
}

static int is_shown(int fd)
{
    return fd + 40;
}

static void debugging(void)
{
    pthread_t debugger;
    char *place = gasnett_current_loc;
    CHECK(strstr(place, "debugging at ") == place && strstr(place, "tools.c:") != NULL);
    free(place);
    gasnett_freezeForDebuggerErr();
    CHECK(pthread_create(&debugger, NULL, thaws, NULL) == 0);
    gasnett_freezeForDebuggerNow(&frozen, "frozen");
    CHECK(pthread_join(debugger, NULL) == 0 && frozen == 0);
    CHECK(gasnett_print_backtrace_ifenabled(2) != 0);
    gasnett_print_backtrace_ifenabled = is_shown;
    CHECK((*gasnett_print_backtrace_ifenabled)(2) == 42);
    CHECK(gasnett_backtrace_user.fnp == stack);
}

int main(int argc, char **argv)
{
    uint32_t word = 1;
    gasnett_atomic_t atomic = gasnett_atomic_init(0);
    gasnett_backtrace_init(argv[0]);
    if (argc > 1)
        gasnett_fatalerror_nopos("%s", argv[1]);
    numbers();
    variables();
    locks();
    debugging();
    CHECK(gasnett_isLittleEndian() == *(unsigned char *)&word);
    gasnett_atomic_increment(&atomic, GASNETT_ATOMIC_REL);
    gasnett_compiler_fence();
    CHECK(gasnett_atomic_decrement_and_test(&atomic, GASNETT_ATOMIC_ACQ_IF_TRUE));
    CHECK(gasnett_maximize_rlimit(0, "RLIMIT_CPU") != 0);
    CHECK(MAX(3, 4) - MIN(3, 4) == 1);
    gasnett_assume(word == 1);
    switch (word) {
    case 1:
        word++;
        GASNETT_FALLTHROUGH
    case 2:
        word++;
        break;
    default:
        gasnett_unreachable();
    }
    printf("%" PRIuSZ " all is well\n", sizeof word * word);
    gasnett_close_streams();
    printf("and nobody reads this\n");
    gasnett_killmyprocess(5);
}
