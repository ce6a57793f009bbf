// Entries on aarch64. x16 and x17 belong to nobody between a call and its target.

.hidden {arm}
.hidden {parm}
.hidden {dispatcher}

// Says which routine it is, in a register that has no argument.
.macro pellucid_number_none op
.endm
.macro pellucid_number register, op
    movz w\register, #\op
    movk w\register, #{state}, lsl #16
.endm
.macro pellucid_number_0 op
    pellucid_number 0, \op
.endm
.macro pellucid_number_1 op
    pellucid_number 1, \op
.endm
.macro pellucid_number_2 op
    pellucid_number 2, \op
.endm
.macro pellucid_number_3 op
    pellucid_number 3, \op
.endm
.macro pellucid_number_4 op
    pellucid_number 4, \op
.endm
.macro pellucid_number_5 op
    pellucid_number 5, \op
.endm
.macro pellucid_number_float op
    pellucid_number 16, \op
    fmov s0, w16
.endm

// Gets it back.
.macro pellucid_op_none op
    movz w16, #\op
.endm
.macro pellucid_op_0 op
    and w16, w0, #0xffff
.endm
.macro pellucid_op_1 op
    and w16, w1, #0xffff
.endm
.macro pellucid_op_2 op
    and w16, w2, #0xffff
.endm
.macro pellucid_op_3 op
    and w16, w3, #0xffff
.endm
.macro pellucid_op_4 op
    and w16, w4, #0xffff
.endm
.macro pellucid_op_5 op
    and w16, w5, #0xffff
.endm
.macro pellucid_op_float op
    fmov w16, s0
    and w16, w16, #0xffff
.endm

.macro pellucid_flag table, op
    adrp x16, \table + \op
    add x16, x16, :lo12:\table + \op
    ldrb w16, [x16]
.endm

// shmem_X and pshmem_X, 64 bytes each.
.macro pellucid_entry name, op, register, imp, count, site
    .org pellucid_entries + 128 * \op
    .weak \name
    .type \name, @function
\name:
    pellucid_number_\register \op
    pellucid_flag {arm}, \op
    cbnz w16, 2f
    b \imp
2:  cmp w16, #1
    b.ne 3f
    b \count
3:  b \site
    .size \name, . - \name

    .org pellucid_entries + 128 * \op + 64
    .globl p\name
    .type p\name, @function
p\name:
    pellucid_number_\register \op
    pellucid_flag {parm}, \op
    cbnz w16, 2f
    b \imp
2:  movz w16, #({strong} + \op)
    b {dispatcher}
    .size p\name, . - p\name
.endm

// Leaves the call site, and goes on.
.macro pellucid_at_site target
    mrs x17, tpidr_el0
    adrp x16, :gottprel:pellucid_profile_thread
    ldr x16, [x16, :gottprel_lo12:pellucid_profile_thread]
    add x16, x16, x17
    str x30, [x16, 8]
    b \target
.endm

// To what counts a call without its site, of a routine that cannot go on from there by a jump.
.macro pellucid_counted name, count
pellucid_counted_\name:
    pellucid_at_site \count
.endm

// From an entry whose byte says that each call has its site, or goes past tools; and the way to the probe of a call
// that is not only counted. A routine without a function that counts has its probe for both.
.macro pellucid_site name, op, register, kept, probe
    .p2align 4
pellucid_site_\name:
    pellucid_op_\register \op
    adrp x17, {arm}
    add x17, x17, :lo12:{arm}
    ldrb w17, [x17, x16]
    cmp w17, #{site}
    b.eq 2f
    b {dispatcher}
2:
.ifnc \kept, \probe
    pellucid_at_site \kept
.endif
    .globl pellucid_placed_\name
    .hidden pellucid_placed_\name
pellucid_placed_\name:
    pellucid_at_site \probe
.endm

.pushsection pellucid_entry, "ax", @progbits
.p2align 7
pellucid_entries:
