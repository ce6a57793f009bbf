/* 9.8.3, 9.8.4: put with signal of every type, size and mem, in all forms: the payload is there when the signal is
 * seen, both signal operators, zero elements still signal; heap and static objects.
 * pes: 1 2 3 4
 * needs: shmem_malloc shmem_long_put_signal shmem_signal_fetch shmem_signal_wait_until
 */
#include "check.h"

enum { N = 300, FORMS = 4 };

static const size_t counts[] = {0, 1, 3, 17, 256, 299};
static uint64_t static_signal;

//@each shmem_{put}_signal shmem_ctx_{put}_signal shmem_{put}_signal_nbi shmem_ctx_{put}_signal_nbi
static TYPE static_TYPENAME[N];

static void put_TYPENAME(int form, shmem_ctx_t ctx, TYPE *dest, const TYPE *source, size_t n, uint64_t *signal,
                         uint64_t value,
                         int operator, int pe) {
    switch (form) {
    case 0: shmem_{put}_signal(dest, source, n, signal, value, operator, pe); break;
    case 1: shmem_{put}_signal_nbi(dest, source, n, signal, value, operator, pe); break;
    case 2: shmem_ctx_{put}_signal(ctx, dest, source, n, signal, value, operator, pe); break;
    case 3: shmem_ctx_{put}_signal_nbi(ctx, dest, source, n, signal, value, operator, pe); break;
    }
}

static void run_TYPENAME(TYPE *block, uint64_t *signal) {
    int next = (me + 1) % npes, before = (me + npes - 1) % npes;
    TYPE source[N];
    *signal = 0;
    shmem_barrier_all();
    uint64_t expected = 0;
    for (int form = 0; form < FORMS; form++) {
        for (int c = 0; c < (form < 2 ? 1 : ncontexts); c++) {
            for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
                size_t n = counts[i];
                for (size_t k = 0; k < N; k++) {
                    block[k] = (TYPE)1;
                    source[k] = VALUE(TYPE, k + i + 1000 * (size_t)me);
                }
                shmem_sync_all();
                int operator = i % 2 ? SHMEM_SIGNAL_SET : SHMEM_SIGNAL_ADD;
                uint64_t before_signal = expected;
                expected += 0x100000001u + i;
                put_TYPENAME(form, contexts[c], block, source, n, signal,
                             operator == SHMEM_SIGNAL_SET ? expected : expected - before_signal, operator, next);
                CHECK(shmem_signal_wait_until(signal, SHMEM_CMP_EQ, expected) == expected);
                CHECK(shmem_signal_fetch(signal) == expected);
                /* No barrier between: the payload must have come before its signal. */
                for (size_t k = 0; k < N; k++) {
                    TYPE value = k < n ? VALUE(TYPE, k + i + 1000 * (size_t)before) : (TYPE)1;
                    CHECKF(block[k] == value, "TYPENAME form %d, %zu elements: element %zu", form, n, k);
                }
                if (form >= 2) shmem_ctx_quiet(contexts[c]); else shmem_quiet();
                shmem_sync_all();
            }
        }
    }
}
//@end

int main(void) {
    begin();
    open_contexts();
    void *block = symmetric(N * sizeof(long double));
    uint64_t *signal = symmetric(sizeof *signal);
//@each shmem_{put}_signal shmem_ctx_{put}_signal shmem_{put}_signal_nbi shmem_ctx_{put}_signal_nbi
    run_TYPENAME(static_TYPENAME, signal);
    run_TYPENAME(block, &static_signal);
//@end
    close_contexts();
    return end();
}
