/* The GASNet-1 interface: start, messages, puts and gets, barriers with names, what is not contiguous. */
#include <gasnet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

static gasnet_node_t me, size;
static gasnet_hsl_t lock = GASNET_HSL_INITIALIZER;
static volatile int replies;
static gasnet_seginfo_t *segments;

#define AREA 4096

static void asked(gasnet_token_t token, gasnet_handlerarg_t a, gasnet_handlerarg_t b)
{
    gasnet_node_t from;
    CHECK(gasnet_AMGetMsgSource(token, &from) == GASNET_OK && from == (gasnet_node_t)a && b == 17);
    CHECK(gasnet_AMReplyShort1(token, 201, b + 1) == GASNET_OK);
}

static void answered(gasnet_token_t token, gasnet_handlerarg_t a)
{
    (void)token;
    CHECK(a == 18);
    gasnet_hsl_lock(&lock);
    replies++;
    gasnet_hsl_unlock(&lock);
}

static void data(gasnet_token_t token, void *buf, size_t nbytes, gasnet_handlerarg_t a)
{
    CHECK(nbytes == 5 && memcmp(buf, "hello", 5) == 0);
    CHECK(gasnet_AMReplyMedium1(token, 203, buf, nbytes, a) == GASNET_OK);
}

static void data_back(gasnet_token_t token, void *buf, size_t nbytes, gasnet_handlerarg_t a)
{
    (void)token;
    CHECK(nbytes == 5 && memcmp(buf, "hello", 5) == 0 && a == -1);
    replies++;
}

static void messages(gasnet_node_t node)
{
    char *area = (char *)segments[node].addr + me * AREA;
    int before = replies;
    CHECK(gasnet_AMRequestShort2(node, 200, (gasnet_handlerarg_t)me, 17) == GASNET_OK);
    CHECK(gasnet_AMRequestMedium1(node, 202, (void *)(uintptr_t)"hello", 5, -1) == GASNET_OK);
    CHECK(gasnet_AMRequestLong1(node, 202, (void *)(uintptr_t)"hello", 5, area, -1) == GASNET_OK);
    CHECK(gasnet_AMRequestLongAsync1(node, 202, (void *)(uintptr_t)"hello", 5, area + 8, -1) == GASNET_OK);
    GASNET_BLOCKUNTIL(replies == before + 4);
}

static void transfers(gasnet_node_t node)
{
    char *area = (char *)segments[node].addr + me * AREA;
    gasnet_handle_t handles[3];
    gasnet_valget_handle_t value;
    int64_t out[4] = {1, 2, 3, 4}, in[4];
    out[0] = me;
    gasnet_put(node, area, out, sizeof out);
    gasnet_get_bulk(in, node, area, sizeof in);
    CHECK(memcmp(in, out, sizeof in) == 0);
    gasnet_memset(node, area + 64, 0x5b, 100);
    gasnet_put_val(node, area + 64, 0x77, 1);
    CHECK(gasnet_get_val(node, area + 64, 2) == 0x5b77);
    value = gasnet_get_nb_val(node, area + 163, 1);
    CHECK(gasnet_wait_syncnb_valget(value) == 0x5b);
    out[1] = 99;
    handles[0] = gasnet_put_nb(node, area, out, sizeof out);
    handles[1] = gasnet_put_nb_val(node, area + 200, 5, 8);
    handles[2] = GASNET_INVALID_HANDLE;
    while (gasnet_try_syncnb_all(handles, 3) == GASNET_ERR_NOT_READY)
        ;
    gasnet_wait_syncnb(gasnet_get_nb(in, node, area, sizeof in));
    CHECK(in[1] == 99);
    gasnet_begin_nbi_accessregion();
    gasnet_put_nbi_bulk(node, area, out + 1, 16);
    handles[0] = gasnet_end_nbi_accessregion();
    gasnet_wait_syncnb_some(handles, 1);
    gasnet_get_nbi(in, node, area, 8);
    gasnet_wait_syncnbi_all();
    CHECK(in[0] == 99 && gasnet_try_syncnbi_puts() == GASNET_OK);
}

static void noncontiguous(gasnet_node_t node)
{
    int *area = (int *)((char *)segments[node].addr + me * AREA), from[64], to[64], i;
    const size_t strides[1] = {4 * sizeof(int)}, dense[1] = {sizeof(int)}, count[2] = {sizeof(int), 8};
    gasnet_memvec_t there = {NULL, 32}, here = {NULL, 32};
    void *addresses[1], *addresses_here[1];
    for (i = 0; i < 64; i++)
        from[i] = i + (int)me;
    gasnet_puts_bulk(node, area, strides, from, dense, count, 1);
    gasnet_wait_syncnb(gasnet_gets_nb_bulk(to, dense, node, area, strides, count, 1));
    CHECK(memcmp(to, from, 8 * sizeof(int)) == 0);
    there.addr = area + 40;
    here.addr = from + 3;
    gasnet_putv_bulk(node, 1, &there, 1, &here);
    addresses[0] = area + 40;
    addresses_here[0] = to;
    gasnet_geti_bulk(1, addresses_here, 32, node, 1, addresses, 32);
    CHECK(memcmp(to, from + 3, 32) == 0);
}

