/*
 * conveyor: a histogram over all PEs, one item at a time or on a conveyor that carries many at once.
 *
 * Each PE draws items; each item is counted in a table that is spread over the PEs. One by one, that is an atomic
 * increment an item. On a conveyor, items for a PE are gathered in a box; a full box is put into the mailbox that the
 * sender has there, with a signal, and its owner does the counting.
 *
 *     oshrun -n 4 ./conveyor [-t TABLE (counters of each PE)] [-i ITEMS (of each PE)] [-b BOX (items; 1: no conveyor)]
 *
 * Verification: the counts of all PEs add up, and so do the items that they stand for.
 */
#define _POSIX_C_SOURCE 200809L

#include <sched.h>

#include "../common.h"

#define BOX_MOST 4096
#define BOXES 64 /* on their way from one PE to another */
#define LAST (UINT64_C(1) << 31) /* in a signal: this sender has no more */

static uint64_t *table; /* counter `item / npes` of PE `item % npes` */
static int me, npes;
static size_t box;

static uint32_t *mailbox; /* [sender][box % BOXES][place]: written by the sender */
static uint64_t *arrived; /* [sender][box % BOXES]: number of the box << 32, LAST, items in it: the signal of its put */
static uint64_t *emptied; /* [receiver]: number of the box that it has taken last: written by the receiver */
static uint32_t *filling; /* [receiver][place]: the box that is being filled */
static size_t *filled;    /* [receiver] */
static uint64_t *sent;    /* [receiver]: boxes */
static uint64_t *taken;   /* [sender]: boxes */
static int ended;         /* senders that have no more */

/* Where box `number` of a sender comes to. */
static size_t slot(int sender, uint64_t number)
{
    return (size_t)sender * BOXES + number % BOXES;
}

/* Counts what is in the mailboxes, and tells the senders that there is room again; whether there was any. */
static int unload(void)
{
    int found = 0;
    for (int sender = 0; sender < npes; sender++) {
        size_t at = slot(sender, taken[sender] + 1);
        uint64_t signal = shmem_signal_fetch(&arrived[at]);
        if (signal >> 32 != taken[sender] + 1)
            continue;
        found = 1;
        taken[sender]++;
        const uint32_t *item = mailbox + at * box;
        for (size_t i = 0; i < (signal & (LAST - 1)); i++)
            table[item[i]]++;
        ended += (signal & LAST) != 0;
        shmem_atomic_set(&emptied[me], taken[sender], sender);
    }
    return found;
}

/* Sends the box of a PE, once that PE has room for it; meanwhile this PE's mailboxes are emptied. */
static void send(int pe, uint64_t last)
{
    while (shmem_atomic_fetch(&emptied[pe], me) + BOXES <= sent[pe])
        if (!unload())
            sched_yield(); /* perhaps for that PE */
    size_t at = slot(me, ++sent[pe]);
    uint64_t signal = sent[pe] << 32 | last | filled[pe];
    shmem_put_signal(mailbox + at * box, filling + (size_t)pe * box, filled[pe], &arrived[at], signal, SHMEM_SIGNAL_SET,
                     pe);
    filled[pe] = 0;
    unload();
}

static void count_by_boxes(size_t items, uint64_t counters)
{
    for (size_t i = 0; i < items; i++) {
        uint64_t item = draw(me, i) % (counters * (uint64_t)npes);
        int pe = (int)(item % (uint64_t)npes);
        filling[(size_t)pe * box + filled[pe]++] = (uint32_t)(item / (uint64_t)npes);
        if (filled[pe] == box)
            send(pe, 0);
    }
    for (int pe = 0; pe < npes; pe++)
        send(pe, LAST);
    while (ended < npes)
        if (!unload())
            sched_yield();
}

static void count_one_by_one(size_t items, uint64_t counters)
{
    for (size_t i = 0; i < items; i++) {
        uint64_t item = draw(me, i) % (counters * (uint64_t)npes);
        shmem_atomic_inc(&table[item / (uint64_t)npes], (int)(item % (uint64_t)npes));
    }
}

static void check(size_t items, uint64_t counters)
{
    uint64_t count = 0, sum = 0, expected = 0;
    for (uint64_t i = 0; i < counters; i++) {
        count += table[i];
        sum += table[i] * (i * (uint64_t)npes + (uint64_t)me);
    }
    for (size_t i = 0; i < items; i++)
        expected += draw(me, i) % (counters * (uint64_t)npes);
    if (total_of(count) != items * (uint64_t)npes || total_of(sum) != total_of(expected))
        end_job(1, "conveyor: FAILED: items are lost or counted elsewhere");
}

int main(int argc, char **argv)
{
    shmem_init();
    me = shmem_my_pe();
    npes = shmem_n_pes();
    size_t items = 4 << 20, counters = 1 << 20;
    int option;
    box = 1024;
    while ((option = getopt(argc, argv, "t:i:b:")) != -1) {
        switch (option) {
        case 't': counters = (size_t)number('t', optarg, 1L << 31); break;
        case 'i': items = (size_t)number('i', optarg, 1L << 40); break;
        case 'b': box = (size_t)number('b', optarg, BOX_MOST); break;
        default: end_job(2, "usage: conveyor [-t TABLE] [-i ITEMS] [-b BOX]");
        }
    }
    size_t pes = (size_t)npes;
    table = symmetric(counters, sizeof *table);
    mailbox = symmetric(pes * BOXES * box, sizeof *mailbox);
    arrived = symmetric(pes * BOXES, sizeof *arrived);
    emptied = symmetric(pes, sizeof *emptied);
    filling = calloc(pes * box, sizeof *filling);
    filled = calloc(pes, sizeof *filled);
    sent = calloc(pes, sizeof *sent);
    taken = calloc(pes, sizeof *taken);

    shmem_barrier_all();
    double start = now();
    if (box > 1)
        count_by_boxes(items, counters);
    else
        count_one_by_one(items, counters);
    shmem_barrier_all();
    double seconds = slowest(now() - start);

    check(items, counters);
    if (me == 0) {
        printf("conveyor: %zu items on each of %d PEs, %zu at a time: %.3f s, %.1f million items/s\n", items, npes, box,
               seconds, (double)items * npes / seconds * 1e-6);
        printf("conveyor: OK, every item is counted once\n");
    }
    free(taken);
    free(sent);
    free(filled);
    free(filling);
    shmem_free(emptied);
    shmem_free(arrived);
    shmem_free(mailbox);
    shmem_free(table);
    shmem_finalize();
    return 0;
}
