import Clock
import LinuxIO

/// Remembers, over the process's own death, that it was about to play on what had played. What has ended the process
/// twice is not begun a third time: that would go on for ever. Where the machine has started anew in between, the power may
/// have ended it, and no music.
struct ResumeGuard {
  /// Deaths soon after a start, in a row.
  static let deathLimit = 2
  /// Music that has played for so long after a start does not end the process.
  static let proof = Nanoseconds.seconds(30)

  private let file: StateFile
  /// Identifies this start of the machine; empty where the system does not say.
  private let boot: [UInt8]
  /// When it is proven; nil where there is nothing to prove.
  private(set) var deadline: LocalTime?

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

  /// Call it before anything plays on. False where it must not. Where nothing can be written, nothing is remembered.
  mutating func begin(at now: LocalTime) -> Bool {
    let kept = (try? file.read(limit: 128)).flatMap { $0 } ?? []
    let deaths = kept.starts(with: boot) ? kept.count - boot.count : 0
    guard deaths < Self.deathLimit else {
      try? file.remove()
      return false
    }
    try? file.write(boot + [UInt8](repeating: UInt8(ascii: "."), count: deaths + 1))
    deadline = now + Self.proof
    return true
  }

  /// It has played on for long enough, or ends as it should.
  mutating func succeed() {
    guard deadline != nil else { return }
    deadline = nil
    try? file.remove()
  }
}
