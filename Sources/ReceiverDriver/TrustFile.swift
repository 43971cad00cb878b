package import LinuxIO
import OpenSSLSecurity
package import Pairing
import WireProtocol

/// The file in the state directory with the PIN and the senders that may play here. A running receiver and the
/// commands `pin` and `unpair` both change it.
package struct TrustFile: Sendable {
  static let name = "trust"
  private static let limit = 64 << 10

  package let directory: String
  private let file: StateFile

  package init(directory: String) {
    self.directory = directory
    file = StateFile(path: directory + "/" + Self.name)
  }

  package func read() throws(IOError) -> TrustRecord {
    TrustRecord(text: String(decoding: try file.read(limit: Self.limit) ?? [], as: UTF8.self))
  }

  /// Changes the file. Waits while another process changes it, and returns once the change is on disk.
  package func change<Result>(_ change: (inout TrustRecord) throws -> Result) throws -> Result {
    let lock = try DirectoryLock(directory: directory, name: "\(Self.name).lock", waits: true)
    var record = try read()
    let before = record
    let result = try change(&record)
    if record != before { try file.write(Array(record.text.utf8)) }
    withExtendedLifetime(lock) {}
    return result
  }
}

extension TrustRecord {
  /// Makes a new random PIN.
  package mutating func makePIN() throws { try change(to: PIN(random: SystemRandom.number())) }

  package mutating func change(to pin: PIN) throws {
    let salt = try SystemRandom.bytes(PairingMessage.saltByteCount)
    try change(to: pin, salt: salt, with: SPAKE2())
  }
}
