import ArgumentParser

struct UpCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "up",
        abstract: "Run a coordinator, a worker and a gateway in one process: one machine, development.")

    @OptionGroup var cluster: ClusterOptions
    @OptionGroup var role: RoleOptions
    @OptionGroup var listen: ListenOptions

    func run() async throws {
        try await reportingFailures {
            let overrides = role.overrides.merging(listen.overrides("gateway")) { first, _ in first }
            let settings = try await cluster.load(overrides: overrides)
            try await RoleRunner(settings: settings, name: "up").run(RoleRunner.Role.allCases, operationsPort: 9091)
        }
    }
}

struct GatewayCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "gateway",
        abstract: "Run a gateway: the clients' WebSockets and the App Services HTTP API.",
        discussion: "It keeps nothing that matters. Run as many as the connections need, behind one address.")

    @OptionGroup var cluster: ClusterOptions
    @OptionGroup var role: RoleOptions
    @OptionGroup var listen: ListenOptions
    @Option(help: "The origin that clients are told, https://sync.example.net (SLUICE_GATEWAY_PUBLIC_URL).")
    var publicURL: String?

    func run() async throws {
        try await reportingFailures {
            var overrides = role.overrides.merging(listen.overrides("gateway")) { first, _ in first }
            overrides["gateway.public_url"] = publicURL
            let settings = try await cluster.load(overrides: overrides)
            try await RoleRunner(settings: settings, name: "gateway").run([.gateway], operationsPort: 0)
        }
    }
}

struct WorkerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "worker",
        abstract: "Run a worker: it owns slices, merges uploads into history and executes resets.",
        discussion: "Workers divide the slices among themselves and take over from each other. Two or more are wise.")

    @OptionGroup var cluster: ClusterOptions
    @OptionGroup var role: RoleOptions

    func run() async throws {
        try await reportingFailures {
            let settings = try await cluster.load(overrides: role.overrides)
            try await RoleRunner(settings: settings, name: "worker").run([.worker], operationsPort: 0)
        }
    }
}

struct CoordinatorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "coordinator",
        abstract: "Run a coordinator: apps, terminations, campaigns and the admin API.",
        discussion: "With two or more, the broker makes one of them active; any of them serves the admin API.")

    @OptionGroup var cluster: ClusterOptions
    @OptionGroup var role: RoleOptions
    @OptionGroup var listen: ListenOptions

    func run() async throws {
        try await reportingFailures {
            let overrides = role.overrides.merging(listen.overrides("coordinator")) { first, _ in first }
            let settings = try await cluster.load(overrides: overrides)
            try await RoleRunner(settings: settings, name: "coordinator").run([.coordinator], operationsPort: 0)
        }
    }
}
