import Messages

/// Compares the broker's users with the roles of a cluster. Pure.
struct BrokerUsersExamination {
    let plan: BrokerPlan
    /// Nil for a user that is no administrator.
    let accounts: BrokerFacts.Accounts?

    func diagnoses() -> [Diagnosis] {
        guard let accounts else {
            return .one(
                .broker, "users", .unchecked, "the plugin tells them administrators only",
                "use credentials of a user with the tag administrator")
        }
        var found = BrokerRole.allCases.flatMap { examine($0, accounts) }
        if found.isEmpty {
            found.add(.broker, "users", .ok, "\(BrokerRole.allCases.count) with the rights of their roles and no more")
        }
        return found + others(accounts)
    }

    private func examine(_ role: BrokerRole, _ accounts: BrokerFacts.Accounts) -> [Diagnosis] {
        let name = plan.user(role)
        let subject = "user \(name)"
        guard let user = accounts.users.first(where: { $0.name == name }) else {
            return .one(.broker, subject, .warning, "does not exist", "sluice broker init makes a user for each role")
        }
        var found: [Diagnosis] = []
        if !user.tags.names.isEmpty {
            found.add(
                .broker, subject, .warning, "too broad: it has the tags \(user.tags.names.joined(separator: ", "))",
                "rabbitmqctl set_user_tags \(name)")
        }
        for permission in accounts.permissions where permission.user == name && permission.vhost != plan.virtualHost {
            found.add(
                .broker, subject, .warning, "too broad: it may enter the virtual host \(permission.vhost), too",
                "rabbitmqctl clear_permissions -p '\(permission.vhost)' \(name)")
        }
        guard
            let given = accounts.permissions.first(where: { $0.user == name && $0.vhost == plan.virtualHost })
        else {
            found.add(
                .broker, subject, .fault, "may not enter the virtual host \(plan.virtualHost)",
                "sluice broker init gives it its rights")
            return found
        }
        let wanted = plan.permissions(role)
        for (what, actual, should) in [
            ("configure", given.configure, wanted.configure), ("write", given.write, wanted.write),
            ("read", given.read, wanted.read),
        ] where actual != should.expression {
            found += compare(subject, what, actual, should)
        }
        return found
    }

    /// Says by examples what an expression allows beyond the plan, and what the expression refuses that is needed.
    private func compare(_ subject: String, _ what: String, _ given: String, _ wanted: NamePattern) -> [Diagnosis] {
        guard let allowed = Self.allowed(by: given, of: probes) else {
            return .one(
                .broker, subject, .warning, "\(what) is \(given), which was not understood",
                "expected \(wanted.expression); sluice broker init sets it")
        }
        let surplus = probes.filter { allowed.contains($0) && !wanted.matches($0) }
        let lacking = probes.filter { !allowed.contains($0) && wanted.matches($0) }
        var found: [Diagnosis] = []
        if !lacking.isEmpty {
            found.add(
                .broker, subject, .fault, "may not \(what) \(BrokerDoctor.some(lacking))",
                "sluice broker init allows it")
        }
        if !surplus.isEmpty {
            found.add(
                .broker, subject, .warning, "too broad: may \(what) \(BrokerDoctor.some(surplus))",
                "sluice broker init sets \(wanted.expression)")
        }
        return found
    }

    /// Names that tell patterns apart: the cluster's own, one of each kind that processes make, and some that are nobody's business.
    private var probes: [String] {
        let topology = plan.topology
        return plan.objects.exchanges.map(\.name)
            + plan.objects.queues.map(\.name).filter { $0 != topology.outcomes && $0 != topology.dead }
            + [
                topology.gateway("example"), topology.workerAlive("example"), "\(topology.prefix).doctor.example",
                topology.folder, "\(topology.folder).example",
                "anonymous.example", NamePattern.defaultExchange, "amq.topic", "example",
            ]
    }

    /// Returns the names that a regular expression allows; nil for a text that is no regular expression. RabbitMQ looks
    /// for an expression anywhere in a name, and lets an empty one allow nothing.
    private static func allowed(by expression: String, of names: [String]) -> Set<String>? {
        guard !expression.isEmpty else { return [] }
        guard let regex = try? Regex(expression) else { return nil }
        return Set(names.filter { $0.firstMatch(of: regex) != nil })
    }

    /// Users beside the roles' own that may use the cluster's queues.
    private func others(_ accounts: BrokerFacts.Accounts) -> [Diagnosis] {
        let roles = Set(BrokerRole.allCases.map(plan.user))
        var found: [Diagnosis] = []
        var strangers: [String] = []
        for permission in accounts.permissions
        where permission.vhost == plan.virtualHost && !roles.contains(permission.user) {
            let isAdministrator = accounts.users.contains { $0.name == permission.user && $0.isAdministrator }
            guard permission.user != "guest" else {
                found.add(
                    .broker, "user guest", .warning, "it is there, and may enter the virtual host \(plan.virtualHost)",
                    "rabbitmqctl delete_user guest, once there is another administrator: everybody knows its password")
                continue
            }
            let allowed = [permission.configure, permission.write, permission.read].contains {
                Self.allowed(by: $0, of: probes.filter(plan.isOurs))?.isEmpty == false
            }
            if allowed && !isAdministrator { strangers.append(permission.user) }
        }
        if !strangers.isEmpty {
            found.add(
                .broker, "other users", .warning,
                "may use the cluster's exchanges or queues: \(BrokerDoctor.some(strangers))",
                "take the rights away, or give each cluster a virtual host of its own")
        }
        return found
    }
}
