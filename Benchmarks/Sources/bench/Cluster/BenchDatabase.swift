import Foundation

/// The PostgreSQL server of a measurement: a private one that waits for the disk, or one that is there already; and the relays
/// before it.
actor BenchDatabase {
    private let folder: String
    private var url: String?
    private let isPrivate: Bool
    private var relays: [DelayRelay] = []

    /// - Parameter url: of the server to use; nil for a private one.
    init(folder: String, url: String?) {
        self.folder = folder
        self.url = url
        isPrivate = url == nil
    }

    private static var script: String { BuiltBinary.engine + "/Tests/postgres" }

    /// What the processes of a cluster with the store need to be told.
    func settings(for store: BenchStore, number: Int) async throws -> [String: String] {
        guard case .postgres(let delay) = store else { return [:] }
        var place = try await server()
        if delay > 0 { place = try relayed(place, delay: delay) }
        let schema = "bench_\(ProcessInfo.processInfo.processIdentifier)_\(number)"
        return ["SLUICE_STORE_URL": "\(place)\(place.contains("?") ? "&" : "?")schema=\(schema)"]
    }

    private func server() async throws -> String {
        if let url { return url }
        progress("starting a PostgreSQL server ...")
        let output = try await ShellCommand.run(Self.script, ["start", folder, "--durable"])
        guard let line = output.split(separator: "\n").first(where: { $0.hasPrefix("SLUICE_TEST_POSTGRES_URL=") })
        else { throw BenchFailure("Tests/postgres start printed no URL: \(output.prefix(200))") }
        let found = String(line.dropFirst("SLUICE_TEST_POSTGRES_URL=".count))
        url = found
        return found
    }

    /// The URL with a relay's address in place of the server's.
    private func relayed(_ url: String, delay: Int) throws -> String {
        guard var parts = URLComponents(string: url), parts.host == "127.0.0.1" || parts.host == "localhost" else {
            throw BenchFailure("a relay is for a server on this machine: expected postgres://user@127.0.0.1:port/...")
        }
        let relay = try DelayRelay(to: parts.port ?? 5432, delay: .milliseconds(delay))
        relays.append(relay)
        parts.host = "127.0.0.1"
        parts.port = relay.port
        guard let changed = parts.string else { throw BenchFailure("the server's URL cannot be changed") }
        return changed
    }

    /// The private server's process.
    nonisolated var processIdentifier: Int32? {
        (try? String(contentsOfFile: folder + "/server.pid", encoding: .utf8))
            .flatMap { Int32($0.trimmingCharacters(in: .whitespacesAndNewlines)) }
    }

    func stop() async {
        for relay in relays { relay.stop() }
        if isPrivate, url != nil { _ = try? await ShellCommand.run(Self.script, ["stop", folder]) }
    }
}
