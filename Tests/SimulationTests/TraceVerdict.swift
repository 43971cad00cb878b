import Audio
import Simulation
import TestSupport

/// Compares a room's sound with the model's plan: every frame is in its place, complete, and mixed with its
/// neighbours only by the receivers' interpolator.
struct TraceVerdict {
  /// A part of the plan that is one item without a jump, or silence.
  private struct Piece {
    var start: Int
    var end: Int
    /// Nil for silence.
    var item: Int?
    /// The stream frame at which the item's first frame would be.
    var origin: Int
  }

  /// The place of a point in the stream, and whether it is known to a fraction of a frame.
  private struct Place {
    var isSure: Bool
    var of: (ItemTrace.Point) -> Double
  }

  private let pieces: [Piece]
  private let edges: [Int]
  private let kernel = KaiserSinc(halfWidth: Double(reach), cutoff: 1, beta: 12)
  /// Number of frames that the interpolator uses on each side.
  private static let reach = 40
  /// Frames. A fade takes 5 ms, and begins at most a frame from the right place.
  private static let fade = 42
  /// Frames of a fade that are too quiet to be read.
  private static let unreadable = 12

  /// - Parameter edges: stream frames at which rooms may fade out and in.
  init(_ model: PlaylistModel, edges: Set<Int>) {
    var pieces: [Piece] = []
    for (place, frame) in model.plan.prefix(model.soundingCount).enumerated() {
      let origin = frame.map { place - $0.frame } ?? 0
      if let last = pieces.last, last.item == frame?.item, last.origin == origin {
        pieces[pieces.count - 1].end = place + 1
      } else {
        pieces.append(Piece(start: place, end: place + 1, item: frame?.item, origin: origin))
      }
    }
    self.pieces = pieces
    let silences = pieces.filter { $0.item == nil }.flatMap { [$0.start, $0.end] }
    self.edges = edges.union(silences).union([model.soundingCount]).sorted()
  }

  /// Returns the first few faults in plain words.
  ///
  /// - Parameter start: the stream frame from which the trace is checked.
  func faults(of trace: ItemTrace, from start: Int = 0) -> [String] {
    var found: [String] = []
    // One past the last frame heard.
    var next = start
    let stretches = trace.stretches.filter { Int($0.first.position) >= start - 1 }
    for (number, stretch) in stretches.enumerated() where found.count < 5 {
      let place = place(of: number, in: stretches)
      let (first, last) = (place.of(stretch.first), place.of(stretch.last))
      let faults = [
        gap(from: next, to: first), fade(in: stretch, from: first, to: last),
        fault(of: stretch, place),
      ]
      found += faults.compactMap { $0 }
      next = Int((last + 0.5).rounded(.down)) + 1
    }
    if let end = pieces.last?.end, next < end - Self.unreadable {
      found.append("nothing from \(next) on, where \(end) frames were to be heard")
    }
    return found
  }

  /// True if everything that was left out was meant to be silent.
  func isSilent(from start: Double, to end: Double) -> Bool {
    pieces.contains { piece in
      piece.item == nil && (Double(piece.start) - start).magnitude <= Double(Self.unreadable)
        && (Double(piece.end) - end).magnitude <= Double(Self.unreadable)
    }
  }

  /// Within a fade the place cannot be read exactly, but its frames join those at full level.
  private func place(of number: Int, in stretches: [ItemTrace.Stretch]) -> Place {
    if stretches[number].isFull { return Place(isSure: true, of: \.position) }
    func joins(_ index: Int) -> Bool {
      stretches[index].last.frame + 1 == stretches[index + 1].first.frame
    }
    var anchor: ItemTrace.Point?
    var index = number
    while anchor == nil, index + 1 < stretches.count, joins(index) {
      index += 1
      if stretches[index].isFull { anchor = stretches[index].first }
    }
    index = number
    while anchor == nil, index > 0, joins(index - 1) {
      index -= 1
      if stretches[index].isFull { anchor = stretches[index].last }
    }
    guard let anchor else { return Place(isSure: false, of: \.position) }
    return Place(isSure: true) { anchor.position + Double($0.frame - anchor.frame) }
  }

