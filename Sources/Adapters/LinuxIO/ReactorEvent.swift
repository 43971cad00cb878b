package import Clock

/// An event of a `Reactor`. An id that was reported closed, or closed by its owner, occurs in no later event and is
/// never reused.
package enum ReactorEvent: Hashable, Sendable {
  /// A peer connected; `from` is `nil` for one on this host's file system.
  case accepted(ConnectionID, by: ListenerID, from: SocketAddress?)
  /// No descriptors or no memory are left, and the peers wait. The listener tries again by itself.
  case acceptFailed(ListenerID, IOError)
  case connected(ConnectionID)
  case connectFailed(ConnectionID, IOError)
  /// At least one byte, at most `Reactor.readSize`.
  case received(ConnectionID, [UInt8])
  /// The queued output was above the connection's low mark and has fallen to it.
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
  /// After `finish`: everything was sent, and the peer closed too or `farewellTime` is over.
  case finished
  /// More was queued than the connection's limit, or bytes were still queued at the end of `farewellTime`: the peer
  /// takes nothing.
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
  /// Bytes. A connection with more in its queue is closed; its user stays below this with `queuedBytes`.
  package var outputLimit = 8 << 20
  /// Bytes; see `ReactorEvent.drained`.
  package var lowMark = 64 << 10
  /// Bytes that the kernel takes beyond those that it may send at once, so that few lie in front of those queued next.
  /// `nil` keeps the system's setting, which is no bound.
  package var unsentLimit: Int32? = 32 << 10
  /// Bytes that the kernel takes from the peer before they are read. `nil` keeps the system's setting, which grows to
  /// megabytes.
  package var receiveLimit: Int32?
  /// Timeout of sent data without an answer, and of connecting. `nil` keeps the system's setting of many minutes, for a
  /// peer that answers but may read nothing for long.
  package var answerTimeout: Nanoseconds? = Nanoseconds.seconds(10)
  /// Time that a peer has, after `finish`, to take the last bytes and to close its side.
  package var farewellTime = Nanoseconds.seconds(3)
  /// Silence after which a peer is asked for a sign of life, once a second. The connection is given up after a silence
  /// of `answerTimeout`, or after ten unanswered questions if that is nil. Whole seconds, several less than
  /// `answerTimeout`, because networks lose questions too.
  package var keepAlive = Nanoseconds.seconds(5)
  package var trafficClass = TrafficClass.standard

  package init() {}
}
