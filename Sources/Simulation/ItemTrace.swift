/// The sound of a room by items: stretches of one item, and the single frames in which an interpolator mixes two.
package struct ItemTrace: Sendable {
  /// The sound of one device frame.
  package struct Point: Sendable {
    /// Frame of the card; continues from one card to the next.
    package var frame: Int64
    /// In stream frames.
    package var position: Double
    /// 0...1.
    package var gain: Double
    /// The item's identity, or a value between two identities.
    package var item: Double
    /// The stream frame at which the item's first frame sounds or would have sounded, or a value between two such
    /// frames.
    package var origin: Double
  }

  package struct Stretch: Sendable {
    /// Nil if items are mixed.
    package var item: Int?
    package var origin: Int
    /// True at full level, outside a fade.
    package var isFull: Bool
    package var first: Point
    package var last: Point
    /// All points of a mixed or short stretch, because a short one may be mixed without being recognised; else
    /// empty.
    package var points: [Point]
  }

  /// In frames: this many consecutive frames do not agree by chance.
  private static let shortest = 100

  /// In order of time.
  package private(set) var stretches: [Stretch] = []

  mutating func hear(_ point: Point) {
    let item = point.item.rounded()
    let origin = point.origin.rounded()
    // Samples have 24 bits, and the origin is the difference of two large ones.
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
