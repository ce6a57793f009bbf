! SHPALLOC and its relatives: lengths in words of 4 bytes, error codes, blocks that grow.
! pes: 1 2 3 8
      PROGRAM HEAP
      INCLUDE 'shmem.fh'
      INTEGER ME, NPES, ERR, I, RIGHT, LEFT
      INTEGER SHMEM_MY_PE, SHMEM_N_PES
      POINTER (PA, A(100))
      POINTER (PB, B(1))
      POINTER (PC, C(1))
      INTEGER A, C
      DOUBLE PRECISION B

      CALL SHMEM_INIT
      ME = SHMEM_MY_PE()
      NPES = SHMEM_N_PES()
      RIGHT = MOD(ME + 1, NPES)
      LEFT = MOD(ME + NPES - 1, NPES)
      ERR = 99
      CALL SHPALLOC(PA, 100, ERR, 1)
      IF (ERR .NE. 0) STOP 2
      CALL SHPALLOC(PB, 20, ERR, 0)
      IF (ERR .NE. 0) STOP 3
      DO I = 1, 100
        A(I) = -1
      END DO
      DO I = 1, 10
        B(I) = ME + I * 0.5D0
      END DO
      CALL SHMEM_BARRIER_ALL
      DO I = 1, 100
        CALL SHMEM_INTEGER_PUT(A(I), ME * 1000 + I, 1, RIGHT)
      END DO
      CALL SHMEM_BARRIER_ALL
      DO I = 1, 100
        IF (A(I) .NE. LEFT * 1000 + I) STOP 4
      END DO
      CALL SHMEM_DOUBLE_GET(B(1), B(2), 1, RIGHT)
      IF (B(1) .NE. RIGHT + 1D0) STOP 5

! In place or moved, what was there stays.
      CALL SHPCLMOVE(PA, 4000, ERR, 1)
      IF (ERR .NE. 0 .AND. ERR .NE. 1) STOP 6
      DO I = 1, 100
        IF (A(I) .NE. LEFT * 1000 + I) STOP 7
      END DO
      CALL SHPCLMOVE(PA, 10, ERR, 1)
      IF (ERR .NE. 0) STOP 8

! What is wrong has its code.
      CALL SHPALLOC(PC, 0, ERR, 0)
      IF (ERR .NE. -1) STOP 9
      CALL SHPALLOC(PC, -5, ERR, 0)
      IF (ERR .NE. -1) STOP 10
      CALL SHPALLOC(PC, 2147483647, ERR, 0)
      IF (ERR .NE. -2) STOP 11
      CALL SHPCLMOVE(PA, 2147483647, ERR, 0)
      IF (ERR .NE. -2) STOP 12
      CALL SHPCLMOVE(PA, 0, ERR, 0)
      IF (ERR .NE. -1) STOP 13
      PC = LOC(ME)
      CALL SHPDEALLC(PC, ERR, 0)
      IF (ERR .NE. -3) STOP 14
      CALL SHPCLMOVE(PC, 7, ERR, 0)
      IF (ERR .NE. -3) STOP 15
      PC = PB + 8
      CALL SHPDEALLC(PC, ERR, 0)
      IF (ERR .NE. -5) STOP 16
      PC = PB
      CALL SHPDEALLC(PB, ERR, 1)
      IF (ERR .NE. 0) STOP 17
      CALL SHPDEALLC(PC, ERR, 0)
      IF (ERR .NE. -4) STOP 18
      CALL SHPDEALLC(PA, ERR, 0)
      IF (ERR .NE. 0) STOP 19
      CALL SHMEM_FINALIZE
      END
