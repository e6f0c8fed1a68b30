import AMQP
import ArgumentParser
import Foundation
import Logging
import Messages
import Operations
import Storage
import SyncModel

/// The settings that every command shares; each flag wins over its environment variable and the file.
struct ClusterOptions: ParsableArguments {
    @Option(
        help: "The cluster, by the name that you gave it; none: by the environment (sluice context, SLUICE_CONTEXT).",
        completion: .contexts)
    var context: String?

    @Option(help: "A YAML file of settings (SLUICE_CONFIG).")
    var config: String?

    @Option(help: "The broker, amqp://user:password@host:port/vhost (SLUICE_AMQP_URL).")
    var amqpURL: String?

    @Option(help: "What the names of all queues and exchanges begin with (SLUICE_AMQP_PREFIX).")
    var prefix: String?

    @Option(help: "How many slices the cluster has; sluice slices grow gives it more (SLUICE_SLICES).")
    var slices: Int?

    @Option(help: "Where data is kept, sqlite:<folder> or postgres://user@host/database (SLUICE_STORE_URL).")
    var store: String?

    @Option(help: "The coordinators' admin API, http://host:port,... (SLUICE_COORDINATOR_URL).")
    var coordinatorURL: String?

    @Option(help: "trace, debug, info, notice, warning or error (SLUICE_LOG_LEVEL).")
    var logLevel: String?

    @Option(
        name: .customLong("set"),
        help: ArgumentHelp("Any setting by its key (docs/settings.md); may be repeated.", valueName: "key=value"))
    var others: [String] = []

    /// - Parameters:
    ///   - overrides: further settings by dotted key.
    ///   - takesContext: whether a context of the operator's may say which cluster this is; processes take none.
    func load(overrides: [String: String?] = [:], takesContext: Bool = true) async throws -> ClusterSettings {
        let environment = ProcessInfo.processInfo.environment
        let context = try takesContext ? chosenContext(environment) : requireNoContext()
        var named: [String: String?] = [
            "amqp.url": amqpURL, "amqp.prefix": prefix, "slices": slices.map(String.init), "store.url": store,
            "log.level": logLevel,
        ]
        named.merge(overrides) { _, override in override }
        var all: [String: String] = [:]
        for other in others {
            guard let sign = other.firstIndex(of: "="), sign > other.startIndex else {
                throw CommandFailure(.badInput, "--set: expected key=value, found no key before a \"=\"")
            }
            all[String(other[..<sign])] = String(other[other.index(after: sign)...])
        }
        all.merge(named.compactMapValues { $0 }) { _, named in named }
        if let context {
            all.merge(try context.settings(in: environment)) { flag, _ in flag }
        }
        do {
            let configuration = try await SluiceConfiguration.load(
                overrides: all, environment: context == nil ? environment : environment.ofNoCluster,
                file: config ?? context?.config)
            return ClusterSettings(
                configuration: configuration,
                coordinatorURL: coordinatorURL ?? context?.coordinatorURL
                    ?? (context == nil ? environment["SLUICE_COORDINATOR_URL"] : nil),
                stranger: context.flatMap { $0.config == nil && config == nil ? $0.name : nil },
                own: Set(all.keys))
        } catch {
            throw CommandFailure(.badInput, "\(error)")
        }
    }

    private func chosenContext(_ environment: [String: String]) throws -> ClusterContext? {
        let isElsewhere = config != nil || coordinatorURL != nil || amqpURL != nil || store != nil
        do throws(OperationsError) {
            return try ContextFile.chosen(context, in: environment, isElsewhere: isElsewhere)
        } catch {
            throw CommandFailure(error.code == .unknownSetting ? .notFound : .badInput, error.message)
        }
    }

    private func requireNoContext() throws -> ClusterContext? {
        guard context == nil else {
            throw CommandFailure(.badInput, "--context is for commands: a process has settings of its own")
        }
        return nil
    }
}

extension [String: String] {
    /// The environment without what says which cluster somebody means.
    fileprivate var ofNoCluster: [String: String] {
        filter { !$0.key.hasPrefix("SLUICE_") || $0.key.hasPrefix("SLUICE_LOG_") }
    }
}

extension ClusterContext {
    /// The settings by which one proves who one is, by dotted key.
    fileprivate func settings(in environment: [String: String]) throws -> [String: String] {
        var settings: [String: String] = [:]
        settings["admin.token_file"] = tokenFile
        settings["tls.ca_file"] = authoritiesFile
        if let tokenVariable {
            guard let token = environment[tokenVariable], !token.isEmpty else {
                throw CommandFailure(
                    .notAllowed, "\(tokenVariable) is not set, which context \(name) says has the token")
            }
            settings["admin.token"] = token
        }
        return settings
    }
}