  // MARK: - Faults

  private func gap(from next: Int, to first: Double) -> String? {
    let begun = Int(first.rounded())
    guard abs(begun - next) > 1, !isSilent(from: Double(next), to: first) else { return nil }
    let isFade = abs(begun - next) <= 2 * Self.unreadable
    guard !isFade || !isEdge(near: Double(next), within: Self.unreadable + 1) else { return nil }
    return "after \(next) comes \(first)"
  }

  private func isEdge(near position: Double, within distance: Int) -> Bool {
    edges.contains { (Double($0) - position).magnitude <= Double(distance) }
  }

  private func fade(
    in stretch: ItemTrace.Stretch, from first: Double, to last: Double
  ) -> String? {
    if stretch.isFull { return nil }
    let isAtEdge =
      isEdge(near: first, within: Self.fade) && isEdge(near: last, within: Self.fade)
    return isAtEdge ? nil : "faded from \(first) to \(last)"
  }

  private func fault(of stretch: ItemTrace.Stretch, _ place: Place) -> String? {
    let (first, last) = (place.of(stretch.first), place.of(stretch.last))
    let slack = place.isSure ? -0.06 : 0.7
    let (low, high) = (Int((first + slack).rounded(.up)), Int((last - slack).rounded(.down)))
    if let item = stretch.item {
      let piece = pieces.first { $0.end > low }
      let isPlanned = piece.map {
        $0.start <= low && high < $0.end && $0.item == item && $0.origin == stretch.origin
      }
      if low > high || isPlanned ?? false { return nil }
      if stretch.points.isEmpty {
        return "item \(item) from \(stretch.origin) on sounds from \(first) to \(last)"
      }
    }
    guard place.isSure else { return nil }
    // In quieter points, too few bits of the code are left.
    return stretch.points.lazy.filter { $0.gain > 0.05 }
      .compactMap { fault(of: $0, at: place.of($0)) }.first
  }

  /// Checks a point between items, or between an item and silence. If a room stood still there, it may have had the
  /// frames of one side only.
  private func fault(of point: ItemTrace.Point, at position: Double) -> String? {
    let whole = Int(position.rounded(.down))
    let near = pieces.filter { $0.end > whole - Self.reach && $0.start <= whole + Self.reach }
    let weights = kernel.coefficients(
      count: 2 * Self.reach, centre: Double(Self.reach - 1) + position - Double(whole))
    let isAtEdge = isEdge(near: position, within: Self.fade)
    for low in near.indices {
      for high in low..<near.count where isAtEdge || high - low + 1 == near.count {
        if explains(point, near[low...high], weights, from: whole - Self.reach + 1) { return nil }
      }
    }
    return "a mixture \(point.item), \(point.origin) at \(position) near \(near)"
  }

  private func explains(
    _ point: ItemTrace.Point, _ pieces: ArraySlice<Piece>, _ weights: [Float], from start: Int
  ) -> Bool {
    var (level, items, origins) = (0.0, 0.0, 0.0)
    let sounding = pieces.filter { $0.item != nil }
    for piece in sounding {
      let low = max(piece.start, start)
      for place in low..<max(low, min(piece.end, start + weights.count)) {
        let weight = Double(weights[place - start])
        level += weight
        items += weight * Double(piece.item ?? 0)
        origins += weight * Double(piece.origin)
      }
    }
    guard level > 0.01 else { return false }
    return (point.item - items / level).magnitude < 0.03 * (1 + range(sounding.compactMap(\.item)))
      && (point.origin - origins / level).magnitude < 0.5 + 0.03 * range(sounding.map(\.origin))
  }

  private func range(_ values: [Int]) -> Double {
    Double((values.max() ?? 0) - (values.min() ?? 0))
  }
}
