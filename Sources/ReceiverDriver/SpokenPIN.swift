import Audio
import CSpeech
import Clock
import Codecs
import Pairing

/// The sound of a PIN: "My PIN is", its digits in two groups of four, and all of it once more.
struct SpokenPIN {
  /// In Hz, as the recorded words have it.
  static let sampleRate = 48_000
  /// The place of "My PIN is" among the words, behind the ten digits.
  private static let introduction = 10
  /// All of it is said so often: the second time, people know what comes.
  private static let times = 2
  /// In seconds: after a digit, after a group of four, and before it is said again.
  private static let pauseOfDigits = 0.12
  private static let pauseOfGroups = 0.6
  private static let pauseOfTimes = 1.2

  /// Mono, full scale ±1, at `sampleRate`.
  private(set) var sound: [Float] = []

  var length: Nanoseconds {
    Nanoseconds(Int64(sound.count) * 1_000_000_000 / Int64(Self.sampleRate))
  }

  init(_ pin: PIN) throws(CodecError) {
    let words = try Self.words()
    for _ in 0..<Self.times {
      sound += words[Self.introduction]
      pause(Self.pauseOfGroups)
      for (place, digit) in pin.digits.utf8.enumerated() {
        sound += words[Int(digit) - 0x30]
        pause(place == 3 ? Self.pauseOfGroups : Self.pauseOfDigits)
      }
      pause(Self.pauseOfTimes)
    }
  }

  private mutating func pause(_ seconds: Double) {
    sound += repeatElement(0, count: Int(seconds * Double(Self.sampleRate)))
  }

  /// Returns the sounds of the ten digits, and of the introduction.
  private static func words() throws(CodecError) -> [[Float]] {
    var rest = [UInt8](UnsafeBufferPointer(start: tutti_words, count: tutti_words_size))[...]
    var words: [[Float]] = []
    while let packetCount = rest.popFirst() {
      let decoder = try AudioCodecs.makeDecoder(for: format)
      var word: [Float] = []
      for _ in 0..<packetCount {
        guard let high = rest.popFirst(), let low = rest.popFirst() else { break }
        let packet = rest.prefix(Int(high) << 8 | Int(low))
        rest = rest.dropFirst(packet.count)
        try decoder.decode(Array(packet), appendingTo: &word)
      }
      words.append(word)
    }
    guard words.count == introduction + 1 else {
      throw .malformed("\(words.count) spoken words")
    }
    return words
  }

  private static let format = StreamFormat(
    codec: .opus, audio: AudioFormat(sampleRate: sampleRate, channelCount: 1), sampleType: .int16,
    configuration: Array("OpusHead".utf8) + [1, 1, 0, 0, 0x80, 0xbb, 0, 0, 0, 0, 0])
}
