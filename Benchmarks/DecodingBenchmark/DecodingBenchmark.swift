import Driver
import FFmpegSource
import Foundation
import Sender
import TestSupport

/// Measures the cost of decoding in a process of its own: `decoding-benchmark [TUTTI]`. It takes the `tutti` that is
/// beside it, or the one named. Both ways take turns in one run, so that a busy machine slows both.
@main
struct DecodingBenchmark {
  private static let rounds = 9
  private static let seconds = 60
  private static let rate = 44_100

  static func main() throws {
    let tutti = CommandLine.arguments.dropFirst().first ?? Program.path(of: "tutti")
    let workers = MediaWorkers()
    try workers.start([tutti, "media-worker"])
    let folder = try TemporaryFolder()
    let path = try music(in: folder)
    var (here, there): ([Figures], [Figures]) = ([], [])
    var cold: [Double] = []
    for round in 0...rounds {
      // Let the next process start; then it waits.
      Thread.sleep(forTimeInterval: 0.5)
      let figures = (
        try measure { try FileSource(path: path) },
        try measure {
          try WorkerSource(path: path, workers: workers, interruption: ReadInterruption())
        }
      )
      // Ignore the first round, which loads libraries and the file.
      guard round > 0 else { continue }
      here.append(figures.0)
      there.append(figures.1)
      let fresh = MediaWorkers()
      cold.append(
        try firstFrames(of: {
          try fresh.start([tutti, "media-worker"])
          return try WorkerSource(path: path, workers: fresh, interruption: ReadInterruption())
        }).milliseconds)
    }
    tell("first frames, ms", here.map(\.firstFrames), there.map(\.firstFrames))
    print("first frames of a process that has to be started, ms: \(middle(cold))")
    tell("processor for frames, % of a core", here.map(\.frames), there.map(\.frames))
    tell("processor for packets, % of a core", here.map(\.packets), there.map(\.packets))
  }

  /// Chords and noise, which FLAC compresses to about half, as it does music.
  private static func music(in folder: TemporaryFolder) throws -> String {
    let frames = (0..<seconds * rate).map { frame in
      let time = Double(frame) / Double(rate)
      return [220.0, 277.2, 329.6, 1318.5].reduce(0) { $0 + sin(2 * .pi * $1 * time) / 8 }
    }
    var recording = Recording(rate: rate, frames: seconds * rate)
    for index in recording.samples.indices {
      recording.samples[index] = Int32(frames[index / 2] * 32_000) + recording.samples[index] >> 7
    }
    return try recording.write(to: "music.flac", in: folder)
  }

  private struct Figures {
    /// Milliseconds from the call that opens the source.
    var firstFrames: Double
    /// Processor time of both processes while they decode frames and packets, in percent of a core.
    var frames: Double
    var packets: Double
  }

  private static func measure(_ open: () throws -> any MediaSource) throws -> Figures {
    let (source, firstFrames) = try firstFrames(of: open)
    var block: [Float] = []
    let frames = try share(source) {
      repeat {
        block.removeAll(keepingCapacity: true)
        try source.read(4_096, appendingTo: &block)
      } while !block.isEmpty
    }
    try source.seek(toFrame: 0)
    let packets = try source.packets()
    return Figures(
      firstFrames: firstFrames, frames: frames,
      packets: try share(source) { while try packets.next() != nil {} })
  }

  private static func firstFrames(
    of open: () throws -> any MediaSource
  ) throws -> (source: any MediaSource, milliseconds: Double) {
    let start = ContinuousClock.now
    let source = try open()
    var block: [Float] = []
    try source.read(4_096, appendingTo: &block)
    return (source, (ContinuousClock.now - start) / .milliseconds(1))
  }

  /// Processor time of this process and of the source's process, for each second of music, in percent.
  private static func share(_ source: any MediaSource, _ body: () throws -> Void) throws -> Double {
    let worker = (source as? WorkerSource)?.process
    let before = try processorTime(of: worker)
    try body()
    return (try processorTime(of: worker) - before) / Double(seconds) * 100
  }

  /// Processor time of this process and the worker, in seconds.
  private static func processorTime(of worker: Int32?) throws -> Double {
    try [getpid(), worker].compactMap { $0 }.reduce(0) { sum, process in
      // The first number is the time on a processor, in ns.
      let text = try String(contentsOfFile: "/proc/\(process)/schedstat", encoding: .utf8)
      return sum + (text.split(separator: " ").first.flatMap { Double($0) } ?? 0) / 1e9
    }
  }

  private static func tell(_ what: String, _ here: [Double], _ there: [Double]) {
    let more = zip(here, there).map { $1 - $0 }
    let ratio = zip(here, there).map { $1 / $0 }
    print(
      "\(what): here \(middle(here)), in a process of its own \(middle(there)), "
        + "\(middle(more)) more, \(middle(ratio)) times")
  }

  /// The median, with the smallest and the largest value.
  private static func middle(_ values: [Double]) -> String {
    let sorted = values.sorted()
    func text(_ value: Double) -> String { String(format: "%.2f", value) }
    let (least, most) = (text(sorted[0]), text(sorted[sorted.count - 1]))
    return "\(text(sorted[sorted.count / 2])) (\(least)–\(most))"
  }
}
