/* 9.10, deprecated: the active-set collectives on every set (start, log2 stride, size) of the job: barrier, sync,
 * broadcast (dest of the root stays, unlike with teams), collect, fcollect, alltoall, alltoalls and all reductions;
 * pSync is restored, nreduce 0 and in-place reductions work.
 * pes: 1 2 3 4 7 16
 * limit: 100
 * needs: shmem_barrier shmem_sync shmem_broadcast64 shmem_collect32 shmem_fcollect64 shmem_alltoall64
 * needs: shmem_long_sum_to_all
 */
#include <complex.h>

#include "check.h"

enum { N = 33 };

static long barrier_work[SHMEM_BARRIER_SYNC_SIZE], work[2][SHMEM_SYNC_SIZE];
static long arrived[64];
static int turn;

static int start, log_stride, size, number;
static int world(int k) { return start + (k << log_stride); }

static void meet(void) { shmem_barrier(start, log_stride, size, barrier_work); }

/* Each call takes the pSync that the call before last had: between them lies a barrier. */
static long *fresh(void) { return work[turn++ % 2]; }

static void restored(void) {
    for (int w = 0; w < 2; w++) for (int k = 0; k < SHMEM_SYNC_SIZE; k++) CHECK_EQ(work[w][k], SHMEM_SYNC_VALUE);
    for (int k = 0; k < SHMEM_BARRIER_SYNC_SIZE; k++) CHECK_EQ(barrier_work[k], SHMEM_SYNC_VALUE);
}

static void synchronize(void) {
    for (long round = 1; round <= 10; round++) {
        for (int k = 0; k < size; k++) shmem_long_p(&arrived[me], round, world(k));
        if (round % 2) meet(); else { shmem_quiet(); shmem_sync(start, log_stride, size, barrier_work); }
        for (int k = 0; k < size; k++) CHECK(arrived[world(k)] >= round);
    }
    meet();
    for (int k = 0; k < 64; k++) arrived[k] = 0;
    meet();
}

//@each shmem_broadcastSIZE shmem_collectSIZE shmem_fcollectSIZE shmem_alltoallSIZE shmem_alltoallsSIZE
static TYPE dest_SIZE[N * 16 * 2], source_SIZE[N * 16 * 2];

static void moves_SIZE(void) {
    for (int root = 0; root < size; root++) {
        for (size_t k = 0; k < N; k++) { dest_SIZE[k] = 1; source_SIZE[k] = VALUE(TYPE, k + 100 * (size_t)me); }
        meet();
        shmem_broadcastSIZE(dest_SIZE, source_SIZE, N, root, start, log_stride, size, fresh());
        for (size_t k = 0; k < N; k++)
            CHECK(dest_SIZE[k] == (number == root ? (TYPE)1 : VALUE(TYPE, k + 100 * (size_t)world(root))));
        meet();
    }
    size_t mine = (size_t)(number * 5) % N;
    shmem_collectSIZE(dest_SIZE, mine > 0 ? source_SIZE : NULL, mine, start, log_stride, size, fresh());
    size_t at = 0;
    for (int pe = 0; pe < size; pe++)
        for (size_t k = 0; k < (size_t)(pe * 5) % N; k++, at++) CHECK(dest_SIZE[at] == VALUE(TYPE,
            k + 100 * (size_t)world(pe)));
    meet();
    shmem_fcollectSIZE(dest_SIZE, source_SIZE, N, start, log_stride, size, fresh());
    for (size_t k = 0; k < N * (size_t)size; k++) CHECK(dest_SIZE[k] == VALUE(TYPE,
        k % N + 100 * (size_t)world((int)(k / N))));
    meet();
    for (size_t k = 0; k < 3 * (size_t)size; k++) source_SIZE[k] = VALUE(TYPE,
        k % 3 + 10 * (k / 3) + 1000 * (size_t)number);
    meet();
    shmem_alltoallSIZE(dest_SIZE, source_SIZE, 3, start, log_stride, size, fresh());
    for (size_t k = 0; k < 3 * (size_t)size; k++) CHECK(dest_SIZE[k] == VALUE(TYPE,
        k % 3 + 10 * (size_t)number + 1000 * (k / 3)));
    meet();
    shmem_alltoallsSIZE(dest_SIZE, source_SIZE, 2, 1, 3, start, log_stride, size, fresh());
    for (size_t k = 0; k < 3 * (size_t)size; k++) CHECK(dest_SIZE[k * 2] == VALUE(TYPE,
        k % 3 + 10 * (size_t)number + 1000 * (k / 3)));
    meet();
}
//@end

