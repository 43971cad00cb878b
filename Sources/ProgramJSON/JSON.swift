import FoundationEssentials

/// The one form of JSON that the programs write and read, in files, on sockets, and over HTTP: names in camel case, with
/// their unit at the end (`positionS`, `roundTripUs`), sorted; what is unknown is missing.
package enum JSON {
  /// Throws where a number is not finite, or a value's own `encode` does.
  package static func encode(_ value: some Encodable) throws -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return [UInt8](try encoder.encode(value))
  }

  /// One object a line. An empty line stands for what cannot be said in JSON.
  package static func line(_ value: some Encodable) -> [UInt8] {
    ((try? encode(value)) ?? []) + [UInt8(ascii: "\n")]
  }

  package static func decode<Value: Decodable>(
    _ type: Value.Type, from bytes: some Collection<UInt8>
  ) throws -> Value {
    try JSONDecoder().decode(type, from: Data(bytes))
  }
}
