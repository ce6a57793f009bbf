/* Preloaded into oshrun: a resolver that does not answer for names that begin with "silent", as where its server is out
 * of reach, and that knows no other name. */
#include <netdb.h>
#include <string.h>
#include <unistd.h>

int getaddrinfo(const char *node, const char *service, const struct addrinfo *hints, struct addrinfo **found) {
    (void)service;
    (void)hints;
    (void)found;
    if (node && !strncmp(node, "silent", 6)) {
        sleep(20);
    }
    return EAI_AGAIN;
}
