import Driver
import Foundation
import OpenSSLSecurity
import TestSupport
import Testing

/// Tests of the file with a sender's key.
@Suite struct SenderKeyFileTests {
  @Test func `keys that are replaced stay beside the new one`() throws {
    let folder = try TemporaryFolder()
    let file = SenderKeyFile(stateDirectory: folder.path)
    let first = try file.key().pem()
    let others = try (1...2).map { _ in try IdentityKey.generate().pem() }
    for key in others + [others[1]] {
      try file.replace(with: key)
      #expect(try file.key().pem() == key)
    }
    #expect(try folder.bytes(of: "sender-key.pem.before") == first)
    #expect(try folder.bytes(of: "sender-key.pem.before.before") == others[0])
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    #expect(
      Set(names) == [
        "sender-key.pem", "sender-key.pem.before", "sender-key.pem.before.before",
        "sender-key.lock",
      ])
  }

  @Test func `a household's key comes into an empty directory`() throws {
    let folder = try TemporaryFolder()
    let key = try IdentityKey.generate()
    let file = SenderKeyFile(stateDirectory: folder.path)
    try file.replace(with: try key.pem())
    #expect(try file.key().identifier == key.identifier)
  }
}
