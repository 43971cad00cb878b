import Audio
import Clock
import TestSupport
import Testing

/// Samples that are whole numbers of `bits` bits, some of them at full scale.
func wholeSamples(_ count: Int, bits: Int, seed: UInt64) -> [Float] {
  var random = SplitMix64(seed: seed)
  let top = 1 << (bits - 1)
  var level = 0
  return (0..<count).map { index in
    if index % 997 == 0 { return index.isMultiple(of: 2) ? -1 : Float(top - 1) / Float(top) }
    level = min(max(level + Int.random(in: -top / 50...top / 50, using: &random), -top), top - 1)
    return Float(level) / Float(top)
  }
}

/// Noise without its highest frequencies, at a tenth of full scale, different in each channel.
func smoothNoise(_ frames: Int, channels: Int, seed: UInt64) -> [Float] {
  var random = SplitMix64(seed: seed)
  var state = [[Float]](repeating: [0, 0], count: channels)
  return (0..<frames * channels).map { index in
    let channel = index % channels
    let white = Float.random(in: -0.25...0.25, using: &random)
    state[channel][0] += 0.15 * (white - state[channel][0])
    state[channel][1] += 0.15 * (state[channel][0] - state[channel][1])
    return 2 * state[channel][1]
  }
}

/// Encodes `frames` in pieces of varying size. Returns all packets.
func encodeAll(
  _ frames: [Float], with encoder: any AudioEncoder, seed: UInt64 = 1
) throws -> [EncodedPacket] {
  var random = SplitMix64(seed: seed)
  let channels = encoder.format.audio.channelCount
  var packets: [EncodedPacket] = []
  var start = 0
  while start < frames.count {
    let end = min(frames.count, start + channels * Int.random(in: 1...5_000, using: &random))
    try encoder.encode(Array(frames[start..<end]), appendingTo: &packets)
    start = end
  }
  try encoder.finish(appendingTo: &packets)
  return packets
}

/// Returns the valid frames of `packets`. Checks that each packet has its stated number of frames
/// at once.
func decodeAll(
  _ packets: [EncodedPacket], with decoder: any AudioDecoder, channels: Int
) throws -> [Float] {
  var valid: [Float] = []
  for packet in packets {
    var frames: [Float] = []
    try decoder.decode(packet.payload, appendingTo: &frames)
    let start = packet.skippedFrames * channels
    let end = start + packet.frameCount * channels
    try #require(frames.count >= end)
    valid += frames[start..<end]
  }
  return valid
}
