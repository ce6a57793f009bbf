! A request that is refused ends the job where ABORT is not 0; the message names what is wrong.
! pes: 1 2
! status: 1
! expect: length = 0
      PROGRAM ABORTS
      POINTER (P, A(1))
      CALL SHMEM_INIT
      CALL SHPALLOC(P, 0, I, 1)
      STOP 3
      END
