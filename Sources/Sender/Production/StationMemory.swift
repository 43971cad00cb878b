package import Clock

/// The part of a station that can be heard again, in positions of its item.
package struct KeptStretch: Hashable, Sendable {
  package var from: MediaDuration
  /// Where somebody would be who has just tuned in.
  package var live: MediaDuration
  /// Where titles began, in order; at most `StationMemory.titleLimit`.
  package var titles: [MediaDuration] = []

  package init(from: MediaDuration, live: MediaDuration, titles: [MediaDuration] = []) {
    (self.from, self.live, self.titles) = (from, live, titles)
  }

  /// Returns how late somebody listens; nil if that is no later than somebody who has just tuned in.
  package func lateness(at position: MediaDuration) -> MediaDuration? {
    live - position >= Self.leastLateness ? live - position : nil
  }

  /// A room begins some seconds after its station, and stations send in bursts.
  private static let leastLateness = MediaDuration.seconds(5)

  /// Where the title began that plays at `position`; nil if its beginning is not kept.
  func title(at position: MediaDuration) -> MediaDuration? {
    titles.last { $0 <= position && $0 >= from }
  }
}

/// Decides which bytes of a station are kept: the last hour, in a ring of limited size. Bytes and time count from the
/// first packet of the item.
package struct StationMemory {
  /// An hour: somebody who was called away still hears all of a programme, and a disk has that to spare.
  package static let longest = MediaDuration.seconds(3_600)
  /// After so long without anybody who takes anything a station is left: all that he missed first is dropped by then.
  package static let patience = MediaDuration.seconds(7_200)
  /// In bytes: an hour at 320 kbit/s, the highest rate of MP3, and a tenth.
  package static let byteLimit: Int64 = 160 << 20
  /// More than an hour has, of the shortest songs.
  package static let titleLimit = 64
  /// Characters of a title.
  package static let titleLength = ItemMetadata.textLimit
  /// A position that somebody asks for is met within half of this.
  private static let step = MediaDuration.milliseconds(250)
  /// Nobody begins with audio that is about to be dropped.
  private static let margin = MediaDuration.seconds(5)
  /// The audio that stations send at once as somebody tunes in: they do so within this time, and it counts within these
  /// limits. With so much in hand a group waits for the station as rarely as after tuning in.
  private static let burst = MediaDuration.seconds(2)
  private static let headStarts = MediaDuration.seconds(3)...MediaDuration.seconds(20)

  /// The beginning of a packet.
  package struct Mark: Hashable, Sendable {
    /// Its number of bytes before.
    package var place: Int64 = 0
    package var time = MediaDuration.zero
  }

  package struct Title: Hashable, Sendable {
    package var mark: Mark
    package var text: String
  }

  private let longest: MediaDuration
  private let byteLimit: Int64
  package let patience: MediaDuration
  /// Those of kept packets, in order: one in each step.
  private var marks = [Mark()]
  /// After the newest packet.
  package private(set) var end = Mark()
  /// The first of them may have begun before what is kept.
  private var titles: [Title] = []
  private var headStart = Self.headStarts.lowerBound

  package init(
    longest: MediaDuration = Self.longest, byteLimit: Int64 = Self.byteLimit,
    patience: MediaDuration = Self.patience
  ) {
    (self.longest, self.byteLimit, self.patience) = (longest, byteLimit, patience)
  }

  /// The oldest kept packet.
  package var oldest: Mark { marks.first ?? end }

  /// Takes whole packets, and drops the oldest.
  ///
  /// - Parameter elapsed: time since the first packet came.
  package mutating func append(
    _ count: Int, lasting span: MediaDuration, after elapsed: MediaDuration
  ) {
    if let last = marks.last, end.time - last.time >= Self.step { marks.append(end) }
    end = Mark(place: end.place + Int64(count), time: end.time + span)
    if elapsed <= Self.burst {
      let ahead = end.time - elapsed
      headStart = min(max(headStart, ahead), Self.headStarts.upperBound)
    }
    while let first = marks.first,
      end.place - first.place > byteLimit || marks.count > 1 && end.time - marks[1].time > longest
    {
      marks.removeFirst()
    }
    if marks.isEmpty { marks = [end] }
    while titles.count > 1, titles[1].mark.place <= oldest.place { titles.removeFirst() }
  }

  /// Drops all: what comes next is what the station sends by then.
  package mutating func forget() { (marks, titles) = ([end], []) }

  /// The packets from here on have this title.
  package mutating func note(title: String) {
    let text = String(title.prefix(Self.titleLength))
    guard text != titles.last?.text ?? "" else { return }
    titles.append(Title(mark: end, text: text))
    if titles.count > Self.titleLimit { titles.removeFirst() }
  }

  /// Returns the title of the packet before `place`, if it began after `before`.
  package func title(at place: Int64, after before: Int64?) -> String? {
    titles.last { $0.mark.place < max(1, place) && $0.mark.place >= before ?? .min }?.text
  }

  /// Where somebody begins who has just tuned in.
  package var live: MediaDuration { max(oldest.time, end.time - headStart) }

  /// Returns the packet at which playing begins that is to begin at `position`: a kept one.
  package func mark(near position: MediaDuration) -> Mark {
    let least = min(oldest.time + (oldest.place > 0 ? Self.margin : .zero), live)
    let wanted = min(max(position, least), live)
    // A later one must not be beyond what has come.
    let next = marks.firstIndex { $0.time > wanted } ?? marks.count
    guard next > 0 else { return oldest }
    let before = marks[next - 1]
    guard next < marks.count, marks[next].time - wanted < wanted - before.time,
      marks[next].time <= live
    else { return before }
    return marks[next]
  }

  package var stretch: KeptStretch {
    KeptStretch(
      from: oldest.time, live: live,
      titles: titles.filter { !$0.text.isEmpty && $0.mark.time >= oldest.time }.map(\.mark.time))
  }
}
