# What Ctrl-C finds: PE 0 sleeps and all others are in a barrier, with a finalize at exit; or all PEs wait inside the
# library. Arguments: the library, which of the two, a folder for a file of each PE that is ready.
import atexit
import ctypes
import pathlib
import sys
import time

library, what, folder = sys.argv[1:]
shmem = ctypes.CDLL(library)
shmem.shmem_malloc.restype = ctypes.c_void_p
shmem.shmem_init()
me = shmem.shmem_my_pe()
word = ctypes.c_void_p(shmem.shmem_malloc(ctypes.c_size_t(8)))
atexit.register(shmem.shmem_finalize)
pathlib.Path(folder, str(me)).touch()
if what == "waits":
    shmem.shmem_long_wait_until(word, 0, ctypes.c_long(4711))
elif me == 0:
    time.sleep(60)
else:
    shmem.shmem_barrier_all()
