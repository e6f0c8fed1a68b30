import AMQP
import ArgumentParser
import Inspection
import Messages
import Storage

struct BrokerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "broker",
        abstract: "Make what a cluster needs at RabbitMQ, or say what is wrong there.",
        discussion: """
            A broker user for each role, with the rights of that role and no more, and the exchanges and queues, \
            which such users may not make. With one user that may do everything none of this is needed: processes \
            declare what they need.

              sluice broker init                                     # print the commands
              sluice broker init --management-url http://broker:15672
              sluice broker check --management-url http://broker:15672
            """,
        subcommands: [BrokerInit.self, BrokerCheck.self, BrokerQueues.self])
}

struct BrokerCheck: ReportingCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Compare the broker with what the cluster needs there: exchanges, queues, bindings, users, nodes.",
        discussion: """
            Changes nothing. Without --management-url only what AMQP tells is looked at. Exit codes: 0 all well, 1 \
            something to look at or to mend.
            """)

    @OptionGroup var common: ReportOptions
    @OptionGroup var management: ManagementOptions
    @Option(name: .customLong("cluster"), help: "The cluster's id, where this shell cannot read the store.")
    var clusterID: String?
    @Option(help: "What the names of the roles' users begin with; the prefix and a hyphen if left out.")
    var userPrefix: String?

    func run(_ settings: ClusterSettings) async throws {
        var cluster = clusterID
        if cluster == nil, case .named(let record)? = try? await settings.stores().inspector().cluster() {
            cluster = record.id
        }
        let plan = BrokerPlan(
            topology: settings.topology, slices: try settings.sliceCount(),
            virtualHost: try settings.amqp(name: "broker check").virtualHost, cluster: cluster, userPrefix: userPrefix)
        let found: [Diagnosis]
        if let client = try management.client(settings) {
            let facts = try await client.facts(ofVirtualHost: plan.virtualHost).facts
            found = BrokerExamination(plan: plan, facts: facts).diagnoses()
        } else {
            found = try await examine(settings, plan)
        }
        try found.show(json: output.json)
        if found.exitCode != 0 { throw ExitCode(1) }
    }

    /// What AMQP tells.
    private func examine(_ settings: ClusterSettings, _ plan: BrokerPlan) async throws -> [Diagnosis] {
        try await settings.withBroker(name: "broker check") { connection in
            let doctor = BrokerDoctor(
                connection: connection, publisher: connection, topology: settings.topology,
                slices: try settings.sliceCount())
            var found: [Diagnosis] = []
            if let cluster = plan.cluster {
                found.append(
                    await doctor.belonging(
                        to: ClusterRecord(id: cluster, prefix: settings.topology.prefix, hasMarkedBroker: true)))
            }
            found += await doctor.objects()
            found.add(
                .broker, "bindings, users, nodes and policies", .unchecked, "AMQP does not tell them",
                "--management-url http://host:15672, where the broker has its management plugin")
            return found
        }
    }
}
