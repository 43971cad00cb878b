package import Clock

/// The properties of one direction of a room's link.
package struct LinkQuality: Sendable {
  /// Smallest delay of any packet.
  package var delay = Nanoseconds.microseconds(50)
  /// Additional delay, evenly distributed from 0 to this.
  package var jitter = Nanoseconds.zero
  /// Additional delay, gamma distributed: shape, and scale in seconds.
  package var noise = (shape: 2.0, scale: 3e-6)
  /// Additional rare spikes: their probability, and their mean in seconds.
  package var spikes = [(chance: 0.02, mean: 40e-6)]
  /// A queue that other traffic fills in bursts; nil for none.
  package var traffic: Traffic?
  /// Share of lost packets; a lost TCP segment comes late instead.
  package var loss = 0.0
  /// Mean number of consecutive lost packets; above one, losses follow Gilbert's model.
  package var lossBurst = 1.0
  /// Share of duplicated datagrams.
  package var duplication = 0.0
  package var reordering = 0.0
  /// Bytes per second.
  package var rate = 12.5e6
  /// Bytes that pass at once after a silence, as through a shaper with a bucket of tokens.
  package var burst = 0
  /// Longest wait for what `rate` lets through; the senders keep what is more, as TCP does. Nil for no bound.
  package var queue: Nanoseconds?
  /// True if datagrams wait behind the bytes of streams, as in a router with one queue.
  package var hasOneQueue = false
  /// True if a delayed packet delays those behind it, as on a radio that repeats it. Packets that `reordering` picks
  /// come late all the same.
  package var keepsOrder = false
  /// True if datagrams take their part of `rate`, and wait for earlier packets on the link.
  package var countsDatagrams = false
  /// Share of packets that wait for a radio's next beacon, because the room's radio sleeps.
  package var powerSave = 0.0
  /// Mean seconds between two stalls of 0.1 to 0.3 s, in which nothing passes; nil for none.
  package var stallInterval: Double?

  package init() {}

  /// Bursts of other traffic, which are more frequent in busy times.
  package struct Traffic: Sendable {
    /// Bursts per second in busy and in quiet times.
    package var bursts: (busy: Double, quiet: Double)
    /// Mean lengths of busy and quiet times, in seconds.
    package var spans: (busy: Double, quiet: Double)
    /// Mean length of a burst in seconds; its distribution is heavy tailed.
    package var work: Double
    /// Longest wait of a packet, in seconds.
    package var limit = 0.1

    package init(
      bursts: (busy: Double, quiet: Double), spans: (busy: Double, quiet: Double), work: Double
    ) {
      self.bursts = bursts
      self.spans = spans
      self.work = work
    }
  }
}

/// Both directions, as the room sees them: `down` is from the sender to the room.
package struct PathQuality: Sendable {
  package var up: LinkQuality
  package var down: LinkQuality

  package init(up: LinkQuality, down: LinkQuality) {
    self.up = up
    self.down = down
  }

  /// An idle switch, with kernel stamps.
  package static var wired: PathQuality { PathQuality(up: LinkQuality(), down: LinkQuality()) }

  /// Switches that hold each packet for up to a fifth of a millisecond, and machines that are a little late.
  package static var switches: PathQuality {
    var link = LinkQuality()
    link.delay = .microseconds(100)
    link.jitter = .microseconds(200)
    link.noise = (2, 12e-6)
    link.spikes = [(0.03, 1e-3)]
    return PathQuality(up: link, down: link)
  }

  /// An old access point, which transmits 20 Mbit/s in order and drops nothing.
  package static var slowRadio: PathQuality {
    var path = PathQuality.wired
    path.down.delay = .milliseconds(1)
    path.up.delay = .milliseconds(1)
    path.down.rate = 2.5e6
    path.down.hasOneQueue = true
    return path
  }

  /// A wire that downloads fill at times.
  package static var wiredLoad: PathQuality {
    var path = PathQuality.wired
    path.down.traffic = .init(bursts: (600, 30), spans: (3, 6), work: 0.2e-3)
    path.down.traffic?.limit = 1.2e-3
    path.up.traffic = .init(bursts: (200, 10), spans: (3, 6), work: 0.2e-3)
    path.up.traffic?.limit = 1.2e-3
    return path
  }

  /// Radio with contention, retries and other stations.
  package static var wifi: PathQuality {
    var link = LinkQuality()
    link.delay = .microseconds(900)
    link.noise = (1.2, 0.5e-3)
    link.spikes = [(0.03, 5e-3), (0.005, 40e-3)]
    link.loss = 0.01
    link.rate = 2.5e6
    var path = PathQuality(up: link, down: link)
    path.down.traffic = .init(bursts: (20, 8), spans: (3, 6), work: 6e-3)
    path.up.traffic = .init(bursts: (8, 3), spans: (3, 6), work: 5e-3)
    return path
  }

  /// Radio whose downlink is full for ten seconds at a time.
  package static var wifiBad: PathQuality {
    var path = PathQuality.wifi
    path.down.traffic = .init(bursts: (90, 16), spans: (10, 15), work: 10.6e-3)
    path.up.traffic = .init(bursts: (50, 5), spans: (10, 15), work: 6e-3)
    path.down.loss = 0.02
    path.down.duplication = 0.01
    path.down.reordering = 0.02
    return path
  }

  /// Radio of a room that lets most packets to it wait for a beacon.
  package static var wifiPowerSave: PathQuality {
    var path = PathQuality.wifi
    path.down.powerSave = 0.6
    return path
  }
}