//@each shmem_TYPENAME_and_to_all
static TYPE and_dest_TYPENAME[N], and_source_TYPENAME[N];
static TYPE and_work_TYPENAME[2][SHMEM_REDUCE_MIN_WRKDATA_SIZE > N / 2 + 1 ? SHMEM_REDUCE_MIN_WRKDATA_SIZE : N / 2 + 1];

static TYPE and_input_TYPENAME(size_t k) { return (TYPE)(mix(k) & mix((k) + 5)); }

static void and_TYPENAME(void) {
    static const int counts[] = {0, 1, N};
    for (int i = 0; i < 6; i++) {
        int n = counts[i / 2];
        TYPE *dest = i % 2 ? and_source_TYPENAME : and_dest_TYPENAME;
        for (size_t k = 0; k < N; k++) {
            and_source_TYPENAME[k] = and_input_TYPENAME(k + 100 * (size_t)me);
            and_dest_TYPENAME[k] = and_source_TYPENAME[k];
        }
        meet();
        TYPE *scratch = and_work_TYPENAME[turn % 2];
        shmem_TYPENAME_and_to_all(dest, and_source_TYPENAME, n, start, log_stride, size, scratch, fresh());
        for (size_t k = 0; k < N; k++) {
            TYPE expected = and_input_TYPENAME(k + 100 * (size_t)world(0));
            for (int pe = 1; pe < size; pe++) {
                TYPE next = and_input_TYPENAME(k + 100 * (size_t)world(pe));
                expected = (TYPE)(expected & next);
            }
            if (k >= (size_t)n) expected = and_input_TYPENAME(k + 100 * (size_t)me);
            CHECKF(dest[k] == expected, "TYPENAME and on %d %d %d, %d elements: element %zu", start, log_stride, size,
                   n, k);
        }
        meet();
    }
}
//@end

//@each shmem_TYPENAME_or_to_all
static TYPE or_dest_TYPENAME[N], or_source_TYPENAME[N];
static TYPE or_work_TYPENAME[2][SHMEM_REDUCE_MIN_WRKDATA_SIZE > N / 2 + 1 ? SHMEM_REDUCE_MIN_WRKDATA_SIZE : N / 2 + 1];

static TYPE or_input_TYPENAME(size_t k) { return (TYPE)(mix(k) & mix((k) + 5)); }

static void or_TYPENAME(void) {
    static const int counts[] = {0, 1, N};
    for (int i = 0; i < 6; i++) {
        int n = counts[i / 2];
        TYPE *dest = i % 2 ? or_source_TYPENAME : or_dest_TYPENAME;
        for (size_t k = 0; k < N; k++) {
            or_source_TYPENAME[k] = or_input_TYPENAME(k + 100 * (size_t)me);
            or_dest_TYPENAME[k] = or_source_TYPENAME[k];
        }
        meet();
        TYPE *scratch = or_work_TYPENAME[turn % 2];
        shmem_TYPENAME_or_to_all(dest, or_source_TYPENAME, n, start, log_stride, size, scratch, fresh());
        for (size_t k = 0; k < N; k++) {
            TYPE expected = or_input_TYPENAME(k + 100 * (size_t)world(0));
            for (int pe = 1; pe < size; pe++) {
                TYPE next = or_input_TYPENAME(k + 100 * (size_t)world(pe));
                expected = (TYPE)(expected | next);
            }
            if (k >= (size_t)n) expected = or_input_TYPENAME(k + 100 * (size_t)me);
            CHECKF(dest[k] == expected, "TYPENAME or on %d %d %d, %d elements: element %zu", start, log_stride, size,
                   n, k);
        }
        meet();
    }
}
//@end

