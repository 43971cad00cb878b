internal import Glibc

/// Distinguishes this machine from a copy of its disk, by marks of the hardware that the system lets this user read.
/// Empty in a container, which sees no hardware.
package struct HardwareIdentity: Sendable {
  /// Largest number of marks that are used.
  package static let mostMarks = 16

  /// Rejects the placeholders of manufacturers that forget to fill in serial numbers.
  private static let leastDifferentCharacters = 4

  /// One fingerprint for each mark: 16 hexadecimal digits. Somebody who knows a mark can check it against its
  /// fingerprint, but cannot read it there.
  package let marks: [String]

  /// - Parameter root: the directory that holds `/proc` and `/sys`.
  package init(root: String = "") {
    let serials = [
      "/proc/device-tree/serial-number", "/sys/class/dmi/id/product_uuid",
      "/sys/class/dmi/id/product_serial", "/sys/class/dmi/id/board_serial",
    ].map { root + $0 }
    let values = serials.compactMap { Self.value(of: $0, least: Self.leastDifferentCharacters) }
    let cards = Self.cards(root + "/sys/class/net")
    marks = (values + cards).prefix(Self.mostMarks).map(Self.fingerprint)
  }

  /// True if a machine with the remembered marks may be this one: if either has no marks, or if they share one,
  /// because cards come and go.
  package func mayBe(_ remembered: [String]) -> Bool {
    marks.isEmpty || remembered.isEmpty || !Set(marks).isDisjoint(with: remembered)
  }

  /// Returns the addresses of network cards. Leaves out interfaces without a device, which are made by software, and
  /// addresses that do not come from the card itself.
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
