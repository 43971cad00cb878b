/// The description of a device of UPnP, as far as it tells where its songs are asked for.
package struct DeviceDescription: Sendable {
  /// The reference of the device's ContentDirectory; empty if it has none.
  package private(set) var control = ""
  /// The name that the device gives itself.
  package private(set) var name = ""

  package init(_ bytes: [UInt8]) throws(MarkupFault) {
    let reader = Reader()
    do throws(MarkupFault) {
      try PlainMarkup.read(bytes, textLimit: 1_024, to: reader)
    } catch {
      throw MarkupFault(description: "this is no description of a device: \(error.description)")
    }
    guard !reader.control.isEmpty else {
      throw MarkupFault(description: "this is no description of a media server; check the address")
    }
    (control, name) = (reader.control, reader.name)
  }

  private final class Reader: MarkupListener {
    private static let namespace = "urn:schemas-upnp-org:device-1-0"
    private static let service = "urn:schemas-upnp-org:service:ContentDirectory:"

    var control = ""
    var name = ""
    private var (type, reference) = ("", "")

    func begin(_ path: [String], _ attribute: (String) -> String?) {
      if path.last == "\(Self.namespace) service" { (type, reference) = ("", "") }
    }

    func end(_ path: [String], _ text: [UInt8]) {
      guard path.first == "\(Self.namespace) root", let name = path.last else { return }
      switch name {
      // Devices in this one have names of their own.
      case "\(Self.namespace) friendlyName" where self.name.isEmpty: self.name = text.trimmed
      case "\(Self.namespace) serviceType": type = text.trimmed
      case "\(Self.namespace) controlURL": reference = text.trimmed
      case "\(Self.namespace) service" where type.hasPrefix(Self.service) && control.isEmpty:
        control = reference
      default: break
      }
    }
  }
}

extension [UInt8] {
  /// The text without spaces around it.
  var trimmed: String {
    let from = firstIndex { $0 > 32 } ?? endIndex
    let to = lastIndex { $0 > 32 } ?? from
    return from == endIndex ? "" : String(decoding: self[from...to], as: UTF8.self)
  }
}
