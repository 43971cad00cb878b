internal import CMPRIS
internal import MPRISProtocol

/// A message to which values are appended. Each call returns a negative error number if the bus's library refuses the value.
struct BusMessage {
  private let message: OpaquePointer

  init(_ message: OpaquePointer) { self.message = message }

  func append(_ value: BusValue) -> Int32 {
    switch value {
    case .flag(let flag):
      var number: Int32 = flag ? 1 : 0
      return basic("b", &number)
    case .number(var number): return basic("d", &number)
    case .span(var span): return basic("x", &span)
    case .text(let text): return text.withCString { basic("s", $0) }
    case .path(let path): return path.withCString { basic("o", $0) }
    case .texts(let texts):
      return within("a", "s") {
        for text in texts {
          let code = append(.text(text))
          if code < 0 { return code }
        }
        return 0
      }
    case .fields(let fields):
      return within("a", "{sv}") {
        for field in fields {
          let code = append(field)
          if code < 0 { return code }
        }
        return 0
      }
    }
  }

  private func append(_ field: BusValue.Field) -> Int32 {
    within("e", "sv") {
      let code = append(.text(field.name))
      return code < 0 ? code : within("v", field.value.signature) { append(field.value) }
    }
  }

  private func within(_ type: Unicode.Scalar, _ contents: String, _ body: () -> Int32) -> Int32 {
    var code = sd_bus_message_open_container(message, CChar(type.value), contents)
    if code >= 0 { code = body() }
    return code < 0 ? code : sd_bus_message_close_container(message)
  }

  private func basic(_ type: Unicode.Scalar, _ value: UnsafeRawPointer) -> Int32 {
    sd_bus_message_append_basic(message, CChar(type.value), value)
  }
}

extension BusValue {
  fileprivate var signature: String {
    switch self {
    case .flag: "b"
    case .number: "d"
    case .span: "x"
    case .text: "s"
    case .path: "o"
    case .texts: "as"
    case .fields: "a{sv}"
    }
  }
}
