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

    /// - Parameter overrides: further settings by dotted key.
    func load(overrides: [String: String?] = [:]) async throws -> ClusterSettings {
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
        do {
            let configuration = try await SluiceConfiguration.load(overrides: all, file: config)
            return ClusterSettings(configuration: configuration, coordinatorURL: coordinatorURL)
        } catch {
            throw CommandFailure(.badInput, "\(error)")
        }
    }
}

/// The settings as the commands use them.
struct ClusterSettings {
    var configuration: SluiceConfiguration
    var coordinatorURL: String?

    var topology: Topology { Topology(prefix: configuration.prefix) }

    func sliceCount() throws -> SliceCount {
        guard let count = SliceCount(configuration.slices) else {
            throw CommandFailure(.badInput, "slices: expected 1 to 4096, found \(configuration.slices)")
        }
        return count
    }

    func amqp(name: String) throws -> AMQPConfiguration {
        var amqp = try AMQPConfiguration(url: configuration.amqpURL.revealed)
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

    /// `--coordinator-url`, else SLUICE_COORDINATOR_URL, else where this machine's coordinator listens by default.
    ///
    /// Several may be named, with commas between: the first that answers is asked.
    var adminURLs: [String] {
        let named =
            coordinatorURL ?? ProcessInfo.processInfo.environment["SLUICE_COORDINATOR_URL"]
            ?? "\(configuration.coordinator.scheme)://\(configuration.coordinator.host):\(configuration.coordinator.port)"
        return named.split(separator: ",").map {
            $0.trimmingCharacters(in: .whitespaces).withoutTrailingSlash
        }
    }

    /// `admin.token`, else what a coordinator wrote to `admin.token_file`.
    func adminToken() throws -> Secret {
        if !configuration.adminToken.isEmpty { return configuration.adminToken }
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
