import CFFmpeg
package import Sender

/// A file at an address, read whole.
package struct AddressBytes: Sendable {
  package var bytes: [UInt8]
  /// True if it came from this machine itself.
  package var isOwn: Bool

  /// Reads the file. Blocks.
  ///
  /// - Parameters:
  ///   - reach: where the address may lead, redirects included.
  ///   - limit: in bytes; a larger file is refused.
  ///   - time: after it, the reading ends.
  package init(
    at url: String, reach: SourceReach, limit: Int, time: Duration
  ) throws(MediaError) {
    let library = try FFmpegLibrary.load(toPlay: url)
    var settings = NetworkSettings()
    settings.longestOutage = .zero
    settings.opening = OpeningLimits(
      requests: settings.redirectLimit, bytes: Int64(limit) + 65_536, time: time)
    let network = NetworkInput(
      url, reach: reach, settings: settings, interruption: try ReadInterruption(),
      library: library, report: { _ in })
    cff_clear_log()
    bytes = try NetworkBytes(url, network, library).readAll(upTo: limit)
    isOwn = !network.hasLeft
    if bytes.count > limit {
      throw .unreadable(path: url, reason: "it is larger than \(limit >> 20) MiB")
    }
    if let excess = network.budget.excess { throw .unreadable(path: url, reason: excess) }
  }
}
