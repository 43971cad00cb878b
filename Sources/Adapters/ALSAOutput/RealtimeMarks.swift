import Glibc

/// Marks code that must not allocate, lock or wait, for RealtimeSanitizer if the program is linked
/// with it. Otherwise it does nothing.
struct RealtimeMarks {
  private typealias Mark = @convention(c) () -> Void
  private let enterFunction: Mark?
  private let exitFunction: Mark?

  /// Looks up the sanitizer; not for a realtime thread.
  init() {
    enterFunction = Self.find("__rtsan_realtime_enter")
    exitFunction = Self.find("__rtsan_realtime_exit")
  }

  private static func find(_ name: String) -> Mark? {
    // The first argument is RTLD_DEFAULT, a macro that Swift does not see.
    dlsym(nil, name).map { unsafeBitCast($0, to: Mark.self) }
  }

  @inline(__always)
  func enter() { if let enterFunction { enterFunction() } }
  @inline(__always)
  func exit() { if let exitFunction { exitFunction() } }
}
