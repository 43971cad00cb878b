import WireProtocol

/// A household as a whole, as the daemon of this machine sees it.
package struct HouseholdFacts: Hashable, Sendable {
  /// Why it can keep no changes; nil if it can.
  package var diskProblem: String?
  /// Where the other machine of a household that has two is, while it is there.
  package var second: String?
  /// Why one of the two could not go on with the music.
  package var secondProblem: String?
  /// True if this machine follows.
  package var follows: Bool

  package init(diskProblem: String?, second: String?, secondProblem: String?, follows: Bool) {
    (self.diskProblem, self.second) = (diskProblem, second)
    (self.secondProblem, self.follows) = (secondProblem, follows)
  }

  /// None for a household with one machine and a disk that works.
  package var findings: [Finding] { [disk, machine].compactMap(\.self) }

  private var disk: Finding? {
    diskProblem.map {
      .wrong(
        "household", $0, cure: "see: df, dmesg; until the disk works again, changes are refused")
    }
  }

  private var machine: Finding? {
    if let secondProblem {
      return .wrong(
        "second machine", secondProblem,
        cure:
          "there and here: tutti doctor, systemctl status tutti; can the two machines reach each other?"
      )
    }
    return second.map {
      .well(
        "second machine",
        follows
          ? "this machine follows \($0), and goes on with the music if that one fails"
          : "\($0) goes on with the music if this machine fails")
    }
  }
}
