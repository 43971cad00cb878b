internal import CExpat

/// A sentence's part that says why a document is none.
package struct MarkupFault: Error, Hashable, CustomStringConvertible {
  package let description: String

  package init(description: String) { self.description = description }
}

/// Takes what a document has. A name is that of its namespace, a space and its own, whatever prefix the document has.
protocol MarkupListener: AnyObject {
  /// - Parameter path: the names of the elements around, and its own.
  func begin(_ path: [String], _ attribute: (String) -> String?)
  /// - Parameter text: what stands in it behind its last element.
  func end(_ path: [String], _ text: [UInt8])
}

/// Reads XML with Expat, and keeps no tree. A document that declares a type, and with it perhaps entities, is refused before
/// anything is expanded.
final class PlainMarkup {
  /// Elements that stand in each other.
  static let depthLimit = 32

  private let parser: XML_Parser
  private let listener: any MarkupListener
  private let textLimit: Int
  private var path: [String] = []
  private var text: [UInt8] = []
  private var fault: String?

  private init(_ parser: XML_Parser, _ listener: any MarkupListener, _ textLimit: Int) {
    (self.parser, self.listener, self.textLimit) = (parser, listener, textLimit)
  }

  /// - Parameter textLimit: bytes that are kept of a text; its rest is dropped.
  static func read(
    _ bytes: [UInt8], textLimit: Int, to listener: any MarkupListener
  ) throws(MarkupFault) {
    guard let parser = XML_ParserCreateNS(nil, 32) else {
      throw MarkupFault(description: "there is no memory to read it")
    }
    defer { XML_ParserFree(parser) }
    let markup = PlainMarkup(parser, listener, textLimit)
    markup.listen()
    let status = bytes.withUnsafeBytes { buffer in
      XML_Parse(
        parser, buffer.baseAddress?.assumingMemoryBound(to: CChar.self),
        Int32(clamping: buffer.count), 1)
    }
    if let fault = markup.fault { throw MarkupFault(description: fault) }
    guard status == XML_STATUS_OK else {
      let reason = XML_ErrorString(XML_GetErrorCode(parser)).map { String(cString: $0) } ?? "broken"
      throw MarkupFault(description: "line \(cexpat_line(parser)): \(reason)")
    }
  }

  private func listen() {
    XML_SetUserData(parser, Unmanaged.passUnretained(self).toOpaque())
    XML_SetElementHandler(
      parser,
      { data, name, attributes in
        guard let name else { return }
        PlainMarkup.of(data)?.begin(String(cString: name), attributes)
      }, { data, _ in PlainMarkup.of(data)?.end() })
    XML_SetCharacterDataHandler(parser) { data, characters, count in
      PlainMarkup.of(data)?.take(characters, Int(count))
    }
    XML_SetStartDoctypeDeclHandler(parser) { data, _, _, _, _ in
      PlainMarkup.of(data)?.stop("it declares a type of document")
    }
  }

  private static func of(_ data: UnsafeMutableRawPointer?) -> PlainMarkup? {
    data.map { Unmanaged<PlainMarkup>.fromOpaque($0).takeUnretainedValue() }
  }

  private func stop(_ reason: String) {
    fault = fault ?? reason
    _ = XML_StopParser(parser, 0)
  }

  private func begin(
    _ name: String, _ attributes: UnsafeMutablePointer<UnsafePointer<XML_Char>?>?
  ) {
    guard fault == nil else { return }
    path.append(name)
    guard path.count <= Self.depthLimit else { return stop("its elements nest too deeply") }
    text.removeAll(keepingCapacity: true)
    listener.begin(path) { wanted in
      var place = 0
      while let key = attributes?[place], let value = attributes?[place + 1] {
        if String(cString: key) == wanted { return String(cString: value) }
        place += 2
      }
      return nil
    }
  }

  private func take(_ characters: UnsafePointer<XML_Char>?, _ count: Int) {
    guard let characters, text.count < textLimit else { return }
    let bytes = UnsafeRawBufferPointer(start: characters, count: count)
    text += bytes.prefix(textLimit - text.count)
  }

  private func end() {
    guard fault == nil else { return }
    listener.end(path, text)
    text.removeAll(keepingCapacity: true)
    path.removeLast()
  }
}

extension String {
  /// Its name without that of its namespace.
  var localName: Substring { split(separator: " ").last ?? "" }
}
