//! How bytes reach another PE. A PE pair on one host uses [`shm`].

pub mod shm;
