import House
import LinuxIO

/// Keeps the number of starts that music has ended, over the process's own death; see `Resumption`. Where the machine has
/// started anew in between, the power may have ended the process, and no music.
struct ResumeGuard {
  private let file: StateFile
  /// Identifies this start of the machine; empty where the system does not say.
  private let boot: [UInt8]

  /// - Parameter path: of the household's tables, beside which it is kept.
  /// - Parameter boot: differs after each start of the machine.
  init(path: String, boot: [UInt8]) {
    file = StateFile(path: path + ".starts")
    self.boot = boot
  }

  init(path: String) {
    let id = StateFile(path: "/proc/sys/kernel/random/boot_id")
    self.init(path: path, boot: (try? id.read(limit: 64)).flatMap { $0 } ?? [])
  }

  var deaths: Int {
    let kept = (try? file.read(limit: 128)).flatMap { $0 } ?? []
    return kept.starts(with: boot) ? kept.count - boot.count : 0
  }

  /// Where nothing can be written, nothing is remembered.
  func keep(_ deaths: Int) {
    guard deaths > 0 else {
      try? file.remove()
      return
    }
    try? file.write(boot + [UInt8](repeating: UInt8(ascii: "."), count: deaths))
  }
}
