import Glibc

/// Flushes standard output, because the address must be readable while the program runs.
func flushOutput() { fflush(nil) }
