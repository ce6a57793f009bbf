/* The recorder's thread-local pointer. Initial-exec: one load relative to the thread pointer, no call to __tls_get_addr. */

__attribute__((visibility("hidden"), tls_model("initial-exec"))) __thread void *pellucid_profile_slot;

__attribute__((visibility("hidden"))) void *pellucid_profile_slot_get(void)
{
    return pellucid_profile_slot;
}

__attribute__((visibility("hidden"))) void pellucid_profile_slot_set(void *slot)
{
    pellucid_profile_slot = slot;
}
