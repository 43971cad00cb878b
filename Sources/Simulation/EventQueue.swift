/// Events by true time, then by insertion: a binary heap of indices, so that only those are moved.
struct EventQueue<Event> {
  private struct Entry {
    let time: TrueTime
    let number: UInt64
    /// Index into `events`.
    let place: Int

    func precedes(_ other: Entry) -> Bool {
      time == other.time ? number < other.number : time < other.time
    }
  }

  private var heap: [Entry] = []
  private var events: [Event?] = []
  private var freePlaces: [Int] = []
  private var inserted: UInt64 = 0

  var nextTime: TrueTime? { heap.first?.time }
  var count: Int { heap.count }

  mutating func insert(_ event: Event, at time: TrueTime) {
    inserted += 1
    heap.append(Entry(time: time, number: inserted, place: store(event)))
    var child = heap.count - 1
    while child > 0 {
      let parent = (child - 1) / 2
      guard heap[child].precedes(heap[parent]) else { return }
      heap.swapAt(child, parent)
      child = parent
    }
  }

  mutating func removeFirst() -> (time: TrueTime, event: Event)? {
    guard let first = heap.first, let last = heap.popLast(), let event = events[first.place] else {
      return nil
    }
    events[first.place] = nil
    freePlaces.append(first.place)
    guard !heap.isEmpty else { return (first.time, event) }
    heap[0] = last
    sink()
    return (first.time, event)
  }

  private mutating func store(_ event: Event) -> Int {
    guard let place = freePlaces.popLast() else {
      events.append(event)
      return events.count - 1
    }
    events[place] = event
    return place
  }

  private mutating func sink() {
    var parent = 0
    while true {
      var least = parent
      for child in [2 * parent + 1, 2 * parent + 2] where child < heap.count {
        if heap[child].precedes(heap[least]) { least = child }
      }
      guard least != parent else { return }
      heap.swapAt(parent, least)
      parent = least
    }
  }
}
