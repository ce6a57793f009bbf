/* A function with a variable argument list: the message, then the end of the job. */
#include <stdarg.h>
#include <stdio.h>

void pellucid_gex_fatal_text(const char *text) __attribute__((noreturn));

__attribute__((noreturn, format(printf, 1, 2), visibility("default"))) void pellucid_gex_fatal(const char *format, ...);

void pellucid_gex_fatal(const char *format, ...)
{
    char text[1024];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    pellucid_gex_fatal_text(text);
}
