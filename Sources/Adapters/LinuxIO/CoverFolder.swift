internal import Glibc
internal import Synchronization

/// Pictures of what the programs of inputs play, as files with names that are never used again. From any thread.
package final class CoverFolder: Sendable {
  /// Files at a time: each input has one, and pages ask for the one before a moment longer.
  package static let limit = 32

  private struct State {
    var names: [String] = []
    var count: UInt64 = 0
  }

  private let path: String
  /// The first half of the names.
  private let start: UInt64
  private let state = Mutex(State())

  /// Makes the folder, or removes what an earlier process has left in it.
  package init(path: String) throws(IOError) {
    self.path = path
    start = try SystemRandom.number()
    try StateFile.createDirectory(path: path)
    guard let folder = opendir(path) else {
      throw IOError(call: "opendir", code: errno, subject: path)
    }
    defer { closedir(folder) }
    while let entry = readdir(folder) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) { name in
        name.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if !name.hasPrefix(".") { unlink("\(path)/\(name)") }
    }
  }

  /// Returns the name of its file: 32 hexadecimal digits.
  package func keep(_ bytes: [UInt8]) throws(IOError) -> String {
    let (name, old) = state.withLock { state in
      state.count += 1
      let name = Self.digits(start) + Self.digits(state.count)
      state.names.append(name)
      return (name, state.names.count > Self.limit ? state.names.removeFirst() : nil)
    }
    if let old { unlink("\(path)/\(old)") }
    try StateFile(path: "\(path)/\(name)").keep(bytes)
    return name
  }

  private static func digits(_ number: UInt64) -> String {
    let digits = String(number, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }
}
