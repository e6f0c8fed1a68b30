import Foundation
import Inspection
import Messages

/// The commands with which an operator makes on a broker's machine what `sluice broker init` would make. No password is in them.
struct BrokerShell {
    let plan: BrokerPlan
    let credentials: BrokerCredentials
    let definitions: String

    var commands: [String] {
        var lines = [
            "# everything at once; the same file serves as load_definitions of a new broker",
            "rabbitmqctl import_definitions \(quoted(absolute(definitions)))",
            "", "# or users and permissions one by one, and exchanges, queues and bindings by the import",
        ]
        let host = quoted(plan.virtualHost)
        if plan.virtualHost != "/" { lines.append("rabbitmqctl add_vhost \(host)") }
        for role in BrokerRole.allCases {
            let (user, file) = (quoted(plan.user(role)), quoted(absolute(credentials.passwordFile(role))))
            lines.append("rabbitmqctl add_user \(user) < \(file) || rabbitmqctl change_password \(user) < \(file)")
            let rights = plan.permissions(role)
            lines.append(
                "rabbitmqctl set_permissions -p \(host) \(user) \(quoted(rights.configure.expression)) "
                    + "\(quoted(rights.write.expression)) \(quoted(rights.read.expression))")
        }
        let definition = BrokerPlan.policyDefinition.map { "\"\($0)\":\"\($1)\"" }.joined(separator: ",")
        lines.append(
            "rabbitmqctl set_policy -p \(host) --priority=\(BrokerPlan.policyPriority) --apply-to queues "
                + "\(quoted(plan.policyName)) \(quoted(plan.policyPattern)) '{\(definition)}'")
        return lines
    }

    private func absolute(_ path: String) -> String { URL(fileURLWithPath: path).standardizedFileURL.path }

    /// Returns the text quoted as one word of a POSIX shell.
    private func quoted(_ text: String) -> String { "'" + text.replacing("'", with: "'\\''") + "'" }
}
