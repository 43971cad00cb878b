import TestSupport
import Testing
import WireProtocol

@testable import OpenSSLSecurity

struct IdentityKeyTests {
  /// RFC 8032, section 7.1, test 1, in OpenSSL's format.
  private static let known = """
    -----BEGIN PRIVATE KEY-----
    MC4CAQAwBQYDK2VwBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9g
    -----END PRIVATE KEY-----

    """

  @Test func `a key is known by the SHA-256 of its public part`() throws {
    let key = try IdentityKey(pem: Array(Self.known.utf8))
    #expect(key.identifier == Identifier(hex: "21fe31dfa154a261626bf854046fd227"))
    #expect(String(decoding: try key.pem(), as: UTF8.self) == Self.known)
  }

  @Test func `a key that is kept and read again is the same, and no two are`() throws {
    let (one, other) = (try IdentityKey.generate(), try IdentityKey.generate())
    #expect(try IdentityKey(pem: try one.pem()).identifier == one.identifier)
    #expect(one.identifier != other.identifier)
  }

  /// It does not ask for a password, because nobody sits before a service.
  @Test(arguments: [
    "", "-----BEGIN PRIVATE KEY-----", "some text", String(known.dropLast(40)),
    // P-256
    """
    -----BEGIN PRIVATE KEY-----
    MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg1mPnKo1fxaNF7Jq0
    tVWRAFBLIiZegqQY14AkgZVLlHehRANCAASJxsGSRJ2SSev4Nc0+E2r2s0p4K3Xq
    Z5ngms38YduyhM31bgpWlQe45qRV57d38FPBe0n65/P+QCHGWDrDw613
    -----END PRIVATE KEY-----
    """,
    // Ed25519 with the password "tutti"
    """
    -----BEGIN ENCRYPTED PRIVATE KEY-----
    MIGbMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAgnID9TZlaXsAICCAAw
    DAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEEJt0jbrqf56ovPAc7A2u5hQEQJky
    YZCd1XQ+WiR+nx8JMXO6/JIfUWKt9jaerl9Q/XjUGGZvDMZuBtQ1drZqu5DmGCl0
    1ppkvPoQbsQBOkDRPXU=
    -----END ENCRYPTED PRIVATE KEY-----
    """,
  ])
  func `a file that holds no plain Ed25519 key is refused`(pem: String) {
    #expect(throws: SecurityError.self) { try IdentityKey(pem: Array(pem.utf8)) }
  }
}