/// The settings as the commands use them.
struct ClusterSettings {
    var configuration: SluiceConfiguration
    /// `--coordinator-url`, what a context says, or SLUICE_COORDINATOR_URL.
    var coordinatorURL: String?
    /// The name of a context that says where coordinators are and no more: what else is set here may be another cluster's.
    var stranger: String?
    /// The settings that flags or the context have given, by dotted key.
    var own: Set<String> = []

    var topology: Topology { Topology(prefix: configuration.prefix) }

    func sliceCount() throws -> SliceCount {
        guard let count = SliceCount(configuration.slices) else {
            throw CommandFailure(.badInput, "slices: expected 1 to 4096, found \(configuration.slices)")
        }
        return count
    }

    /// The broker's address.
    func brokerURL() throws -> Secret {
        try requireOwn("amqp.url", "the broker", "--amqp-url")
        return configuration.amqpURL
    }

    /// Where the store is.
    func storeURL() throws -> StoreURL {
        try requireOwn("store.url", "the store", "--store")
        return try StoreURL(configuration.storeURL.revealed)
    }

    private func requireOwn(_ key: String, _ what: String, _ flag: String) throws {
        guard let stranger, !own.contains(key) else { return }
        throw CommandFailure(
            .badInput,
            "this command reads \(what) itself, and context \(stranger) does not say where that is: give it a file of settings "
                + "(sluice context add \(stranger) --config FILE ...), or say \(flag)")
    }

    func amqp(name: String) throws -> AMQPConfiguration {
        var amqp = try AMQPConfiguration(url: try brokerURL().revealed)
        amqp.connectionName = "sluice \(name)"
        return amqp
    }

    /// Runs `body` with a connection to the broker, and closes the connection afterwards.
    func withBroker<Result>(
        name: String, _ body: (AMQPConnection) async throws -> Result
    ) async throws -> Result {
        let connection = AMQPConnection(configuration: try amqp(name: name), logger: quietLogger)
        try await connection.start()
        do {
            let result = try await body(connection)
            await connection.close()
            return result
        } catch {
            await connection.close()
            throw error
        }
    }

    /// The logger for commands that print results: it reports only what goes badly wrong.
    var quietLogger: Logger {
        var logger = Logger(label: "sluice")
        logger.logLevel = max(configuration.logLevel, .error)
        return logger
    }

    /// The coordinators that are named, else where this machine's coordinator listens by default.
    ///
    /// Several may be named, with commas between: the first that answers is asked.
    var adminURLs: [String] {
        let named =
            coordinatorURL
            ?? "\(configuration.coordinator.scheme)://\(configuration.coordinator.host):\(configuration.coordinator.port)"
        return named.split(separator: ",").map {
            $0.trimmingCharacters(in: .whitespaces).withoutTrailingSlash
        }
    }

    /// `admin.token`, else what a coordinator wrote to `admin.token_file`.
    func adminToken() throws -> Secret {
        if !configuration.adminToken.isEmpty { return configuration.adminToken }
        if let stranger, configuration.adminTokenFile == nil {
            // The token beside this machine's store is another cluster's.
            throw CommandFailure(
                .notAllowed,
                "context \(stranger) does not say where a token is: sluice context add \(stranger) --token-file FILE ..."
            )
        }
        let file = configuration.adminTokenFile ?? defaultTokenFile
        guard let text = try? String(contentsOfFile: file, encoding: .utf8) else {
            throw CommandFailure(
                .notAllowed,
                "no admin token: set SLUICE_ADMIN_TOKEN, or SLUICE_ADMIN_TOKEN_FILE to the file that the coordinator wrote"
                    + " (looked for \(file))")
        }
        let token = Secret(text.trimmingCharacters(in: .whitespacesAndNewlines))
        guard token.revealed.utf8.count >= Secret.minTokenBytes else {
            throw CommandFailure(.notAllowed, "\(file) holds no admin token of \(Secret.minTokenBytes) bytes or more")
        }
        return token
    }

    /// The path of the admin token's file beside the stores, so that on one machine nothing needs to be configured.
    var defaultTokenFile: String {
        ((try? StoreURL(configuration.storeURL.revealed))?.folder ?? ".") + "/admin-token"
    }
}
