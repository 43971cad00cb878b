internal import Glibc

/// A file that only one user of one machine can read: somebody who knows its content is that user. Its directory
/// belongs to the user, nobody else may enter it, and no link is followed, so nobody else can have put the file there.
package struct LocalToken: Sendable {
  package static let byteCount = 32
  private static let suffix = ".token"

  package let directory: String
  /// Contains no slash.
  package let name: String

  package init(directory: String, name: String) {
    self.directory = directory
    self.name = name
  }

  /// Directories for tokens, that for new ones first: the session's, which lasts no longer than the machine runs; else
  /// this user's own among the temporary files.
  package static var directories: [String] {
    let runtime = getenv("XDG_RUNTIME_DIR").map { String(cString: $0) }
    let session = runtime.flatMap { $0.hasPrefix("/") ? $0 + "/tutti" : nil }
    return [session].compactMap { $0 } + ["/tmp/tutti-\(geteuid())"]
  }

  /// Returns the token of the receiver with this identifier; nil if this user has none.
  package static func find(_ name: String, in directories: [String] = directories) -> [UInt8]? {
    for directory in directories {
      if let token = LocalToken(directory: directory, name: name).read() { return token }
    }
    return nil
  }

  /// Returns nil if there is no token, or if anybody else could have written it.
  package func read() -> [UInt8]? {
    guard let directory = try? opened() else { return nil }
    let number = openat(directory.number, name + Self.suffix, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
    guard number >= 0 else { return nil }
    let file = FileDescriptor(number)
    guard isPrivate(file, S_IFREG) else { return nil }
    var digits = [UInt8](repeating: 0, count: 2 * Self.byteCount + 1)
    let count = Glibc.read(file.number, &digits, digits.count)
    guard count == 2 * Self.byteCount else { return nil }
    return Self.bytes(digits.prefix(count))
  }

  /// Makes a new token, which replaces an older one.
  package func renew() throws(IOError) -> [UInt8] {
    try StateFile.createDirectory(path: directory)
    let directory = try opened()
    let token = try SystemRandom.bytes(Self.byteCount)
    let temporary = "\(name).\(getpid())"
    unlinkat(directory.number, temporary, 0)
    let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
    let file = FileDescriptor(try check("open", openat(directory.number, temporary, flags, 0o600)))
    let digits = Self.digits(token)
    guard Glibc.write(file.number, digits, digits.count) == digits.count else {
      throw IOError(call: "write", code: errno, subject: path)
    }
    let result = renameat(directory.number, temporary, directory.number, name + Self.suffix)
    try check("rename", result)
    return token
  }

  package func remove() { unlink(path) }

  package var path: String { directory + "/" + name + Self.suffix }

  /// Opens the directory. Throws if it is not this user's alone.
  private func opened() throws(IOError) -> FileDescriptor {
    let flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
    let number = open(directory, flags)
    guard number >= 0 else { throw IOError(call: "open", code: errno, subject: directory) }
    let opened = FileDescriptor(number)
    guard isPrivate(opened, S_IFDIR) else {
      throw IOError(
        call: "open", code: EPERM,
        text: "\(directory) is not this user's alone; remove it, or set XDG_RUNTIME_DIR")
    }
    return opened
  }

  private func isPrivate(_ file: borrowing FileDescriptor, _ kind: mode_t) -> Bool {
    var status = stat()
    return fstat(file.number, &status) == 0 && status.st_uid == geteuid()
      && status.st_mode & S_IFMT == kind && status.st_mode & 0o077 == 0
  }

  @discardableResult
  private func check(_ call: String, _ result: Int32) throws(IOError) -> Int32 {
    guard result < 0 else { return result }
    throw IOError(call: call, code: errno, subject: path)
  }

  private static func digits(_ bytes: [UInt8]) -> [UInt8] {
    let digits = Array("0123456789abcdef".utf8)
    return bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
  }

  private static func bytes(_ digits: ArraySlice<UInt8>) -> [UInt8]? {
    let text = String(decoding: digits, as: UTF8.self)
    let bytes = stride(from: 0, to: digits.count, by: 2).compactMap { place in
      UInt8(text.dropFirst(place).prefix(2), radix: 16)
    }
    return bytes.count == byteCount ? bytes : nil
  }
}
