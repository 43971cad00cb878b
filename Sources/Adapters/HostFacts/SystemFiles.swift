internal import Glibc

/// What the kernel tells in files, below /proc and /sys.
package struct SystemFiles: Sendable {
  /// Bytes of a file that are read; those of the kernel are shorter, but for /proc/locks on a busy server.
  static let sizeLimit = 256 << 10
  /// Entries of a directory that are looked at.
  static let entryLimit = 65_536

  private let root: String

  /// - Parameter root: what stands before each path; a test has its own.
  package init(root: String = "") { self.root = root }

  func path(_ path: String) -> String { root + path }

  /// Nil where there is no such file, or it cannot be read.
  func text(_ path: String) -> String? {
    let number = open(self.path(path), O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard number >= 0 else { return nil }
    defer { close(number) }
    var content: [UInt8] = []
    var block = [UInt8](repeating: 0, count: 4096)
    while content.count < Self.sizeLimit {
      let count = read(number, &block, block.count)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return count < 0 ? nil : String(decoding: content, as: UTF8.self) }
      content += block.prefix(count)
    }
    return String(decoding: content, as: UTF8.self)
  }

  /// The first line, without its end.
  func line(_ path: String) -> String? {
    text(path).map { String($0.prefix { $0 != "\n" }) }
  }

  func lines(_ path: String) -> [Substring] { text(path)?.split(separator: "\n") ?? [] }

  func exists(_ path: String) -> Bool { access(self.path(path), F_OK) == 0 }

  /// Names in a directory, in order; none where it cannot be read.
  func names(in path: String) -> [String] {
    guard let directory = opendir(self.path(path)) else { return [] }
    defer { closedir(directory) }
    var names: [String] = []
    while names.count < Self.entryLimit, let entry = readdir(directory) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) { tuple in
        tuple.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if name != ".", name != ".." { names.append(name) }
    }
    return names.sorted()
  }

  /// The value behind `key:` in a file of such lines.
  func value(_ key: String, in path: String) -> Substring? {
    for line in lines(path) {
      guard let colon = line.firstIndex(of: ":"), line[..<colon].filter({ $0 != " " }) == key else {
        continue
      }
      return line[line.index(after: colon)...].split { $0 == " " || $0 == "\t" }.first
    }
    return nil
  }
}
