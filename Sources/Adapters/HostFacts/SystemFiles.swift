internal import Glibc

/// Reads the kernel's files below /proc and /sys.
package struct SystemFiles: Sendable {
  /// Largest number of bytes read of a file. The kernel's files are shorter, except /proc/locks on a busy
  /// server.
  static let sizeLimit = 256 << 10
  /// Largest number of entries read of a directory.
  static let entryLimit = 65_536

  private let root: String

  /// - Parameter root: the prefix of each path; tests use their own.
  package init(root: String = "") { self.root = root }

  func path(_ path: String) -> String { root + path }

  /// Returns the content; nil if there is no such file, or it cannot be read.
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

  /// Returns the first line, without its end.
  func line(_ path: String) -> String? {
    text(path).map { String($0.prefix { $0 != "\n" }) }
  }

  func lines(_ path: String) -> [Substring] { text(path)?.split(separator: "\n") ?? [] }

  func exists(_ path: String) -> Bool { access(self.path(path), F_OK) == 0 }

  /// Returns the sorted names in a directory; none if it cannot be read.
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

  /// Returns the first word after `key:` in a file of such lines.
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
