package import Sender

/// A media server of UPnP that a search of the network has found.
package struct FoundServer: Codable, Hashable, Sendable {
  /// Its own name, as far as a library may be called so; else its host.
  package var name: String
  /// That of its description.
  package var address: String

  package init(called said: String, at address: ListenAddress) {
    func isPlain(_ scalar: Unicode.Scalar) -> Bool {
      scalar.value > 32 && scalar.value != 127 && scalar != "/"
    }
    let scalars: [Unicode.Scalar] = said.unicodeScalars.map { isPlain($0) ? $0 : " " }
    var name = String(String.UnicodeScalarView(scalars)).split(separator: " ")
      .joined(separator: " ")
    while name.utf8.count > MediaServer.nameLimit || name.last == " " { name.removeLast() }
    self.name = MediaServer.isName(name) ? name : address.host
    self.address = address.text
  }
}

/// How the network is searched for media servers of UPnP (SSDP, in version 1.1 of UPnP's device architecture).
package enum ServerSearch {
  /// Bytes of an answer.
  package static let byteLimit = 2 << 10
  /// More than a household has.
  package static let serverLimit = 32
  private static let type = "urn:schemas-upnp-org:device:MediaServer:"

  /// Servers answer within a second. Those of later versions answer for the first one.
  package static let question = Array(
    ("M-SEARCH * HTTP/1.1\r\nHOST: 239.255.255.250:1900\r\nMAN: \"ssdp:discover\"\r\nMX: 1\r\n"
      + "ST: \(type)1\r\n\r\n").utf8)

  package struct Answer: Hashable, Sendable {
    /// That of the server's description.
    package var address: ListenAddress
    /// The name of the device for machines, the same in all its networks; nil where it says none.
    package var device: String?

    package init(address: ListenAddress, device: String?) {
      (self.address, self.device) = (address, device)
    }
  }

  /// Reads a server's answer. Nil for what is no answer of a media server, for an address of anybody but the sender itself, and
  /// for one that `reach` does not allow.
  ///
  /// - Parameter sender: its address of IPv4; the first of its four bytes is on top.
  package static func answer(
    in answer: [UInt8], from sender: UInt32, reach: SourceReach
  ) -> Answer? {
    guard answer.count <= byteLimit, answer.allSatisfy({ $0 < 128 }) else { return nil }
    let lines = String(decoding: answer, as: UTF8.self).split(whereSeparator: \.isNewline)
    guard let first = lines.first, first.hasPrefix("HTTP/1."),
      first.split(separator: " ").dropFirst().first == "200"
    else { return nil }
    // The value of the first header of this name, if it is one word.
    func word(_ name: String) -> String? {
      let line = lines.first { $0.lowercased().hasPrefix(name + ":") }
      let words = line?.dropFirst(name.count + 1).split { $0 == " " || $0 == "\t" } ?? []
      return words.count == 1 ? String(words[0]) : nil
    }
    let host = [24, 16, 8, 0].map { "\(sender >> $0 & 0xFF)" }.joined(separator: ".")
    guard word("st")?.hasPrefix(type) == true, let location = word("location"),
      let address = ListenAddress(location), !address.isSecure, address.host == host,
      reach.allows(ipv4: sender)
    else { return nil }
    return Answer(address: address, device: word("usn"))
  }
}
