package import Clock

/// What a `Reactor` reports. An id that was reported closed, or closed by its owner, occurs in no later event and
/// is never given out again.
package enum ReactorEvent: Hashable, Sendable {
  /// A peer connected; `from` is `nil` for one on this host's file system.
  case accepted(ConnectionID, by: ListenerID, from: SocketAddress?)
  /// The peers wait: no descriptors or no memory are left. The listener tries again by itself.
  case acceptFailed(ListenerID, IOError)
  case connected(ConnectionID)
  case connectFailed(ConnectionID, IOError)
  /// At least one byte, at most `Reactor.readSize` of them.
  case received(ConnectionID, [UInt8])
  /// The queued output had been above the connection's low mark and has fallen to it.
  case drained(ConnectionID)
  case closed(ConnectionID, CloseReason)
  case datagram(DatagramID, Datagram)
  case transmitted(DatagramID, TransmitStamp)
  /// `Waker.wake` was called, once or more often.
  case woken
  case signal(ProcessSignal)
  /// Reading from the descriptor would not wait. Reported at each wait until it has been read.
  case readable(DescriptorID)
}

package enum CloseReason: Hashable, Sendable, CustomStringConvertible {
  /// The peer closed its side.
  case endOfStream
  /// Everything was sent and the peer closed too, after `finish`.
  case finished
  /// More was queued than the connection's limit: the peer takes nothing.
  case outputOverflow
  case failed(IOError)

  package var description: String {
    switch self {
    case .endOfStream: "the peer closed the connection"
    case .finished: "finished"
    case .outputOverflow: "the peer takes no data"
    case .failed(let error): error.text
    }
  }
}

package struct ListenerID: Hashable, Sendable { let token: UInt64 }
package struct ConnectionID: Hashable, Sendable { let token: UInt64 }
package struct DatagramID: Hashable, Sendable { let token: UInt64 }
package struct DescriptorID: Hashable, Sendable { let token: UInt64 }

package struct ConnectionOptions: Hashable, Sendable {
  /// Bytes. A connection with more in its queue is closed; its user keeps below by `queuedBytes`.
  package var outputLimit = 8 << 20
  /// Bytes; see `ReactorEvent.drained`.
  package var lowMark = 64 << 10
  /// Bytes that the kernel takes beyond what it may send at once, so that little lies in front of what is
  /// queued next. `nil` leaves the system's setting, which is no bound.
  package var unsentLimit: Int32? = 32 << 10
  /// Bytes that the kernel takes from the peer before they are read. `nil` leaves the system's setting, which grows to
  /// megabytes.
  package var receiveLimit: Int32?
  /// How long sent data may stay without an answer, or a connection be in the making, before it is given up. `nil` leaves
  /// the system's setting, many minutes: where a peer that answers, but reads nothing, is to be waited for.
  package var answerTimeout: Nanoseconds? = Nanoseconds.seconds(10)
  /// How long a peer may take, after `finish`, to take what was sent last and to close its side.
  package var farewellTime = Nanoseconds.seconds(3)
  /// A peer that was silent for as long is asked for a sign of life, once a second. It is given up when it has been silent
  /// for `answerTimeout`, or has left ten questions unanswered where that is nil. Whole seconds, several less than
  /// `answerTimeout`: networks lose questions too.
  package var keepAlive = Nanoseconds.seconds(5)
  package var trafficClass = TrafficClass.standard

  package init() {}
}
