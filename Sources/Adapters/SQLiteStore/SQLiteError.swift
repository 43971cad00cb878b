internal import CSQLite

/// A refusal of SQLite and its reason, in one line for the user.
package struct SQLiteError: Error, Hashable, Sendable, CustomStringConvertible {
  package enum Kind: Hashable, Sendable {
    /// The file is damaged, or is no database.
    case damaged
    /// The disk is full, cannot be written or cannot be read.
    case disk
    /// Another connection has locked the file for too long.
    case busy
    /// A value that the tables do not allow, such as a second row of a unique key.
    case constraint
    /// Anything else: a mistake in a statement, a limit, too little memory.
    case other
  }

  package let kind: Kind
  /// SQLite's extended error code.
  package let code: Int32
  package let path: String
  /// Includes the file's path.
  package let description: String
  package var isFullDisk: Bool { code & 0xff == SQLITE_FULL }

  init(code: Int32, path: String, reason: String) {
    (self.code, self.path) = (code, path)
    kind = Self.kind(code)
    description = "\(path): \(reason)"
  }

  /// Describes damage that a check of the file has found.
  package init(damaged path: String, _ damage: String) {
    self.init(code: SQLITE_CORRUPT, path: path, reason: damage)
  }

  /// Describes a file that is in order, and that this program does not understand.
  package init(unreadable path: String, _ reason: String) {
    self.init(code: SQLITE_MISMATCH, path: path, reason: reason)
  }

  private static func kind(_ code: Int32) -> Kind {
    switch code & 0xff {
    case SQLITE_CORRUPT, SQLITE_NOTADB: .damaged
    case SQLITE_FULL, SQLITE_IOERR, SQLITE_READONLY, SQLITE_CANTOPEN, SQLITE_PERM: .disk
    case SQLITE_BUSY, SQLITE_LOCKED: .busy
    case SQLITE_CONSTRAINT: .constraint
    default: .other
    }
  }
}