/* With a lock, what holds and resumes interrupts does nothing, in a No-Interrupt Section as outside of one. */
static void interrupts(void)
{
    int i;
    for (i = 0; i < 2; i++) {
        if (i == 1)
            gasnet_hold_interrupts();
        gasnet_hsl_lock(&lock);
        gasnet_hold_interrupts();
        gasnet_hold_interrupts();
        gasnet_resume_interrupts();
        gasnet_resume_interrupts();
        gasnet_hsl_unlock(&lock);
        if (i == 1)
            gasnet_resume_interrupts();
    }
    CHECK(gasnet_AMPoll() == GASNET_OK);
}

static void barriers(void)
{
    int i, result, id;
    for (i = 0; i < 20; i++) {
        gasnet_barrier_notify(i, 0);
        if (i % 2) {
            CHECK(gasnet_barrier_wait(i, 0) == GASNET_OK);
        } else {
            while ((result = gasnet_barrier_try(i, 0)) == GASNET_ERR_NOT_READY)
                ;
            CHECK(result == GASNET_OK);
        }
    }
    CHECK(gasnet_barrier_result(&id) == 0 && id == 19);
    /* One anonymous among named ones; all different; one that knows of a mismatch; another name at the wait. */
    gasnet_barrier_notify(5, me == 0 ? GASNET_BARRIERFLAG_ANONYMOUS : 0);
    CHECK(gasnet_barrier_wait(5, me == 0 ? GASNET_BARRIERFLAG_ANONYMOUS : 0) == GASNET_OK);
    gasnet_barrier_notify((int)me, 0);
    CHECK(gasnet_barrier_wait((int)me, 0) == (size > 1 ? GASNET_ERR_BARRIER_MISMATCH : GASNET_OK));
    result = gasnet_barrier(0, me == size - 1 ? GASNET_BARRIERFLAG_MISMATCH : 0);
    CHECK(result == GASNET_ERR_BARRIER_MISMATCH);
    gasnet_barrier_notify(1, 0);
    CHECK(gasnet_barrier_wait(2, 0) == GASNET_ERR_BARRIER_MISMATCH);
    CHECK(gasnet_barrier(3, 0) == GASNET_OK);
}

int main(int argc, char **argv)
{
    gasnet_handlerentry_t table[] = {{200, (void (*)())asked},
                                     {201, (void (*)())answered},
                                     {202, (void (*)())data},
                                     {203, (void (*)())data_back},
                                     {0, (void (*)())answered}};
    gex_TM_t tm;
    gex_Segment_t segment;
    gasnet_node_t node;
    GASNET_BEGIN_FUNCTION();
    CHECK(gasnet_init(&argc, &argv) == GASNET_OK);
    me = gasnet_mynode();
    size = gasnet_nodes();
    CHECK(gasnet_getMaxLocalSegmentSize() >= (size + 1) * AREA &&
          gasnet_getMaxGlobalSegmentSize() % GASNET_PAGESIZE == 0);
    /* Too much, on one of them, and what is no multiple of a page: they may ask again. */
    CHECK(gasnet_attach(table, 5, GASNET_PAGESIZE + 1, 0) == GASNET_ERR_BAD_ARG);
    CHECK(gasnet_attach(table, 5, me == 0 ? gasnet_getMaxLocalSegmentSize() + GASNET_PAGESIZE : 0, 0) ==
          GASNET_ERR_RESOURCE);
    CHECK(gasnet_attach(table, 5, (size + 1) * AREA, 0) == GASNET_OK);
    CHECK(table[4].index == 255);
    segments = (gasnet_seginfo_t *)malloc(size * sizeof *segments);
    CHECK(gasnet_getSegmentInfo(segments, (int)size) == GASNET_OK && segments[me].size == (size + 1) * AREA);
    gasnet_QueryGexObjects(NULL, NULL, &tm, &segment);
    CHECK(gex_TM_QuerySize(tm) == size && gex_Segment_QueryAddr(segment) == segments[me].addr);
    gasnet_set_waitmode(GASNET_WAIT_BLOCK);
    CHECK(gasnet_barrier(0, GASNET_BARRIERFLAG_ANONYMOUS) == GASNET_OK);
    for (node = 0; node < size; node++) {
        messages(node);
        transfers(node);
        noncontiguous(node);
    }
    interrupts();
    barriers();
    printf("node %u: all is well\n", (unsigned)me);
    fflush(stdout);
    gasnet_exit(0);
    return 0;
}