//@each shmem_TYPENAME_xor_to_all
static TYPE xor_dest_TYPENAME[N], xor_source_TYPENAME[N];
static TYPE xor_work_TYPENAME[2][SHMEM_REDUCE_MIN_WRKDATA_SIZE > N / 2 + 1 ? SHMEM_REDUCE_MIN_WRKDATA_SIZE : N / 2 + 1];

static TYPE xor_input_TYPENAME(size_t k) { return (TYPE)(mix(k) & mix((k) + 5)); }

static void xor_TYPENAME(void) {
    static const int counts[] = {0, 1, N};
    for (int i = 0; i < 6; i++) {
        int n = counts[i / 2];
        TYPE *dest = i % 2 ? xor_source_TYPENAME : xor_dest_TYPENAME;
        for (size_t k = 0; k < N; k++) {
            xor_source_TYPENAME[k] = xor_input_TYPENAME(k + 100 * (size_t)me);
            xor_dest_TYPENAME[k] = xor_source_TYPENAME[k];
        }
        meet();
        TYPE *scratch = xor_work_TYPENAME[turn % 2];
        shmem_TYPENAME_xor_to_all(dest, xor_source_TYPENAME, n, start, log_stride, size, scratch, fresh());
        for (size_t k = 0; k < N; k++) {
            TYPE expected = xor_input_TYPENAME(k + 100 * (size_t)world(0));
            for (int pe = 1; pe < size; pe++) {
                TYPE next = xor_input_TYPENAME(k + 100 * (size_t)world(pe));
                expected = (TYPE)(expected ^ next);
            }
            if (k >= (size_t)n) expected = xor_input_TYPENAME(k + 100 * (size_t)me);
            CHECKF(dest[k] == expected, "TYPENAME xor on %d %d %d, %d elements: element %zu", start, log_stride, size,
                   n, k);
        }
        meet();
    }
}
//@end

//@each shmem_TYPENAME_max_to_all
static TYPE max_dest_TYPENAME[N], max_source_TYPENAME[N];
static TYPE max_work_TYPENAME[2][SHMEM_REDUCE_MIN_WRKDATA_SIZE > N / 2 + 1 ? SHMEM_REDUCE_MIN_WRKDATA_SIZE : N / 2 + 1];

static TYPE max_input_TYPENAME(size_t k) { return (TYPE)((int64_t)mix(k)); }

static void max_TYPENAME(void) {
    static const int counts[] = {0, 1, N};
    for (int i = 0; i < 6; i++) {
        int n = counts[i / 2];
        TYPE *dest = i % 2 ? max_source_TYPENAME : max_dest_TYPENAME;
        for (size_t k = 0; k < N; k++) {
            max_source_TYPENAME[k] = max_input_TYPENAME(k + 100 * (size_t)me);
            max_dest_TYPENAME[k] = max_source_TYPENAME[k];
        }
        meet();
        TYPE *scratch = max_work_TYPENAME[turn % 2];
        shmem_TYPENAME_max_to_all(dest, max_source_TYPENAME, n, start, log_stride, size, scratch, fresh());
        for (size_t k = 0; k < N; k++) {
            TYPE expected = max_input_TYPENAME(k + 100 * (size_t)world(0));
            for (int pe = 1; pe < size; pe++) {
                TYPE next = max_input_TYPENAME(k + 100 * (size_t)world(pe));
                expected = (TYPE)(expected > next ? expected : next);
            }
            if (k >= (size_t)n) expected = max_input_TYPENAME(k + 100 * (size_t)me);
            CHECKF(dest[k] == expected, "TYPENAME max on %d %d %d, %d elements: element %zu", start, log_stride, size,
                   n, k);
        }
        meet();
    }
}
//@end

