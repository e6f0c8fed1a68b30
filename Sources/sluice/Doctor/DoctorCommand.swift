import AMQP
import ArgumentParser
import Foundation
import Inspection
import Operations
import Storage
import SyncModel

struct DoctorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Look at settings, broker, store, clocks and processes: what is wrong, and what to do.",
        discussion: """
            Looks with the settings that this shell has, which should be those of the processes. Changes nothing: \
            queues that are missing are not made.

            With --management-url the broker's management plugin is asked too: version, alarms of every node, \
            policies. With --operations-url the readiness of a process is asked; repeat it for several.

            Exit codes: 0 all well, 1 warnings, 2 faults. What could not be looked at does not count.
            """)

    @OptionGroup var common: ReportOptions
    @OptionGroup var management: ManagementOptions
    @Option(help: "Where a process answers /ready, http://host:port.") var operationsURL: [String] = []
    @Flag(help: "Do not read every page of the store's files.") var skipIntegrity = false

    func run() async throws {
        try await reportingFailures {
            let diagnoses: [Diagnosis]
            do {
                diagnoses = try await examine(try await common.cluster.load())
            } catch let failure as CommandFailure where failure.kind == .badInput {
                diagnoses = .one(
                    .configuration, "settings", .fault, failure.message, "docs/settings.md lists the settings")
            }
            try diagnoses.show(json: common.output.json)
            if diagnoses.exitCode != 0 { throw ExitCode(diagnoses.exitCode) }
        }
    }

    private func examine(_ settings: ClusterSettings) async throws -> [Diagnosis] {
        let environment = ProcessInfo.processInfo.environment
        let configuration = settings.configuration
        let slices = try settings.sliceCount()
        let amqp: AMQPConfiguration
        do {
            amqp = try settings.amqp(name: "doctor")
        } catch {
            throw CommandFailure(.badInput, "amqp.url: \(error)")
        }
        let file = common.cluster.config ?? environment["SLUICE_CONFIG"]
        var found = ConfigurationDoctor(
            configuration: configuration, environment: environment, file: file?.isEmpty == false ? file : nil,
            tokenFile: configuration.adminTokenFile ?? settings.defaultTokenFile
        ).examine(broker: amqp)

        let plan = BrokerPlan(
            topology: settings.topology, slices: slices, virtualHost: amqp.virtualHost, cluster: nil)
        let process = ProcessDoctor(settings: settings, operationsURLs: operationsURL)
        async let stored = store(settings, slices)
        async let processes = process.examine()
        found += await broker(amqp, settings, slices)
        found += await ManagementDoctor(client: try management.client(settings), plan: plan).examine()
        found += await stored
        found += await processes
        return found
    }

    private func store(_ settings: ClusterSettings, _ slices: SliceCount) async -> [Diagnosis] {
        do {
            let stores = try settings.stores().inspector()
            return await StoreDoctor(stores: stores, slices: slices, checksIntegrity: !skipIntegrity).examine()
        } catch {
            return .one(.store, "url", .fault, "\(error)", "set store.url to what the workers have")
        }
    }

    private func broker(_ amqp: AMQPConfiguration, _ settings: ClusterSettings, _ slices: SliceCount) async
        -> [Diagnosis]
    {
        let place = amqp.endpoints.map(\.description).joined(separator: ", ")
        let connection = AMQPConnection(configuration: amqp, logger: settings.quietLogger)
        let publisher = AMQPConnection(configuration: amqp, logger: settings.quietLogger)
        do {
            try await connection.start()
            try await publisher.start()
        } catch {
            let advice =
                error.code == .authenticationFailed
                ? "see that user, password and virtual host in amqp.url are right"
                : "see that the broker runs, and that amqp.url is right"
            return .one(.broker, "connection", .fault, "\(error)", advice)
        }
        var found = [Diagnosis(.broker, "connection", .ok, "\(place), virtual host \(amqp.virtualHost)")]
        let doctor = BrokerDoctor(
            connection: connection, publisher: publisher, topology: settings.topology, slices: slices)
        found += await doctor.examine()
        if case .named(let cluster)? = try? await settings.stores().inspector().cluster() {
            found.append(await doctor.belonging(to: cluster))
        }
        let heartbeat = settings.configuration.heartbeatInterval
        found += await PresenceDoctor(connection: connection, topology: settings.topology, slices: slices)
            .examine(for: heartbeat * 2 + .seconds(1))
        await connection.close()
        await publisher.close()
        return found
    }
}

extension [Diagnosis] {
    /// Prints every diagnosis, and how many there are of each kind.
    func show(json: Bool) throws {
        if json { return try Printing.json(self) }
        for diagnosis in self {
            let level = diagnosis.level.rawValue.uppercased()
            Printing.line(
                "\(level.padded(9))  \(diagnosis.area.rawValue.padded(13))  \(diagnosis.subject.oneLine): "
                    + diagnosis.finding.oneLine)
            if let advice = diagnosis.advice {
                Printing.line(String(repeating: " ", count: 26) + "-> \(advice.oneLine)")
            }
        }
        func number(of level: Diagnosis.Level) -> Int { count { $0.level == level } }
        Printing.note(
            "\(number(of: .ok)) ok, \(number(of: .warning).counted("warning")), \(number(of: .fault).counted("fault")), \(number(of: .unchecked)) not looked at"
        )
    }
}

extension String {
    func padded(_ width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
}
