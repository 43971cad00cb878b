internal import CSys

/// This process's memory, as others see it.
package enum ProcessMemory {
  /// Keeps keys out of core dumps, and other processes of the same user from reading them. From any thread.
  package static func hide() {
    // It fails on no kernel that this runs on; and music matters more.
    _ = csys_hide_memory()
  }
}
