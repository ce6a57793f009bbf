! Setup and queries as old programs have them: fixed form, no declarations of the functions, calls without parentheses.
! pes: 1 2 5
      PROGRAM OLD
      INCLUDE 'mpp/shmem.fh'
      INTEGER ME, NPES, MAJOR, MINOR, OTHER
      INTEGER MY_PE, NUM_PES
      INTEGER HERE(4)
      COMMON /BLOCK/ HERE
      CHARACTER*8 SHORT
      CHARACTER*80 LONG
      INTEGER*8 PLACE
      POINTER (PLACE, THERE(4))
      INTEGER THERE

      CALL START_PES(0)
! The results of these are REAL for the compiler.
      ME = SHMEM_MY_PE()
      NPES = SHMEM_N_PES()
      IF (ME .NE. MY_PE()) STOP 2
      IF (NPES .NE. NUM_PES()) STOP 3
      IF (ME .LT. 0 .OR. ME .GE. NPES) STOP 4

      CALL SHMEM_INFO_GET_VERSION(MAJOR, MINOR)
      IF (MAJOR .NE. SHMEM_MAJOR_VERSION) STOP 5
      IF (MINOR .NE. SHMEM_MINOR_VERSION) STOP 6
      LONG = REPEAT('x', 80)
      SHORT = 'yyyyyyyy'
      CALL SHMEM_INFO_GET_NAME(LONG)
      CALL SHMEM_INFO_GET_NAME(SHORT)
      IF (LONG .NE. SHMEM_VENDOR_STRING) STOP 7
      IF (INDEX(LONG, CHAR(0)) .NE. 0) STOP 8
      IF (SHORT .NE. SHMEM_VENDOR_STRING(1:8)) STOP 9

      IF (.NOT. SHMEM_PE_ACCESSIBLE(NPES - 1)) STOP 10
      IF (SHMEM_PE_ACCESSIBLE(NPES)) STOP 11
      OTHER = MOD(ME + 1, NPES)
      IF (.NOT. SHMEM_ADDR_ACCESSIBLE(HERE, OTHER)) STOP 12

! A neighbour's common block through a pointer.
      HERE = ME
      CALL SHMEM_BARRIER_ALL
      PLACE = SHMEM_PTR(HERE, OTHER)
      IF (PLACE .NE. 0) THEN
        IF (THERE(3) .NE. OTHER) STOP 13
        THERE(4) = ME + 100
        CALL SHMEM_BARRIER_ALL
        IF (HERE(4) .NE. MOD(ME + NPES - 1, NPES) + 100) STOP 14
      END IF
      CALL SHMEM_BARRIER_ALL
      CALL SHMEM_FINALIZE
      END
