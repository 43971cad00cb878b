internal import CSys

/// This process's memory, as others see it.
package enum ProcessMemory {
  /// Keeps keys out of core dumps, and prevents other processes of the same user from reading them. From
  /// any thread.
  package static func hide() {
    // It fails on no supported kernel; and if it did, music would matter more.
    _ = csys_hide_memory()
  }
}
