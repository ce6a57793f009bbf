/*
 * OpenSHMEM and GASNet-EX in one program: PEs put with shmem_put into memory whose owner they then tell by an active
 * message.
 *
 *   cc both.c -o both $(pkg-config --cflags --libs gasnet-pellucid-seq pellucid)
 *   oshrun -n 4 ./both
 */
#include <gasnetex.h>
#include <shmem.h>
#include <stdio.h>

static long from_neighbour;
static volatile int told;

static void arrived(gex_Token_t token, gex_AM_Arg_t rank)
{
    (void)token;
    printf("PE %d: PE %d has put %ld\n", shmem_my_pe(), (int)rank, from_neighbour);
    told = 1;
}

int main(int argc, char **argv)
{
    gex_AM_Entry_t table[] = {
        {130, (gex_AM_Fn_t)arrived, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 1, NULL, "arrived"}};
    gex_Client_t client;
    gex_EP_t endpoint;
    gex_TM_t all;

    shmem_init();
    gex_Client_Init(&client, &endpoint, &all, "BOTH", &argc, &argv, 0);
    gex_EP_RegisterHandlers(endpoint, table, 1);
    gex_Event_Wait(gex_Coll_BarrierNB(all, 0));

    int me = shmem_my_pe(), next = (me + 1) % shmem_n_pes();
    shmem_long_p(&from_neighbour, 100L + me, next);
    shmem_quiet();
    gex_AM_RequestShort(all, (gex_Rank_t)next, 130, 0, me);
    GASNET_BLOCKUNTIL(told);

    gex_Event_Wait(gex_Coll_BarrierNB(all, 0));
    shmem_finalize();
    gasnet_exit(0);
}
