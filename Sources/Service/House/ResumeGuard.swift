import Clock
import LinuxIO

/// Remembers, over the process's own death, that it was about to play on what had played. What has ended the process
/// twice is not begun a third time: that would go on for ever.
struct ResumeGuard {
  /// Deaths soon after a start, in a row.
  static let deathLimit = 2
  /// Music that has played for so long after a start does not end the process.
  static let proof = Nanoseconds.seconds(30)

  private let file: StateFile
  /// When it is proven; nil where there is nothing to prove.
  private(set) var deadline: LocalTime?

  /// - Parameter path: of the household's tables, beside which it is kept.
  init(path: String) { file = StateFile(path: path + ".starts") }

  /// Call it before anything plays on. False where it must not. Where nothing can be written, nothing is remembered.
  mutating func begin(at now: LocalTime) -> Bool {
    let deaths = (try? file.read(limit: 16)).flatMap { $0?.count } ?? 0
    guard deaths < Self.deathLimit else {
      try? file.remove()
      return false
    }
    try? file.write([UInt8](repeating: UInt8(ascii: "."), count: deaths + 1))
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
