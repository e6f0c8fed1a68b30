import ArgumentParser

/// A command that works with the settings of a cluster.
protocol ClusterCommand: AsyncParsableCommand {
    var cluster: ClusterOptions { get }
    /// Further settings, by dotted key.
    var overrides: [String: String?] { get }
    /// Whether a context of the operator's may say which cluster it is for.
    var takesContext: Bool { get }
    func run(_ settings: ClusterSettings) async throws
}

extension ClusterCommand {
    var overrides: [String: String?] { [:] }
    var takesContext: Bool { true }

    func run() async throws {
        try await reportingFailures {
            try await run(try await cluster.load(overrides: overrides, takesContext: takesContext))
        }
    }
}

/// The options of a command that shows something of a cluster.
struct ReportOptions: ParsableArguments {
    @OptionGroup(title: "The cluster") var cluster: ClusterOptions
    @OptionGroup var output: OutputOptions
}

/// A command that shows something of a cluster, as text or JSON.
protocol ReportingCommand: ClusterCommand {
    var common: ReportOptions { get }
}

extension ReportingCommand {
    var cluster: ClusterOptions { common.cluster }
    var output: OutputOptions { common.output }
}

/// A command that asks the coordinator through its admin API.
protocol AdminCommand: ReportingCommand {
    func run(_ admin: AdminClient) async throws
}

extension AdminCommand {
    func run(_ settings: ClusterSettings) async throws { try await run(try AdminClient(settings)) }
}
