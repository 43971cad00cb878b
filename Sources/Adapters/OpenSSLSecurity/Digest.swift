internal import COpenSSL

package enum Digest {
  package static func sha256(_ bytes: [UInt8]) -> [UInt8] {
    var digest = [UInt8](repeating: 0, count: Int(SHA256_DIGEST_LENGTH))
    SHA256(bytes, bytes.count, &digest)
    return digest
  }
}
