/* ThreadSanitizer keeps records of memory in a few ranges of addresses only, and stands in for mmap. */
__attribute__((weak)) void __tsan_init(void);

__attribute__((visibility("hidden"))) int pellucid_has_thread_sanitizer(void);

int pellucid_has_thread_sanitizer(void)
{
    return __tsan_init != 0;
}