//@each shmem_TYPENAME_min_to_all
static TYPE min_dest_TYPENAME[N], min_source_TYPENAME[N];
static TYPE min_work_TYPENAME[2][SHMEM_REDUCE_MIN_WRKDATA_SIZE > N / 2 + 1 ? SHMEM_REDUCE_MIN_WRKDATA_SIZE : N / 2 + 1];

static TYPE min_input_TYPENAME(size_t k) { return (TYPE)((int64_t)mix(k)); }

static void min_TYPENAME(void) {
    static const int counts[] = {0, 1, N};
    for (int i = 0; i < 6; i++) {
        int n = counts[i / 2];
        TYPE *dest = i % 2 ? min_source_TYPENAME : min_dest_TYPENAME;
        for (size_t k = 0; k < N; k++) {
            min_source_TYPENAME[k] = min_input_TYPENAME(k + 100 * (size_t)me);
            min_dest_TYPENAME[k] = min_source_TYPENAME[k];
        }
        meet();
        TYPE *scratch = min_work_TYPENAME[turn % 2];
        shmem_TYPENAME_min_to_all(dest, min_source_TYPENAME, n, start, log_stride, size, scratch, fresh());
        for (size_t k = 0; k < N; k++) {
            TYPE expected = min_input_TYPENAME(k + 100 * (size_t)world(0));
            for (int pe = 1; pe < size; pe++) {
                TYPE next = min_input_TYPENAME(k + 100 * (size_t)world(pe));
                expected = (TYPE)(expected < next ? expected : next);
            }
            if (k >= (size_t)n) expected = min_input_TYPENAME(k + 100 * (size_t)me);
            CHECKF(dest[k] == expected, "TYPENAME min on %d %d %d, %d elements: element %zu", start, log_stride, size,
                   n, k);
        }
        meet();
    }
}
//@end

//@each shmem_TYPENAME_sum_to_all
static TYPE sum_dest_TYPENAME[N], sum_source_TYPENAME[N];
static TYPE sum_work_TYPENAME[2][SHMEM_REDUCE_MIN_WRKDATA_SIZE > N / 2 + 1 ? SHMEM_REDUCE_MIN_WRKDATA_SIZE : N / 2 + 1];

static TYPE sum_input_TYPENAME(size_t k) {
    return (TYPE)((double)(mix(k) % 3) + (double)(mix((k) + 5) % 2) * _Complex_I);
}

static void sum_TYPENAME(void) {
    static const int counts[] = {0, 1, N};
    for (int i = 0; i < 6; i++) {
        int n = counts[i / 2];
        TYPE *dest = i % 2 ? sum_source_TYPENAME : sum_dest_TYPENAME;
        for (size_t k = 0; k < N; k++) {
            sum_source_TYPENAME[k] = sum_input_TYPENAME(k + 100 * (size_t)me);
            sum_dest_TYPENAME[k] = sum_source_TYPENAME[k];
        }
        meet();
        TYPE *scratch = sum_work_TYPENAME[turn % 2];
        shmem_TYPENAME_sum_to_all(dest, sum_source_TYPENAME, n, start, log_stride, size, scratch, fresh());
        for (size_t k = 0; k < N; k++) {
            TYPE expected = sum_input_TYPENAME(k + 100 * (size_t)world(0));
            for (int pe = 1; pe < size; pe++) {
                TYPE next = sum_input_TYPENAME(k + 100 * (size_t)world(pe));
                expected = (TYPE)(expected + next);
            }
            if (k >= (size_t)n) expected = sum_input_TYPENAME(k + 100 * (size_t)me);
            CHECKF(dest[k] == expected, "TYPENAME sum on %d %d %d, %d elements: element %zu", start, log_stride, size,
                   n, k);
        }
        meet();
    }
}
//@end

