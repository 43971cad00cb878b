import LinuxIO
package import Sender

extension StatusReport {
  /// As programs on this machine read it.
  package init(_ status: GroupStatus, revision: UInt64 = 0, artworkPath: String? = nil) {
    self.init(
      status, revision: revision, artworkPath: artworkPath, monotonic: HostClock.monotonic)
  }
}
