// Thread-local and static objects whose destructors use the library, on the main thread after main and on another one.
#include <cstdio>
#include <shmem.h>
#include <thread>

static long word;

struct Last {
    const char *when;
    explicit Last(const char *when) : when(when) {}
    ~Last() {
        int me = shmem_my_pe();
        long got = -1;
        shmem_long_p(&word, 7, me);
        shmem_long_get(&got, &word, 1, me);
        shmem_quiet();
        shmem_finalize();
        if (got == 7) std::fprintf(stderr, "works: %s on %d\n", when, me);
    }
};

static Last at_end("static object");

int main() {
    static thread_local Last of_main("thread-local object");
    shmem_init();
    (void)of_main.when;
    std::thread([] {
        static thread_local Last of_thread("object of a thread");
        (void)of_thread.when;
        shmem_long_p(&word, 1, shmem_my_pe());
    }).join();
    shmem_barrier_all();
    shmem_finalize();
}
