//! The text of `include/shmemx.h`, and the names of the functions that it declares itself.

/// The functions of `shmemx.h` that are no routines: tools ask by them about calls, and they are no calls themselves.
/// So they have no operation id, no twin and no callbacks. All other functions there are rows of the API table.
pub const FUNCTIONS: &[&str] = &[
    "shmemx_callback_register",
    "shmemx_callback_unregister",
    "shmemx_op_class",
    "shmemx_op_count",
    "shmemx_op_find",
    "shmemx_op_name",
    "shmemx_var_bucket",
    "shmemx_var_count",
    "shmemx_var_find",
    "shmemx_var_info",
    "shmemx_var_read",
    "shmemx_var_write",
    "shmemx_wtime",
];

/// The header below its first line.
pub const SHMEMX: &str = r#"/*
 * Extensions of Pellucid to OpenSHMEM.
 */
#ifndef PELLUCID_SHMEMX_H
#define PELLUCID_SHMEMX_H

#include <string.h>
#include <sys/types.h>

#include "shmem.h"
QUIET

/*
 * Levels of shmem_pcontrol (10.1.1). Any other level is ignored.
 */
LEVELS

/* Results */
#define SHMEMX_SUCCESS 0
#define SHMEMX_ERROR_ARGUMENT (-1)
#define SHMEMX_ERROR_EXISTS (-2)
#define SHMEMX_ERROR_FULL (-3)
#define SHMEMX_ERROR_NO_SUCH (-4)
#define SHMEMX_ERROR_READ_ONLY (-5)
#define SHMEMX_ERROR_BUSY (-6)
#define SHMEMX_ERROR_PE (-7)
#define SHMEMX_ERROR_ADDRESS (-8)
#define SHMEMX_ERROR_MEMORY (-9)
#define SHMEMX_ERROR_NETWORK (-10)
#define SHMEMX_ERROR_PE_LOST (-11)
#define SHMEMX_ERROR_ABORTED (-12)
#define SHMEMX_ERROR_IO (-13)
#define SHMEMX_ERROR_MISMATCH (-14)
#define SHMEMX_ERROR_PENDING (-15)
#define SHMEMX_ERROR_SHORT (-16)

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Operations: every routine of OpenSHMEM has a number, from 0 to shmemx_op_count() - 1. shmemx_op_name gives its C
 * name, NULL for another number, shmemx_op_find the number of a name or SHMEMX_ERROR_NO_SUCH, shmemx_op_class one of
 * these bits.
 */
#define SHMEMX_CLASS_SETUP (1u << 0)
#define SHMEMX_CLASS_MEMORY (1u << 1)
#define SHMEMX_CLASS_TEAM (1u << 2)
#define SHMEMX_CLASS_CONTEXT (1u << 3)
#define SHMEMX_CLASS_PUT (1u << 4)
#define SHMEMX_CLASS_GET (1u << 5)
#define SHMEMX_CLASS_AMO (1u << 6)
#define SHMEMX_CLASS_SIGNAL (1u << 7)
#define SHMEMX_CLASS_WAIT (1u << 8)
#define SHMEMX_CLASS_TEST (1u << 9)
#define SHMEMX_CLASS_ORDER (1u << 10)
#define SHMEMX_CLASS_BARRIER (1u << 11)
#define SHMEMX_CLASS_COLLECTIVE (1u << 12)
#define SHMEMX_CLASS_LOCK (1u << 13)
#define SHMEMX_CLASS_QUERY (1u << 14)
#define SHMEMX_CLASS_CONTROL (1u << 15)
#define SHMEMX_CLASS_IO (1u << 16)
#define SHMEMX_CLASS_ALL 0x1ffffu

int shmemx_op_count(void);
const char *shmemx_op_name(int op);
int shmemx_op_find(const char *name);
unsigned int shmemx_op_class(int op);

