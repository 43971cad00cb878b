internal import Glibc

/// What tells this machine from a copy of its disk: marks of the hardware that the system lets this user read. None in
/// a container, which sees no hardware.
package struct HardwareIdentity: Sendable {
  /// More marks than this are not looked at.
  package static let mostMarks = 16

  /// Serial numbers that manufacturers forget to fill in.
  private static let leastDifferentCharacters = 4

  /// One fingerprint for each mark: 16 hexadecimal digits. Whoever knows a mark can check it against its fingerprint,
  /// but cannot read it there.
  package let marks: [String]

  /// - Parameter root: where `/proc` and `/sys` lie.
  package init(root: String = "") {
    let serials = [
      "/proc/device-tree/serial-number", "/sys/class/dmi/id/product_uuid",
      "/sys/class/dmi/id/product_serial", "/sys/class/dmi/id/board_serial",
    ].map { root + $0 }
    let values = serials.compactMap { Self.value(of: $0, least: Self.leastDifferentCharacters) }
    let cards = Self.cards(root + "/sys/class/net")
    marks = (values + cards).prefix(Self.mostMarks).map(Self.fingerprint)
  }

  /// Whether a machine with the marks that were remembered may be this one. Where either is without marks, nothing
  /// speaks against it; where one mark of several is the same, it is: cards come and go.
  package func mayBe(_ remembered: [String]) -> Bool {
    marks.isEmpty || remembered.isEmpty || !Set(marks).isDisjoint(with: remembered)
  }

  /// The addresses of network cards. Interfaces without a device are made by software, and so are addresses that the
  /// system has not from the card itself.
  private static func cards(_ directory: String) -> [String] {
    interfaces(in: directory).compactMap { name in
      let place = directory + "/" + name
      guard access(place + "/device", F_OK) == 0,
        value(of: place + "/addr_assign_type", least: 1) == "0"
      else { return nil }
      return value(of: place + "/address", least: leastDifferentCharacters)
    }
  }

  private static func interfaces(in directory: String) -> [String] {
    guard let stream = opendir(directory) else { return [] }
    defer { closedir(stream) }
    var names: [String] = []
    while let entry = readdir(stream) {
      let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
        String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      if !name.hasPrefix(".") { names.append(name) }
    }
    return names.sorted()
  }

  private static func value(of path: String, least: Int) -> String? {
    guard let bytes = (try? StateFile(path: path).read(limit: 256)) ?? nil else { return nil }
    let text = String(decoding: bytes.filter { $0 > 0x20 && $0 < 0x7F }, as: UTF8.self)
    return Set(text).count >= least ? text : nil
  }

  /// FNV-1a, 64 bits.
  private static func fingerprint(_ text: String) -> String {
    let hash = text.utf8.reduce(0xcbf2_9ce4_8422_2325 as UInt64) {
      ($0 ^ UInt64($1)) &* 0x100_0000_01b3
    }
    let digits = String(hash, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }
}
