import Clock

/// The state of a `PlayoutCursor` at a device frame.
struct PlayoutState {
  enum Mode {
    case silent
    case following
    /// Fades out; silent from device frame `end` on.
    case ending(end: Int64)
  }
  var mode = Mode.silent
  /// Stream position at the device frame of this state; meaningless while silent.
  var position = StreamPosition(frame: 0)
  /// The device frame of the first audible frame since the last silence.
  var startedAt: Int64 = 0
  /// The anchor that playback follows.
  var anchor: Anchor?
  /// Stream frames per device frame.
  var step = 1.0
  /// The device frame from which on `step` applies, and for how many frames it is held if nothing happens.
  var steeredAt: Int64 = 0
  var keptFrames = 0.0
  /// The device frame since which the error is too large to be steered away; `Int64.max` while it is not.
  var farSince = Int64.max

  @_noLocks @_noAllocation
  init() {}

  /// Moves ahead by `frames` device frames.
  @_noLocks @_noAllocation
  mutating func advance(by frames: Int64) {
    position = position.advanced(by: Double(frames) * step)
  }
}

/// The runs that may still be rendered again, so that the cursor can go back to any of their frames.
@safe
struct PlayoutHistory: ~Copyable {
  struct Entry {
    var first: Int64
    var count: Int64
    /// State at the first frame.
    var state: PlayoutState

    /// True if the run sounds and ends after device frame `frame`.
    @_noLocks @_noAllocation
    func sounds(after frame: Int64) -> Bool {
      if case .silent = state.mode { return false }
      return first + count > frame
    }

    /// True if the run continues the stream where `before` ends.
    @_noLocks @_noAllocation
    func continues(_ before: Entry) -> Bool {
      var end = before.state
      end.advance(by: before.count)
      return (state.position - end.position).magnitude < 1
    }

    @_noLocks @_noAllocation
    init(first: Int64, count: Int64, state: PlayoutState) {
      self.first = first
      self.count = count
      self.state = state
    }
  }

  private let entries: UnsafeMutablePointer<Entry>
  /// Entries ever appended, less those removed again; the newest `count` of them are stored.
  private var end = 0
  private(set) var count = 0

  init() {
    unsafe entries = .allocate(capacity: historyCapacity)
  }

  deinit { unsafe entries.deallocate() }

  /// Index 0 is the oldest entry. `index` is below `count`.
  subscript(index: Int) -> Entry {
    @_noLocks @_noAllocation get { unsafe entries[(end - count + index) % historyCapacity] }
  }

  @_noLocks @_noAllocation
  mutating func append(_ entry: Entry) {
    unsafe entries[end % historyCapacity] = entry
    end += 1
    count = min(count + 1, historyCapacity)
  }

  @_noLocks @_noAllocation
  mutating func removeAll() { count = 0 }

  /// Removes the entries that end at or before device frame `frame`.
  @_noLocks @_noAllocation
  mutating func forget(before frame: Int64) {
    while count > 0, self[0].first + self[0].count <= frame { count -= 1 }
  }

  /// Removes everything from device frame `frame` on, and returns the state there; nil if it is not known.
  @_noLocks @_noAllocation
  mutating func cut(at frame: Int64) -> PlayoutState? {
    while count > 0 {
      let entry = self[count - 1]
      end -= 1
      count -= 1
      guard entry.first <= frame else { continue }
      guard frame < entry.first + entry.count else { return nil }
      return restore(entry, at: frame)
    }
    return nil
  }

  @_noLocks @_noAllocation
  private mutating func restore(_ entry: Entry, at frame: Int64) -> PlayoutState {
    let played = frame - entry.first
    if played > 0 {
      var rest = entry
      rest.count = played
      append(rest)
    }
    var state = entry.state
    state.advance(by: played)
    return state
  }
}

/// 750 ms at 192 kHz take 282 runs of a chunk each; every rewind splits one more.
private let historyCapacity = 512
