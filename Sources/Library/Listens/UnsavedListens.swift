import House

/// Listens and hearings that are not on the disk yet, because it is full perhaps.
struct UnsavedListens: Sendable {
  /// Most listens; the oldest are dropped.
  static let limit = 100

  private(set) var entries: [ListenStore.Entry] = []
  private(set) var hearings: [String: ListenCounter.Hearing?] = [:]

  mutating func add(_ more: [ListenStore.Entry], _ changed: [String: ListenCounter.Hearing?]) {
    entries = Array((entries + more).suffix(Self.limit))
    hearings.merge(changed) { $1 }
  }
}
