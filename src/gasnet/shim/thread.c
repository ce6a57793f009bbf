/* What the GASNet-EX interface keeps for each thread. Initial-exec: no call to __tls_get_addr. `Thread` of
 * src/thread.rs. */
struct pellucid_gasnet_thread {
    unsigned int restricted; /* handlers that run here, locks held, messages prepared: with any, little may be called */
    unsigned int locks;      /* handler-safe locks held */
    unsigned int idle;       /* polls in a row that found nothing */
    unsigned int section;    /* in a No-Interrupt Section, or in a function of the client's that reduces */
    void *token;             /* of the message whose handler runs here */
    void *prepared;          /* a message between Prepare and Commit */
    void *operations;        /* operations without an event of their own */
    void *completion;        /* what the next VIS put tells its peer */
    void *held[8];           /* the locks held, as far as there is room */
    void *stalled;           /* since when polls find nothing, and what the thread showed before */
    unsigned long long waited; /* when a request's last wait for room was over */
};

__attribute__((visibility("hidden"), tls_model("initial-exec"))) __thread struct pellucid_gasnet_thread
    pellucid_gasnet_thread;

__attribute__((visibility("hidden"))) struct pellucid_gasnet_thread *pellucid_gasnet_thread_get(void);

struct pellucid_gasnet_thread *pellucid_gasnet_thread_get(void)
{
    return &pellucid_gasnet_thread;
}