/*
 * Callbacks: called when a call of a registered class begins and when it ends, on the thread that makes the call.
 *
 * - Registering and unregistering are possible at any time, from any thread, before shmem_init and from callbacks. What
 *   is registered hears of calls that begin afterwards; of a call whose beginning it heard it hears the end, unless it
 *   was unregistered in between. At most 32 registrations are live, else SHMEMX_ERROR_FULL.
 * - The same callback with the same data a second time is SHMEMX_ERROR_EXISTS; *handle is then the first registration.
 * - shmemx_callback_unregister returns when no thread is in the callback any more, so that its data may be freed. From
 *   within a callback, its own or another, it does not wait; the callback is not entered again. Where a thread is still
 *   in the callback after 5 s it gives SHMEMX_ERROR_BUSY: the registration has ended, but its data may be in use.
 * - A callback should return. One that is left by longjmp or a C++ exception counts as ended from the thread's next
 *   call on, and the call that it was told of is not made.
 * - A callback may call any routine. The call is part of the profile, but no callback hears of it; pshmem_ routines are
 *   not part of the profile either.
 * - A callback that blocks holds up the thread that made the call; nobody else.
 * - Beginnings come in the order of registration, so do ends. shmem_global_exit has no end.
 */
#define SHMEMX_ENTER 0
#define SHMEMX_EXIT 1

typedef struct {
    size_t size;           /* bytes of this structure: later versions add members at its end */
    int op;                /* operation */
    unsigned int op_class; /* its class, one bit */
    int phase;             /* SHMEMX_ENTER or SHMEMX_EXIT */
    int peer;              /* PE number in the world, -1 where the call has no one peer */
    void *dest;            /* argument dest, ptr, ivar, ivars, sig_addr or lock; NULL where there is none */
    const void *source;    /* argument source; NULL where there is none */
    size_t bytes;          /* that the call moves */
    shmem_ctx_t ctx;       /* context, the default one where the routine names none; SHMEM_CTX_INVALID: it has none */
    shmem_team_t team;     /* argument team; SHMEM_TEAM_INVALID where there is none */
    const void *site;      /* where the call returns to */
    int failed;            /* at the end: whether the result of the call says so */
    void **state;          /* a word for this registration's use from begin to end of this call, NULL at first */
} shmemx_event_t;

typedef void (*shmemx_callback_t)(const shmemx_event_t *event, void *data);

int shmemx_callback_register(unsigned int classes, shmemx_callback_t callback, void *data, int *handle);
int shmemx_callback_unregister(int handle);

/*
 * Variables of this PE, numbered from 0 to shmemx_var_count() - 1, in the manner of MPI_T: "shmem_long_put.calls",
 * .bytes, .errors, .time (ns), .latency for every routine, and control variables such as "profile.level". Values are
 * 64-bit.
 */
#define SHMEMX_VAR_COUNTER 0   /* grows */
#define SHMEMX_VAR_HISTOGRAM 1 /* a count a bucket, see shmemx_var_bucket */
#define SHMEMX_VAR_CONTROL 2   /* can be set where it is writable */

typedef struct {
    size_t size; /* to be set to sizeof(shmemx_var_info_t) before the call */
    const char *name, *unit, *description;
    int kind;     /* SHMEMX_VAR_ */
    int op;       /* operation that it counts, -1 where it is of none */
    size_t count; /* values: 1, or the number of buckets */
    int writable;
} shmemx_var_info_t;

int shmemx_var_count(void);
int shmemx_var_find(const char *name);
int shmemx_var_info(int var, shmemx_var_info_t *info);
/* Reads up to `count` values; gives how many there are to read, or an error. */
int shmemx_var_read(int var, int64_t *values, size_t count);
/* Sets a control variable: SHMEMX_ERROR_READ_ONLY for others, SHMEMX_ERROR_ARGUMENT for a value that it cannot have. */
int shmemx_var_write(int var, int64_t value);
/* Smallest and largest value that a bucket of a histogram counts. */
int shmemx_var_bucket(int var, size_t bucket, int64_t *low, int64_t *high);

/*
 * Seconds since some point in the past, as other libraries have it: for differences. At any time, from any thread. By
 * the macro programs know that they need none of their own.
 */
#define HAVE_SHMEMX_WTIME 1
double shmemx_wtime(void);

