/// A role in which the broker is used: each has a user of its own that may do what this role needs and no more. Pure.
package enum BrokerRole: String, CaseIterable, Sendable, Codable {
    case gateway, worker, coordinator
    /// A person at the shell: `publish`, `tail`, `queues`, `dead-letters`, `doctor`.
    case `operator`
}

/// The rights of a user, in RabbitMQ's three kinds: declare and delete; publish, and bind a queue; consume, and bind to an exchange.
package struct BrokerPermissions: Sendable, Hashable {
    package var configure: NamePattern
    package var write: NamePattern
    package var read: NamePattern

    /// The rights of somebody who only reads some queues.
    package init(reading queues: NamePattern) {
        configure = NamePattern()
        write = NamePattern()
        read = queues
    }

    /// The rights that a role needs to a cluster's exchanges and queues.
    ///
    /// A gateway can neither send a worker's notices nor read what other gateways send to the owners of realms; both would be
    /// what somebody who broke into one wants next.
    package init(_ role: BrokerRole, in topology: Topology) {
        let gateways = topology.gateway("")
        let workers = topology.workerAlive("")
        let slices = "\(topology.prefix).slice."
        let doctors = "\(topology.prefix).doctor."
        // The AMQP client's names for queues that were declared without one.
        let anonymous = "anonymous."
        // Every process says in which folder it has an embedded store.
        let claims = "\(topology.folder)."
        let published = [
            topology.slices, topology.terminations, topology.realms, topology.outcomes, topology.dead,
        ]
        // The exchanges that messages pass, for those who watch them pass.
        let watched = [
            topology.slices, topology.events, topology.terminations, topology.realms, topology.outcomes,
            topology.presence, topology.dead, topology.changes,
        ]
        switch role {
        case .gateway:
            configure = NamePattern([topology.folder], beginnings: [gateways, claims])
            write = NamePattern([topology.slices, topology.outcomes, topology.folder], beginnings: [gateways, claims])
            read = NamePattern([topology.realms, topology.folder], beginnings: [gateways, claims])
        case .worker:
            configure = NamePattern([topology.folder], beginnings: [workers, claims, anonymous])
            write = NamePattern(
                [
                    topology.slices, topology.realms, topology.outcomes, topology.presence, topology.dead,
                    topology.changes, topology.folder, NamePattern.defaultExchange,
                ], beginnings: [claims, anonymous])
            read = NamePattern([topology.presence, topology.folder], beginnings: [slices, claims, anonymous])
        case .coordinator:
            configure = NamePattern([topology.folder], beginnings: [claims, anonymous])
            write = NamePattern(published + [topology.folder], beginnings: [claims, anonymous])
            read = NamePattern(watched + [topology.folder], beginnings: [claims, anonymous])
        case .operator:
            configure = NamePattern(beginnings: [doctors, anonymous])
            write = NamePattern(
                published + [topology.events, NamePattern.defaultExchange], beginnings: [doctors, anonymous])
            // How old the first message of a feed is.
            read = NamePattern(watched, beginnings: [doctors, anonymous, topology.feed("")])
        }
    }
}

/// Names of exchanges and queues: some exactly, and all with certain beginnings.
package struct NamePattern: Sendable, Hashable {
    /// The name that RabbitMQ's permissions give to the exchange without a name.
    package static let defaultExchange = "amq.default"

    private let names: [String]
    private let beginnings: [String]

    package init(_ names: [String] = [], beginnings: [String] = []) {
        self.names = names
        self.beginnings = beginnings
    }

    package func matches(_ name: String) -> Bool {
        names.contains(name) || beginnings.contains(where: name.hasPrefix)
    }

    /// The regular expression that RabbitMQ takes. RabbitMQ looks for it anywhere in a name, hence the anchors.
    package var expression: String {
        let parts = names.map(Self.escaped) + beginnings.map { Self.escaped($0) + ".*" }
        return "^(\(parts.joined(separator: "|")))$"
    }

    /// The same text with nothing in it that means something to a regular expression.
    package static func escaped(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            let isPlain = scalar.value >= 0x80 || scalar.properties.isAlphabetic || ("0"..."9").contains(scalar)
            if !isPlain && !"-_ /".unicodeScalars.contains(scalar) { result += "\\" }
            result.unicodeScalars.append(scalar)
        }
        return result
    }
}
