/*
 * hashtable: counts words in a hash table that is spread over all PEs.
 *
 * A word (a number here) belongs to a slot of a PE by its hash; where another word has it, to the next one that is
 * free. Two ways to keep PEs from taking one slot for two words: a lock for each PE's part of the table, or atomics: a
 * slot is taken by a compare-and-swap, and its counter incremented.
 *
 *     oshrun -n 4 ./hashtable [-w WORDS (of each PE)] [-v VOCABULARY] [-g lock|atomic]
 *
 * Verification: each PE looks words up and counts on its own how often all PEs have drawn them.
 */
#define _POSIX_C_SOURCE 200809L

#include "../common.h"

#define MAX_PES 1024

typedef struct {
    uint64_t word; /* 0: a free slot */
    uint64_t count;
} slot_t;

static slot_t *table;      /* `slots` of them on each PE */
static long lock[MAX_PES]; /* that of the part of each PE */
static size_t slots;
static int me, npes;

/* Words as in a text: some are frequent. */
static uint64_t word_of(int pe, uint64_t at, uint64_t vocabulary)
{
    uint64_t number = draw(pe, at);
    return 1 + (number % vocabulary) * ((number >> 40) % vocabulary) / vocabulary;
}

static int home(uint64_t word, size_t *slot)
{
    uint64_t hash = draw(0, word);
    *slot = (size_t)(hash >> 32) % slots;
    return (int)(hash % (uint64_t)npes);
}

/* With the lock of the part, nobody else is at it. */
static void count_with_lock(uint64_t word)
{
    size_t slot;
    int pe = home(word, &slot);
    shmem_set_lock(&lock[pe]);
    uint64_t found;
    while ((found = shmem_g(&table[slot].word, pe)) != word && found != 0)
        slot = (slot + 1) % slots;
    if (found == 0)
        shmem_p(&table[slot].word, word, pe);
    shmem_p(&table[slot].count, shmem_g(&table[slot].count, pe) + 1, pe);
    shmem_clear_lock(&lock[pe]);
}

/* A slot that has a word keeps it: whoever finds its own word, or swaps it in, may count. */
static void count_with_atomics(uint64_t word)
{
    size_t slot;
    int pe = home(word, &slot);
    for (;; slot = (slot + 1) % slots) {
        uint64_t found = shmem_atomic_fetch(&table[slot].word, pe);
        if (found == 0)
            found = shmem_atomic_compare_swap(&table[slot].word, UINT64_C(0), word, pe);
        if (found == word || found == 0)
            break;
    }
    shmem_atomic_inc(&table[slot].count, pe);
}

static uint64_t look_up(uint64_t word)
{
    size_t slot;
    int pe = home(word, &slot);
    slot_t found;
    for (;; slot = (slot + 1) % slots) {
        shmem_getmem(&found, &table[slot], sizeof found, pe);
        if (found.word == word || found.word == 0)
            return found.count;
    }
}

/* Every word is looked up by one PE. */
static void check(size_t words, uint64_t vocabulary)
{
    uint64_t *count = calloc(vocabulary + 1, sizeof *count);
    if (count == NULL)
        end_job(1, "hashtable: no memory to check with");
    for (int pe = 0; pe < npes; pe++)
        for (size_t i = 0; i < words; i++)
            count[word_of(pe, i, vocabulary)]++;
    for (uint64_t word = 1 + (uint64_t)me; word <= vocabulary; word += (uint64_t)npes) {
        uint64_t found = look_up(word);
        if (found != count[word])
            end_job(1, "hashtable: FAILED: word %" PRIu64 " counted %" PRIu64 " times, not %" PRIu64, word, found,
                    count[word]);
    }
    free(count);
}

int main(int argc, char **argv)
{
    shmem_init();
    me = shmem_my_pe();
    npes = shmem_n_pes();
    size_t words = 1 << 18;
    uint64_t vocabulary = 50000;
    int option, locked = 0;
    while ((option = getopt(argc, argv, "w:v:g:")) != -1) {
        if (option == 'w')
            words = (size_t)number('w', optarg, 1L << 40);
        else if (option == 'v')
            vocabulary = (uint64_t)number('v', optarg, 1L << 20);
        else if (option == 'g' && (strcmp(optarg, "lock") == 0 || strcmp(optarg, "atomic") == 0))
            locked = *optarg == 'l';
        else
            end_job(2, "usage: hashtable [-w WORDS] [-v VOCABULARY] [-g lock|atomic]");
    }
    if (npes > MAX_PES)
        end_job(2, "hashtable: %d PEs at most", MAX_PES);
    /* Half of the slots stay free at least, however uneven the hash is. */
    slots = 2 * (size_t)vocabulary / (size_t)npes + (size_t)vocabulary / 4 + 64;
    table = symmetric(slots, sizeof *table);

    shmem_barrier_all();
    double start = now();
    for (size_t i = 0; i < words; i++) {
        uint64_t word = word_of(me, i, vocabulary);
        if (locked)
            count_with_lock(word);
        else
            count_with_atomics(word);
    }
    shmem_barrier_all();
    double seconds = slowest(now() - start);

    check(words, vocabulary);
    shmem_barrier_all();
    if (me == 0) {
        printf("hashtable: %zu words on each of %d PEs, %s: %.3f s, %.2f million words/s\n", words, npes,
               locked ? "locks" : "atomics", seconds, (double)words * npes / seconds * 1e-6);
        printf("hashtable: OK, every word is counted\n");
    }
    shmem_free(table);
    shmem_finalize();
    return 0;
}
