import Clock
import Testing

@testable import Simulation

/// Tests that the simulation's links treat packets according to their qualities.
@Suite struct NetworkLinkTests {
  private static func link(_ change: (inout LinkQuality) -> Void) -> NetworkLink {
    var quality = LinkQuality()
    change(&quality)
    return NetworkLink(quality, random: SplitMix64(seed: 5))
  }

  private static func arrivals(_ link: inout NetworkLink, every span: Nanoseconds, _ count: Int)
    -> [TrueTime]
  {
    (0..<count).map {
      link.arrival(ofDatagram: 1_000, at: .zero + Nanoseconds(Int64($0) * span.count))
    }
  }

  @Test func `a link that keeps order holds up what is behind a packet that is held up`() {
    var (free, ordered) = (
      Self.link { $0.spikes = [(0.1, 20e-3)] },
      Self.link {
        $0.spikes = [(0.1, 20e-3)]
        $0.keepsOrder = true
      }
    )
    let scattered = Self.arrivals(&free, every: .milliseconds(1), 1_000)
    #expect(zip(scattered, scattered.dropFirst()).contains { $0 > $1 })
    let inOrder = Self.arrivals(&ordered, every: .milliseconds(1), 1_000)
    #expect(zip(inOrder, inOrder.dropFirst()).allSatisfy { $0 <= $1 })
    // Nothing arrives earlier because of it.
    #expect(zip(scattered, inOrder).allSatisfy { $0 <= $1 })
  }

  @Test func `losses come in bursts of the length that was asked for, and as often`() {
    var link = Self.link {
      $0.loss = 0.05
      $0.lossBurst = 5
    }
    let lost = (0..<200_000).map { link.isLost(at: .zero + .milliseconds(5 * $0)) }
    let bursts = zip([false] + lost, lost).count { !$0 && $1 }
    let count = lost.count { $0 }
    #expect((0.045...0.055).contains(Double(count) / 200_000))
    #expect((4.5...5.5).contains(Double(count) / Double(bursts)))
  }

  @Test func `a burst of losses does not wait for packets on a silent link`() {
    var link = Self.link {
      $0.loss = 0.05
      $0.lossBurst = 5
    }
    let lost = (0..<200_000).map { link.isLost(at: .zero + .milliseconds(200 * $0)) }
    let pairs = zip(lost, lost.dropFirst()).count { $0 && $1 }
    // Losses follow each other no more often than by chance.
    #expect((0.03...0.07).contains(Double(pairs) / Double(lost.count { $0 })))
    #expect(link.retransmissions(after: 10_000).filter { $0 > .seconds(3) }.count < 5)
  }

  @Test func `datagrams that count wait for the link's rate`() {
    var link = Self.link {
      $0.rate = 100_000
      $0.countsDatagrams = true
    }
    let arrivals = Self.arrivals(&link, every: .zero, 100)
    // A hundred times 1028 bytes at 100 000 bytes a second.
    #expect(((arrivals.last ?? .zero) - .zero).seconds > 1.02)
    var fast = Self.link { $0.rate = 100_000 }
    let others = Self.arrivals(&fast, every: .zero, 100)
    #expect(((others.last ?? .zero) - .zero).seconds < 0.02)
  }
}

extension NetworkLink {
  /// Returns the extra delays of segments that are sent every half second.
  fileprivate mutating func retransmissions(after count: Int64) -> [Nanoseconds] {
    (0..<count).map { retransmissionDelay(at: .zero + .seconds(50_000) + .milliseconds(500 * $0)) }
  }
}
