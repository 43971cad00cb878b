/// Computes the order to which a shuffled list goes back.
enum ShuffledList {
  /// Returns the entries of the list in their old order. An entry that the old order does not have follows the entry that
  /// it follows in the list; those at the end of the list stay at the end.
  ///
  /// - Parameters:
  ///   - ids: the list now.
  ///   - order: the list before it was shuffled, maybe with entries that are gone.
  static func restored(_ ids: [Int], to order: [Int]) -> [Int] {
    let (present, old) = (Set(ids), Set(order))
    var runs: [Int: [Int]] = [:]
    var (first, run) = ([Int](), [Int]())
    var before: Int?
    for id in ids {
      guard old.contains(id) else {
        run.append(id)
        continue
      }
      if let before { runs[before] = run } else { first = run }
      (before, run) = (id, [])
    }
    return first + order.filter(present.contains).flatMap { [$0] + (runs[$0] ?? []) } + run
  }
}
