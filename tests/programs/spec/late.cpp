/* Calls from destructors: of a thread's and of the main thread's thread-local objects, and of static ones after
 * main. */
#include <shmem.h>
#include <thread>
#include "must.h"

static long word, threads_word;

static void talk(long *at, long value) {
    int me = shmem_my_pe(), n = shmem_n_pes();
    shmem_long_p(at, value, (me + 1) % n);
    shmem_quiet();
}

struct Tool {
    long value;
    ~Tool() {
        talk(&word, value);
        shmem_barrier_all();
        MUST(word == value);
        int up = -1;
        shmem_query_initialized(&up);
        MUST(up != 0);
        /* The program's own finalize, and one too many, as a tool and a program make them that do not know of each
         * other. */
        shmem_finalize();
        shmem_finalize();
    }
};

struct Worker {
    long value;
    ~Worker() { talk(&threads_word, value); }
};

struct Last {
    ~Last() {
        MUST(shmem_n_pes() > 0);
        shmem_finalize();
        std::puts("after main");
    }
};

static Last last;
/* Inside functions, so that each thread has only what it asks for. */
static Tool &tool() {
    static thread_local Tool here{};
    return here;
}

static Worker &worker() {
    static thread_local Worker here{};
    return here;
}

int main() {
    int level;
    shmem_init_thread(SHMEM_THREAD_MULTIPLE, &level);
    std::thread([] { worker().value = 5; }).join();
    shmem_barrier_all();
    MUST(threads_word == 5);
    tool().value = 7;
    return 0;
}
