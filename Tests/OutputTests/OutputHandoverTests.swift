import Testing

@testable import Output

@Suite struct OutputHandoverTests {
  private let handover = OutputHandover<String> {}

  private func open(_ chain: String) {
    handover.offer(chain)
    handover.control.postOpened(device)
  }

  private func news() -> [String] {
    handover.takeNews().map { news in
      switch news {
      case .opened(let chain): "opened \(chain)"
      case .unavailable(let reason): "unavailable: \(reason)"
      case .lost: "lost"
      case .ended(let reason): "ended: \(reason)"
      }
    }
  }

  private let device = DeviceDescription(
    device: "hw:1", identity: "card", sampleRate: 48_000, channelCount: 2, format: .int16,
    periodFrames: 480, ringFrames: 4800, leadFrames: 4800, startFrames: 480, canRewind: true,
    positionTime: .reading, positionStep: 1)

  @Test func `a device is reported when it opens and when it is lost`() {
    #expect(news() == [])
    open("a")
    #expect(news() == ["opened a"])
    #expect(news() == [])
    handover.control.post(.lost(code: -19))
    #expect(news() == ["lost"])
    open("b")
    #expect(news() == ["opened b"])
  }

  @Test func `a device that went and came while nobody looked is there`() {
    open("a")
    handover.control.post(.lost(code: -19))
    open("b")
    #expect(news() == ["opened b"])
    #expect(news() == [])
    handover.control.post(.lost(code: -19))
    #expect(news() == ["lost"])
  }

  @Test func `a device that came and went while nobody looked is lost`() {
    open("a")
    handover.control.post(.lost(code: -19))
    #expect(news() == ["opened a", "lost"])
  }

  @Test func `the loss of a device counts for that one, also where its successor was taken before`()
  {
    open("a")
    #expect(news() == ["opened a"])
    handover.control.post(.lost(code: -19))
    handover.offer("b")
    #expect(news() == ["opened b"])
    handover.control.postOpened(device)
    #expect(news() == [])
  }

  @Test func `a change is reported even if its event could not be posted`() {
    for _ in 0..<100 { handover.control.post(.underrun) }
    open("a")
    #expect(news() == ["opened a"])
    for _ in 0..<100 { handover.control.post(.underrun) }
    handover.control.post(.lost(code: -19))
    #expect(news() == ["lost"])
    for _ in 0..<100 { handover.control.post(.underrun) }
    handover.control.postFailure("it is gone", .unavailable)
    #expect(news() == ["unavailable: it is gone"])
    for _ in 0..<100 { handover.control.post(.underrun) }
    handover.control.postFailure("the disk is full", .ended)
    #expect(news() == ["ended: the disk is full"])
    #expect(news() == [])
  }

  @Test func `each reason is told once, and again after the device was there`() {
    for (reason, told) in [("x", ["unavailable: x"]), ("x", []), ("y", ["unavailable: y"])] {
      handover.control.postFailure(reason, .unavailable)
      #expect(news() == told)
    }
    open("a")
    handover.control.post(.lost(code: -19))
    handover.control.postFailure("y", .unavailable)
    #expect(news() == ["opened a", "lost", "unavailable: y"])
  }
}
