import Foundation
import Inspection

/// Asks the broker's management plugin for what AMQP does not tell.
struct ManagementDoctor {
    /// Nil: the plugin is not to be asked.
    let client: ManagementClient?
    let plan: BrokerPlan

    func examine() async -> [Diagnosis] {
        guard let client else {
            return .one(
                .broker, "version, nodes and policies", .unchecked, "AMQP does not tell them",
                "--management-url http://host:15672, where the broker has its management plugin")
        }
        let start = Date()
        do {
            let (facts, time) = try await client.facts(ofVirtualHost: plan.virtualHost)
            let examination = BrokerExamination(plan: plan, facts: facts)
            let clocks = time.map { [clock($0, asked: start)] } ?? []
            return examination.broker() + clocks + examination.policies()
        } catch {
            return .one(
                .broker, "management", .unchecked, CommandFailure(describing: error).message,
                "see that the plugin is enabled, and that the user has the tag monitoring")
        }
    }

    private func clock(_ time: Date, asked: Date) -> Diagnosis {
        let seconds = Int(time.timeIntervalSince(asked))
        guard abs(seconds) > 5 else {
            return Diagnosis(.clock, "broker", .ok, "the broker's clock agrees with this machine's")
        }
        return Diagnosis(
            .clock, "broker", .warning, "the broker's clock is \(seconds) s from this machine's",
            "run chrony or ntpd on every machine")
    }
}
