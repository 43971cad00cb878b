/// What a room has sounded, by items: stretches of one item, and each single frame where an interpolator mixes two.
package struct ItemTrace: Sendable {
  /// What one device frame sounded.
  package struct Point: Sendable {
    /// Of the card; goes on from one card to the next.
    package var frame: Int64
    /// In stream frames.
    package var position: Double
    /// 0...1.
    package var gain: Double
    /// The item's identity, or something between two of them.
    package var item: Double
    /// The stream frame at which the item's first frame sounds or would have sounded, or something between.
    package var origin: Double
  }

  package struct Stretch: Sendable {
    /// Nil where items are mixed.
    package var item: Int?
    package var origin: Int
    /// At full level, and not in a fade.
    package var isFull: Bool
    package var first: Point
    package var last: Point
    /// All of them where items are mixed, or where that may only seem not to be so: in a short stretch.
    package var points: [Point]
  }

  /// As many frames in a row are not alike by chance.
  private static let shortest = 100

  /// In the order of time.
  package private(set) var stretches: [Stretch] = []

  mutating func hear(_ point: Point) {
    let item = point.item.rounded()
    let origin = point.origin.rounded()
    // Samples are 24 bits, of which the origin is the difference of two large ones.
    let isPure =
      (point.item - item).magnitude < 0.005 && (point.origin - origin).magnitude < 0.3
    let isFull = point.gain > 0.98
    let last = stretches.indices.last
    if let last, stretches[last].last.frame + 1 == point.frame, stretches[last].isFull == isFull,
      stretches[last].item == (isPure ? Int(item) : nil),
      !isPure || stretches[last].origin == Int(origin)
    {
      stretches[last].last = point
      let isShort = point.frame - stretches[last].first.frame < Self.shortest
      if !isPure || isShort {
        stretches[last].points.append(point)
      } else {
        stretches[last].points = []
      }
      return
    }
    stretches.append(
      Stretch(
        item: isPure ? Int(item) : nil, origin: isPure ? Int(origin) : 0, isFull: isFull,
        first: point, last: point, points: [point]))
  }
}
