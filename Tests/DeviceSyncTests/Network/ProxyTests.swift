import Changesets
import Foundation
import RealmState
import Synchronization
import TestSupport
import Testing

@testable import DeviceSync

/// Apps whose connections go over a proxy.
@Suite(.hangGuard)
struct ProxyTests {
    enum Kind: CaseIterable, Sendable {
        case http, user, socks

        func server(_ port: Int) -> ProxyServer {
            switch self {
            case .http: .http(host: "127.0.0.1", port: port)
            case .user: .http(host: "127.0.0.1", port: port, user: "me", password: "secret")
            case .socks: .socks(host: "127.0.0.1", port: port)
            }
        }
    }

    @Test(arguments: Kind.allCases)
    func syncingGoesOverAProxy(_ kind: Kind) async throws {
        let (server, proxy) = (TestServer(), TestProxy())
        try await server.start()
        let device = Device(server)
        let chosen = kind.server(proxy.port)
        device.app.core.sync.setConnector(NIOWebSocketConnector { _ in chosen })
        _ = try await device.login()
        let realm = try await Realm(configuration: device.configuration())
        try await realm.asyncWrite { _ = realm.dynamicCreate("Task", value: ["_id": "a"]) }
        try await realm.syncSession?.wait(for: .upload)
        expectTrue(server.reading { $0.objectCount(of: "Task") == 1 })
        let asked =
            switch kind {
            case .http: "CONNECT 127.0.0.1:\(server.port)"
            case .user: "CONNECT 127.0.0.1:\(server.port) Basic bWU6c2VjcmV0"
            case .socks: "SOCKS 127.0.0.1:\(server.port)"
            }
        expectEqual(Set(proxy.requests), [asked])
    }

    @Test func aProxyThatRefusesLeavesNoConnection() async throws {
        let (server, proxy) = (TestServer(), TestProxy())
        try await server.start()
        proxy.refusal.withLock { $0 = "407 Proxy Authentication Required" }
        let device = Device(server)
        let chosen = Kind.http.server(proxy.port)
        device.app.core.sync.setConnector(NIOWebSocketConnector { _ in chosen })
        _ = try await device.login()
        let realm = try await Realm(configuration: device.configuration())
        await expectTrue(eventually { !proxy.requests.isEmpty && realm.syncSession?.connectionState == .disconnected })
        expectEqual(server.connectionCount, 0)
        proxy.refusal.withLock { $0 = nil }
        realm.syncSession?.reconnect()
        try await realm.syncSession?.wait(for: .download)
    }

    @Test func callsGoOverAProxy() async throws {
        let (origin, proxy) = (TestProxy(), TestProxy())
        let configuration = AppConfiguration(
            baseURL: "http://app.example.test:\(origin.port)", proxy: .http(host: "127.0.0.1", port: proxy.port))
        let transport = HTTPClientTransport(trusting: nil) { configuration.proxy(for: $0) }
        let answer = try await transport.send(
            NetworkRequest(
                method: "GET", url: configuration.baseURL + "/x", headers: [:], body: Data(), timeoutMS: 60_000))
        expectEqual(answer.status, 200)
        expectEqual(proxy.requests, ["CONNECT app.example.test:\(origin.port)"])
        expectEqual(origin.requests, ["GET /x"])
    }

    @Test func theEnvironmentNamesAProxy() {
        func named(_ environment: [String: String], _ url: String = "https://a.example.net/x") -> ProxyServer? {
            .named(by: environment, for: url)
        }
        let proxy = ProxyServer.http(host: "p", port: 3128)
        expectEqual(named(["https_proxy": "http://p:3128"]), proxy)
        expectEqual(named(["HTTPS_PROXY": "p:3128"], "wss://a.example.net"), proxy)
        expectEqual(named(["all_proxy": "socks5://s"]), .socks(host: "s"))
        expectEqual(
            named(["https_proxy": "", "ALL_PROXY": "http://u:w@[::1]:8080"]),
            .http(host: "::1", port: 8080, user: "u", password: "w"))
        expectTrue(named(["http_proxy": "http://p:3128"]) == nil && named([:]) == nil)
        expectEqual(named(["http_proxy": "http://p:3128"], "ws://a.example.net"), proxy)
        // What a web server makes of a header is no proxy.
        expectEqual(named(["HTTP_PROXY": "http://p:3128"], "http://a.example.net"), nil)
        expectEqual(named(["https_proxy": "ftp://p"]), nil)
        for url in ["http://localhost:1", "ws://127.0.0.1:5", "http://[::1]:7"] {
            expectEqual(named(["all_proxy": "p:3128"], url), nil)
        }
        for list in ["example.net", ".example.net", "*.example.net", "b.org, a.example.net", "*", "a.example.net:443"] {
            expectEqual(
                named(["https_proxy": "p:3128", "no_proxy": list], "https://a.example.net:443/"), nil, "\(list)")
        }
        expectEqual(named(["https_proxy": "p:3128", "NO_PROXY": "ample.net,b.example.net"]), proxy)
    }
}
