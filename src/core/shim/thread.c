/*
 * What the runtime keeps for each thread. Initial-exec: no call to __tls_get_addr, which could allocate, and signal
 * handlers read it.
 */
struct pellucid_core_thread {
    unsigned int network; /* calls that have, or are about to take, the lock of the network: 0 or 1 */
    unsigned int routine; /* the routine that has it, as whoever names routines numbers them */
    unsigned int message_handler; /* the handler that an active message runs here, its number plus 1; 0: none */
    unsigned int helper;  /* a thread of the library's own */
    unsigned long enough; /* from this address of the thread's stack on there is room for a call over the network */
    unsigned long top;    /* where the stack begins; 0: not looked at */
};

__attribute__((visibility("hidden"), tls_model("initial-exec"))) __thread struct pellucid_core_thread
    pellucid_core_thread;

__attribute__((visibility("hidden"))) struct pellucid_core_thread *pellucid_core_thread_get(void);

struct pellucid_core_thread *pellucid_core_thread_get(void)
{
    return &pellucid_core_thread;
}
