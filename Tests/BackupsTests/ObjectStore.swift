import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import Synchronization

@testable import Backups

/// A small store of objects on a port of this machine, which takes what an S3-compatible one takes of `S3Place`.
final class ObjectStore: Sendable {
    struct State {
        var objects: [String: [UInt8]] = [:]
        var uploads: [String: [Int: [UInt8]]] = [:]
        var requests: [String] = []
        /// How many of the next requests are answered 503.
        var busy = 0
        /// The number of the part that is refused for good.
        var refusedPart: Int?
        /// How many bytes of an object are sent before the connection is closed, once.
        var cutAfter: Int?
        var largestBody = 0
    }

    static let account = SignatureV4.Account(accessKey: "id", secretKey: "a secret of this test")
    static let bucket = "backups"
    let state = Mutex(State())
    private let channel: any Channel

    var port: Int { channel.localAddress?.port ?? 0 }

    private init(_ channel: any Channel) { self.channel = channel }

    static func with(_ body: (ObjectStore) async throws -> Void) async throws {
        let box = Mutex<ObjectStore?>(nil)
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline()
                    try channel.pipeline.syncOperations.addHandler(ObjectHandler { box.withLock(\.self) })
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let store = ObjectStore(channel)
        box.withLock { $0 = store }
        let result: Result<Void, any Error>
        do { result = .success(try await body(store)) } catch { result = .failure(error) }
        try await channel.close()
        try result.get()
    }

    struct Answer {
        var status = HTTPResponseStatus.ok
        var body: [UInt8] = []
        var tag: String?
        var cutAfter: Int?

        init(_ status: HTTPResponseStatus = .ok, _ text: String = "") {
            self.status = status
            body = Array(text.utf8)
        }
    }

    func answer(_ head: HTTPRequestHead, _ body: [UInt8]) -> Answer {
        guard let components = URLComponents(string: head.uri), isSigned(head, components, body) else {
            return Answer(.forbidden, "<Error><Code>SignatureDoesNotMatch</Code><Message>no</Message></Error>")
        }
        let query = Dictionary(
            (components.queryItems ?? []).map { ($0.name, $0.value ?? "") }, uniquingKeysWith: { first, _ in first })
        let key = String(components.path.dropFirst(Self.bucket.count + 2))
        return state.withLock { state in
            state.requests.append("\(head.method.rawValue) \(key)")
            state.largestBody = max(state.largestBody, body.count)
            if state.busy > 0 {
                state.busy -= 1
                return Answer(.serviceUnavailable, "<Error><Code>SlowDown</Code></Error>")
            }
            return switch (head.method, query["uploadId"]) {
            case (.GET, _) where key.isEmpty: Self.list(&state, query)
            case (.GET, _): Self.get(&state, key)
            case (.POST, nil): Self.begin(&state, key)
            case (.POST, let upload?): Self.complete(&state, key, upload, String(decoding: body, as: UTF8.self))
            case (.PUT, let upload?): Self.part(&state, upload, Int(query["partNumber"] ?? "") ?? 0, body)
            case (.PUT, nil): Self.put(&state, key, body)
            case (.DELETE, let upload): Self.remove(&state, key, upload)
            default: Answer(.methodNotAllowed)
            }
        }
    }

    private func isSigned(_ head: HTTPRequestHead, _ components: URLComponents, _ body: [UInt8]) -> Bool {
        let style = Date.ISO8601FormatStyle(dateSeparator: .omitted, timeSeparator: .omitted)
        guard let time = head.headers.first(name: "x-amz-date").flatMap({ try? style.parse($0) }),
            let host = head.headers.first(name: "host")
        else { return false }
        let signed = SignatureV4(account: Self.account, region: "eu-central-1").headers(
            of: SignatureV4.Request(
                method: head.method.rawValue, host: host, path: components.percentEncodedPath,
                query: (components.queryItems ?? []).map { ($0.name, $0.value ?? "") },
                bodyDigest: SignatureV4.digest(of: body)), at: UInt64(time.timeIntervalSince1970))
        return signed.allSatisfy { head.headers.first(name: $0.name) == $0.value }
    }

