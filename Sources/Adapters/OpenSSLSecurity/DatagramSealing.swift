internal import COpenSSL
import WireProtocol

/// Seals datagrams with ChaCha20-Poly1305 (RFC 8439), which is fast even on small processors without
/// AES instructions.
package struct DatagramSealing: DatagramCipher {
  private static let tagByteCount: Int32 = 16

  package init() {}

  package func seal(_ plain: [UInt8], header: [UInt8], key: [UInt8], nonce: [UInt8]) -> [UInt8] {
    let context = EVP_CIPHER_CTX_new()
    defer { EVP_CIPHER_CTX_free(context) }
    var sealed = [UInt8](repeating: 0, count: plain.count + Int(Self.tagByteCount))
    var count: Int32 = 0
    let isDone = sealed.withUnsafeMutableBufferPointer { sealed in
      EVP_EncryptInit_ex(context, EVP_chacha20_poly1305(), nil, key, nonce) == 1
        && EVP_EncryptUpdate(context, nil, &count, header, Int32(header.count)) == 1
        && EVP_EncryptUpdate(context, sealed.baseAddress, &count, plain, Int32(plain.count)) == 1
        && EVP_EncryptFinal_ex(context, sealed.baseAddress.map { $0 + plain.count }, &count) == 1
        && EVP_CIPHER_CTX_ctrl(
          context, EVP_CTRL_AEAD_GET_TAG, Self.tagByteCount,
          sealed.baseAddress.map { $0 + plain.count }) == 1
    }
    precondition(isDone, "OpenSSL has no ChaCha20-Poly1305")
    return sealed
  }

  package func open(
    _ sealed: ArraySlice<UInt8>, header: ArraySlice<UInt8>, key: [UInt8], nonce: [UInt8]
  ) -> [UInt8]? {
    guard sealed.count >= Int(Self.tagByteCount) else { return nil }
    let context = EVP_CIPHER_CTX_new()
    defer { EVP_CIPHER_CTX_free(context) }
    let (text, header) = (Array(sealed.dropLast(Int(Self.tagByteCount))), Array(header))
    var tag = Array(sealed.suffix(Int(Self.tagByteCount)))
    // One byte longer than the content, because an empty array has no address.
    var plain = [UInt8](repeating: 0, count: text.count + 1)
    var count: Int32 = 0
    let isAuthentic =
      EVP_DecryptInit_ex(context, EVP_chacha20_poly1305(), nil, key, nonce) == 1
      && EVP_DecryptUpdate(context, nil, &count, header, Int32(header.count)) == 1
      && EVP_DecryptUpdate(context, &plain, &count, text, Int32(text.count)) == 1
      && EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, Self.tagByteCount, &tag) == 1
      && EVP_DecryptFinal_ex(context, &tag, &count) == 1
    return isAuthentic ? Array(plain.dropLast()) : nil
  }
}
