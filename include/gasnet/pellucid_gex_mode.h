/* The thread mode of a program: how it was compiled, and by which names it finds the library of that mode. */
#ifndef _GEX_MODE_H
#define _GEX_MODE_H

#if defined(GASNET_PAR) + defined(GASNET_PARSYNC) + defined(GASNET_SEQ) != 1
#error compile with exactly one of -DGASNET_PAR, -DGASNET_PARSYNC and -DGASNET_SEQ, and link the library of that mode
#endif

/* Only the library of a mode has the names that end in it: another one does not link. */
#if defined(GASNET_PAR)
#undef GASNET_PAR
#define GASNET_PAR 1
#define _GEX_MODE(name) name##_of_the_PAR_library
#define _GEX_MODE_STR "PAR"
#elif defined(GASNET_PARSYNC)
#undef GASNET_PARSYNC
#define GASNET_PARSYNC 1
#define _GEX_MODE(name) name##_of_the_PARSYNC_library
#define _GEX_MODE_STR "PARSYNC"
#else
#undef GASNET_SEQ
#define GASNET_SEQ 1
#define _GEX_MODE(name) name##_of_the_SEQ_library
#define _GEX_MODE_STR "SEQ"
#endif

#endif
