import ExpatFeeds
import FFmpegSource
import House
import LinuxIO
import PlaylistFormats
import Sender

/// Questions to a media server of UPnP, for the program that asks them. They go to the host and port of the configuration,
/// whatever the server tells. The program confines itself for good before it looks at an answer.
enum ShelfRequest {
  private static let service = "urn:schemas-upnp-org:service:ContentDirectory:1"

  private struct Failure: Error {
    let reason: String
  }

  static func answer(_ server: MediaServer, _ question: ShelfQuestion) -> WorkerAnswer {
    do throws(Failure) {
      let request = try request(server, question)
      let time = question == .name ? ServerFinder.nameTime : ServerRequest.listTime
      let bytes = try bytes(server, request, limit: ServerRequest.listLimit, time: time)
      return answer(bytes, server, question)
    } catch {
      return .broken(error.reason)
    }
  }

  static func picture(_ server: MediaServer, _ path: String, _ size: Int) -> WorkerAnswer {
    do throws(Failure) {
      let bytes = try bytes(
        server, head(server, "GET", path), limit: Picture.sizeLimit,
        time: ServerRequest.pictureTime)
      guard let answer = HTTPAnswer(bytes), answer.status == 200 else {
        return .broken("this is no picture")
      }
      return ServerRequest.picture(answer.body, size)
    } catch {
      return .broken(error.reason)
    }
  }

  /// Reads an answer of HTTP.
  static func answer(
    _ bytes: [UInt8], _ server: MediaServer, _ question: ShelfQuestion
  ) -> WorkerAnswer {
    guard bytes.count < ServerRequest.listLimit else {
      return .broken("it is larger than \(ServerRequest.listLimit >> 20) MiB")
    }
    guard let answer = HTTPAnswer(bytes) else {
      return .broken("this is no answer of HTTP, or it broke off")
    }
    // Errors of a ContentDirectory come with status 500.
    let isCall = question != .description && question != .name
    guard answer.status == 200 || answer.status == 500 && isCall else {
      return .broken("it answers HTTP \(answer.status)")
    }
    do throws(MarkupFault) {
      switch question {
      case .description:
        let control = try DeviceDescription(answer.body).control
        return server.address.path(of: control).map { .done($0) }
          ?? .broken("it sends to another address, which nobody follows")
      case .name: return .done(try DeviceDescription(answer.body).name)
      case .capabilities: return .done(try ShelfAnswer(answer.body).capabilities)
      case .search, .browse:
        let found = try ShelfAnswer(answer.body)
        var page = try ShelfPage(found.result) { server.address.path(of: $0) }
        page.total = found.total
        return .shelf(page)
      }
    } catch {
      return .broken(error.description)
    }
  }

  // MARK: - Requests

  private static func request(
    _ server: MediaServer, _ question: ShelfQuestion
  ) throws(Failure) -> [UInt8] {
    func page(_ offset: Int) -> [(String, String)] {
      [
        ("Filter", "*"), ("StartingIndex", "\(offset)"),
        ("RequestedCount", "\(ShelfPage.objectLimit)"), ("SortCriteria", ""),
      ]
    }
    switch question {
    case .description, .name: return try head(server, "GET", server.address.path)
    case .capabilities(let control):
      return try call(server, control, "GetSearchCapabilities", [])
    case .search(let control, let offset):
      let wanted = "upnp:class derivedfrom \"object.item.audioItem\""
      return try call(
        server, control, "Search",
        [("ContainerID", "0"), ("SearchCriteria", wanted)] + page(offset))
    case .browse(let control, let container, let offset):
      return try call(
        server, control, "Browse",
        [("ObjectID", container), ("BrowseFlag", "BrowseDirectChildren")] + page(offset))
    }
  }

  private static func call(
    _ server: MediaServer, _ path: String, _ name: String, _ values: [(String, String)]
  ) throws(Failure) -> [UInt8] {
    let envelope = "http://schemas.xmlsoap.org/soap/"
    let content = values.map { "<\($0.0)>\(escaped($0.1))</\($0.0)>" }.joined()
    let body = Array(
      ("<?xml version=\"1.0\" encoding=\"utf-8\"?>\r\n<s:Envelope xmlns:s=\"\(envelope)envelope/\" "
        + "s:encodingStyle=\"\(envelope)encoding/\"><s:Body><u:\(name) xmlns:u=\"\(service)\">"
        + "\(content)</u:\(name)></s:Body></s:Envelope>\r\n").utf8)
    let lines = [
      "Content-Type: text/xml; charset=\"utf-8\"", "Content-Length: \(body.count)",
      "SOAPACTION: \"\(service)#\(name)\"",
    ]
    return try head(server, "POST", path, lines) + body
  }

  /// Only what was checked is part of it.
  private static func head(
    _ server: MediaServer, _ method: String, _ path: String, _ more: [String] = []
  ) throws(Failure) -> [UInt8] {
    guard server.address.origin(at: path) != nil else {
      throw Failure(reason: "its path is none")
    }
    let lines = [
      "\(method) \(path) HTTP/1.1", "Host: \(server.address.authority)", "User-Agent: tutti",
      "Connection: close",
    ]
    return Array((lines + more + ["", ""]).joined(separator: "\r\n").utf8)
  }

  private static func escaped(_ text: String) -> String {
    text.unicodeScalars.reduce(into: "") { escaped, scalar in
      switch scalar {
      case "&": escaped += "&amp;"
      case "<": escaped += "&lt;"
      case ">": escaped += "&gt;"
      case "\"": escaped += "&quot;"
      default: escaped.unicodeScalars.append(scalar)
      }
    }
  }

  /// Reads an answer, and confines the process.
  private static func bytes(
    _ server: MediaServer, _ request: [UInt8], limit: Int, time: Duration
  ) throws(Failure) -> [UInt8] {
    let address = server.address
    let post: AddressPost
    do throws(MediaError) {
      post = try AddressPost(
        request,
        to: AddressPost.Server(
          host: address.host, port: address.port, isSecure: address.isSecure), limit: limit,
        time: time, reach: server.reach)
    } catch .unreadable(_, let reason) {
      throw Failure(reason: reason)
    } catch {
      throw Failure(reason: "FFmpeg cannot be loaded")
    }
    if let reason = ConfinedService.confine() { throw Failure(reason: reason) }
    return post.answer
  }
}