/*
 * Explicit active sets: PEs in an order, made by each PE on its own, without communication. Equal lists are the same
 * set on all PEs. Creation gives NULL where its arguments name no set: an invalid PE, one twice, a size below 1.
 * Collectives on a set take pSync as in the deprecated routines; NULL is allowed, and matches calls on the set by their
 * order.
 */
typedef struct shmemx_aset shmemx_aset;
typedef int (*shmemx_offset_fn)(int PE_index, int PE_start, int PE_size, void *const_params);

/*
 * Requests: handles of operations that go on after their call. A request may be waited for or tested by any thread, by
 * one at a time. Where `request` is NULL there is no handle, and the next quiet or barrier completes the operation.
 *
 * RESULTS OF TESTS: shmemx_test_req GIVES 1 FOR COMPLETE, shmemx_req_test GIVES 0 FOR COMPLETE.
 *
 * shmemx_wait_req and shmemx_test_req take the handle by value: one that is complete and was waited for stays complete.
 * The shmemx_req_ routines take its address, and set it to SHMEMX_REQ_INVALID; they give a negative number for a handle
 * that is not valid. shmemx_req_wait_any gives SIZE_MAX where no handle is valid.
 */
typedef uint64_t shmemx_request_handle_t;
typedef shmemx_request_handle_t shmemx_req_h;
#define SHMEMX_REQ_INVALID PELLUCID_AS(shmemx_request_handle_t, 0)

/*
 * Files that the members of a team read and write together. All members call open, close, sync, size, truncate and the
 * routines with _all and _ordered, in the same order on all files of a team; read_at and write_at are of one PE. Memory
 * is symmetric. Routines give 0, or a negative SHMEMX_ERROR_: IO where the system refuses, at one member or at all, and
 * SHORT where a read of this PE has come to the end of the file; shmemx_error_last has the words. read_at and write_at
 * give the bytes that were moved. `flags` are those of open(2), without O_APPEND. The ordered routines have members
 * follow each other by their numbers, from where the last one on this file ended, at first from 0.
 */
typedef struct shmemx_file *shmemx_file_t;
#define SHMEMX_FILE_INVALID PELLUCID_NONE(shmemx_file_t)

/*
 * Spaces: symmetric memory of the members of a team or of an active set alone, apart from the symmetric heap. `mask`
 * says which fields of the configuration count. The routines on a space are collective over its members, and only they
 * reach its memory: with puts, gets, atomics, signals and collectives as that of the heap. Creation gives 0, or
 * SHMEMX_ERROR_MEMORY where a member cannot have what is asked for: then none has the space, and shmemx_error_last says
 * why. SHMEMX_SPACE_DEFAULT is the symmetric heap.
 *
 * shmemx_locality says how far a PE is: 0 it is the calling one, 1 on the same NUMA node, 2 on the same host, 3 on
 * another. The PEs of a node are SHMEMX_TEAM_NUMA, where their numbers have equal distances; else the run of
 * neighbours among them that the calling one is in.
 */
typedef struct shmemx_space *shmemx_space_t;
#define SHMEMX_SPACE_INVALID PELLUCID_NONE(shmemx_space_t)
#define SHMEMX_SPACE_DEFAULT PELLUCID_BITS(shmemx_space_t, 1)
#define SHMEMX_TEAM_NUMA PELLUCID_BITS(shmem_team_t, 3)

typedef struct {
    size_t size;      /* bytes on each member; without, as many as the symmetric heap has */
    int numa_node;    /* that the memory has to be on: a number, SHMEMX_NUMA_ANY or SHMEMX_NUMA_LOCAL; may differ */
    size_t page_size; /* in bytes; 0: as the system likes */
    int kind;         /* SHMEMX_SPACE_HOST */
    const char *name; /* for messages */
} shmemx_space_config_t;

#define SHMEMX_SPACE_SIZE 1L
#define SHMEMX_SPACE_NUMA_NODE 2L
#define SHMEMX_SPACE_PAGE_SIZE 4L
#define SHMEMX_SPACE_KIND 8L
#define SHMEMX_SPACE_NAME 16L
#define SHMEMX_SPACE_HOST 0
#define SHMEMX_NUMA_ANY (-1)
#define SHMEMX_NUMA_LOCAL (-2)

