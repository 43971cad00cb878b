import Testing

@testable import AvahiDiscovery

@Suite struct ServiceNewsTests {
  private let news = ServiceNews(identifierKey: "id") {}

  private func service(_ number: Int, port: UInt16 = 1) -> DiscoveredService {
    DiscoveredService(
      name: "room \(number)", hostName: "host.local", addresses: [], port: port,
      text: [TextPair("id", "\(number)")], interfaces: [])
  }

  @Test func `of many services each is told of, however long nobody looked`() {
    for number in 0..<5000 { news.post(.found(service(number))) }
    for number in 0..<5000 { news.post(.updated(service(number, port: 2))) }
    #expect(news.take() == (0..<5000).map { .found(service($0, port: 2)) })
    #expect(news.take() == [])
  }

  @Test func `what came and went while nobody looked leaves nothing`() {
    for number in 0..<10_000 {
      news.post(.found(service(number)))
      news.post(.lost(service(number)))
    }
    #expect(news.take() == [])
  }

  @Test func `what is known is updated and lost`() {
    news.post(.found(service(1)))
    news.post(.found(service(2)))
    #expect(news.take().count == 2)
    news.post(.lost(service(1)))
    news.post(.found(service(1, port: 2)))
    news.post(.updated(service(2, port: 3)))
    news.post(.lost(service(2)))
    #expect(news.take() == [.updated(service(1, port: 2)), .lost(service(2))])
    news.post(.lost(service(2)))
    #expect(news.take() == [])
  }

  @Test func `of the daemon the latest is told`() {
    for _ in 0..<1000 {
      news.post(.daemonAppeared)
      news.post(.settled)
      news.post(.daemonVanished("gone"))
    }
    #expect(news.take() == [.settled, .daemonVanished("gone")])
  }
}
