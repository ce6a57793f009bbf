/* 9.4.1, 9.4.2, 9.4.4, 9.4.5, 9.1.10, 7: the predefined teams and the invalid one.
 * pes: 1 2 3 4 7 16
 * needs: shmem_team_my_pe shmem_team_n_pes shmem_team_translate_pe shmem_malloc
 */
#include "check.h"

static long word;

int main(void) {
    begin();
    CHECK_EQ(shmem_team_my_pe(SHMEM_TEAM_WORLD), me);
    CHECK_EQ(shmem_team_n_pes(SHMEM_TEAM_WORLD), npes);
    CHECK_EQ(shmem_team_n_pes(SHMEM_TEAM_SHARED), host_size());
    CHECK_EQ(shmem_team_my_pe(SHMEM_TEAM_SHARED), me - host_first());
    /* Easy to get wrong: the invalid handle. */
    CHECK_EQ(shmem_team_my_pe(SHMEM_TEAM_INVALID), -1);
    CHECK_EQ(shmem_team_n_pes(SHMEM_TEAM_INVALID), -1);
    for (int pe = 0; pe < npes; pe++) {
        CHECK_EQ(shmem_team_translate_pe(SHMEM_TEAM_WORLD, pe, SHMEM_TEAM_WORLD), pe);
        int shared = on_this_host(pe) ? pe - host_first() : -1;
        CHECK_EQ(shmem_team_translate_pe(SHMEM_TEAM_WORLD, pe, SHMEM_TEAM_SHARED), shared);
        if (shared >= 0) CHECK_EQ(shmem_team_translate_pe(SHMEM_TEAM_SHARED, shared, SHMEM_TEAM_WORLD), pe);
        CHECK_EQ(shmem_team_translate_pe(SHMEM_TEAM_INVALID, pe, SHMEM_TEAM_WORLD), -1);
        CHECK_EQ(shmem_team_translate_pe(SHMEM_TEAM_WORLD, pe, SHMEM_TEAM_INVALID), -1);
    }
    CHECK_EQ(shmem_team_translate_pe(SHMEM_TEAM_WORLD, npes, SHMEM_TEAM_WORLD), -1);
    CHECK_EQ(shmem_team_translate_pe(SHMEM_TEAM_WORLD, -1, SHMEM_TEAM_WORLD), -1);
#ifdef HAVE_shmem_team_get_config
    shmem_team_config_t config = {.num_contexts = -5};
    CHECK_EQ(shmem_team_get_config(SHMEM_TEAM_WORLD, SHMEM_TEAM_NUM_CONTEXTS, &config), 0);
    CHECK(config.num_contexts >= 0);
    CHECK_EQ(shmem_team_get_config(SHMEM_TEAM_WORLD, 0, NULL), 0);
    CHECK(shmem_team_get_config(SHMEM_TEAM_INVALID, SHMEM_TEAM_NUM_CONTEXTS, &config) != 0);
#endif
#ifdef HAVE_shmem_team_ptr
    long *heap = symmetric(sizeof(long));
    int next = (me + 1) % npes;
    CHECK(shmem_team_ptr(SHMEM_TEAM_WORLD, heap, next) == shmem_ptr(heap, next));
    int last = host_first() + host_size() - 1;
    CHECK(shmem_team_ptr(SHMEM_TEAM_SHARED, &word, host_size() - 1) == shmem_ptr(&word, last));
    CHECK(shmem_team_ptr(SHMEM_TEAM_SHARED, heap, me - host_first()) == heap);
    CHECK(shmem_team_ptr(SHMEM_TEAM_INVALID, heap, 0) == NULL);
#endif
#ifdef HAVE_shmem_team_destroy
    shmem_team_destroy(SHMEM_TEAM_INVALID);
#endif
#ifdef HAVE_shmem_team_sync
    CHECK_EQ(shmem_team_sync(SHMEM_TEAM_WORLD), 0);
    CHECK_EQ(shmem_team_sync(SHMEM_TEAM_SHARED), 0);
#endif
    return end();
}
