/// Texts in the query of an address, and in forms.
package enum QueryText {
  private static let plain = Set(
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~".utf8)
  private static let digits = Array("0123456789ABCDEF".utf8)

  package static func encoded(_ text: String) -> String {
    let bytes = text.utf8.flatMap { byte in
      plain.contains(byte)
        ? [byte] : [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  package static func query(_ fields: [(String, String)]) -> String {
    fields.map { "\(encoded($0.0))=\(encoded($0.1))" }.joined(separator: "&")
  }

  package static func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
    String(
      decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
  }
}
