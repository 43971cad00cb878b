import Glibc

/// The program of this process.
enum ProcessImage {
  /// Begins it anew, with the same options. The process keeps its number, so that nobody sees it end. Returns only if that
  /// fails.
  static func renew() throws {
    execv("/proc/self/exe", CommandLine.unsafeArgv)
    throw Failure(
      .unavailable, "the daemon cannot begin anew: \(String(cString: strerror(errno)))")
  }
}
