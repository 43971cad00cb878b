internal import Glibc
package import LinuxIO
package import OpenSSLSecurity

/// The file with the key by which rooms recognise a sender.
package struct SenderKeyFile: Sendable {
  package let path: String

  package init(path: String) { self.path = path }

  package init(stateDirectory: String) { self.init(path: stateDirectory + "/sender-key.pem") }

  /// The default state directory of `tutti` for this user.
  package static var usualStateDirectory: String {
    (variable("XDG_STATE_HOME") ?? (variable("HOME") ?? "/root") + "/.local/state") + "/tutti"
  }

  /// Returns the variable; an empty one counts as none.
  private static func variable(_ name: String) -> String? {
    guard let value = getenv(name).map({ String(cString: $0) }), !value.isEmpty else { return nil }
    return value
  }

  /// Returns the key, which is made at first use. The directory must exist.
  ///
  /// - Throws: `IOError` with one line for people, also if the file holds something else.
  package func key() throws(IOError) -> IdentityKey {
    if let key = try keptKey() { return key }
    // If two programs start at once, only one makes the key.
    let lock = try lock()
    defer { withExtendedLifetime(lock) {} }
    if let key = try keptKey() { return key }
    let key: IdentityKey
    let pem: [UInt8]
    do throws(SecurityError) {
      key = try .generate()
      pem = try key.pem()
    } catch {
      throw IOError(call: "OpenSSL", code: 0, text: "\(error)")
    }
    try StateFile(path: path).write(pem)
    return key
  }

  /// Replaces the key. One that was there before stays beside it, in a file that ends with `.before`.
  package func replace(with pem: [UInt8]) throws(IOError) {
    let lock = try lock()
    defer { withExtendedLifetime(lock) {} }
    if let old = try StateFile(path: path).read(limit: Self.limit), old != pem {
      var before = path + ".before"
      while try StateFile(path: before).read(limit: Self.limit) != nil { before += ".before" }
      try StateFile(path: before).write(old)
    }
    try StateFile(path: path).write(pem)
  }

  private func lock() throws(IOError) -> DirectoryLock {
    let directory = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
    return try DirectoryLock(directory: directory, name: "sender-key.lock", waits: true)
  }

  /// Bytes of the file.
  private static let limit = 4096

  private func keptKey() throws(IOError) -> IdentityKey? {
    guard let pem = try StateFile(path: path).read(limit: Self.limit) else { return nil }
    guard let key = try? IdentityKey(pem: pem) else {
      throw IOError(
        call: "read", code: EINVAL,
        text: "\(path) is damaged; restore it, or delete it and this machine gets a new identity")
    }
    return key
  }
}
