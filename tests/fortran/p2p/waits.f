! Waits of both widths, and on the default INTEGER.
! pes: 1 2 5
      PROGRAM WAITS
      IMPLICIT NONE
      INCLUDE 'shmem.fh'
      INTEGER SHMEM_MY_PE, SHMEM_N_PES
      INTEGER*4 I4, J4, K
      INTEGER*8 I8
      COMMON /FLAGS/ I4, J4, I8
      INTEGER ME, NPES, RIGHT, CMP(6), VALUE(6)
      DATA CMP /SHMEM_CMP_EQ, SHMEM_CMP_NE, SHMEM_CMP_GT,
     &          SHMEM_CMP_LE, SHMEM_CMP_LT, SHMEM_CMP_GE/
! Each holds for 5, and not for what is there before.
      DATA VALUE /5, 0, 4, 5, 6, 5/

      CALL SHMEM_INIT
      ME = SHMEM_MY_PE()
      NPES = SHMEM_N_PES()
      RIGHT = MOD(ME + 1, NPES)
      DO K = 1, 6
        I4 = 0
        J4 = 0
        I8 = 0
        IF (CMP(K) .EQ. SHMEM_CMP_LE .OR. CMP(K) .EQ. SHMEM_CMP_LT) THEN
          I4 = 9
          I8 = 9
        END IF
        CALL SHMEM_BARRIER_ALL
        CALL SHMEM_INT4_SET(I4, 5, RIGHT)
        CALL SHMEM_INT8_SET(I8, 5_8, RIGHT)
        CALL SHMEM_INT4_WAIT_UNTIL(I4, CMP(K), VALUE(K))
        CALL SHMEM_WAIT_UNTIL(I4, CMP(K), VALUE(K))
        CALL SHMEM_INT8_WAIT_UNTIL(I8, CMP(K), INT(VALUE(K), 8))
        IF (I4 .NE. 5 .OR. I8 .NE. 5) STOP 2
        CALL SHMEM_BARRIER_ALL
      END DO

! Until they are not what they were.
      CALL SHMEM_INT4_SET(J4, ME + 1, RIGHT)
      CALL SHMEM_WAIT(J4, 0)
      CALL SHMEM_INT4_WAIT(J4, 0)
      IF (J4 .NE. MOD(ME + NPES - 1, NPES) + 1) STOP 3
      CALL SHMEM_INT8_SET(I8, -1_8, RIGHT)
      CALL SHMEM_INT8_WAIT(I8, 5_8)
      IF (I8 .NE. -1) STOP 4
      CALL SHMEM_BARRIER_ALL
      CALL SHMEM_FINALIZE
      END
