! What the profile has to show: a line with a mark names the routine and how many times each PE calls it there.
      PROGRAM SEEN
      INCLUDE 'shmem.fh'
      REAL*8 X(4), Y(4), W(SHMEM_REDUCE_MIN_WRKDATA_SIZE)
      REAL*16 Q(2), R(2), V(SHMEM_REDUCE_MIN_WRKDATA_SIZE)
      INTEGER PS(SHMEM_REDUCE_SYNC_SIZE), L, ERR, I, ME
      INTEGER SHMEM_MY_PE, SHMEM_N_PES, SHMEM_INT4_FADD
      COMMON /ALL/ Q, R, V, X, Y, W, PS, L
      DATA PS /SHMEM_REDUCE_SYNC_SIZE*SHMEM_SYNC_VALUE/, L /0/
      POINTER (P, A(1))
      CALL SHMEM_INIT
      ME = SHMEM_MY_PE()                                != shmem_my_pe 1
      N = SHMEM_N_PES()                                 != shmem_n_pes 1
      CALL SHPALLOC(P, 64, ERR, 1)                      != shmem_malloc 1
      DO I = 1, 5
        CALL SHMEM_PUT8(X, Y, 4, 0)                     != shmem_put64 5
      END DO
      CALL SHMEM_REAL8_SUM_TO_ALL(X, Y, 4, 0, 0, N, W,
     &                            PS)
      CALL SHMEM_BARRIER_ALL                            != shmem_barrier_all 1
      CALL SHMEM_REAL16_SUM_TO_ALL(Q, R, 2, 0, 0, N, V, PS)!= shmem_longdouble_sum_to_all 1
      CALL SHMEM_SET_LOCK(L)                            != shmem_set_lock 1
      CALL SHMEM_CLEAR_LOCK(L)                          != shmem_clear_lock 1
      I = SHMEM_INT4_FADD(L, 0, 0)                      != shmem_int_atomic_fetch_add 1
      CALL SHPDEALLC(P, ERR, 1)                         != shmem_free 1
      CALL SHMEM_FINALIZE                               != shmem_finalize 1
      END
