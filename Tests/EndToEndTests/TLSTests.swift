import DeviceSync
import Foundation
import LocalCluster
import TestSupport
import Testing

/// A cluster that serves TLS itself, with certificates of an authority of its own.
@Suite(.needsBroker, .hangGuard, .serialized)
struct TLSTests {
    @Test func clientsCommandsAndToolsGoThroughTLS() async throws {
        let certificates = try TestCertificates()
        defer { try? FileManager.default.removeItem(at: certificates.folder) }
        try await certificates.makeAuthority("authority")
        for name in ["server", "next"] { try await certificates.makeServer(name, signedBy: "authority") }
        let (pem, key) = (certificates.path("server.pem"), certificates.path("server.key"))
        let authority = certificates.path("authority.pem")
        let settings = [
            "SLUICE_GATEWAY_TLS_CERTIFICATE": pem, "SLUICE_GATEWAY_TLS_KEY": key,
            "SLUICE_COORDINATOR_TLS_CERTIFICATE": pem, "SLUICE_COORDINATOR_TLS_KEY": key,
            "SLUICE_TLS_CA_FILE": authority, "SLUICE_TLS_RELOAD_SECONDS": "0.2",
        ]
        try await withCluster(workers: 1, slices: 2, settings: settings) { cluster in
            try await cluster.makeApp()
            // Takes its time: one that was published a moment ago is waited for.
            async let watched = #expect(throws: LocalClusterError.self) {
                try await cluster.operate("campaigns", "watch")
            }
            let device = try await Device(cluster)
            try device.create("one")
            try await device.upload()

            let location = "/api/client/v2.0/app/\(cluster.app)/location"
            let told = try await cluster.shell(
                "curl", ["-fsS", "--cacert", authority, cluster.gatewayURL + location])
            expectTrue(told.contains(#""hostname":"https://127.0.0.1:\#(cluster.gatewayPort)""#))
            expectTrue(told.contains(#""ws_hostname":"wss://127.0.0.1:\#(cluster.gatewayPort)""#))
            await #expect(throws: LocalClusterError.self) {
                try await cluster.shell("curl", ["-fsS", cluster.gatewayURL + location])
            }
            let stranger = App(
                id: "\(cluster.app)-2", configuration: AppConfiguration(baseURL: cluster.gatewayURL))
            await #expect(throws: AppError.self) { _ = try await stranger.login(credentials: .anonymous) }

            // A program logs in with a key of its user's.
            try await cluster.operate("logins", "set", cluster.app, "api-key")
            let keys = device.user.apiKeysAuth
            let key = try await keys.createAPIKey(named: "ci")
            try await expectEqual(keys.fetchAPIKeys().map(\.objectId), [key.objectId])
            let program = App(
                id: cluster.app,
                configuration: AppConfiguration(baseURL: cluster.gatewayURL, authoritiesFile: authority))
            let credentials = Credentials.userAPIKey(try #require(key.key))
            try await expectEqual(program.login(credentials: credentials).id, device.user.id)
            try await keys.disableAPIKey(key.objectId)
            await #expect(throws: AppError.self) { _ = try await program.login(credentials: credentials) }

            try certificates.replace("server", by: "next")
            try await LocalCluster.retrying("the new certificate is shown") {
                guard cluster.log(of: "gateway").contains("new certificate") else {
                    throw LocalClusterError("not yet")
                }
            }
            // The open socket goes on, and others can be opened.
            try device.create("two")
            try await device.upload()
            let another = try await Device(cluster)
            try another.create("three")
            try await another.upload()
            let none = await watched?.description ?? ""
            expectTrue(none.contains("exited with 66:") && none.contains("no campaign is open"))
        }
    }
}
