/* Many threads of a process, all with all kinds of traffic; only for PAR. */
#include "job.h"
#include <gasnet_ratomic.h>
#include <malloc.h>
#include <pthread.h>

#define THREADS 6
#define ROUNDS 300

static gex_HSL_t lock = GEX_HSL_INITIALIZER;
static int replies[THREADS];
static gex_AD_t ad;

static void ask(gex_Token_t token, gex_AM_Arg_t thread)
{
    gex_AM_ReplyShort(token, 201, 0, thread);
}

static void answer(gex_Token_t token, gex_AM_Arg_t thread)
{
    (void)token;
    gex_HSL_Lock(&lock);
    replies[thread]++;
    gex_HSL_Unlock(&lock);
}

static int answers(int thread)
{
    int count;
    gex_HSL_Lock(&lock);
    count = replies[thread];
    gex_HSL_Unlock(&lock);
    return count;
}

static void *work(void *argument)
{
    int thread = (int)(intptr_t)argument, i, j;
    uint64_t out[50], in[50];
    for (i = 0; i < ROUNDS; i++) {
        gex_Rank_t peer = (gex_Rank_t)(i + thread) % size;
        uint64_t *at = (uint64_t *)(segment_of(peer) + 4096 + (me * THREADS + (unsigned)thread) * 512);
        gex_AM_RequestShort(world, peer, 200, 0, thread);
        for (j = 0; j < 50; j++)
            out[j] = (uint64_t)(i * 1000 + j);
        CHECK(gex_RMA_PutNBI(world, peer, at, out, sizeof out, GEX_EVENT_DEFER, 0) == 0);
        gex_NBI_Wait(GEX_EC_PUT, 0);
        gex_Event_Wait(gex_RMA_GetNB(world, in, peer, at, sizeof in, 0));
        CHECK(memcmp(in, out, sizeof in) == 0);
        gex_Event_Wait(gex_AD_OpNB_U64(ad, NULL, 0, segment_of(0), GEX_OP_INC, 0, 0, 0));
    }
    GASNET_BLOCKUNTIL(answers(thread) == ROUNDS);
    return NULL;
}

/* What is kept for a thread is another one's once it has ended. */
static void *pass(void *argument)
{
    gex_NBI_BeginAccessRegion(0);
    CHECK(gex_NBI_EndAccessRegion(0) == GEX_EVENT_INVALID);
    return argument;
}

static size_t pass_many(int count)
{
    pthread_t thread;
    while (count-- > 0) {
        CHECK(pthread_create(&thread, NULL, pass, NULL) == 0);
        pthread_join(thread, NULL);
    }
    return mallinfo2().uordblks;
}

int main(int argc, char **argv)
{
    gex_AM_Entry_t table[] = {{200, (gex_AM_Fn_t)ask, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 1, NULL, "ask"},
                              {201, (gex_AM_Fn_t)answer, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REPLY, 1, NULL, "answer"}};
    pthread_t threads[THREADS];
    intptr_t i;
    size_t before, after;
    begin(argc, argv, table, 2, 16);
    CHECK(gex_System_QueryMaxThreads() >= THREADS);
    gex_AD_Create(&ad, world, GEX_DT_U64, GEX_OP_INC | GEX_OP_GET, 0);
    barrier();
    for (i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, work, (void *)i) == 0);
    for (i = 0; i < THREADS; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    barrier();
    CHECK(gex_RMA_GetBlockingVal(world, 0, segment_of(0), 8, 0) == (uintptr_t)size * THREADS * ROUNDS);
    before = pass_many(20);
    after = pass_many(2000);
    CHECK(after < before + 100 * 1000);
    return finish();
}
