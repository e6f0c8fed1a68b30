import NIOCore
import Operations
import TestSupport
import Testing

@testable import Gateway

@Suite(.hangGuard) struct ProxyHeaderTests {
    private static let signature: [UInt8] = [
        0x0d, 0x0a, 0x0d, 0x0a, 0x00, 0x0d, 0x0a, 0x51, 0x55, 0x49, 0x54, 0x0a,
    ]
    private static let ports: [UInt8] = [0x12, 0x34, 0x01, 0xbb]

    private func read(_ bytes: [UInt8]) throws(ProxyHeader.Malformed) -> ProxyHeader? {
        try ProxyHeader.read(ByteBuffer(bytes: bytes).readableBytesView)
    }

    @Test(
        arguments: [
            (Array("PROXY TCP4 198.51.100.7 192.0.2.1 4000 443\r\n".utf8), "198.51.100.7"),
            (Array("PROXY TCP6 2001:db8::7 2001:db8::1 4000 443\r\n".utf8), "2001:db8::7"),
            (Array("PROXY UNKNOWN\r\n".utf8), nil), (Array("PROXY UNKNOWN ff ff 1 2\r\n".utf8), nil),
            (signature + [0x21, 0x11, 0, 12, 198, 51, 100, 7, 192, 0, 2, 1] + ports, "198.51.100.7"),
            // With an additional value behind the addresses.
            (signature + [0x21, 0x11, 0, 16, 198, 51, 100, 7, 192, 0, 2, 1] + ports + [4, 0, 1, 0], "198.51.100.7"),
            (signature + [0x20, 0x00, 0, 0], nil), (signature + [0x21, 0x31, 0, 2, 0, 0], nil),
            (
                signature + [0x21, 0x21, 0, 36, 0x20, 1, 0xd, 0xb8] + [UInt8](repeating: 0, count: 11) + [7]
                    + [UInt8](repeating: 1, count: 16) + ports, "2001:db8::7"
            ),
        ] as [([UInt8], String?)])
    func headersAreReadWhole(_ bytes: [UInt8], _ source: String?) throws {
        for count in 0..<bytes.count { try expectTrue(read(Array(bytes.prefix(count))) == nil, "\(count) bytes") }
        let header = try #require(try read(bytes + Array("GET /".utf8)))
        expectEqual(header, ProxyHeader(source: source.flatMap { IPAddress($0) }, length: bytes.count))
    }

    @Test(arguments: [
        Array("GET / HTTP/1.1\r\n".utf8), Array("PROXY TCP4 198.51.100.7\r\n".utf8),
        Array("PROXY TCP4 a b 1 2\r\n".utf8), Array("PROXY TCP4 1.2.3.4 1.2.3.4 1 99999\r\n".utf8),
        Array("PROXY TCP4 1.2.3.4 1.2.3.4 1 2\n".utf8),
        Array("PROXY ".utf8) + [UInt8](repeating: 0x41, count: 200), signature + [0x31, 0x11, 0, 12],
        signature + [0x22, 0x11, 0, 0], signature + [0x21, 0x11, 0xff, 0xff],
        signature + [0x21, 0x11, 0, 4, 1, 2, 3, 4],
    ])
    func malformedHeadersAreRefused(_ bytes: [UInt8]) {
        #expect(throws: ProxyHeader.Malformed.self) { try read(bytes) }
    }

    @Test func onlyTrustedProxiesAreBelieved() throws {
        let trusted = try AddressRanges("10.0.0.0/8,192.0.2.1")
        for (peer, named, client) in [
            ("203.0.113.5", ["198.51.100.7"], "203.0.113.5"), ("10.0.0.1", [], "10.0.0.1"),
            ("10.0.0.1", ["198.51.100.7"], "198.51.100.7"),
            // What the client has written itself stands on the left.
            ("10.0.0.1", ["1.1.1.1, 198.51.100.7"], "198.51.100.7"),
            ("10.0.0.1", ["1.1.1.1", "198.51.100.7, 192.0.2.1"], "198.51.100.7"),
            ("10.0.0.1", ["198.51.100.7:4711"], "198.51.100.7"),
            ("10.0.0.1", ["[2001:db8::7]:4711"], "2001:db8::7"), ("10.0.0.1", ["2001:db8::7"], "2001:db8::7"),
            ("10.0.0.1", ["1.1.1.1, unknown"], "10.0.0.1"), ("10.0.0.1", ["10.0.0.9"], "10.0.0.9"),
            ("10.0.0.1", [""], "10.0.0.1"),
        ] {
            let found = ClientAddress(peer: IPAddress(peer), forwardedFor: named, trusting: trusted)
            expectEqual(found.description, client, "\(peer) \(named)")
        }
    }

    private static func ranges(_ text: String) -> AddressRanges { (try? AddressRanges(text)) ?? AddressRanges() }

    private static func failedLogin(_ name: String) -> String {
        let body = #"{"username":"\#(name)","password":"secret-2"}"#
        return "POST \(GatewayHarness.app)/auth/providers/local-userpass/login HTTP/1.1\r\nHost: a\r\n"
            + "Connection: close\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
    }

    private static func status(_ gateway: GatewayHarness, _ text: String) async throws -> String {
        try await RawSocket.with(port: gateway.port) { stream in
            try await stream.write(text)
            return String(try await stream.readHead()?.prefix { !$0.isNewline } ?? "closed")
        }
    }

    @Test func aTrustedProxyAnnouncesItsClients() async throws {
        try await GatewayHarness.with(configure: {
            $0.proxies.trusted = Self.ranges("127.0.0.1")
            $0.proxies.announceClients = true
            $0.limits.failedLogins.address = .init(burst: 1, perMinute: 0)
        }) { gateway in
            func login(_ client: String, _ name: String) async throws -> String {
                try await Self.status(
                    gateway, "PROXY TCP4 \(client) 127.0.0.1 4000 443\r\n" + Self.failedLogin(name))
            }
            let first = try await login("198.51.100.7", "a@b.c")
            expectEqual(first, "HTTP/1.1 401 Unauthorized")
            try await expectEqual(login("198.51.100.7", "d@b.c"), "HTTP/1.1 429 Too Many Requests")
            try await expectEqual(login("198.51.100.8", "e@b.c"), "HTTP/1.1 401 Unauthorized")
            try await expectEqual(Self.status(gateway, Self.failedLogin("f@b.c")), "closed")
        }
    }

    @Test func anybodyElseAnnouncesNobody() async throws {
        try await GatewayHarness.with(configure: {
            $0.proxies.trusted = Self.ranges("192.0.2.1")
            $0.proxies.announceClients = true
        }) { gateway in
            try await expectEqual(Self.status(gateway, Self.failedLogin("a@b.c")), "HTTP/1.1 401 Unauthorized")
            let announced = "PROXY TCP4 198.51.100.7 127.0.0.1 4000 443\r\n" + Self.failedLogin("a@b.c")
            let answer = try await Self.status(gateway, announced)
            expectEqual(answer, "HTTP/1.1 400 Bad Request")
        }
    }
}
