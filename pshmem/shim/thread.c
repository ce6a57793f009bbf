/* What the entry layer keeps for each thread. Initial-exec: no call to __tls_get_addr, which could allocate. */
struct pellucid_entry_thread {
    const void *site;           /* where the call came from that is on its way through the dispatcher */
    int place;                  /* whose code the thread is in */
    unsigned int registration;  /* in a callback: the number of its registration */
    const void *mark;           /* where on the stack the thread got to that place */
    unsigned int routine;       /* the routine that may wait which the thread is in, its operation plus 1; 0 for none */
    int ended;                  /* what it has to do with the last finalize */
    const void *within;         /* what is known of that call, on the stack */
    void *last_error;           /* its last error, or null */
    const void *handler;        /* where on the stack it got into the program's handler of an error, or null */
    unsigned int depth;         /* calls that tools have, each made while a tool had the one before */
    unsigned int unrecorded;    /* the program's call in the dispatcher that is not recorded, its operation plus 1; 0 */
};

__attribute__((visibility("hidden"), tls_model("initial-exec"))) __thread struct pellucid_entry_thread
    pellucid_entry_thread;

__attribute__((visibility("hidden"))) struct pellucid_entry_thread *pellucid_entry_thread_get(void);

struct pellucid_entry_thread *pellucid_entry_thread_get(void)
{
    return &pellucid_entry_thread;
}

/* Before main and before the program's own constructors: puts tools in a row. In this file since
 * the dispatcher needs it, so that every link of the archive has it. */
__attribute__((visibility("hidden"))) void pellucid_stack_start(int argc, char **argv, char **envp);

__attribute__((constructor)) static void pellucid_start(int argc, char **argv, char **envp)
{
    pellucid_stack_start(argc, argv, envp);
}

/* Before the constructors of a program that has the archive in it, too: what is registered there for forks comes behind
 * what this registers. */
__attribute__((visibility("hidden"))) void pellucid_register_forks(void);

__attribute__((constructor(101))) static void pellucid_first(void)
{
    pellucid_register_forks();
}

/* After all exit handlers: tells another's launcher how this process ends. */
__attribute__((visibility("hidden"))) void pellucid_left(void);

__attribute__((destructor)) static void pellucid_end(void)
{
    pellucid_left();
}