/*
 * Errors. A call that cannot be carried out ends the job (SHMEMX_ERRORS_FATAL), gives its code (_RETURN), says so on
 * standard error and gives its code (_LOG), or calls a function with it and gives its code. What an operation came to,
 * as a disk that is full, is no mistake, and returned with FATAL as well. `team`: in calls on that team;
 * SHMEM_TEAM_INVALID: in all others. Routines whose results are data give 0, those that give pointers NULL.
 * shmemx_error_last writes the calling thread's last error to *error, whose `size` says how large it is, and gives its
 * code, 0 where there was none.
 */
typedef struct {
    size_t size;         /* to be set to sizeof(shmemx_error_t) before the call */
    int code;            /* SHMEMX_ERROR_ */
    int op;              /* operation, -1 where it is not known */
    int argument;        /* the argument that is wrong, from 0 on; -1 where none is, or several are */
    int peer;            /* PE number in the world, -1 where it has to do with none */
    const void *address; /* that is wrong, NULL where none is */
    const char *message; /* until the thread's next error */
} shmemx_error_t;

typedef void (*shmemx_errhandler_t)(const shmemx_error_t *error, void *data);
#define SHMEMX_ERRORS_FATAL PELLUCID_NONE(shmemx_errhandler_t)
#define SHMEMX_ERRORS_RETURN PELLUCID_BITS(shmemx_errhandler_t, 1)
#define SHMEMX_ERRORS_LOG PELLUCID_BITS(shmemx_errhandler_t, 2)

/*
 * How the job and its PEs stand, as far as this PE's host knows.
 *
 * shmemx_abort and shmemx_abort_because end the job, with status 134 or the given one, from any PE in any state of the
 * others. No exit handler runs.
 */
#define SHMEMX_OK 0
#define SHMEMX_DEGRADED 1
#define SHMEMX_FAILED 2
#define SHMEMX_PE_ALIVE 0
#define SHMEMX_PE_LOST 1
#define SHMEMX_PE_FINALIZED 2

/*
 * PEs that are lost, in a job that goes on without them (oshrun --survive). What needs one that is lost fails with
 * SHMEMX_ERROR_PE_LOST: operations to it, collectives of teams and sets that it is a member of, waits while the program
 * has not taken note of a loss (shmemx_failed_pes, shmemx_team_shrink). shmemx_lost_get copies from the symmetric
 * memory that a lost PE of this host has left behind. shmemx_team_shrink makes a team of the members that are left,
 * shmemx_agree gives all of them the bitwise and of their flags, also where one is lost meanwhile; both are collective
 * over these, and work on teams whose other collectives fail. All give 0, or the error's code.
 */
ROUTINES

/* Their names for tools (10.2). */
TWINS

/*
 * The names of the paper "OpenSHMEM Extensions and a Vision for its Future Direction" (2014), for its examples.
 */
#ifdef SHMEMX_PAPER_NAMES
typedef shmemx_aset shmem_aset;
typedef shmemx_offset_fn shmem_offset_fn;
typedef shmemx_request_handle_t shmem_request_handle_t;
PAPER
#endif

/*
 * Names of other libraries' extensions (docs/coming-from.md). SHMEMX_NO_OTHER_NAMES leaves them out.
 */
#ifndef SHMEMX_NO_OTHER_NAMES
OTHERS
#endif

#ifdef __cplusplus
}
#endif

LOUD
#endif /* PELLUCID_SHMEMX_H */
"#;

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn what_the_header_declares_itself_has_its_name_here() {
        let prototype = |line: &'static str| {
            let (before, _) = line.strip_suffix(");")?.split_once('(')?;
            let name = before.rsplit([' ', '*']).next()?;
            (!line.starts_with(' ') && name.starts_with("shmemx_")).then_some(name)
        };
        let declared: BTreeSet<&str> = SHMEMX.lines().filter_map(prototype).collect();
        assert_eq!(declared, FUNCTIONS.iter().copied().collect());
    }
}
