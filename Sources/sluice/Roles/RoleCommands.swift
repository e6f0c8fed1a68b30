import ArgumentParser
import Foundation
import Operations

/// A command that runs one or more roles in this process.
protocol RoleCommand: ClusterCommand {
    static var roles: [RoleRunner.Role] { get }
    var role: RoleOptions { get }
}

extension RoleCommand {
    var overrides: [String: String?] { role.overrides }
    var takesContext: Bool { false }

    func run(_ settings: ClusterSettings) async throws {
        let environment = ProcessInfo.processInfo.environment
        let strangers = try SettingNames.unknown(
            in: environment, file: cluster.config ?? environment["SLUICE_CONFIG"])
        guard strangers.isEmpty else {
            throw CommandFailure(.badInput, strangers.map(\.description).joined(separator: "\n        "))
        }
        let name = Self.configuration.commandName ?? ""
        try await RoleRunner(settings: settings, name: name).run(Self.roles)
    }
}

struct UpCommand: RoleCommand {
    static let roles = RoleRunner.Role.allCases
    static let configuration = CommandConfiguration(
        commandName: "up",
        abstract: "Run a coordinator, a worker and a gateway in one process: one machine, development.")

    @OptionGroup(title: "The cluster") var cluster: ClusterOptions
    @OptionGroup var role: RoleOptions
    @OptionGroup var listen: ListenOptions

    var overrides: [String: String?] { role.overrides.merging(listen.overrides("gateway")) { first, _ in first } }
}

struct GatewayCommand: RoleCommand {
    static let roles = [RoleRunner.Role.gateway]
    static let configuration = CommandConfiguration(
        commandName: "gateway",
        abstract: "Run a gateway: the clients' WebSockets and the App Services HTTP API.",
        discussion: "It keeps nothing that matters. Run as many as the connections need, behind one address.")

    @OptionGroup(title: "The cluster") var cluster: ClusterOptions
    @OptionGroup var role: RoleOptions
    @OptionGroup var listen: ListenOptions
    @Option(help: "The origin that clients are told, https://sync.example.net (SLUICE_GATEWAY_PUBLIC_URL).")
    var publicURL: String?

    var overrides: [String: String?] {
        role.overrides.merging(listen.overrides("gateway")) { first, _ in first }
            .merging(["gateway.public_url": publicURL]) { first, _ in first }
    }
}

struct WorkerCommand: RoleCommand {
    static let roles = [RoleRunner.Role.worker]
    static let configuration = CommandConfiguration(
        commandName: "worker",
        abstract: "Run a worker: it owns slices, merges uploads into history and executes resets.",
        discussion: "Workers divide the slices among themselves and take over from each other. Two or more are wise.")

    @OptionGroup(title: "The cluster") var cluster: ClusterOptions
    @OptionGroup var role: RoleOptions
}

struct CoordinatorCommand: RoleCommand {
    static let roles = [RoleRunner.Role.coordinator]
    static let configuration = CommandConfiguration(
        commandName: "coordinator",
        abstract: "Run a coordinator: apps, terminations, campaigns and the admin API.",
        discussion: "With two or more, the broker makes one of them active; any of them serves the admin API.")

    @OptionGroup(title: "The cluster") var cluster: ClusterOptions
    @OptionGroup var role: RoleOptions
    @OptionGroup var listen: ListenOptions

    var overrides: [String: String?] {
        role.overrides.merging(listen.overrides("coordinator")) { first, _ in first }
    }
}
