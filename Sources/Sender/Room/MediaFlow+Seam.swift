import Audio
import Clock
import WireProtocol

/// Chooses between two encodings of the music, where there are two. A room changes from one to the other at a seam: the end
/// of what it was sent.
extension MediaFlow {
  /// A packet as a room is sent it, with those that prepare for it.
  struct Portion {
    var entry: PacketStore.Entry
    var bytes: [UInt8]
    /// The number of the packet to send next.
    var next: UInt64
    /// The encoding that the room gets from here on.
    var form = PacketForm.whole
    /// Where the room changes to another encoding, from the end of what it has to the first frame behind that; nil if it
    /// does not.
    var place: ClosedRange<MediaTime>?

    init(_ entry: PacketStore.Entry) {
      (self.entry, bytes) = (entry, entry.bytes)
      next = entry.sequence + 1
      form = entry.form == .small ? .small : .whole
    }
  }

  /// Returns what to send for `entry`; nil if the room gets nothing of it.
  func portion(for entry: PacketStore.Entry, in store: PacketStore) -> Portion? {
    guard entry.form != .only else { return continued(entry) }
    let next = owed ?? wanted
    if let end = heldEnd(at: entry) {
      // The connection may have broken at a change, of which the room has one side or a part.
      if let resumed = changed(to: next, from: end, at: entry, in: store) { return resumed }
    }
    guard entry.form == form else { return nil }
    if form != next, let changed = changed(to: next, from: place(of: entry), at: entry, in: store) {
      return changed
    }
    return continued(entry)
  }

  /// The end of what a room holds that has come back, before its first packet, if `entry` is of the same generation.
  private func heldEnd(at entry: PacketStore.Entry) -> MediaTime? {
    sentGeneration == nil && heldGeneration == entry.generation ? sentEnd : nil
  }

  /// The room has all up to the end of what was sent, and nothing behind that.
  private func place(of entry: PacketStore.Entry) -> MediaTime {
    guard let sentEnd, entry.generation == sentGeneration ?? heldGeneration ?? entry.generation
    else { return entry.mediaTime }
    return max(sentEnd, entry.mediaTime)
  }

  /// Returns the packets with which the room goes on in another encoding; nil where it cannot. The others get none of
  /// them, so they have numbers that were left free.
  private func changed(
    to form: PacketForm, from place: MediaTime, at entry: PacketStore.Entry, in store: PacketStore
  ) -> Portion? {
    guard var seam = store.seam(to: form, at: place, near: entry) else { return nil }
    // A room that has come back has the packet before this one, and its decoder is prepared.
    if sentGeneration == nil, seam.first.mediaTime == place { seam.preparing = [] }
    let count = UInt64(seam.preparing.count)
    let number = max(seam.first.sequence, nextSequence + count)
    guard seam.next.map({ number < $0 }) ?? true,
      let begun = seam.first.bytes(from: place, numbered: number)
    else { return nil }
    var portion = Portion(seam.first)
    (portion.bytes, portion.place) = ([], place...max(place, begun.start))
    for (index, before) in seam.preparing.enumerated() {
      guard
        let bytes = before.preparing(begun.start, numbered: number - count + UInt64(index))
      else { return nil }
      portion.bytes += bytes
    }
    portion.bytes += begun.bytes
    portion.next = number + 1
    return portion
  }

  /// Returns the packet; nil if the room has it in another encoding. If it has a part of that, it gets the rest.
  private func continued(_ entry: PacketStore.Entry) -> Portion? {
    var portion = Portion(entry)
    let place = place(of: entry)
    guard place > entry.mediaTime, entry.form != .only || form == .small else { return portion }
    guard entry.end > place, let rest = entry.bytes(from: place, numbered: entry.sequence) else {
      return nil
    }
    portion.bytes = rest.bytes
    return portion
  }
}

extension PacketStore.Entry {
  /// Returns the packet without the frames before `time`, which are decoded and not heard; and where it begins then. Nil
  /// if nothing is left.
  func bytes(
    from time: MediaTime, numbered number: UInt64
  ) -> (bytes: [UInt8], start: MediaTime)? {
    guard var packet else { return nil }
    let frame = format.audio.duration(ofFrames: 1).flicks
    let dropped = max(0, (time.flicks - packet.mediaTime.flicks + frame - 1) / frame)
    guard dropped == 0 || dropped < Int64(packet.encoded.frameCount) else { return nil }
    packet.encoded.skippedFrames += Int(dropped)
    packet.encoded.frameCount -= Int(dropped)
    packet.mediaTime = packet.mediaTime + MediaDuration(flicks: dropped * frame)
    packet.sequence = number
    return (MediaMessage.packet(packet).encoded(), packet.mediaTime)
  }

  /// Returns the packet as one that only prepares the decoder for what sounds at `time`.
  func preparing(_ time: MediaTime, numbered number: UInt64) -> [UInt8]? {
    guard var packet else { return nil }
    (packet.mediaTime, packet.sequence, packet.endsStream) = (time, number, false)
    (packet.encoded.skippedFrames, packet.encoded.frameCount) = (0, 0)
    return MediaMessage.packet(packet).encoded()
  }

  private var packet: AudioPacket? { AudioPacket(message: bytes) }
}