    /// Two entries a page, so that lists have several.
    private static func list(_ state: inout State, _ query: [String: String]) -> Answer {
        let prefix = query["prefix"] ?? ""
        var entries: [String] = []
        for key in state.objects.keys.sorted() where key.hasPrefix(prefix) {
            let rest = key.dropFirst(prefix.count)
            if query["delimiter"] == "/", let slash = rest.firstIndex(of: "/") {
                entries.append("<CommonPrefixes><Prefix>\(prefix)\(rest[...slash])</Prefix></CommonPrefixes>")
            } else {
                entries.append("<Contents><Key>\(key)</Key></Contents>")
            }
        }
        let unique = entries.reduce(into: [String]()) { if $0.last != $1 { $0.append($1) } }
        let start = Int(query["continuation-token"] ?? "") ?? 0
        let page = unique.dropFirst(start).prefix(2)
        let next =
            start + page.count < unique.count
            ? "<NextContinuationToken>\(start + page.count)</NextContinuationToken>" : ""
        return Answer(
            .ok, "<ListBucketResult><Prefix>\(prefix)</Prefix>\(page.joined())\(next)</ListBucketResult>")
    }

    private static func get(_ state: inout State, _ key: String) -> Answer {
        guard let object = state.objects[key] else { return Answer(.notFound, "<Error><Code>NoSuchKey</Code></Error>") }
        var answer = Answer()
        answer.body = object
        answer.cutAfter = state.cutAfter
        state.cutAfter = nil
        return answer
    }

    private static func put(_ state: inout State, _ key: String, _ body: [UInt8]) -> Answer {
        state.objects[key] = body
        return Answer()
    }

    private static func begin(_ state: inout State, _ key: String) -> Answer {
        let upload = "upload-\(state.uploads.count)"
        state.uploads[upload] = [:]
        return Answer(
            .ok, "<InitiateMultipartUploadResult><UploadId>\(upload)</UploadId></InitiateMultipartUploadResult>")
    }

    private static func part(_ state: inout State, _ upload: String, _ number: Int, _ body: [UInt8]) -> Answer {
        guard state.uploads[upload] != nil, number != state.refusedPart else {
            return Answer(.badRequest, "<Error><Code>NoSuchUpload</Code></Error>")
        }
        state.uploads[upload]?[number] = body
        var answer = Answer()
        answer.tag = "\"tag-\(number)\""
        return answer
    }

    private static func complete(
        _ state: inout State, _ key: String, _ upload: String, _ body: String
    ) -> Answer {
        guard let parts = state.uploads[upload] else { return Answer(.notFound) }
        let numbers = S3Answer.all("PartNumber", in: body).compactMap { Int($0) }
        let tags = S3Answer.all("ETag", in: body)
        guard numbers == Array(1...parts.count), tags == numbers.map({ "\"tag-\($0)\"" }) else {
            return Answer(.ok, "<Error><Code>InvalidPart</Code></Error>")
        }
        state.objects[key] = numbers.flatMap { parts[$0] ?? [] }
        state.uploads[upload] = nil
        return Answer(.ok, "<CompleteMultipartUploadResult><Key>\(key)</Key></CompleteMultipartUploadResult>")
    }

    private static func remove(_ state: inout State, _ key: String, _ upload: String?) -> Answer {
        if let upload { state.uploads[upload] = nil } else { state.objects[key] = nil }
        return Answer(.noContent)
    }
}

private final class ObjectHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let store: () -> ObjectStore?
    private var head: HTTPRequestHead?
    private var body: [UInt8] = []

    init(_ store: @escaping () -> ObjectStore?) { self.store = store }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            self.head = head
            body = []
        case .body(let buffer): body += Array(buffer.readableBytesView)
        case .end:
            guard let head, let answer = store()?.answer(head, body) else { return context.close(promise: nil) }
            var headers = HTTPHeaders()
            if answer.status != .noContent { headers.add(name: "content-length", value: "\(answer.body.count)") }
            if let tag = answer.tag { headers.add(name: "etag", value: tag) }
            let response = HTTPResponseHead(version: .http1_1, status: answer.status, headers: headers)
            context.write(wrapOutboundOut(.head(response)), promise: nil)
            let sent = answer.cutAfter.map { Array(answer.body.prefix($0)) } ?? answer.body
            if !sent.isEmpty {
                context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: sent)))), promise: nil)
            }
            guard answer.cutAfter == nil else {
                context.flush()
                return context.close(promise: nil)
            }
            context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        }
    }
}
