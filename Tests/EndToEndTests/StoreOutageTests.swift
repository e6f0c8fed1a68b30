import AsyncHTTPClient
import Foundation
import LocalCluster
import NIOCore
import NIOHTTP1
import TestSupport
import Testing

/// The database goes away and comes back: who notices, with which words, and what can be done meanwhile.
@Suite(.needsBroker, .needsPostgres, .hangGuard) struct StoreOutageTests {
    private struct Overview: Decodable {
        struct Finding: Decodable {
            var level: String
            var text: String
            var alert: String?
        }
        var findings: [Finding]
        var campaignsRunning: Int?
        var slicesServed: Int
        var sentence: String
    }

    private struct Session: Decodable { var role: String }

    private func token(_ cluster: LocalCluster) -> String { cluster.environment["SLUICE_ADMIN_TOKEN"] ?? "" }

    /// Asks the coordinator, with its token or as somebody who logs in.
    private func ask(
        _ cluster: LocalCluster, _ method: HTTPMethod, _ path: String, body: String? = nil, cookie: String? = nil
    ) async throws -> (status: Int, text: String, cookie: String?) {
        var request = HTTPClientRequest(url: "\(cluster.coordinatorURL)/api/admin/v1/\(path)")
        request.method = method
        request.headers.add(name: "X-Sluice-Dashboard", value: "1")
        if let cookie {
            request.headers.add(name: "Cookie", value: cookie)
        } else if path != "session" {
            request.headers.add(name: "Authorization", value: "Bearer \(self.token(cluster))")
        }
        if let body {
            request.headers.add(name: "Content-Type", value: "application/json")
            request.body = .bytes(ByteBuffer(string: body))
        }
        let answer = try await HTTPClient.shared.execute(request, timeout: .minutes(1))
        let set = answer.headers.first(name: "Set-Cookie")?.split(separator: ";").first.map(String.init)
        return (Int(answer.status.code), String(buffer: try await answer.body.collect(upTo: 1 << 20)), set)
    }

    private func overview(_ cluster: LocalCluster) async throws -> Overview {
        let answer = try await ask(cluster, .GET, "cluster/overview")
        guard answer.status == 200 else { throw LocalClusterError("\(answer.status): \(answer.text)") }
        return try JSONDecoder().decode(Overview.self, from: Data(answer.text.utf8))
    }

    @Test func everybodySaysThatTheDatabaseIsAwayAndOneCanStillLook() async throws {
        let server = try TestPostgres.requireURL()
        let schema = TestPostgres.uniqueName()
        let address = try #require(URLComponents(string: server))
        let target = TCPProxy.Target(host: address.host ?? "127.0.0.1", port: address.port ?? 5432)
        let proxy = TCPProxy(targets: [target])
        try await proxy.start()
        var through = address
        (through.host, through.port) = ("127.0.0.1", proxy.port)
        through.queryItems = [URLQueryItem(name: "schema", value: schema)]
        try await withCluster(workers: 1, settings: ["SLUICE_STORE_URL": try #require(through.string)]) { cluster in
            try await cluster.makeApp()
            try await LocalCluster.retrying("all is well") {
                let overview = try await self.overview(cluster)
                guard overview.findings.isEmpty, overview.campaignsRunning == 0 else {
                    throw LocalClusterError("\(overview)")
                }
            }
            proxy.withdraw(target, true)
            for (name, component) in [("coordinator", "coordinator.store"), ("worker-1", "worker.store")] {
                try await cluster.waitFor(name, ready: false, saying: "\"name\":\"\(component)\",\"ready\":false")
            }
            try await LocalCluster.retrying("the overview says so, without the store") {
                let overview = try await self.overview(cluster)
                let away = overview.findings.first { $0.alert == "SluiceStoreAway" }
                // What is not known is not shown as 0, and what heartbeats say is.
                guard away?.level == "fault", overview.campaignsRunning == nil, overview.slicesServed == cluster.slices
                else { throw LocalClusterError("\(overview)") }
            }
            // Nobody waits for long: a database that is known to be away is not waited for.
            try await expectEqual(self.ask(cluster, .GET, "apps").status, 503)
            let location = "http://127.0.0.1:\(cluster.gatewayPort)/api/client/v2.0/app/unheard-of/location"
            let answer = try await HTTPClient.shared.execute(HTTPClientRequest(url: location), timeout: .minutes(1))
            expectEqual(answer.status.code, 503)
            // A right token still logs in, to look.
            let entered = try await ask(
                cluster, .POST, "session", body: "{\"token\":\"\(self.token(cluster))\"}")
            expectEqual(entered.status, 201, "\(entered.text)")
            try expectEqual(JSONDecoder().decode(Session.self, from: Data(entered.text.utf8)).role, "read")
            let cookie = try #require(entered.cookie)
            try await expectEqual(self.ask(cluster, .GET, "cluster/overview", cookie: cookie).status, 200)
            let examined = try await cluster.shell(
                "bash",
                [
                    "-c",
                    "SLUICE_GATEWAY_PORT=\(cluster.gatewayPort) \(cluster.sluice) doctor --skip-integrity || [[ $? -le 2 ]]",
                ])
            expectTrue(examined.contains("see that the database runs"), "\(examined)")
            expectTrue(!examined.contains("set store.url to what the workers have"), "\(examined)")
            expectTrue(!examined.contains("start a gateway"), "\(examined)")

            proxy.withdraw(target, false)
            for name in ["coordinator", "worker-1"] { try await cluster.waitFor(name, ready: true) }
            // The session that began meanwhile may still do nothing but look.
            try await expectEqual(
                self.ask(cluster, .POST, "apps/\(cluster.app)/sync/pause", body: "{}", cookie: cookie).status, 403)
            try await LocalCluster.retrying("all is well again") {
                let overview = try await self.overview(cluster)
                guard overview.findings.isEmpty, overview.campaignsRunning == 0 else {
                    throw LocalClusterError("\(overview)")
                }
            }
            // A database that hangs takes connections and answers nothing: nobody waits for as long as a statement may take.
            proxy.hold(true)
            // What each connection had asked to be given still passes.
            try await LocalCluster.retrying("the coordinator gives up on the database") {
                let status = try await self.ask(cluster, .GET, "apps").status
                guard status == 503 else { throw LocalClusterError("\(status)") }
            }
            try await LocalCluster.retrying("the gateway gives up on the database") {
                let hung = try await HTTPClient.shared.execute(HTTPClientRequest(url: location), timeout: .minutes(1))
                guard hung.status.code == 503 else { throw LocalClusterError("\(hung.status.code)") }
            }
            proxy.hold(false)
            try await LocalCluster.retrying("apps are listed again") {
                let status = try await self.ask(cluster, .GET, "apps").status
                guard status == 200 else { throw LocalClusterError("\(status)") }
            }
        }
        await proxy.stop()
    }
}
