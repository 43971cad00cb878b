import Foundation
import TestSupport

/// Keeps what programs take of their machine while they live, and writes it for `Tests/Support/soak-plot.py`, to the file that
/// TUTTI_SOAK_RECORD names: lines of seconds, a program or room, what was measured, and the figure.
struct SoakRecord {
  struct Taken {
    /// KiB.
    let memory: Int
    let descriptors: Int
    let threads: Int
  }

  private let file = ProcessInfo.processInfo.environment["TUTTI_SOAK_RECORD"]
    .flatMap { fopen($0, "w") }
  private let start = Date.now
  /// The first figures of each process, which a kill ends.
  private var beginnings: [Int32: Taken] = [:]

  /// Returns what the program took when it was first asked, and takes now.
  mutating func take(_ program: Program, _ name: String) throws -> (begin: Taken, now: Taken) {
    let now = Taken(
      memory: try program.status("VmRSS"), descriptors: try program.descriptorCount(),
      threads: try program.status("Threads"))
    write(name, "memory", "\(now.memory)")
    write(name, "descriptors", "\(now.descriptors)")
    write(name, "threads", "\(now.threads)")
    let process = program.process.processIdentifier
    let begin = beginnings[process] ?? now
    beginnings[process] = begin
    return (begin, now)
  }

  func write(_ name: String, _ measured: String, _ figure: String) {
    guard let file else { return }
    fputs("\(Date.now.timeIntervalSince(start))\t\(name)\t\(measured)\t\(figure)\n", file)
    fflush(file)
  }
}
