package import Clock

/// An instant of true time: nanoseconds since the simulation began. No host of the simulation can see it.
package struct TrueTime: Hashable, Comparable, Sendable {
  package var nanoseconds: Int64

  package init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }
  package init(seconds: Double) {
    nanoseconds = Int64((seconds * 1e9).rounded())
  }

  package static let zero = TrueTime(nanoseconds: 0)
  package var seconds: Double { Double(nanoseconds) * 1e-9 }

  package static func < (a: TrueTime, b: TrueTime) -> Bool { a.nanoseconds < b.nanoseconds }
  package static func + (a: TrueTime, b: Nanoseconds) -> TrueTime {
    TrueTime(nanoseconds: a.nanoseconds + b.count)
  }
  package static func - (a: TrueTime, b: TrueTime) -> Nanoseconds {
    Nanoseconds(a.nanoseconds - b.nanoseconds)
  }
}

extension Nanoseconds {
  init(seconds: Double) { self.init(Int64((seconds * 1e9).rounded())) }
}