//@each shmem_TYPENAME_prod_to_all
static TYPE prod_dest_TYPENAME[N], prod_source_TYPENAME[N];
static TYPE prod_work_TYPENAME[2][SHMEM_REDUCE_MIN_WRKDATA_SIZE > N / 2 + 1
    ? SHMEM_REDUCE_MIN_WRKDATA_SIZE : N / 2 + 1];

static TYPE prod_input_TYPENAME(size_t k) {
    return (TYPE)((double)(mix(k) % 3) + (double)(mix((k) + 5) % 2) * _Complex_I);
}

static void prod_TYPENAME(void) {
    static const int counts[] = {0, 1, N};
    for (int i = 0; i < 6; i++) {
        int n = counts[i / 2];
        TYPE *dest = i % 2 ? prod_source_TYPENAME : prod_dest_TYPENAME;
        for (size_t k = 0; k < N; k++) {
            prod_source_TYPENAME[k] = prod_input_TYPENAME(k + 100 * (size_t)me);
            prod_dest_TYPENAME[k] = prod_source_TYPENAME[k];
        }
        meet();
        TYPE *scratch = prod_work_TYPENAME[turn % 2];
        shmem_TYPENAME_prod_to_all(dest, prod_source_TYPENAME, n, start, log_stride, size, scratch, fresh());
        for (size_t k = 0; k < N; k++) {
            TYPE expected = prod_input_TYPENAME(k + 100 * (size_t)world(0));
            for (int pe = 1; pe < size; pe++) {
                TYPE next = prod_input_TYPENAME(k + 100 * (size_t)world(pe));
                expected = (TYPE)(expected * next);
            }
            if (k >= (size_t)n) expected = prod_input_TYPENAME(k + 100 * (size_t)me);
            CHECKF(dest[k] == expected, "TYPENAME prod on %d %d %d, %d elements: element %zu", start, log_stride, size,
                   n, k);
        }
        meet();
    }
}
//@end

static void all(void) {
    synchronize();
//@each shmem_broadcastSIZE shmem_collectSIZE shmem_fcollectSIZE shmem_alltoallSIZE shmem_alltoallsSIZE
    moves_SIZE();
//@end
//@each shmem_TYPENAME_and_to_all
    and_TYPENAME();
//@end
//@each shmem_TYPENAME_or_to_all
    or_TYPENAME();
//@end
//@each shmem_TYPENAME_xor_to_all
    xor_TYPENAME();
//@end
//@each shmem_TYPENAME_max_to_all
    max_TYPENAME();
//@end
//@each shmem_TYPENAME_min_to_all
    min_TYPENAME();
//@end
//@each shmem_TYPENAME_sum_to_all
    sum_TYPENAME();
//@end
//@each shmem_TYPENAME_prod_to_all
    prod_TYPENAME();
//@end
    restored();
}

int main(void) {
    begin();
    for (int w = 0; w < 2; w++) for (int k = 0; k < SHMEM_SYNC_SIZE; k++) work[w][k] = SHMEM_SYNC_VALUE;
    for (int k = 0; k < SHMEM_BARRIER_SYNC_SIZE; k++) barrier_work[k] = SHMEM_SYNC_VALUE;
    int step = npes > 4 ? 3 : 1;
    for (start = 0; start < npes; start += step) {
        for (log_stride = 0; log_stride < 3; log_stride++) {
            for (size = 1; start + ((size - 1) << log_stride) < npes; size += step) {
                shmem_barrier_all();
                number = -1;
                for (int k = 0; k < size; k++) if (world(k) == me) number = k;
                if (number >= 0) all();
            }
        }
    }
    start = log_stride = number = 0;
    size = npes;
    shmem_barrier_all();
    number = me;
    all();
    return end();
}
