package import Clock
package import LinuxIO
package import Receiver

/// The ways between a receiver's session and its senders: sockets, or queues within a process. For the session's thread.
package protocol ReceiverLines: AnyObject {
  /// Tells the session what an event of the reactor means for it; `tell` may call everything here.
  func take(_ event: ReactorEvent, _ tell: (ReceiverSession.Input) -> Void)
  func send(_ bytes: [UInt8], to id: Receiver.ConnectionID)
  /// Lets what was sent leave first.
  func close(_ id: Receiver.ConnectionID)
  /// Sends a time request to the host at the other end of a connection. Returns when it left, where that is known at once.
  func sendTimeRequest(
    _ bytes: [UInt8], sequence: UInt32, toHostOf id: Receiver.ConnectionID, port: UInt16
  ) -> LocalTime?
  /// Asks that host for packets of a live stream.
  func sendAsk(_ bytes: [UInt8], toHostOf id: Receiver.ConnectionID, port: UInt16)
}
