internal import Glibc

/// A refusal of the system and its reason, in one line for the user.
package struct IOError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The failed call, such as "connect".
  package let call: String
  /// The system's error number, as in errno(3).
  package let code: Int32
  package let text: String

  package var description: String { text }

  package init(call: String, code: Int32, text: String) {
    self.call = call
    self.code = code
    self.text = text
  }

  /// `subject` is the object of the call, such as an address or a path.
  init(call: String, code: Int32, subject: String) {
    self.init(call: call, code: code, text: "\(subject): \(Self.reason(code)) (\(call))")
  }

  /// True if the system has run out of what the call asked for.
  package var isLimit: Bool { code == ENOSPC || code == EMFILE || code == ENFILE }

  /// True if there is no such file or folder, or a link stands in its place.
  package var isMissing: Bool { [ENOENT, ENOTDIR, ELOOP, EINVAL].contains(code) }

  /// The system's words for it, without the object of the call.
  package var reason: String { Self.reason(code) }

  static func reason(_ code: Int32) -> String { String(cString: strerror(code)) }

  /// Passes on a result of the system shim, in which a negative number is an error's.
  @discardableResult
  static func check<Result: SignedInteger & Sendable>(
    _ call: String, _ result: Result, _ subject: @autoclosure () -> String
  ) throws(IOError) -> Result {
    guard result < 0 else { return result }
    throw IOError(call: call, code: Int32(truncatingIfNeeded: -result), subject: subject())
  }
}

extension IOError {
  static func binding(to address: SocketAddress, code: Int32) -> IOError {
    let text =
      switch code {
      case EADDRINUSE:
        "port \(address.port) is in use by another program; choose another with --port"
      case EACCES:
        "port \(address.port) is reserved for the system; choose one above 1023 with --port"
      case EADDRNOTAVAIL: "\(address.host) is not an address of this host"
      default: "cannot listen on \(address): \(reason(code))"
      }
    return IOError(call: "bind", code: code, text: text)
  }

  static func connecting(to peer: String, code: Int32) -> IOError {
    let text =
      switch code {
      case ECONNREFUSED: "\(peer) refused the connection: nothing listens there"
      case ETIMEDOUT: "\(peer) does not answer"
      case EHOSTUNREACH, ENETUNREACH: "\(peer) cannot be reached: \(reason(code))"
      case ENOENT: "\(peer) does not exist: nothing listens there"
      default: "cannot connect to \(peer): \(reason(code))"
      }
    return IOError(call: "connect", code: code, text: text)
  }
}
