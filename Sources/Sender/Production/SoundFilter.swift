/// One change to the sound, of a fixed list. It holds only numbers within their ranges, so that whoever sends one, over
/// whatever way, can say no more than that.
package struct SoundFilter: Hashable, Sendable {
  /// In the order of a mixing desk, which is also that of the command line.
  package enum Kind: String, CaseIterable, Codable, Sendable {
    case highpass, lowpass, equalizer, bass, treble, compressor, limiter
  }

  /// The meaning of one of a filter's numbers. Only this type defines the range.
  package struct Parameter: Hashable, Sendable {
    package let name: String
    package let range: ClosedRange<Double>
    /// The value if none is given; nil if one must be given.
    package let usual: Double?
    package let unit: String

    init(_ name: String, _ range: ClosedRange<Double>, _ unit: String, usual: Double? = nil) {
      (self.name, self.range, self.unit, self.usual) = (name, range, unit, usual)
    }
  }

  /// The reason why a filter is refused, in words for people.
  package struct Refusal: Error, Hashable, Sendable, CustomStringConvertible {
    package let description: String
  }

  package let kind: Kind
  /// One value for each parameter of the kind, in that order.
  package let values: [Double]

  /// - Parameter values: in the order of the kind's parameters. Those at the end may be missing if they have a usual
  ///   value.
  package init(_ kind: Kind, _ values: [Double]) throws(Refusal) {
    let parameters = kind.parameters
    guard values.count <= parameters.count else {
      throw Refusal(description: "\(kind.rawValue) takes \(kind.pattern)")
    }
    self.kind = kind
    var whole: [Double] = []
    for (index, parameter) in parameters.enumerated() {
      whole.append(
        try kind.checked(values.indices.contains(index) ? values[index] : nil, parameter))
    }
    self.values = whole
  }

  /// Takes the values by the names of the parameters.
  package init(_ kind: Kind, _ values: [String: Double]) throws(Refusal) {
    let names = kind.parameters.map(\.name)
    if let stranger = values.keys.filter({ !names.contains($0) }).min() {
      throw Refusal(description: "\(kind.rawValue) has no \(stranger); it has \(names)")
    }
    self.kind = kind
    var whole: [Double] = []
    for parameter in kind.parameters {
      whole.append(try kind.checked(values[parameter.name], parameter))
    }
    self.values = whole
  }

  /// The value of a parameter; nil for a name that the kind does not have.
  package subscript(_ name: String) -> Double? {
    kind.parameters.firstIndex { $0.name == name }.map { values[$0] }
  }
}

extension SoundFilter.Kind {
  private typealias Parameter = SoundFilter.Parameter

  private static let frequencies = 20.0...20_000
  private static let gains = -24.0...24

  /// The parameters of the kind, those without a usual value first.
  package var parameters: [SoundFilter.Parameter] {
    switch self {
    case .highpass, .lowpass: [Parameter("frequency", Self.frequencies, "Hz")]
    case .equalizer:
      [
        Parameter("frequency", Self.frequencies, "Hz"), Parameter("gain", Self.gains, "dB"),
        Parameter("width", 0.1...5, "octaves", usual: 1),
      ]
    case .bass:
      [
        Parameter("gain", Self.gains, "dB"),
        Parameter("frequency", Self.frequencies, "Hz", usual: 100),
      ]
    case .treble:
      [
        Parameter("gain", Self.gains, "dB"),
        Parameter("frequency", Self.frequencies, "Hz", usual: 3_000),
      ]
    case .compressor:
      [
        Parameter("threshold", -60...0, "dB"), Parameter("ratio", 1...20, "to 1"),
        Parameter("attackMs", 0.01...2_000, "ms", usual: 20),
        Parameter("releaseMs", 0.01...9_000, "ms", usual: 250),
        Parameter("makeup", 0...36, "dB", usual: 0),
      ]
    case .limiter:
      [
        Parameter("ceiling", -24...0, "dB"), Parameter("releaseMs", 1...8_000, "ms", usual: 50),
      ]
    }
  }

  /// The parameters as typed on a command line, such as `GAIN[:FREQUENCY]`.
  package var pattern: String {
    var text = ""
    for parameter in parameters {
      let name = (text.isEmpty ? "" : ":") + parameter.name.uppercased()
      text += parameter.usual == nil ? name : "[\(name)]"
    }
    return text
  }

  /// Returns the value, or the usual one if it is nil. Throws if it is out of range, as NaN always is.
  fileprivate func checked(
    _ value: Double?, _ parameter: SoundFilter.Parameter
  ) throws(SoundFilter.Refusal) -> Double {
    if let value = value ?? parameter.usual, parameter.range.contains(value) { return value }
    let range = parameter.range
    throw SoundFilter.Refusal(
      description: "\(rawValue): \(parameter.name) is \(NumberWord.text(range.lowerBound)) to "
        + "\(NumberWord.text(range.upperBound)) \(parameter.unit)")
  }
}

/// The form that people read and type: `equalizer 1000:3:1`.
extension SoundFilter: CustomStringConvertible {
  package var description: String {
    kind.rawValue + " " + values.map(NumberWord.text).joined(separator: ":")
  }

  /// - Parameter numbers: such as `1000:3`.
  package init(_ kind: Kind, numbers: String) throws(Refusal) {
    var values: [Double] = []
    for word in numbers.split(separator: ":", omittingEmptySubsequences: false) {
      guard let value = Double(word) else {
        throw Refusal(description: "\(kind.rawValue) takes \(kind.pattern), not \(numbers)")
      }
      values.append(value)
    }
    try self.init(kind, values)
  }

  /// Reads the form that `description` has.
  package init(_ description: String) throws(Refusal) {
    let words = description.split(separator: " ", omittingEmptySubsequences: false)
    guard words.count == 2, let kind = Kind(rawValue: String(words[0])) else {
      throw Refusal(description: "there is no such filter")
    }
    try self.init(kind, numbers: String(words[1]))
  }
}

private enum NumberWord {
  /// Returns the number without a final `.0`, the same in every locale.
  static func text(_ value: Double) -> String {
    let text = "\(value)"
    return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
  }
}

/// The form that programs read: `{"kind": "bass", "gain": 3, "frequency": 100}`, in JSON or similar. Anything else is
/// refused.
extension SoundFilter: Codable {
  private struct Key: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }

    static let kind = Key(stringValue: "kind")
  }

  package init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: Key.self)
    let name = try container.decode(String.self, forKey: .kind)
    var values: [String: Double] = [:]
    for key in container.allKeys where key.stringValue != Key.kind.stringValue {
      values[key.stringValue] = try container.decode(Double.self, forKey: key)
    }
    guard let kind = Kind(rawValue: name) else { throw Refusal(description: "no such filter") }
    try self.init(kind, values)
  }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    try container.encode(kind.rawValue, forKey: .kind)
    for (parameter, value) in zip(kind.parameters, values) {
      try container.encode(value, forKey: Key(stringValue: parameter.name))
    }
  }
}
