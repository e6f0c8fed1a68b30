import ArgumentParser

/// A command that works with the settings of a cluster.
protocol ClusterCommand: AsyncParsableCommand {
    var cluster: ClusterOptions { get }
    /// Further settings, by dotted key.
    var overrides: [String: String?] { get }
    func run(_ settings: ClusterSettings) async throws
}

extension ClusterCommand {
    var overrides: [String: String?] { [:] }

    func run() async throws {
        try await reportingFailures { try await run(try await cluster.load(overrides: overrides)) }
    }
}

/// A command that asks the coordinator through its admin API.
protocol AdminCommand: ClusterCommand {
    func run(_ admin: AdminClient) async throws
}

extension AdminCommand {
    func run(_ settings: ClusterSettings) async throws { try await run(try AdminClient(settings)) }
}
