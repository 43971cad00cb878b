internal import Glibc
internal import NIOCore

extension EventLoop {
  /// Nice value of the loop's thread, below the priority of the music.
  private static var niceness: CInt { 10 }

  /// Lowers the priority of the loop's thread, soon.
  func giveWayToMusic() {
    execute { setpriority(CInt(PRIO_PROCESS.rawValue), 0, Self.niceness) }
  }
}

extension SocketAddress {
  /// Returns the address to bind to. Numbers are not looked up: early at boot, before there is a network, the system's
  /// resolver does not find them.
  static func at(_ address: String, port: Int) throws -> SocketAddress {
    do {
      return try SocketAddress(ipAddress: address, port: port)
    } catch {
      return try .makeAddressResolvingHost(address, port: port)
    }
  }
}

/// Runs tasks on the thread of an event loop, so that no other thread takes part.
final class LoopExecutor: TaskExecutor {
  private let loop: any EventLoop

  init(_ loop: any EventLoop) { self.loop = loop }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    loop.execute { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}

/// Lets the server survive a failed accept, because no descriptor is left or the client has gone: it waits a little and
/// continues.
final class AcceptPause: ChannelDuplexHandler {
  typealias InboundIn = Channel
  typealias OutboundIn = Never
  /// Clients hardly notice it, and a loop that fails at once costs nothing meanwhile.
  private static let pause = TimeAmount.milliseconds(200)
  private var isPausing = false

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    guard error is IOError else { return context.fireErrorCaught(error) }
    guard !isPausing else { return }
    setPausing(true, context.channel)
    context.eventLoop.assumeIsolated().scheduleTask(in: Self.pause) {
      [self, channel = context.channel] in setPausing(false, channel)
    }
  }

  /// Pauses or resumes accepting. SwiftNIO would retry a failed read at once, and for ever; it forgets the socket only
  /// while automatic reading is off.
  private func setPausing(_ pauses: Bool, _ channel: any Channel) {
    isPausing = pauses
    try? channel.syncOptions?.setOption(.autoRead, value: !pauses)
  }

  func read(context: ChannelHandlerContext) { if !isPausing { context.read() } }
}
