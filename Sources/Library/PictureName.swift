import Service

/// The names of pictures that have no file here, and so no bytes to be named by: those at servers and at addresses.
enum PictureName {
  /// Bytes of an address.
  static let addressLimit = 2_000

  /// Nil for what is no address of a picture: who names one may be a stranger.
  static func checked(_ address: String) -> String? {
    address.utf8.count <= addressLimit && Radio.isAddress(address) ? address : nil
  }

  static func of(_ address: String) -> String { of([address]) }

  static func of(_ texts: [String]) -> String {
    let parts = ["a", "b"].map { half in
      var hash = Hash()
      for text in [half] + texts { hash.add(text) }
      let digits = String(UInt64(bitPattern: hash.value), radix: 16)
      return String(repeating: "0", count: 16 - digits.count) + digits
    }
    return parts.joined()
  }
}
