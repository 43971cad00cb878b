/// Fits the channels of a stream to those of a device.
enum ChannelFit {
  /// Copies mono to every channel, and mixes more than two channels down to two, and those to mono by the mean. On a device
  /// of more than two, channels keep their places: extra ones are dropped and missing ones are silent.
  static func fit(_ samples: ArraySlice<Float>, from: Int, to: Int) -> [Float] {
    if from == to { return Array(samples) }
    let shares = shares(from: from, to: to)
    let (frames, base) = (samples.count / from, samples.startIndex)
    var out: [Float] = []
    out.reserveCapacity(frames * to)
    for frame in 0..<frames {
      for share in shares {
        var sum: Float = 0
        for (channel, part) in share { sum += part * samples[base + frame * from + channel] }
        out.append(sum)
      }
    }
    return out
  }

  private typealias Share = [(channel: Int, part: Float)]

  /// The parts of the stream's channels in each of the device's.
  private static func shares(from: Int, to: Int) -> [Share] {
    if from == 1 { return Array(repeating: [(0, 1)], count: to) }
    if to > 2 { return (0..<to).map { channel -> Share in channel < from ? [(channel, 1)] : [] } }
    let sides: [Share] =
      from == 2 ? [[(0, 1)], [(1, 1)]] : [stereo(of: from, 0), stereo(of: from, 1)]
    if to == 2 { return sides }
    return [sides.joined().map { ($0.channel, $0.part / 2) }]
  }

  /// One side hears its own ones of three to eight channels, and the middle ones at half their power. All at full scale together
  /// stay within it.
  private static func stereo(of count: Int, _ side: Int) -> Share {
    let middle = Float(0.5).squareRoot()
    var share: Share = [(side, 1)]
    switch count {
    case 3: share.append((2, middle))
    case 4: share.append((2 + side, middle))
    case 5: share += [(2, middle), (3 + side, middle)]
    case 6: share += [(2, middle), (4 + side, middle)]
    case 7: share += [(2, middle), (4, middle), (5 + side, middle)]
    default: share += [(2, middle), (4 + side, middle), (6 + side, middle)]
    }
    let sum = share.reduce(0) { $0 + $1.part }
    return share.map { ($0.channel, $0.part / sum) }
  }
}
