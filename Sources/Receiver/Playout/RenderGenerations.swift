import Clock

/// Numbers a stream's generations for the render thread, whose ring may still hold frames and cuts of the previous
/// stream.
struct RenderGenerations {
  private static let limit: UInt32 = 1 << 30
  /// Number added to the generations of this stream.
  private var base: UInt32 = 0
  /// The newest cuts, with the sender's generation numbers; at most 4.
  private var cuts: [(from: MediaTime, generation: UInt32)] = []

  /// Returns the render thread's number for a generation of this stream.
  func number(of generation: UInt32) -> UInt32 { base + generation }

  /// The commands for a render thread that has missed the cuts.
  var commands: [RenderCommand] {
    cuts.map { .cut(from: $0.from, generation: number(of: $0.generation), isRamped: false) }
  }

  mutating func cut(from time: MediaTime, _ generation: UInt32) {
    cuts.append((time, generation))
    if cuts.count > 4 { cuts.removeFirst() }
  }

  mutating func forgetCuts() { cuts.removeAll() }

  /// Starts numbering at 0, because a new ring holds nothing of a previous stream.
  mutating func startOver() { base = 0 }

  /// Makes the ring's frames obsolete up to the newest generation. Returns nil if the numbers would run out, which only
  /// happens if a sender invents generations.
  mutating func supersede(_ newest: UInt32) -> RenderCommand? {
    guard base < Self.limit, newest < Self.limit else { return nil }
    base += newest + 1
    return .cut(from: .zero, generation: base, isRamped: true)
  }
}
