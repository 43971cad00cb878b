internal import COpenAPI
internal import Page
import Sender

/// Files built into the program: the page, and the API's document.
package struct WebPage: Sendable {
  struct File: Sendable {
    let bytes: [UInt8]
    let type: String
    /// ETag; changes whenever the bytes change.
    let tag: String

    init(_ bytes: [UInt8], type: String) {
      (self.bytes, self.type) = (bytes, type)
      // FNV-1a, to tell versions apart.
      var hash: UInt64 = 0xcbf2_9ce4_8422_2325
      for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
      tag = String(hash, radix: 36)
    }
  }

  /// Files by their names in `/assets/`.
  let assets: [String: File]
  let document: File
  /// The parts of `index.html` before the asker's name, between it and the state, and after the
  /// state.
  private let parts: [[UInt8]]

  init() {
    document = File(Self.bytes(tutti_openapi, tutti_openapi_size), type: "application/json")
    var files: [String: File] = [:]
    for index in 0..<page_count() {
      guard let file = page_file_at(index)?.pointee, let name = file.name, let type = file.type
      else { continue }
      let bytes = Self.bytes(file.bytes, file.size)
      let kind = String(cString: type)
      let served =
        switch kind.prefix(while: { $0 != ";" }) {
        case "text/css": PageText.served(style: bytes)
        case "text/javascript": PageText.served(script: bytes)
        case "text/html": PageText.served(bytes)
        default: bytes
        }
      files[String(cString: name)] = File(served, type: kind)
    }
    parts = Self.split(String(decoding: files["index.html"]?.bytes ?? [], as: UTF8.self))
    assets = files
  }

  /// The page with the state in it, so that it can draw at once. The state is empty for somebody who
  /// has to pair first.
  ///
  /// - Parameter asker: only letters.
  func index(asker: String, state: [UInt8]) -> [UInt8] {
    // A `<` in the state could end the script element.
    let escaped = state.flatMap { $0 == UInt8(ascii: "<") ? [UInt8](#"\u003c"#.utf8) : [$0] }
    return Array([parts[0], Array(asker.utf8), parts[1], escaped, parts[2]].joined())
  }

  private static func split(_ page: String) -> [[UInt8]] {
    var (parts, rest) = ([[UInt8]](), page[...])
    for mark in ["<!--asker-->", "<!--state-->"] {
      let place = rest.place(of: mark) ?? rest.endIndex..<rest.endIndex
      parts.append([UInt8](rest[..<place.lowerBound].utf8))
      rest = rest[place.upperBound...]
    }
    return parts + [[UInt8](rest.utf8)]
  }

  private static func bytes(_ start: UnsafePointer<UInt8>, _ count: Int) -> [UInt8] {
    [UInt8](UnsafeBufferPointer(start: start, count: count))
  }
}
