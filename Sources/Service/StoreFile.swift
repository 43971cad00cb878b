package import House
import LinuxIO
package import SQLiteStore

/// A database file that is replaced by a new one if it is damaged.
package enum StoreFile {
  /// Moves a damaged file to an unused name, and returns that name. No connection to the file may be
  /// open.
  ///
  /// - Throws: `error` if the file is not damaged, or cannot be moved.
  package static func setAside(
    _ path: String, because error: SQLiteError
  ) throws(SQLiteError) -> String {
    guard error.kind == .damaged else { throw error }
    for number in 1...99 {
      let aside = path + ".damaged" + (number == 1 ? "" : "-\(number)")
      guard (try? StateFile(path: path).move(to: aside)) != nil else { continue }
      for ending in ["-wal", "-shm"] {
        try? StateFile(path: path + ending).move(to: aside + ending)
      }
      return aside
    }
    throw error
  }
}

extension Refusal {
  /// A refusal of an edit that was not done because the disk refused it.
  package static func notKept(_ error: SQLiteError) -> Refusal {
    .notKept(
      error.isFullDisk
        ? "the disk is full, so no change can be saved and none is made; free some space on it (\(error.path))"
        : "no change can be saved, and none is made: \(error); check that the disk can be written")
  }
}
