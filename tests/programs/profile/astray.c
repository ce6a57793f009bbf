/* Calls from code of which nothing is known, or something wrong: made at run time, at the begin of the only page that
 * can be read there; by assembly whose notes do not know where its frame ends; by assembly that keeps a number where
 * its caller's notes find the frame. */
#include <shmem.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifdef __x86_64__
void wrong_end(void (*call)(void));
void no_pointer(void (*call)(void));

#define FUNCTION(name, code)                                                                                          \
    __asm__(".text\n.globl " #name "\n.type " #name ",@function\n" #name ":\n.cfi_startproc\n" code               \
            "ret\n.cfi_endproc\n.size " #name ",.-" #name "\n")

FUNCTION(wrong_end, "sub $24,%rsp\nmovq $1,(%rsp)\ncall *%rdi\nadd $24,%rsp\n");
FUNCTION(no_pointer, "push %rbp\n.cfi_adjust_cfa_offset 8\nmovabs $0x7fffdeadbeef0000,%rbp\ncall *%rdi\n"
                     "pop %rbp\n.cfi_adjust_cfa_offset -8\n");

static void made(void (*call)(void)) {
    static char *code;
    if (code == NULL) {
        code = (char *)mmap(NULL, 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) + 4096;
        mprotect(code, 4096, PROT_READ | PROT_WRITE | PROT_EXEC);
        /* push %rbx; call *%rdi; pop %rbx; ret */
        memcpy(code, "\x53\xff\xd7\x5b\xc3", 5);
    }
    void (*thunk)(void (*)(void));
    memcpy(&thunk, &code, sizeof code);
    thunk(call);
}
#else
static void made(void (*call)(void)) { call(); }
#define wrong_end made
#define no_pointer made
#endif

int main(void) {
    /* Of a length that the compiler does not know: this frame is found by its pointer. */
    volatile int few = 3;
    volatile char room[few];
    room[0] = 0;
    made(shmem_init);
    void (*ways[])(void (*)(void)) = {made, wrong_end, no_pointer};
    for (int way = 0; way < 3; way++) {
        ways[way](shmem_barrier_all);
        /* Others wait, and so look for who called. */
        if (shmem_my_pe() == 0) usleep(100000);
        ways[way](shmem_barrier_all);
        ways[way](shmem_quiet);
    }
    wrong_end(shmem_finalize);
    if (room[0] == 0) puts("fine");
    return 0;
}