/// One direction of a link in operation. Its calls must be in order of time.
package struct NetworkLink {
  var quality: LinkQuality
  private var random: SplitMix64
  private var waiting = 0.0
  private var updated = 0.0
  private var nextBurst = 0.0
  private var isBusy = false
  private var nextChange = 0.0
  /// Time at which the last byte given to the link so far has left.
  private var free = TrueTime.zero
  /// Newest arrival, for a link that keeps order.
  private var lastArrival = TrueTime.zero
  private var isLosing = false
  private var nextStall = 0.0
  private var stalledUntil = 0.0
  /// Time of the last decision about a loss.
  private var lastDraw = TrueTime.zero

  package init(_ quality: LinkQuality, random: SplitMix64) {
    self.quality = quality
    self.random = random
    if let interval = quality.stallInterval {
      nextStall = self.random.exponential(mean: interval)
    }
  }

  /// True if a packet sent at `time` is lost.
  package mutating func isLost(at time: TrueTime) -> Bool {
    guard quality.loss > 0 else { return false }
    guard quality.lossBurst > 1 else { return random.chance(quality.loss) }
    let end = 1 / quality.lossBurst
    let begin = end * quality.loss / (1 - quality.loss)
    // Acts as if a packet had been sent every few milliseconds: a burst passes on a silent link too.
    let steps = max(1, min(Int((time - lastDraw).seconds / Self.burstStep), Self.mostSteps))
    lastDraw = max(lastDraw, time)
    let memory = (0..<steps).reduce(1.0) { product, _ in product * (1 - end - begin) }
    isLosing = random.chance(quality.loss + ((isLosing ? 1 : 0) - quality.loss) * memory)
    return isLosing
  }

  /// Seconds of sound in a packet of a live stream.
  private static let burstStep = 5e-3
  /// After this many steps, the state no longer depends on an earlier burst.
  private static let mostSteps = 200

  mutating func isDuplicated() -> Bool {
    quality.duplication > 0 && random.chance(quality.duplication)
  }
  mutating func isReordered() -> Bool {
    quality.reordering > 0 && random.chance(quality.reordering)
  }
  /// Returns a random length up to `limit` bytes, because TCP sends what it has.
  mutating func segmentLength(atMost limit: Int) -> Int {
    limit <= 64 ? limit : 1 + Int(random.next() % UInt64(min(limit, 16 << 10)))
  }

  /// Returns the delay of a packet sent at `time`, without the time for its own bytes.
  mutating func delay(at time: TrueTime) -> Nanoseconds {
    var seconds = random.gamma(shape: quality.noise.shape, scale: quality.noise.scale)
    for spike in quality.spikes where random.chance(spike.chance) {
      seconds += min(0.1, random.exponential(mean: spike.mean))
    }
    if quality.jitter > .zero { seconds += quality.jitter.seconds * random.unit() }
    if let traffic = quality.traffic { seconds += queue(traffic, at: time.seconds) }
    if let interval = quality.stallInterval { seconds += stall(every: interval, at: time.seconds) }
    if quality.powerSave > 0, random.chance(quality.powerSave) {
      seconds +=
        Self.beaconInterval - time.seconds.truncatingRemainder(dividingBy: Self.beaconInterval)
    }
    return quality.delay + Nanoseconds(seconds: seconds)
  }

  /// Seconds between two beacons of an access point: 100 units of 1024 µs.
  private static let beaconInterval = 0.1024

  private mutating func stall(every interval: Double, at time: Double) -> Double {
    if time > nextStall {
      stalledUntil = nextStall + random.uniform(0.1...0.3)
      nextStall = stalledUntil + random.exponential(mean: interval)
    }
    return max(0, stalledUntil - time)
  }

  /// Returns how long a datagram waits behind bytes given to the link before `time`.
  func backlog(at time: TrueTime) -> Nanoseconds {
    quality.hasOneQueue ? max(.zero, free - time) : .zero
  }

  /// True if so much that was given to the link before `time` waits that it seems to be down.
  func isClogged(at time: TrueTime) -> Bool { free - time > .seconds(1) }

  /// Returns when the queue has space again; nil if it has.
  func nextSpace(at time: TrueTime) -> TrueTime? {
    guard let queue = quality.queue, free - time > queue else { return nil }
    return free + -queue
  }

  /// Returns when the last of `count` bytes given to the link at `time` leaves.
  mutating func departure(of count: Int, at time: TrueTime) -> TrueTime {
    let saved = Nanoseconds(seconds: Double(quality.burst) / quality.rate)
    free = max(free, time + -saved) + Nanoseconds(seconds: Double(count) / quality.rate)
    return max(free, time)
  }

  /// Returns when a datagram that is not lost arrives.
  package mutating func arrival(ofDatagram count: Int, at time: TrueTime) -> TrueTime {
    let start =
      quality.countsDatagrams
      ? departure(of: count + Self.headers, at: time) : time + backlog(at: time)
    let arrival = inOrder(start + delay(at: time))
    return isReordered() ? arrival + Nanoseconds(seconds: random(in: 0...0.03)) : arrival
  }

  /// Bytes of the IP and UDP headers.
  private static let headers = 28

  /// Returns the arrival of a packet that would arrive at `time` if no earlier one were delayed.
  mutating func inOrder(_ time: TrueTime) -> TrueTime {
    guard quality.keepsOrder else { return time }
    lastArrival = max(lastArrival, time)
    return lastArrival
  }

  /// Returns the delay of retransmitting a segment that was sent at `time`, if it is lost: about 200 ms, doubled for
  /// each further loss.
  mutating func retransmissionDelay(at time: TrueTime) -> Nanoseconds {
    var wait = 0.2
    var sum = 0.0
    var isMissed = self.isLost(at: time)
    while isMissed, wait < 5 {
      sum += wait
      wait *= 2
      // No burst of losses lasts that long.
      isMissed = random.chance(quality.loss)
    }
    return Nanoseconds(seconds: sum)
  }

  mutating func random(in range: ClosedRange<Double>) -> Double { random.uniform(range) }

  private mutating func queue(_ traffic: LinkQuality.Traffic, at time: Double) -> Double {
    while min(nextBurst, nextChange) <= time {
      let event = min(nextBurst, nextChange)
      drain(to: event)
      if nextChange <= nextBurst {
        isBusy.toggle()
        nextChange += random.exponential(mean: isBusy ? traffic.spans.busy : traffic.spans.quiet)
        nextBurst = event
      } else {
        let shape = 1.8
        waiting += traffic.work * (shape - 1) / shape * (1 + random.pareto(shape: shape))
        waiting = min(waiting, traffic.limit)
      }
      let rate = isBusy ? traffic.bursts.busy : traffic.bursts.quiet
      nextBurst = event + random.exponential(mean: 1 / rate)
    }
    drain(to: time)
    return waiting
  }

  private mutating func drain(to time: Double) {
    waiting = max(0, waiting - max(0, time - updated))
    updated = max(updated, time)
  }
}
