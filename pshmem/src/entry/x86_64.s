// Entries on x86_64. r10 and r11 belong to nobody between a call and its target.

// Reached without a detour in a shared library too: a jump through the linkage table may lose r11.
.hidden {arm}
.hidden {parm}
.hidden {numbers}
.hidden {dispatcher}

// Says which routine it is, in a register that has no argument.
.macro pellucid_number_none op
.endm
.macro pellucid_number_0 op
    mov edi, {state} + \op
.endm
.macro pellucid_number_1 op
    mov esi, {state} + \op
.endm
.macro pellucid_number_2 op
    mov edx, {state} + \op
.endm
.macro pellucid_number_3 op
    mov ecx, {state} + \op
.endm
.macro pellucid_number_4 op
    mov r8d, {state} + \op
.endm
.macro pellucid_number_5 op
    mov r9d, {state} + \op
.endm
.macro pellucid_number_float op
    movd xmm0, dword ptr [rip + {numbers} + 4 * \op]
.endm

// Gets it back.
.macro pellucid_op_none op
    mov r11d, \op
.endm
.macro pellucid_op_0 op
    movzx r11d, di
.endm
.macro pellucid_op_1 op
    movzx r11d, si
.endm
.macro pellucid_op_2 op
    movzx r11d, dx
.endm
.macro pellucid_op_3 op
    movzx r11d, cx
.endm
.macro pellucid_op_4 op
    movzx r11d, r8w
.endm
.macro pellucid_op_5 op
    movzx r11d, r9w
.endm
.macro pellucid_op_float op
    movd r11d, xmm0
    movzx r11d, r11w
.endm

// shmem_X and pshmem_X, 32 bytes each.
.macro pellucid_entry name, op, register, imp, count, site
    .org pellucid_entries + 64 * \op
    .weak \name
    .type \name, @function
\name:
    pellucid_number_\register \op
    cmp byte ptr [rip + {arm} + \op], 1
    jb \imp
    je \count
    jmp \site
    .size \name, . - \name

    .org pellucid_entries + 64 * \op + 32
    .globl p\name
    .type p\name, @function
p\name:
    pellucid_number_\register \op
    cmp byte ptr [rip + {parm} + \op], 1
    jb \imp
    mov r11d, {strong} + \op
    jmp {dispatcher}
    .size p\name, . - p\name
.endm

// Leaves the call site, and goes on.
.macro pellucid_at_site target
    mov r10, qword ptr [rsp]
    mov r11, qword ptr [rip + pellucid_profile_thread@GOTTPOFF]
    mov qword ptr fs:[r11 + 8], r10
    jmp \target
.endm

// To what counts a call without its site, of a routine that cannot go on from there by a jump.
.macro pellucid_counted name, count
pellucid_counted_\name:
    pellucid_at_site \count
.endm

// From an entry whose byte says that each call has its site, or goes past tools, with the flags of its comparison; and
// the way to the probe of a call that is not only counted. A routine without a function that counts has its probe for
// both.
.macro pellucid_site name, op, register, kept, probe
pellucid_past_\name:
    pellucid_op_\register \op
    jmp {dispatcher}
    .p2align 4
pellucid_site_\name:
    js pellucid_past_\name
.ifnc \kept, \probe
    pellucid_at_site \kept
.endif
    .globl pellucid_placed_\name
    .hidden pellucid_placed_\name
pellucid_placed_\name:
    pellucid_at_site \probe
.endm

.pushsection pellucid_entry, "ax", @progbits
.p2align 6
pellucid_entries:
