/*
 * What the recorder keeps for each thread: its slot, where the call that an armed entry is about to record returns to,
 * and what the thread has called of late.
 * Initial-exec: one load relative to the thread pointer, no call to __tls_get_addr.
 */

struct pellucid_profile_thread {
    void *slot;
    void *site;
    void *recent;
};

__attribute__((visibility("hidden"), tls_model("initial-exec"))) __thread struct pellucid_profile_thread
    pellucid_profile_thread;

__attribute__((visibility("hidden"))) void *pellucid_profile_slot_get(void)
{
    return pellucid_profile_thread.slot;
}

__attribute__((visibility("hidden"))) void *pellucid_profile_site_get(void)
{
    return pellucid_profile_thread.site;
}

__attribute__((visibility("hidden"))) void *pellucid_profile_recent_get(void)
{
    return pellucid_profile_thread.recent;
}

__attribute__((visibility("hidden"))) void pellucid_profile_slot_set(void *slot, void *recent)
{
    pellucid_profile_thread.recent = recent;
    pellucid_profile_thread.slot = slot;
}

__attribute__((visibility("hidden"))) void pellucid_profile_site_set(void *site)
{
    pellucid_profile_thread.site = site;
}
