import Clock

/// The numbers of a stream's generations on their way to the render thread, whose ring may still hold frames and cuts of
/// the stream before.
struct RenderGenerations {
  private static let limit: UInt32 = 1 << 30
  /// What the generations of this stream are raised by.
  private var base: UInt32 = 0
  /// The newest, as the sender numbers generations.
  private var cuts: [(from: MediaTime, generation: UInt32)] = []

  /// The number under which the render thread knows a generation of this stream.
  func number(of generation: UInt32) -> UInt32 { base + generation }

  /// What a render thread must hear that has missed the cuts.
  var commands: [RenderCommand] {
    cuts.map { .cut(from: $0.from, generation: number(of: $0.generation), isRamped: false) }
  }

  mutating func cut(from time: MediaTime, _ generation: UInt32) {
    cuts.append((time, generation))
    if cuts.count > 4 { cuts.removeFirst() }
  }

  mutating func forgetCuts() { cuts.removeAll() }

  /// There is a new ring, which holds nothing of a stream before.
  mutating func startOver() { base = 0 }

  /// Makes what the ring holds obsolete, up to the generation that is the newest. Nil where the numbers would run out,
  /// which only a sender that invents generations brings about.
  mutating func supersede(_ newest: UInt32) -> RenderCommand? {
    guard base < Self.limit, newest < Self.limit else { return nil }
    base += newest + 1
    return .cut(from: .zero, generation: base, isRamped: true)
  }
}
